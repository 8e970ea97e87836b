"""Files that are no usable model: how to write each, and the one sentence that every door says of it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx.parser

#: More zeros than any archive may unpack to so well packed, in pieces.
_BOMB_PIECE, _BOMB_PIECES = bytes(1 << 20), 260

_HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
GOOD = f"""{_HEAD}
net (float[n, 4] x) => (float[n, 3] y)
<float[4, 3] w = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}}>
{{ h = MatMul (x, w)  y = Relu (h) }}
"""


@dataclass(frozen=True)
class BadModel:
    """One file that is refused.

    Attributes:
        file_name: how it is called; what is beside it is not uploaded with it.
        write: writes it, and what it needs beside it, into an empty folder.
        sentence: what is said of it, or a part; `{name}` or `{file}` where its name is.
        hint: a word of what is advised.
        parses: whether `inspect` shows it, with the sentence as its first error finding.
        on_page: what an upload of it is answered with, where that is another sentence.
    """

    file_name: str
    write: Callable[[Path], None]
    sentence: str
    hint: str
    parses: bool = False
    on_page: str | None = None

    def make(self, folder: Path) -> Path:
        """Writes it and returns its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.file_name
        self.write(path)
        return path

    @property
    def said(self) -> str:
        """The sentence, or the end of it that every door says."""
        return self._named(self.sentence)

    @property
    def said_on_page(self) -> str:
        """The sentence that the dashboard says of an upload."""
        return self._named(self.on_page or self.sentence)

    def _named(self, sentence: str) -> str:
        return sentence.format(name=Path(self.file_name).stem, file=self.file_name)


def _content(content: bytes) -> Callable[[Path], None]:
    return lambda path: _ignore(path.write_bytes(content))


def _ignore(_: int) -> None:
    return None


def _text(text: str) -> Callable[[Path], None]:
    return lambda path: onnx.save(onnx.parser.parse_model(text), path)


def _model(body: str, *, head: str = _HEAD) -> Callable[[Path], None]:
    return _text(f"{head} net (float[n, 4] x) => (float[n, 4] y) {{ {body} }}")


def _external(location: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        model = onnx.parser.parse_model(GOOD)
        weight = model.graph.initializer[0]
        weight.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight), "w"))
        onnx.external_data_helper.set_external_data(weight, location, offset=0, length=48)
        weight.ClearField("raw_data")
        weight.data_location = onnx.TensorProto.EXTERNAL
        path.write_bytes(model.SerializeToString())

    return write


def _linked(path: Path) -> None:
    """Weights in a link that leads out of the folder."""
    _external("w.bin")(path)
    outside = path.parent.parent / "outside.bin"
    outside.write_bytes(bytes(48))
    (path.parent / "w.bin").symlink_to(outside)


def _short(path: Path) -> None:
    _external("w.bin")(path)
    (path.parent / "w.bin").write_bytes(bytes(40))


