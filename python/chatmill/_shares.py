"""A run in lots, for engines: planned once, one lot a task, published when all are done. What is shared is a folder, and nothing else.

Whoever has no engine does the same with the commands ``plan``, ``work`` and ``finish``.
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

# How long somebody who counts lots waits between two looks, in seconds: they lie on a shared disk.
_PAUSE = 2.0
# An engine may give one process many tasks at once; each lot takes memory of its own.
_AT_ONCE = threading.BoundedSemaphore(os.cpu_count() or 1)


class Lot(NamedTuple):
    """How a lot ended, as it travels from a task to the driver."""

    lot: int
    reason: str | None
    refused: bool


class Shares:
    """What was planned, as the driver holds it."""

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
        # Tasks stand in other folders than the driver.
        self.out: str = os.path.abspath(planned["out"])
        self.lots: int = planned["lots"]
        self.is_finished: bool = planned["finished"]
        self._stage = "lots"

    def _status(self) -> dict[str, Any]:
        status: dict[str, Any] = json.loads(answer(["status", "--format", "json", "--", self.out])[1])
        return status

    def rounds(self) -> Iterator[None]:
        """How often each lot is a task: twice where conversations are compared, since all are looked at before the first is rendered."""
        if self._status()["stage"] == "compare":
            self._stage = "compare"
            yield
            # A lot that failed is not compared; nothing can be rendered then.
            if self._status()["stage"] == "compare":
                return
            self._stage = "lots"
        yield

    def tell(self, done: int) -> None:
        """Tells whoever wants to know how many lots are done."""
        if self._told is not None:
            self._told(self._stage, done, self.lots)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Tells how many lots are done while an engine works that does not say so itself."""
        if self._told is None:
            yield
            return
        over = threading.Event()

        def watch() -> None:
            while not over.wait(_PAUSE):
                try:
                    status = self._status()
                except Error:
                    # What is wrong there, the tasks say.
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
        """Publishes the dataset, and gives what :func:`chatmill.run` gives; raises where a lot failed."""
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
    """Does one lot of what was planned for ``out``.

    What another attempt cannot help is said by what comes back; what it may help, a full disk or a file that cannot be read, is an error, so that the
    engine tries again.
    """
    with _AT_ONCE:
        try:
            _, text = answer(["work", "--shards", str(lot), "--threads", str(threads), "--format", "json", "--", out])
        except RequestError as error:
            return Lot(lot, str(error), True)
    return Lot(lot, json.loads(text)["failed"].get(str(lot)), False)
