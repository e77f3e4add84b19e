"""A run in lots, for engines: planned once, one lot a task, published when all are done. The tasks share only a folder.

Without an engine, the commands ``plan``, ``work`` and ``finish`` do the same.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _settings
from ._chatmill import answer
from ._errors import Error, IncompleteError, RequestError
from ._progress import Progress, callback

if TYPE_CHECKING:
    from typing import Union

    Path = Union[str, os.PathLike[str]]

# Seconds between two counts of the finished lots, which are read from a shared disk.
_PAUSE = 2.0
# An engine may give one process many tasks at once, and each lot takes memory.
_AT_ONCE = threading.BoundedSemaphore(os.cpu_count() or 1)


class Lot(NamedTuple):
    """How a lot ended, as it travels from a task to the driver."""

    lot: int
    reason: str | None
    refused: bool


class Shares:
    """The plan, as the driver holds it."""

    def __init__(
        self,
        pipeline: Path,
        out: Path | None,
        *,
        inputs: Path | Iterable[Path],
        threads: int,
        replace: bool,
        limit: int | None,
        progress: Progress,
        overrides: dict[str, Any],
    ) -> None:
        self.threads = _settings.number("threads", threads)
        self._told = callback(progress)
        arguments = ["--format", "json"]
        arguments += ["--out", _settings.path("out", out)] if out is not None else []
        arguments += [f"--input={path}" for path in _settings.paths("inputs", inputs)]
        arguments += ["--replace"] if replace else []
        arguments += ["--limit", str(_settings.number("limit", limit))] if limit is not None else []
        arguments += [f"--set={assignment}" for assignment in _settings.assignments(overrides)]
        arguments += ["--", _settings.path("pipeline", pipeline)]
        self._arguments = arguments
        planned = json.loads(answer(["plan", *arguments], self._told)[1])
        # Tasks run in other folders than the driver.
        self.out: str = os.path.abspath(planned["out"])
        self.lots: int = planned["lots"]
        self.is_finished: bool = planned["finished"]
        self._stage = "lots"

    def _status(self) -> dict[str, Any]:
        status: dict[str, Any] = json.loads(answer(["status", "--format", "json", "--", self.out])[1])
        return status

    def rounds(self) -> Iterator[None]:
        """The number of tasks of a lot: two where conversations are compared, since all are read before the first is rendered."""
        if self._status()["stage"] == "compare":
            self._stage = "compare"
            yield
            # A lot that failed is not compared; nothing can be rendered then.
            if self._status()["stage"] == "compare":
                return
            self._stage = "lots"
        yield

    def tell(self, done: int) -> None:
        """Reports how many lots are done."""
        if self._told is not None:
            self._told(self._stage, done, self.lots)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Reports how many lots are done, for an engine that does not report it itself."""
        if self._told is None:
            yield
            return
        over = threading.Event()

        def watch() -> None:
            while not over.wait(_PAUSE):
                try:
                    status = self._status()
                except Error:
                    # The tasks report the error themselves.
                    continue
                if (status["stage"] == "compare") == (self._stage == "compare"):
                    self.tell(len(status["done"]))

        watcher = threading.Thread(target=watch, name="chatmill-lots", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
        self.tell(self.lots)

    def finish(self, ended: Iterable[Lot] = ()) -> dict[str, Any]:
        """Publishes the dataset, and returns what :func:`chatmill.run` returns; raises where a lot failed."""
        failed = sorted({lot for lot in ended if lot.reason is not None})
        if failed:
            first = failed[0]
            more = f", and {len(failed) - 1} more lots" if len(failed) > 1 else ""
            message = f"lot {first.lot} failed: {first.reason}{more}"
            if any(lot.refused for lot in failed):
                raise RequestError(message, "lot", self.out)
            raise IncompleteError(message, "lot", self.out)
        if self.is_finished:
            code, text = answer(["run", *self._arguments], self._told)
        else:
            code, text = answer(["finish", "--format", "json", "--", self.out], self._told)
        summary: dict[str, Any] = json.loads(text)
        summary.setdefault("exit_code", code)
        return summary


def work(out: str, lot: int, threads: int) -> Lot:
    """Works off one lot of the plan for ``out``.

    A failure that another attempt cannot cure is in the result. One that it may cure, a full disk or a file that cannot be read, is raised, so
    that the engine tries again.
    """
    with _AT_ONCE:
        try:
            _, text = answer(["work", "--shards", str(lot), "--threads", str(threads), "--format", "json", "--", out])
        except RequestError as error:
            return Lot(lot, str(error), True)
    return Lot(lot, json.loads(text)["failed"].get(str(lot)), False)
