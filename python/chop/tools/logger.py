"""The logger `chop`."""

from __future__ import annotations

import logging
import sys

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR, "critical": logging.CRITICAL}


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what is standard output at the time, which notebooks replace."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record."""
        self.stream = sys.stdout
        super().emit(record)


def _root() -> logging.Logger:
    root = logging.getLogger("chop")
    if not root.handlers:
        handler = _Handler()
        handler.setFormatter(logging.Formatter("%(levelname)-8s %(message)s"))
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        root.propagate = False
    return root


def get_logger(name: str = "chop") -> logging.Logger:
    """The logger of this name beneath `chop`."""
    _root()
    return logging.getLogger(name if name == "chop" or name.startswith("chop.") else f"chop.{name}")


def set_logging_verbosity(level: str = "info") -> logging.Logger:
    """Sets the least severe records that are printed: "debug", "info", "warning", "error" or "critical"."""
    if level.lower() not in _LEVELS:
        raise ValueError(f"level: '{level}' is none of {', '.join(_LEVELS)}")
    root = _root()
    root.setLevel(_LEVELS[level.lower()])
    return root


# The name of earlier versions.
getLogger = get_logger
