"""Reports of progress: to nobody, to a function, or to a bar of tqdm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

Progress = Union[bool, None, Callable[[str, int, int], object]]


class _Bar:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=total, desc=stage, unit="B", unit_scale=True)
        self._bar.update(done - self._bar.n)
        if done >= total:
            self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def callback(progress: Progress) -> Callable[[str, int, int], object] | None:
    """The function for reports; ``True`` asks for a bar, where tqdm is installed."""
    if progress is None or progress is False:
        return None
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return _Bar(tqdm)
    if not callable(progress):
        raise TypeError(f"progress must be a function, True or None, not {type(progress).__name__}")
    return progress
