"""What can go wrong, in three classes."""

from __future__ import annotations


class Error(Exception):
    """Something was not done.

    ``code`` is a word for the kind of error, for programs; ``place`` is the key, the file or the pattern
    that is at fault, where there is one.
    """

    def __init__(self, message: str, code: str = "error", place: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.place = place

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str | None]]:
        # Engines carry errors from one machine to another.
        return type(self), (str(self), self.code, self.place)


class RequestError(Error, ValueError):
    """The request is wrong; repeating it cannot help."""


class IncompleteError(Error):
    """It was not done, through no fault of the request; repeating it may help."""


class InternalError(Error):
    """A fault of chatmill itself; please report it."""
