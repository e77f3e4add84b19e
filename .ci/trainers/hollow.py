"""Single modules of a trainer's wheel, without the training stack that the whole package would import."""

import importlib
import importlib.util
import sys
import types
from pathlib import Path


def package(name):
    """A package with modules that can be imported, without running its own `__init__`."""
    if name in sys.modules:
        return
    top, *below = name.split(".")
    root = sys.modules[top].__path__[0] if top in sys.modules else Path(importlib.util.find_spec(top).origin).parent
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [str(Path(root).joinpath(*below))]


def stand_in(name, **members):
    """A module with these members only, in place of one that needs a graphics card's libraries."""
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(members)
    parent, _, own = name.rpartition(".")
    setattr(sys.modules[parent], own, module)


def load(name):
    return importlib.import_module(name)
