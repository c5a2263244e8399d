"""The exceptions of the package."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

# A place is `file:line:column` or `line:column` at the start of a line.
_PLACED = re.compile(r"^(?P<place>(?:\S.*?:)?\d+:\d+): (?P<text>.*)$")
# The line above several problems of a file.
_COUNT = re.compile(r"^\d+ problems in ")


class Problem(NamedTuple):
    """One problem of an input."""

    text: str
    place: Optional[str]


class Error(ValueError):
    """Something that was asked for cannot be done. `problems` has every reason, each with its place if it has one."""

    @property
    def problems(self) -> list[Problem]:
        """The problems, in their order. Lines that are indented show the place of the one before them."""
        lines = [line for line in str(self).splitlines() if line and not line[0].isspace()]
        return [_problem(line) for line in lines if not (len(lines) > 1 and _COUNT.match(line))]


def _problem(text: str) -> Problem:
    match = _PLACED.match(text)
    return Problem(match["text"], match["place"]) if match else Problem(text, None)


class MissingFile(Error, FileNotFoundError):
    """A file that is not there."""


class UnknownName(Error, KeyError):
    """A name that is in no table; the message suggests near ones."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
