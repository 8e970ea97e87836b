"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="An .onnx, a .zip or folder with one, or a sample's name (its own data is then the default).",
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="An .npz with inputs and labels `y`, or a folder, .zip or file of images, sound (.wav) or texts."
        " Default: a sample's own, else synthetic.",
    ),
]
PreprocessingOption = Annotated[
    Path | None,
    typer.Option(
        "--preprocessing", metavar="FILE.json", help="How images, sound or texts become inputs. Default: a told guess."
    ),
]
TokenizerOption = Annotated[
    Path | None,
    typer.Option("--tokenizer", metavar="FILE", help="A tokenizer.json, for texts. Default: beside model or data."),
]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="Take N of the images, windows or texts, chosen by the seed."),
]
ShapeOption = Annotated[
    list[str] | None,
    typer.Option("--shape", metavar="NAME=1x3x224x224", help="Shape of an input for synthetic data. Repeatable."),
]
ThreadsOption = Annotated[int, typer.Option("--threads", metavar="N", min=1, help="Threads of the runtime.")]
BatchOption = Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Samples per run.")]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Seed of everything that is drawn by chance.")
]
BudgetOption = Annotated[
    float | None, typer.Option("--time-budget", metavar="SECONDS", help="How long it may measure or search.")
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="TEXT", help='For example "accuracy>=99%" or "sqnr>=30, speedup>=1.5x".'),
]
OutputsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="NAME[=WEIGHT]",
        help="An output that counts, and how often its noise does. Default: all, each 1. Repeatable.",
    ),
]
WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace", metavar="DIR", help="Where models and results are kept. Default: MIXDESK_WORKSPACE or user data."
    ),
]
FreshOption = Annotated[
    bool, typer.Option("--fresh", help="Measure everything anew: use nothing that earlier jobs have finished.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "-o", "--out", metavar="OUT.onnx|OUT.o3", help="Write the resulting model, or a bundle with its proof, there."
    ),
]
WithDataOption = Annotated[
    bool, typer.Option("--with-data/--no-data", help="Put the holdout samples into the bundle, or leave them out.")
]
WithOriginalOption = Annotated[
    bool, typer.Option("--with-original/--no-original", help="Put the original into the bundle, or leave it out.")
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", metavar="OUT.html", help="Write the result as a page that stands alone.")
]
CsvOption = Annotated[
    Path | None, typer.Option("--csv", metavar="OUT.csv", help="Write the table of the result as CSV.")
]
TraceOption = Annotated[
    Path | None,
    typer.Option("--trace", metavar="OUT.json", help="Write one run for ui.perfetto.dev and chrome://tracing."),
]
NetronOption = Annotated[
    Path | None, typer.Option("--netron", metavar="OUT.json", help="Write the layers' figures as a Netron attachment.")
]
ModelExplorerOption = Annotated[
    Path | None,
    typer.Option("--model-explorer", metavar="OUT.json", help="Write the layers' times as Model Explorer node data."),
]
PinOption = Annotated[
    list[str] | None,
    typer.Option("--pin", metavar="LAYER=PRECISION", help="Keep this layer in this precision. Repeatable."),
]
