from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.intake.feeds import Split
from core.intake.splits import split_samples


def digests(count: int) -> list[bytes]:
    return [str(number).encode() for number in range(count)]


def counts(splits: object) -> list[int]:
    return [list(splits).count(split) for split in Split]  # type: ignore[call-overload]


def test_a_quarter_calibrates_half_evaluates_a_quarter_is_held_out() -> None:
    assert counts(split_samples(digests(200))) == [50, 100, 50]


def test_the_split_follows_content_not_order() -> None:
    forward = split_samples(digests(40)).tolist()
    backward = split_samples(digests(40)[::-1]).tolist()
    assert forward == backward[::-1]


def test_another_seed_splits_otherwise() -> None:
    assert split_samples(digests(40), seed=1).tolist() != split_samples(digests(40), seed=2).tolist()


def test_few_samples_keep_a_holdout() -> None:
    assert counts(split_samples(digests(1))) == [0, 0, 1]
    assert counts(split_samples(digests(2))) == [1, 0, 1]
    assert counts(split_samples(digests(3))) == [1, 1, 1]


@given(st.lists(st.binary(max_size=1), min_size=1, max_size=60))
def test_equal_samples_are_never_in_two_splits(content: list[bytes]) -> None:
    splits = split_samples(content).tolist()
    places: dict[bytes, set[int]] = {}
    for digest, split in zip(content, splits, strict=True):
        places.setdefault(digest, set()).add(split)
    assert all(len(found) == 1 for found in places.values())
    assert len(places) < 3 or set(splits) == set(Split)
