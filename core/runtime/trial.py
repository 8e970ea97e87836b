"""Trial: sizes proposed for open dimensions are run once; where they fail, others are tried until some run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.errors import DataError, RunError
from core.intake.fit import shape_text
from core.intake.model import Model
from core.intake.proposals import other_shapes
from core.intake.synthetic import assumed_sizes, resolve_shapes, synthetic_dataset
from core.runtime.session import Feed, Session, open_session, run_session
from core.runtime.settings import SessionSettings

Shapes = Mapping[str, tuple[int, ...]]
#: Why the runtime does not run a feed; None where it does.
Refusal = Callable[[Feed], str | None]

#: No new sizes are tried after this long.
MOST_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Trial:
    """The shapes to use, and sentences that say what was assumed and what did not run."""

    shapes: dict[str, tuple[int, ...]]
    remarks: tuple[str, ...] = ()


def shapes_that_run(
    model: Model,
    settings: SessionSettings,
    given: Shapes,
    *,
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
    refusal: Refusal | None = None,
) -> Trial:
    """Shapes for all inputs: those given, and for the others the first proposal that the runtime runs.

    Where nothing is open, nothing is tried; where nothing runs, the first proposal stands and its failure is told by
    whoever runs it.

    Args:
        model: whose inputs are open.
        settings: how the session is opened.
        given: shapes that are decided.
        seed: of the numbers it is run with.
        clock: seconds, to end the trial.
        refusal: says why a feed does not run (None: it does), and raises RunError where nothing can; by default it is
            run in this process.

    Raises:
        DataError: a given shape does not fit, or an input's rank is unknown.
    """
    first = resolve_shapes(model, given)
    told = tuple(assumed_sizes(model, first, given))
    if not told:
        return Trial(first)
    end = clock() + MOST_SECONDS
    try:
        asked = refusal or _here(open_session(model.serialize(), settings, timed=False))
        why = _why_not(asked, model, first, seed)
        if why is None:
            return Trial(first, told)
        for shapes in other_shapes(model, given):
            if clock() > end:
                break
            if _why_not(asked, model, shapes, seed) is None:
                return Trial(shapes, (*assumed_sizes(model, shapes, given), _told(model, first, given, why)))
    except RunError:
        return Trial(first, told)
    return Trial(first, told)


def _here(session: Session) -> Refusal:
    """Runs feeds in this process."""

    def refusal(feed: Feed) -> str | None:
        try:
            run_session(session, feed)
        except RunError as error:
            return error.message
        return None

    return refusal


def _why_not(refusal: Refusal, model: Model, shapes: Shapes, seed: int) -> str | None:
    """Why the runtime does not run these shapes; None where it does."""
    try:
        feed = synthetic_dataset(model, shapes=shapes, samples=1, seed=seed).feed(0)
    except DataError as error:
        return error.message
    return refusal(feed)


def _told(model: Model, first: Shapes, given: Shapes, why: str) -> str:
    sizes = ", ".join(
        f"'{spec.name}' {shape_text(first[spec.name])}"
        for spec in model.inputs
        if spec.name not in given and any(isinstance(size, str) for size in spec.shape or ())
    )
    return f"The usual sizes {sizes} do not run ({why[:160].rstrip('.')})."
