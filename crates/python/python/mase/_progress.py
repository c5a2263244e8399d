"""Training and search with their progress shown: by a function, as lines, or as a bar in a notebook."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Union

from . import _core
from ._core import Dataset, Epoch, Graph, Run, Search

Progress = Union[Callable[[Any], Any], bool, None]


def train(graph: Graph, data: Dataset, *, progress: Progress = None, **settings: Any) -> Run:
    """Trains a graph on a dataset with the settings of `ch train`, by their names and with their defaults.

    The graph gets the weights of the lowest validation loss, and the folder of the run the files that `ch train` writes.
    `progress` is a function that is called with every `Epoch`, True to show them, or None. Ctrl-C, and an exception in
    `progress`, end the training after the batch it is at, with a checkpoint to go on from (`resume=FOLDER`).
    """
    return _core.train(graph, data, progress=_shown(progress, _Bar.of_epoch), **settings)


def search(graph: Graph, data: Dataset, config: Any, *, progress: Progress = None, **options: Any) -> Search:
    """Searches over the formats of a graph as `ch search` does.

    `config` is a TOML file, or a dict like one or like its table `[search]`. `n_trials`, `sampler` and `storage` are the
    options of `ch search`; all others are settings by name. `progress` is as in `train`; it gets a dict of each trial.
    """
    return _core.search(graph, data, config, progress=_shown(progress, _Bar.of_trial), **options)


def _shown(progress: Progress, show: Callable[[_Bar, Any], None]) -> Optional[Callable[[Any], Any]]:
    if progress is None or progress is False:
        return None
    if progress is True:
        bar = _Bar()
        return lambda event: show(bar, event)
    if not callable(progress):
        raise TypeError(f"progress: expected a function, True or None, got {type(progress).__name__}")
    return progress


class _Bar:
    """A bar where a notebook shows one, else lines."""

    def __init__(self) -> None:
        self._handle = None
        notebook = sys.modules.get("IPython")
        shell = notebook.get_ipython() if notebook else None
        self._notebook = shell is not None and type(shell).__name__ == "ZMQInteractiveShell"

    def of_epoch(self, epoch: Epoch) -> None:
        self._show(epoch.epoch / epoch.epochs, str(epoch))

    def of_trial(self, trial: dict[str, Any]) -> None:
        self._show(None, f"trial {trial['number'] + 1}: {trial['values']}")

    def _show(self, share: Optional[float], line: str) -> None:
        if not self._notebook:
            print(line)
            return
        from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

        value = "" if share is None else f' value="{share:.4f}"'
        shown = HTML(f"<progress{value}></progress> <code>{line}</code>")
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)
