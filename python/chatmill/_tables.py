"""The results of reading and rendering, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._chatmill import Table, Work
from ._errors import RequestError
from ._settings import text

_READ = ("conversations", "messages", "alternatives", "message_references", "tool_calls", "findings", "rejects")
_RENDERED = ("renderings", "token_counts", "losses")


class _Tables:
    """Tables by their names, as attributes."""

    _names: tuple[str, ...] = _READ

    def _table(self, name: str) -> Table:
        raise NotImplementedError

    @property
    def conversations(self) -> Table:
        """One row per conversation."""
        return self._table("conversations")

    @property
    def messages(self) -> Table:
        """One row per message."""
        return self._table("messages")

    @property
    def alternatives(self) -> Table:
        """One row per message of an alternative answer."""
        return self._table("alternatives")

    @property
    def references(self) -> Table:
        """One row per reference of a message to another."""
        return self._table("message_references")

    @property
    def tool_calls(self) -> Table:
        """One row per call of a tool, with its result."""
        return self._table("tool_calls")

    @property
    def findings(self) -> Table:
        """One row per finding: what was seen, and where."""
        return self._table("findings")

    @property
    def rejects(self) -> Table:
        """One row per record or message that could not be kept."""
        return self._table("rejects")

    def __repr__(self) -> str:
        return f"<chatmill.{type(self).__name__} with {', '.join(self._names)}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{name}</td><td>{', '.join(self._table(name).column_names)}</td></tr>" for name in self._names
        )
        return f"<table><thead><tr><th>table</th><th>columns</th></tr></thead><tbody>{rows}</tbody></table>"


class _RenderedTables(_Tables):
    _names = _RENDERED + _READ

    @property
    def renderings(self) -> Table:
        """One row per rendering: a conversation in a dialect, seen from a perspective."""
        return self._table("renderings")

    @property
    def token_counts(self) -> Table:
        """One row per rendering and encoding: what its tokens are spent on."""
        return self._table("token_counts")

    @property
    def losses(self) -> Table:
        """One row per loss that a dialect declares."""
        return self._table("losses")


class _Worked(_Tables):
    """Tables that are made when they are read, each time anew."""

    def __init__(self, work: Work, sections: dict[str, Any]) -> None:
        self._work = work
        # The arguments, for `render` over the same data.
        self._sections = sections

    def _table(self, name: str) -> Table:
        return self._work.table(name)

    def _wanted(self, names: tuple[str, ...]) -> list[str]:
        wanted = [_TABLE_OF.get(text("a table's name", name), name) for name in names] or self._names
        for name in wanted:
            if name not in self._names:
                raise RequestError(f"there is no table {name!r} here, only {', '.join(self._names)}", "unknown-word", "table")
        return list(dict.fromkeys(wanted))

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return self._work.inputs


class Archive(_Worked):
    """What :func:`chatmill.read` gives: its tables are read when they are asked for."""

    def parts(self, *names: str) -> Iterator[Part]:
        """Several tables in one reading, a part of the input at a time; all where none are named."""
        return map(Part, self._work.parts(self._wanted(names)))

    def collect(self, *names: str) -> Part:
        """Several tables in one reading, all of it in memory."""
        return Part(self._work.parts(self._wanted(names)).collect())


class Rendered(_Worked, _RenderedTables):
    """What :func:`chatmill.render` gives. As a stream of Arrow batches it is its table ``renderings``."""

    _names = _RENDERED + _READ

    def parts(self, *names: str) -> Iterator[RenderedPart]:
        """Several tables in one pass, a part of the input at a time; all where none are named."""
        return map(RenderedPart, self._work.parts(self._wanted(names)))

    def collect(self, *names: str) -> RenderedPart:
        """Several tables in one pass, all of it in memory."""
        return RenderedPart(self._work.parts(self._wanted(names)).collect())

    @property
    def dialects(self) -> list[str]:
        """The dialects of the renderings."""
        return self._work.dialects

    @property
    def encodings(self) -> list[str]:
        """The encodings of the token counts."""
        return self._work.encodings

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.renderings.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.renderings.__arrow_c_schema__()


class Part(_Tables):
    """Tables of a part of the input, in memory."""

    def __init__(self, tables: dict[str, Table]) -> None:
        self._tables = tables
        self._names = tuple(tables)

    def _table(self, name: str) -> Table:
        try:
            return self._tables[name]
        except KeyError:
            asked = ", ".join(self._tables)
            raise AttributeError(f"the table {name} was not asked for, only {asked}") from None


class RenderedPart(Part, _RenderedTables):
    """Tables of a part of the input, in memory, renderings among them."""


_TABLE_OF = {"references": "message_references"}