def _changed(change: Callable[[onnx.ModelProto], None]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        model = onnx.parser.parse_model(GOOD)
        change(model)
        path.write_bytes(model.SerializeToString())

    return write


def _newer_format(model: onnx.ModelProto) -> None:
    model.ir_version = 99


def _newer_opset(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 99


def _mismatched(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].dims[:] = [3, 4]


def _zip(*names: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, onnx.parser.parse_model(GOOD).SerializeToString())

    return write


def _zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("net.onnx", onnx.parser.parse_model(GOOD).SerializeToString())
        with archive.open("net.onnx.data", "w") as member:
            for _ in range(_BOMB_PIECES):
                member.write(_BOMB_PIECE)


def _zip_link(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net.onnx", onnx.parser.parse_model(GOOD).SerializeToString())
        link = zipfile.ZipInfo("w.bin")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/hostname")


def _cut(path: Path) -> None:
    path.write_bytes(onnx.parser.parse_model(GOOD).SerializeToString()[:-20])


def _cut_zip(path: Path) -> None:
    _zip("net.onnx")(path)
    path.write_bytes(path.read_bytes()[:-30])


_LFS = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)

BAD: dict[str, BadModel] = {
    "zero bytes": BadModel(
        "empty.onnx", _content(b""), "is empty: the file has zero bytes.", "xport", on_page="'{file}' is empty."
    ),
    "git lfs pointer": BadModel(
        "pointer.onnx", _content(_LFS), "'{name}' is a Git LFS pointer, not the model it points to.", "git lfs pull"
    ),
    "text file": BadModel(
        "list.onnx",
        _content(b"this is a shopping list, not a model\n"),
        "'{name}' is a text file, not an ONNX model.",
        "Export or download",
    ),
    "page of a site": BadModel(
        "page.onnx",
        _content(b"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n"),
        "'{name}' is a web page, not an ONNX model.",
        "log-in page",
    ),
    "cut off": BadModel(
        "cut.onnx", _cut, "'{name}' is not a readable ONNX file: it is cut off or damaged.", "download it again"
    ),
    "newer file format": BadModel(
        "format.onnx",
        _changed(_newer_format),
        "The file format (IR version 99) is newer than this runtime knows",
        "older target",
        parses=True,
    ),
    "newer opset": BadModel(
        "opset.onnx",
        _changed(_newer_opset),
        "Operator set 99 of ai.onnx is newer than this runtime knows",
        "older target",
        parses=True,
    ),
    "cycle": BadModel(
        "cycle.onnx",
        _model("a = Add (x, b)  b = Relu (a)  y = Abs (b)"),
        "Node Add that writes 'a' waits for itself: 3 nodes are in or behind a cycle.",
        "export the model again",
        parses=True,
    ),
    "dangling input": BadModel(
        "dangling.onnx",
        _model("y = Add (x, ghost)"),
        "Node Add that writes 'y' reads 'ghost', which nothing writes.",
        "export the model again",
        parses=True,
    ),
    "value written twice": BadModel(
        "twice.onnx",
        _model("y = Relu (x)  y = Abs (x)"),
        "The value 'y' is written twice, at last by node Abs that writes 'y'.",
        "export the model again",
        parses=True,
    ),
    "unknown operator": BadModel(
        "operator.onnx",
        _model("y = Frobnicate (x)"),
        "There is no operator 'Frobnicate' in ai.onnx.",
        "custom libraries",
        parses=True,
    ),
    "unknown domain": BadModel(
        "domain.onnx",
        _model("y = com.acme.Relu (x)", head='<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]>'),
        "Node Relu is an operator of the unknown domain 'com.acme'.",
        "custom libraries",
        parses=True,
    ),
    "shapes that do not fit": BadModel(
        "shapes.onnx",
        _changed(_mismatched),
        "Incompatible dimensions for matrix multiplication",
        "export the model again",
        parses=True,
    ),
    "missing external data": BadModel(
        "missing.onnx",
        _external("w.bin"),
        "The file 'w.bin' with the weights is missing.",
        "beside the model",
        parses=True,
        on_page="w.bin is missing: drop it together with the model",
    ),
    "external data cut off": BadModel(
        "short.onnx", _short, "The file 'w.bin' is too short for the weight 'w': 40 of 48 bytes.", "again", parses=True
    ),
    "external data above its folder": BadModel(
        "above.onnx",
        _external("../../etc/hostname"),
        "The weight 'w' points outside the model's folder ('../../etc/hostname'), which is never opened.",
        "without links",
        parses=True,
        on_page="The model keeps weights outside its folder ('../../etc/hostname'), which is never opened.",
    ),
    "external data at an absolute path": BadModel(
        "absolute.onnx",
        _external("/etc/hostname"),
        "The weight 'w' points outside the model's folder ('/etc/hostname'), which is never opened.",
        "without links",
        parses=True,
        on_page="The model keeps weights outside its folder ('/etc/hostname'), which is never opened.",
    ),
    "external data behind a link": BadModel(
        "linked.onnx",
        _linked,
        "The file 'w.bin' with the weights is missing.",
        "link",
        parses=True,
        on_page="w.bin is missing: drop it together with the model",
    ),
    "zip slip": BadModel(
        "slip.zip",
        _zip("net.onnx", "../../evil.onnx"),
        "'{file}' is not unpacked: '../../evil.onnx' would be written outside the folder.",
        "plain relative names",
    ),
    "zip with an absolute name": BadModel(
        "rooted.zip",
        _zip("/tmp/net.onnx"),
        "'{file}' is not unpacked: '/tmp/net.onnx' would be written outside the folder.",
        "plain relative names",
    ),
    "zip with a link": BadModel(
        "link.zip", _zip_link, "'{file}' is not unpacked: 'w.bin' is a link, not a file.", "without links"
    ),
    "zip bomb": BadModel("bomb.zip", _zip_bomb, "MB would become 273 MB, as in a zip bomb.", "unpack it yourself"),
    "zip without a model": BadModel(
        "nothing.zip",
        _zip("notes.pdf"),
        "'{file}' holds no .onnx file.",
        "Pack the .onnx",
        on_page="'{file}' holds no .onnx, no images, no sound and no text, but",
    ),
    "zip with two models": BadModel(
        "two.zip", _zip("a.onnx", "b.onnx"), "'{file}' holds 2 models: 'a.onnx', 'b.onnx'.", "Give one .onnx"
    ),
    "zip cut off": BadModel(
        "cut.zip", _cut_zip, "'{file}' is not a readable .zip archive: it is cut off or damaged.", "download it again"
    ),
}
