"""Options of Python as keys of a pipeline file, so that one code checks both with the same messages."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import RequestError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def value(given: object) -> str:
    """A value as TOML writes it."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, (int, float)):
        return repr(given)
    if isinstance(given, str):
        if not _is_unicode(given):
            raise RequestError(f"{given!a} is no valid Unicode: it holds a lone surrogate", "value", None)
        # Strings of JSON are strings of TOML, but for one character that TOML wants escaped.
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(given, os.PathLike):
        return value(os.fspath(given))
    if isinstance(given, Mapping):
        pairs = (f"{_key(key)} = {value(item)}" for key, item in given.items() if item is not None)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(given, Iterable) and not isinstance(given, (bytes, bytearray)):
        return "[" + ", ".join(value(item) for item in given) + "]"
    raise TypeError(f"an option must be text, a number, a bool, a list or a dict, not {type(given).__name__}")


def _is_unicode(given: str) -> bool:
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of an option must be text, not {type(key).__name__}")
    return key if _BARE_KEY.match(key) else json.dumps(key)


def assignments(sections: Mapping[str, object]) -> list[str]:
    """Sections of a pipeline file as ``section.key=value``.

    >>> assignments({"policy": {"names": "prefix"}, "limits": {"depth": 5}})
    ['policy.names="prefix"', 'limits.depth=5']
    """
    made: list[str] = []
    for section, given in sections.items():
        if given is None:
            continue
        if isinstance(given, Mapping):
            for key, item in given.items():
                if item is None:
                    continue
                if not isinstance(key, str):
                    raise TypeError(f"{section}: its keys must be text, not {type(key).__name__}")
                made.append(f"{section}.{key}={value(item)}")
        else:
            made.append(f"{section}={value(given)}")
    return made


def section(name: str, given: object) -> dict[str, Any]:
    """A section that must be a dict."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise RequestError(f"{name}: it must be a dict of keys, as in a pipeline file", "value", name)
    return dict(given)


def map_words(given: object) -> list[str]:
    """A table map as the words of ``--map``.

    >>> map_words({"table": ["a", "b"], "content": "text", "sender_from": {"table": "users", "id": "id", "agent": "is_bot"}})
    ['table=a', 'table=b', 'content=text', 'sender_from=users:id::is_bot']
    """
    made: list[str] = []
    for key, item in section("map", given).items():
        if isinstance(item, Mapping):
            item = ":".join(text(key, item.get(part, "")) for part in ("table", "id", "name", "agent")).rstrip(":")
        made += [f"{key}={text(key, word)}" for word in words(key, item)]
    return made


def words(name: str, given: object) -> list[object]:
    """A list of words, or a single one."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Iterable) and not isinstance(given, (bytes, bytearray, Mapping)):
        return list(given)
    raise TypeError(f"{name} must be a list of names, not {type(given).__name__}")


def text(name: str, given: object) -> str:
    """A word, which must be text."""
    if not isinstance(given, str):
        raise TypeError(f"{name} must be text, not {type(given).__name__}")
    return given


def number(name: str, given: object) -> int:
    """A number of something, 0 included."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{name} must be a number, not {type(given).__name__}")
    if not 0 <= given < 1 << 31:
        raise RequestError(f"{name}: {given} is not a number from 0 on", "value", name)
    return given


def path(name: str, given: object) -> str:
    """A path as text."""
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"{name} must be text or a path, not {type(given).__name__}")
    written = os.fspath(given)
    if not isinstance(written, str):
        raise TypeError(f"{name} must be a path of text, not of {type(written).__name__}")
    if not written:
        raise RequestError(f"{name}: the path is empty", "value", name)
    return written


def paths(name: str, given: object) -> list[str]:
    """A path, or a list of them."""
    if isinstance(given, (str, os.PathLike)):
        return [path(name, given)]
    if not isinstance(given, Iterable) or isinstance(given, (bytes, bytearray, Mapping)):
        raise TypeError(f"{name} must be a path or a list of paths, not {type(given).__name__}")
    return [path(f"{name} {number}", item) for number, item in enumerate(given)]
