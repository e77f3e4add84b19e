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


def words(name: str, given: object) -> list[object]:
    """A list of words, or a single one."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Iterable) and not isinstance(given, (bytes, bytearray, Mapping)):
        return list(given)
    raise TypeError(f"{name} must be a list of names, not {type(given).__name__}")
