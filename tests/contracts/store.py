"""What every workspace must do, whatever database is behind it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text

from core.errors import NotFoundError, RequestError
from core.jobs import queue
from core.store import clean
from core.store.migrate import migrate
from core.store.rows import CandidateRow, ModelRow, now
from core.store.tables import JOBS, METADATA, MODELS
from core.store.workspace import Workspace

Opener = Callable[[], Workspace]


def stored_model(workspace: Workspace, content: bytes = b"model", name: str = "digits") -> ModelRow:
    """Puts a file in and registers it as a model."""
    return workspace.add_model(name, workspace.files.put(content), len(content), "test")


def stored_candidate(workspace: Workspace, model: ModelRow, content: bytes = b"candidate") -> CandidateRow:
    """Puts a file in and registers it as a candidate of the model."""
    made = CandidateRow(
        model_sha256=model.sha256,
        file_sha256=workspace.files.put(content),
        recipe={"version": 1, "rules": []},
        plan={"layers": [{"layer": "conv1", "why": "fast"}]},
        report={"bytes": len(content), "fidelity": {"sqnr_db": 40.5}},
        name="all int8",
    )
    return workspace.add_candidate(made)


BACK_TO_THE_FIRST_SCHEMA = (
    "DROP TABLE shapes",
    "DROP TABLE baselines",
    "ALTER TABLE jobs DROP COLUMN resumes",
    "DROP INDEX ix_cache_model",
    "ALTER TABLE cache DROP COLUMN model_sha256",
)


def delete_all_and_fail(workspace: Workspace) -> None:
    """A block that goes wrong after it has changed something."""
    with workspace.database.writing() as connection:
        connection.execute(MODELS.delete())
        raise ZeroDivisionError


class OpenedWorkspaces:
    """Subclasses give the fixture `place`: how to open the same workspace again and again."""

    @pytest.fixture
    def opener(self, place: Opener) -> Iterator[Opener]:
        opened: list[Workspace] = []

        def open_again() -> Workspace:
            opened.append(place())
            return opened[-1]

        yield open_again
        for workspace in opened:
            workspace.close()

    @pytest.fixture
    def workspace(self, opener: Opener) -> Workspace:
        return opener()


class StoreContract(OpenedWorkspaces):
    """Rows, schema, and several processes at once."""

    # rows

    def test_a_model_comes_back_as_it_was_put_in(self, workspace: Workspace) -> None:
        row = stored_model(workspace, b"abc", "digits")
        assert workspace.models() == (row,)
        assert (row.name, row.size_bytes, row.origin) == ("digits", 3, "test")
        assert workspace.files.read(row.sha256) == b"abc"

    def test_a_model_larger_than_four_gigabytes_keeps_its_size(self, workspace: Workspace) -> None:
        assert workspace.add_model("large", "a" * 64, 5_000_000_000).size_bytes == 5_000_000_000

    def test_a_model_added_again_takes_the_new_name_and_keeps_its_age(self, workspace: Workspace) -> None:
        first = stored_model(workspace, name="old name")
        again = stored_model(workspace, name="new name")
        assert again == replace(first, name="new name")
        assert len(workspace.models()) == 1

    def test_models_come_newest_first(self, workspace: Workspace) -> None:
        rows = [stored_model(workspace, content) for content in (b"1", b"2", b"3")]
        assert workspace.models() == tuple(reversed(rows))

    def test_times_are_in_utc_and_know_it(self, workspace: Workspace) -> None:
        before = now()
        row = workspace.model(stored_model(workspace).sha256)
        assert row.created_at.tzinfo is UTC
        assert before <= row.created_at <= now()

    def test_a_unique_prefix_finds_a_model(self, workspace: Workspace) -> None:
        row = workspace.add_model("m", "abcdef" + "0" * 58, 1)
        workspace.add_model("n", "abcdee" + "0" * 58, 1)
        assert workspace.model("abcdef") == row

    @pytest.mark.parametrize("wanted", ["abcdef", "abcde", "", "%%%%%%%", "f" * 64])
    def test_an_ambiguous_short_or_unknown_hash_is_not_found(self, workspace: Workspace, wanted: str) -> None:
        workspace.add_model("m", "abcdef0" + "0" * 57, 1)
        workspace.add_model("n", "abcdef1" + "0" * 57, 1)
        with pytest.raises(NotFoundError, match="The workspace has"):
            workspace.model(wanted)

    def test_data_belong_to_their_model(self, workspace: Workspace) -> None:
        first, second = stored_model(workspace, b"1"), stored_model(workspace, b"2")
        row = workspace.add_dataset("eval", "d" * 64, first.sha256, 7)
        same_data = workspace.add_dataset("eval", "d" * 64, second.sha256, 7, synthetic=True)
        assert workspace.datasets(first.sha256) == (row,)
        assert workspace.datasets(second.sha256) == (same_data,)
        assert workspace.dataset("d" * 64) == same_data
        assert (row.synthetic, same_data.synthetic) == (False, True)

    def test_data_of_an_unknown_model_are_refused(self, workspace: Workspace) -> None:
        with pytest.raises(NotFoundError, match="not in the workspace"):
            workspace.add_dataset("eval", "d" * 64, "f" * 64, 7)

    def test_a_candidate_comes_back_with_its_documents(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        row = stored_candidate(workspace, model)
        assert workspace.candidate(row.id) == row
        assert workspace.candidates(model.sha256) == (row,) == workspace.candidates()
        assert row.plan["layers"][0]["why"] == "fast"

    def test_candidates_come_newest_first_and_by_model(self, workspace: Workspace) -> None:
        model, other = stored_model(workspace, b"1"), stored_model(workspace, b"2")
        old, new = stored_candidate(workspace, model), stored_candidate(workspace, model)
        stored_candidate(workspace, other)
        assert workspace.candidates(model.sha256) == (new, old)

    def test_what_json_cannot_say_becomes_null(self, workspace: Workspace) -> None:
        workspace.cache_put("key", {"nan": math.nan, "list": [math.inf, 1.5], "nested": {"down": -math.inf}})
        assert workspace.cache_get("key") == {"nan": None, "list": [None, 1.5], "nested": {"down": None}}

    def test_a_mix_is_replaced_under_its_name(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        workspace.save_mix(model.sha256, "draft", {"rules": [1]})
        workspace.save_mix(model.sha256, "careful", {"rules": [2]})
        workspace.save_mix(model.sha256, "draft", {"rules": [3]})
        found = [(row.name, dict(row.recipe)) for row in workspace.mixes(model.sha256)]
        assert found == [("draft", {"rules": [3]}), ("careful", {"rules": [2]})]

    def test_a_mix_can_be_forgotten(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        workspace.save_mix(model.sha256, "draft", {})
        workspace.remove_mix(model.sha256, "draft")
        workspace.remove_mix(model.sha256, "never was")
        assert workspace.mixes(model.sha256) == ()

    def test_shapes_are_kept_with_their_model_under_a_name(self, workspace: Workspace) -> None:
        model, other = stored_model(workspace, b"1"), stored_model(workspace, b"2")
        workspace.save_shapes(model.sha256, "one image", {"image": (1, 3, 224, 224)})
        workspace.save_shapes(model.sha256, "eight images", {"image": [8, 3, 224, 224], "scale": ()})
        workspace.save_shapes(model.sha256, "one image", {"image": (1, 3, 192, 192)})
        found = [(row.name, row.shapes) for row in workspace.named_shapes(model.sha256)]
        assert found == [
            ("one image", {"image": (1, 3, 192, 192)}),
            ("eight images", {"image": (8, 3, 224, 224), "scale": ()}),
        ]
        assert workspace.named_shapes(other.sha256) == ()

    def test_shapes_can_be_forgotten_and_need_a_model(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        saved = workspace.save_shapes(model.sha256, "small", {"x": (1, 8)})
        assert workspace.named_shapes(model.sha256) == (saved,)
        workspace.remove_shapes(model.sha256, "small")
        workspace.remove_shapes(model.sha256, "never was")
        assert workspace.named_shapes(model.sha256) == ()
        with pytest.raises(NotFoundError):
            workspace.save_shapes("f" * 64, "small", {"x": (1, 8)})

    def test_a_model_has_one_baseline_until_it_is_the_original_again(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        first, second = stored_candidate(workspace, model), stored_candidate(workspace, model)
        assert workspace.baseline(model.sha256) is None
        workspace.set_baseline(model.sha256, first.id)
        workspace.set_baseline(model.sha256, second.id[:8])
        assert workspace.baseline(model.sha256) == second.id
        workspace.set_baseline(model.sha256, None)
        assert workspace.baseline(model.sha256) is None

    def test_a_baseline_is_a_candidate_of_that_model_and_goes_with_it(self, workspace: Workspace) -> None:
        model, other = stored_model(workspace, b"1"), stored_model(workspace, b"2")
        foreign, own = stored_candidate(workspace, other), stored_candidate(workspace, model)
        for refused in (foreign.id, "0" * 12):
            with pytest.raises(NotFoundError):
                workspace.set_baseline(model.sha256, refused)
        workspace.set_baseline(model.sha256, own.id)
        clean.remove_candidate(workspace, own.id)
        assert workspace.baseline(model.sha256) is None

    def test_the_cache_keeps_the_last_value_of_a_key(self, workspace: Workspace) -> None:
        assert workspace.cache_get("key") is None
        assert workspace.cached_at("key") is None
        before = now()
        workspace.cache_put("key", {"value": 1})
        workspace.cache_put("key", {"value": 2})
        assert workspace.cache_get("key") == {"value": 2}
        cached_at = workspace.cached_at("key")
        assert cached_at is not None
        assert before <= cached_at <= now()

    # several at once

    def test_what_one_process_writes_another_sees(self, opener: Opener) -> None:
        one, other = opener(), opener()
        row = stored_model(one)
        assert other.model(row.sha256) == row
        assert other.files.read(row.sha256) == b"model"

    def test_threads_write_at_once_without_losing_anything(self, workspace: Workspace) -> None:
        def write(thread: int) -> None:
            for i in range(10):
                workspace.cache_put(f"{thread}/{i}", {"i": i})

        threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(workspace.cache_get(f"{t}/{i}") == {"i": i} for t in range(6) for i in range(10))

    def test_a_transaction_that_fails_changes_nothing(self, workspace: Workspace) -> None:
        row = stored_model(workspace)
        with pytest.raises(ZeroDivisionError):
            delete_all_and_fail(workspace)
        assert workspace.models() == (row,)

    # schema

    def test_the_migrated_schema_is_that_of_the_tables(self, workspace: Workspace) -> None:
        with workspace.database.reading() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, METADATA) == []

    def test_a_workspace_of_the_first_schema_keeps_all_it_has(self, opener: Opener) -> None:
        first = opener()
        model = stored_model(first)
        built = stored_candidate(first, model)
        job_id = queue.submit(first, "profile", {"model": model.sha256})
        with first.database.writing() as connection:
            for change in (*BACK_TO_THE_FIRST_SCHEMA, "UPDATE alembic_version SET version_num = '0001'"):
                connection.execute(text(change))
        first.close()
        again = opener()
        assert (again.models(), again.candidates()) == ((model,), (built,))
        with again.database.reading() as connection:
            assert connection.execute(select(JOBS.c.id, JOBS.c.resumes)).one() == (job_id, None)
            assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA) == []

    def test_migrating_again_changes_nothing(self, workspace: Workspace) -> None:
        row = stored_model(workspace)
        migrate(workspace.database, workspace.path / "mixdesk.lock")
        assert workspace.models() == (row,)

    def test_a_newer_schema_is_refused_with_what_to_do(self, opener: Opener) -> None:
        with opener().database.writing() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(RequestError, match=r"newer Mixdesk \(schema 9999") as refused:
            opener()
        assert "Update Mixdesk" in str(refused.value.hint)
