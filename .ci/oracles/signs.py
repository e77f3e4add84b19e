"""Small questions that the rules of several vendors ask of ids, names, texts and definitions of tools."""

import re

WORD = re.compile(r"[a-zA-Z0-9_-]+")


def is_word(text, most):
    return isinstance(text, str) and 1 <= len(text) <= most and WORD.fullmatch(text) is not None


def is_blank(text):
    return not isinstance(text, str) or not text.strip()


def tools(defined, rule, most=64, word="object"):
    """Tools have different names, and take an object."""
    names = set()
    for name, parameters in defined:
        if name in names:
            yield rule, f"two tools are called {name!r}"
        names.add(name)
        if not is_word(name, most):
            yield rule, f"defined tool {name!r}"
        if parameters is not None and parameters.get("type") != word:
            yield rule, f"tool {name!r} takes no object"
