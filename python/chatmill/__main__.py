"""``python -m chatmill``: the command line."""

from __future__ import annotations

import sys

from ._chatmill import program


def main() -> None:
    """Runs the command line with the arguments of the process."""
    sys.exit(program(["chatmill", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
