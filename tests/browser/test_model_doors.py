"""The doors of the Model page in a browser: weights in files of their own, archives, server folders, pictures."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.conftest import Server, serve

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

Visit = Callable[..., Page]
WORK_MS = 180_000
WEIGHTS = np.linspace(-1, 1, 30).astype(np.float32).tobytes()


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the server that its owner allowed."""
    folder = tmp_path_factory.mktemp("nets")
    (folder / "served.onnx").write_bytes(classifier("served.data"))
    (folder / "served.data").write_bytes(WEIGHTS)
    (folder / "leak.onnx").symlink_to(Path(__file__))
    return folder


@pytest.fixture(scope="module")
def server(nets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One dashboard whose owner allowed a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIXDESK_MODEL_FOLDERS", str(nets))
        with serve(tmp_path_factory.mktemp("dashboard")) as running:
            yield running


def classifier(location: str) -> bytes:
    """Mean colour -> ten classes; its weights lie in another file."""
    proto = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        colours (float[batch, 3, 8, 8] image) => (float[batch, 10] y)
        { m = GlobalAveragePool (image)  f = Flatten (m)  y = MatMul (f, w) }
    """)
    weight = proto.graph.initializer.add(name="w", data_type=onnx.TensorProto.FLOAT, dims=[3, 10])
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("length", str(len(WEIGHTS)))):
        weight.external_data.add(key=key, value=value)
    return bytes(proto.SerializeToString())


def packed(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def photos() -> bytes:
    """Twenty pictures of one colour each; the label is the number before the underscore."""
    pictures = {}
    for number in range(20):
        stream = io.BytesIO()
        Image.fromarray(np.full((10, 14, 3), 12 * number, np.uint8)).save(stream, "PNG")
        pictures[f"{number % 10}_photo{number}.png"] = stream.getvalue()
    return packed(**pictures)


def drop(page: Page, *files: tuple[str, bytes]) -> None:
    given: list[FilePayload] = [
        {"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in files
    ]
    page.locator("input[type=file]").first.set_input_files(given)


def first(open_page: Visit) -> Page:
    page = open_page()
    expect(page.get_by_text("Load your own")).to_be_visible()
    return page


def still(page: Page) -> None:
    """Waits until the page is drawn: what is typed before may be lost."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_have_count(1)


def choose(page: Page, box: Locator, text: str) -> None:
    """Takes the one option that has this text in it."""
    box.fill(text)
    expect(page.get_by_role("option")).to_have_count(1)
    box.press("Enter")


def read(page: Page, name: str) -> None:
    """The model is on the desk and was read."""
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text("Activation peak")).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text("accept this model")).to_be_visible()


def test_an_archive_with_weights_beside_the_model_is_opened(open_page: Visit) -> None:
    page = first(open_page)
    drop(page, ("zipped.zip", packed(**{"deep/zipped.onnx": classifier("weights.bin"), "deep/weights.bin": WEIGHTS})))
    read(page, "zipped")
    netron = page.frame_locator("iframe")
    expect(netron.get_by_text("MatMul").first).to_be_attached()


def test_a_model_without_its_weights_asks_for_them_by_name_and_takes_them_alone(open_page: Visit) -> None:
    page = first(open_page)
    drop(page, ("halves.onnx", classifier("weights <b>.bin")))
    expect(page.get_by_text("weights <b>.bin is missing: drop it together with the model")).to_be_visible(
        timeout=WORK_MS
    )
    page.reload()
    expect(page.get_by_text("weights <b>.bin is missing")).to_be_visible()
    drop(page, ("weights <b>.bin", WEIGHTS))
    read(page, "halves")


def test_a_hostile_archive_is_told_in_one_line_and_the_page_goes_on(open_page: Visit) -> None:
    page = first(open_page)
    drop(page, ("evil.zip", packed(**{"../evil.onnx": b"evil"})))
    expect(page.get_by_text("would be written outside the folder")).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text("Traceback")).to_have_count(0)
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("would be written outside the folder")).to_have_count(0)
    expect(page.get_by_role("button", name="Open sample").first).to_be_visible()


def test_a_model_of_a_server_folder_is_opened_and_a_link_out_is_not_offered(open_page: Visit) -> None:
    page = first(open_page)
    still(page)
    choose(page, page.get_by_role("combobox", name=re.compile("A file of the server folder")), ".onnx")
    page.get_by_role("button", name="Open from server").click()
    read(page, "served")


def test_pictures_are_prepared_seen_and_used(open_page: Visit) -> None:
    page = first(open_page)
    model = classifier("weights.bin")
    drop(page, ("colours.onnx", model), ("weights.bin", WEIGHTS), ("photos.zip", photos()))
    expect(page.get_by_text("Prepare photos.zip")).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text("0_photo0.png")).to_be_visible(timeout=WORK_MS)
    still(page)
    choose(page, page.get_by_role("combobox", name="Values"), "(pixel - 127)")
    expect(page.get_by_text(re.compile(r"values -0\.992 to 0\.\d+"))).to_be_visible(timeout=WORK_MS)
    still(page)
    page.get_by_role("button", name="Use this data").click()
    expect(page.get_by_text(re.compile("^Made from images: 8x8"))).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text(re.compile("with labels"))).to_be_visible()
    expect(page).to_have_url(re.compile(r"data=[0-9a-f]{12}"))
    assert "preparing=" not in page.url
