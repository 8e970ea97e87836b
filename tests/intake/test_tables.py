from __future__ import annotations

import pytest

from core.intake.tables import index_limit
from tests.intake.texts import load

HEADS = {
    "gather": "y = Gather (t, i)",
    "second axis": "y = Gather <axis = 1> (t, i)",
    "through a cast": "c = Cast <to = 6> (i)  y = Gather (t, c)",
    "through identity of the table": "u = Identity (t)  y = Gather (u, i)",
    "not at all": "y = Cast <to = 1> (i)",
}


@pytest.mark.parametrize(("how", "limit"), list(zip(HEADS, [5, 2, 5, 5, None], strict=True)))
def test_the_limit_is_the_size_of_the_axis_that_is_selected_from(how: str, limit: int | None) -> None:
    model = load(f"g (int64[n] i) => (float[a,b] y) <float[5,2] t = {{0,0,0,0,0,0,0,0,0,0}}> {{ {HEADS[how]} }}")
    assert index_limit(model.ir, "i") == limit
