"""The exceptions of the package."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

# A place is `file:line:column` or `line:column` at the start of a line.
_PLACED = re.compile(r"^(?P<place>(?:\S.*?:)?\d+:\d+): (?P<text>.*)$")


class Problem(NamedTuple):
    """One problem of an input."""

    text: str
    place: Optional[str]


class Error(ValueError):
    """Something that was asked for cannot be done. `problems` has every reason, each with its place if it has one."""

    @property
    def problems(self) -> list[Problem]:
        """The problems, in the order of their places."""
        lines = str(self).splitlines()
        found = [Problem(match["text"], match["place"]) for line in lines if (match := _PLACED.match(line))]
        return found or [Problem(str(self), None)]


class UnknownName(Error, KeyError):
    """A name that is in no table; the message suggests near ones."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
