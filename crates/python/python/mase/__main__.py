"""The program `ch`: `python -m mase` and the script `ch`."""

from __future__ import annotations

import sys

from ._core import main as run


def main() -> None:
    """Runs the program with the words of the command line."""
    sys.exit(run(["ch", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
