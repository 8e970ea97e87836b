"""The workspace: one folder with a database, content-addressed files and logs, safe for several processes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import platformdirs
from sqlalchemy import Column, Table, select

from core.errors import NotFoundError, RequestError
from core.store.database import Database, is_writable, sqlite_url, upsert
from core.store.files import ContentFiles
from core.store.migrate import migrate
from core.store.rows import CandidateRow, DatasetRow, MixRow, ModelRow, ShapesRow, now
from core.store.strict_json import plain
from core.store.tables import BASELINES, CACHE, CANDIDATES, DATASETS, MIXES, MODELS, SHAPES

DATABASE_NAME = "mixdesk.db"
SHORTEST_PREFIX = 6


class Workspace:
    """Everything that outlives a process. Opening is cheap; every method is one short transaction.

    A hash or id may be shortened to any unique prefix of at least 6 characters where a row is looked up.
    """

    def __init__(self, path: Path, database: Database, files: ContentFiles) -> None:
        self.path = path
        self.database = database
        self.files = files
        self.logs = path / "logs"

    @classmethod
    def open(
        cls, path: Path | None = None, *, database_url: str | None = None, files_url: str | None = None
    ) -> Workspace:
        """Opens the workspace, creating it where it is not there yet.

        Args:
            path: the folder; default: MIXDESK_WORKSPACE, else the platform's user data folder.
            database_url: default: MIXDESK_DATABASE_URL, else a SQLite file in the folder.
            files_url: default: MIXDESK_FILES_URL, else a sub-folder.

        Raises:
            RequestError: the folder cannot be written, or the database is damaged, unreachable or of a newer version.
        """
        folder = (path or default_path()).expanduser().absolute()
        _prepare_folder(folder)
        database = Database(
            database_url or os.environ.get("MIXDESK_DATABASE_URL") or sqlite_url(folder / DATABASE_NAME)
        )
        try:
            migrate(database, folder / "mixdesk.lock")
        except BaseException:
            database.close()
            raise
        url = files_url or os.environ.get("MIXDESK_FILES_URL") or str(folder / "files")
        return cls(folder, database, ContentFiles(url, local_copies=folder / "copies"))

    def environment(self) -> dict[str, str]:
        """Environment variables by which another process opens this very workspace."""
        return {
            "MIXDESK_WORKSPACE": str(self.path),
            "MIXDESK_DATABASE_URL": self.database.url.render_as_string(hide_password=False),
            "MIXDESK_FILES_URL": self.files.url,
        }

    def close(self) -> None:
        """Gives the database connections of this process back."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # models and data

    def add_model(self, name: str, sha256: str, size_bytes: int, origin: str = "") -> ModelRow:
        """Registers a stored model file; a model known already keeps its age and takes the new name and origin."""
        values = {"sha256": sha256, "name": name, "size_bytes": size_bytes, "origin": origin, "created_at": now()}
        with self.database.writing() as connection:
            upsert(connection, MODELS, values, update=("name", "origin"))
        return self.model(sha256)

    def models(self) -> tuple[ModelRow, ...]:
        """All models, newest first."""
        statement = select(MODELS).order_by(MODELS.c.created_at.desc(), MODELS.c.sha256)
        with self.database.reading() as connection:
            return tuple(ModelRow(**row) for row in _dicts(connection.execute(statement).mappings().all()))

    def model(self, sha256: str) -> ModelRow:
        """The model with this hash; NotFoundError where there is none."""
        return ModelRow(**self._one(MODELS, MODELS.c.sha256, sha256, "model"))

    def add_dataset(
        self, name: str, sha256: str, model_sha256: str, size_bytes: int, *, synthetic: bool = False
    ) -> DatasetRow:
        """Registers stored data for a model; NotFoundError where the model is not in the workspace."""
        values = {
            "sha256": sha256,
            "model_sha256": model_sha256,
            "name": name,
            "size_bytes": size_bytes,
            "synthetic": synthetic,
            "created_at": now(),
        }
        with self.database.writing() as connection:
            upsert(connection, DATASETS, values, update=("name", "synthetic"))
        return next(row for row in self.datasets(model_sha256) if row.sha256 == sha256)

    def datasets(self, model_sha256: str) -> tuple[DatasetRow, ...]:
        """The data given for a model, newest first."""
        statement = (
            select(DATASETS)
            .where(DATASETS.c.model_sha256 == model_sha256)
            .order_by(DATASETS.c.created_at.desc(), DATASETS.c.sha256)
        )
        with self.database.reading() as connection:
            return tuple(DatasetRow(**row) for row in _dicts(connection.execute(statement).mappings().all()))

    def dataset(self, sha256: str) -> DatasetRow:
        """The data with this hash (its newest use); NotFoundError where there is none."""
        return DatasetRow(**self._one(DATASETS, DATASETS.c.sha256, sha256, "data set"))

    # candidates

    def add_candidate(self, candidate: CandidateRow) -> CandidateRow:
        """Keeps a built model; NotFoundError where its source model is not in the workspace."""
        values = {column.name: getattr(candidate, column.name) for column in CANDIDATES.columns}
        with self.database.writing() as connection:
            connection.execute(CANDIDATES.insert().values(values))
        return self.candidate(candidate.id)

    def candidates(self, model_sha256: str | None = None) -> tuple[CandidateRow, ...]:
        """The candidates of a model, or all, newest first."""
        statement = select(CANDIDATES).order_by(CANDIDATES.c.created_at.desc(), CANDIDATES.c.id)
        if model_sha256 is not None:
            statement = statement.where(CANDIDATES.c.model_sha256 == model_sha256)
        with self.database.reading() as connection:
            return tuple(CandidateRow(**row) for row in _dicts(connection.execute(statement).mappings().all()))

    def candidate(self, candidate_id: str) -> CandidateRow:
        """The candidate with this id; NotFoundError where there is none."""
        return CandidateRow(**self._one(CANDIDATES, CANDIDATES.c.id, candidate_id, "candidate"))

    # named recipes

    def save_mix(self, model_sha256: str, name: str, recipe: Mapping[str, Any]) -> MixRow:
        """Keeps a recipe under a name for a model, in place of an older one with that name."""
        row = MixRow(model_sha256=model_sha256, name=name, recipe=plain(recipe), updated_at=now())
        values = {"model_sha256": model_sha256, "name": name, "recipe": row.recipe, "updated_at": row.updated_at}
        with self.database.writing() as connection:
            upsert(connection, MIXES, values, update=("recipe", "updated_at"))
        return row

    def mixes(self, model_sha256: str) -> tuple[MixRow, ...]:
        """The named recipes of a model, last changed first."""
        statement = (
            select(MIXES).where(MIXES.c.model_sha256 == model_sha256).order_by(MIXES.c.updated_at.desc(), MIXES.c.name)
        )
        with self.database.reading() as connection:
            return tuple(MixRow(**row) for row in _dicts(connection.execute(statement).mappings().all()))

    def remove_mix(self, model_sha256: str, name: str) -> None:
        """Forgets a named recipe (nothing happens where there is none)."""
        with self.database.writing() as connection:
            connection.execute(MIXES.delete().where(MIXES.c.model_sha256 == model_sha256, MIXES.c.name == name))

    # shapes and baselines

    def save_shapes(self, model_sha256: str, name: str, shapes: Mapping[str, Sequence[int]]) -> ShapesRow:
        """Keeps the sizes of a model's inputs under a name, in place of older ones with that name."""
        kept = {given: [int(size) for size in sizes] for given, sizes in shapes.items()}
        values = {"model_sha256": model_sha256, "name": name, "shapes": kept, "updated_at": now()}
        with self.database.writing() as connection:
            upsert(connection, SHAPES, values, update=("shapes", "updated_at"))
        return _shapes_row(values)

    def named_shapes(self, model_sha256: str) -> tuple[ShapesRow, ...]:
        """The named shapes of a model, last changed first."""
        of_model = select(SHAPES).where(SHAPES.c.model_sha256 == model_sha256)
        statement = of_model.order_by(SHAPES.c.updated_at.desc(), SHAPES.c.name)
        with self.database.reading() as connection:
            return tuple(_shapes_row(row) for row in connection.execute(statement).mappings())

    def remove_shapes(self, model_sha256: str, name: str) -> None:
        """Forgets named shapes (nothing happens where there are none)."""
        with self.database.writing() as connection:
            connection.execute(SHAPES.delete().where(SHAPES.c.model_sha256 == model_sha256, SHAPES.c.name == name))

    def baseline(self, model_sha256: str) -> str | None:
        """The id of the candidate that the others of this model are compared with; None: the original."""
        chosen = select(BASELINES.c.candidate_id).where(BASELINES.c.model_sha256 == model_sha256)
        with self.database.reading() as connection:
            found: str | None = connection.execute(chosen).scalar()
        return found

    def set_baseline(self, model_sha256: str, candidate_id: str | None) -> None:
        """Chooses the candidate that the others of this model are compared with; None: the original again.

        Raises:
            NotFoundError: the model has no such candidate.
        """
        chosen = None if candidate_id is None else self.candidate(candidate_id)
        if chosen is not None and chosen.model_sha256 != model_sha256:
            raise NotFoundError(f"Candidate {chosen.id} was not built from this model.")
        with self.database.writing() as connection:
            if chosen is None:
                connection.execute(BASELINES.delete().where(BASELINES.c.model_sha256 == model_sha256))
            else:
                values = {"model_sha256": model_sha256, "candidate_id": chosen.id}
                upsert(connection, BASELINES, values, update=("candidate_id",))

    # cache

    def cache_get(self, key: str) -> dict[str, Any] | None:
        """What was kept under `key`, or None."""
        with self.database.reading() as connection:
            value = connection.execute(select(CACHE.c.value).where(CACHE.c.key == key)).scalar()
        return None if value is None else dict(value)

    def cached_at(self, key: str) -> datetime | None:
        """When that was kept, or None."""
        with self.database.reading() as connection:
            moment: datetime | None = connection.execute(select(CACHE.c.created_at).where(CACHE.c.key == key)).scalar()
        return moment

    def cache_put(self, key: str, value: Mapping[str, Any], *, model: str | None = None) -> None:
        """Keeps a JSON object under `key`, in place of an older one; with `model` (a hash) it goes when that goes."""
        values = {"key": key, "value": value, "created_at": now(), "model_sha256": model}
        with self.database.writing() as connection:
            upsert(connection, CACHE, values, update=("value", "created_at", "model_sha256"))

    def _one(self, table: Table, key: Column[Any], wanted: str, noun: str) -> dict[str, Any]:
        """The newest row whose key is `wanted` or, if unique, begins with it."""
        exact = select(table).where(key == wanted).order_by(table.c.created_at.desc()).limit(1)
        longer = select(table).where(key.startswith(wanted, autoescape=True)).limit(2)
        with self.database.reading() as connection:
            rows = connection.execute(exact).mappings().all()
            if not rows and len(wanted) >= SHORTEST_PREFIX:
                rows = connection.execute(longer).mappings().all()
        if len({row[key.name] for row in rows}) != 1:
            shown = wanted if len(wanted) <= 16 else f"{wanted[:12]}..."
            found = f"several {noun}s that begin with" if rows else f"no {noun}"
            raise NotFoundError(f"The workspace has {found} {shown!r}.")
        return _dicts(rows)[0]


def default_path() -> Path:
    """MIXDESK_WORKSPACE, else the platform's user data folder."""
    named = os.environ.get("MIXDESK_WORKSPACE")
    return Path(named) if named else Path(platformdirs.user_data_dir("mixdesk", appauthor=False))


def _prepare_folder(folder: Path) -> None:
    try:
        (folder / "logs").mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise RequestError(
            f"The workspace folder {folder} cannot be made ({e.strerror}).",
            hint="Choose a folder that you may write to with --workspace.",
        ) from e
    if not is_writable(folder):
        raise RequestError(
            f"The workspace folder {folder} cannot be written.",
            hint="Choose a folder that you may write to with --workspace.",
        )


def _shapes_row(row: Mapping[Any, Any]) -> ShapesRow:
    values = {str(name): value for name, value in row.items()}
    shapes = {name: tuple(sizes) for name, sizes in values["shapes"].items()}
    return ShapesRow(**{**values, "shapes": shapes})


def _dicts(rows: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]
