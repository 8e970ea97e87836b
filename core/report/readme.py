"""What lies beside the model in a bundle for those who have no Mixdesk: a page to read, a script to run by hand.

Neither is ever read or executed when a bundle is loaded.
"""

from __future__ import annotations

import re

from core.report import quantities
from core.report.manifest import HOLDOUT, MODEL, ORIGINAL, Manifest

RUNNER_TEXT = '''\
"""Runs model.onnx with onnxruntime alone: `python run.py` in the unpacked bundle, or `python run.py data.npz`."""

import sys
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).resolve().parent


def open_model():
    """A session on the model beside this script."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(HERE / "model.onnx"), options, providers=["CPUExecutionProvider"])


def first_sample(session, path):
    """The feed of the first sample in an .npz that has one array per input, samples along axis 0."""
    with np.load(path, allow_pickle=False) as arrays:
        feed = {}
        for given in session.get_inputs():
            array = arrays[given.name]
            feed[given.name] = array[0] if array.ndim > len(given.shape or []) else array[:1]
        return feed


def main():
    """Runs one sample and prints what comes out."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "holdout.npz"
    session = open_model()
    for given in session.get_inputs():
        print("input ", given.name, given.type, given.shape)
    if not data.is_file():
        sys.exit("No data: give an .npz with one array per input.")
    names = [output.name for output in session.get_outputs()]
    for name, value in zip(names, session.run(names, first_sample(session, data))):
        print("output", name, getattr(value, "shape", type(value)))
        print(value)


if __name__ == "__main__":
    main()
'''

#: A "<" before "=" opens no tag, a ">" within a line no quotation, a "_" within a word no emphasis.
_MARKS = re.compile(r"[`|\[\]#*]|<(?!=)|(?<!\w)_|_(?!\w)")

_PAGE = """\
# {name}

An optimized form of the model {model}, written by Mixdesk {version}.

| member | what it is |
|---|---|
| model.onnx | the model; any ONNX runtime that reads it runs it |
| recipe.json | the rules that say which layers get which precision |
| plan.json | one decision with its reason per layer |
| report.json | all figures, with what they were measured on |
| report.html | the same for reading |
| manifest.json | the hash of every member, and the conditions |
{rows}
Measured on {cpu}, onnxruntime {runtime}, {threads} thread(s), batch {batch}.

## Run it with onnxruntime alone

```
pip install onnxruntime numpy
python run.py
```

`run.py` is a text of forty lines: read it before you run it.

## Check it

```
mixdesk verify THIS.o3
```

measures everything again and says whether it agrees with the report. In Python:

```
from core import load_bundle
outputs = load_bundle("THIS.o3").run(feeds)
```
"""


def readme(manifest: Manifest) -> str:
    """The page as Markdown; names are put on one line each and cannot end the block they stand in."""
    conditions = manifest.conditions
    rows = ""
    for name, what in ((HOLDOUT, "samples that no step of the search saw"), (ORIGINAL, "the model as it was given")):
        if manifest.why_without(name) and any(entry.name == name for entry in manifest.left_out):
            rows += f"| ({name}) | not in this bundle: {_line(manifest.why_without(name))} |\n"
        else:
            rows += f"| {name} | {what} |\n"
    return _PAGE.format(
        name=_line(manifest.name or MODEL),
        model=f"{_line(manifest.model_name)} ({quantities.size(manifest.model_bytes)})",
        version=manifest.mixdesk,
        rows=rows,
        cpu=_line(str(conditions.get("cpu") or "an unknown CPU")),
        runtime=conditions.get("onnxruntime"),
        threads=conditions.get("threads"),
        batch=conditions.get("batch"),
    )


def _line(text: str) -> str:
    """A name without line breaks and without signs that mean something in Markdown where they stand."""
    return _MARKS.sub("", " ".join(text.split()))
