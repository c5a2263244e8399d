"""Neural networks in number formats: trained, analysed, quantised, searched, exact to the bit.

    import mase
    data = mase.dataset("jsc-sim")
    graph = mase.model("jsc-tiny")
    mase.train(graph, data, max_epochs=3, learning_rate=1e-2, batch_size=256, progress=print)
    print(mase.test(graph, data))

What Python gets is what the program `ch` computes, to the bit. `mase.explain(word)` says what a word means.
"""

from __future__ import annotations

from ._core import (
    Codes,
    Dataset,
    Epoch,
    Format,
    Formats,
    Graph,
    Node,
    Report,
    Run,
    Search,
    Split,
    compare,
    dataset,
    explain,
    load,
    model,
    names,
    test,
)
from ._errors import Error, Problem, UnknownName
from ._progress import search, train

__all__ = [
    "Codes",
    "Dataset",
    "Epoch",
    "Error",
    "Format",
    "Formats",
    "Graph",
    "Node",
    "Problem",
    "Report",
    "Run",
    "Search",
    "Split",
    "UnknownName",
    "compare",
    "dataset",
    "datasets",
    "explain",
    "formats",
    "load",
    "model",
    "models",
    "names",
    "ops",
    "passes",
    "search",
    "test",
    "train",
]


def models() -> list[str]:
    """The names of the networks that `model` makes."""
    return [name for name, _ in names("models")]


def datasets() -> list[str]:
    """The names of the datasets that `dataset` opens."""
    return [name for name, _ in names("datasets")]


def ops() -> list[str]:
    """The names of the operators."""
    return [name for name, _ in names("ops")]


def formats() -> list[str]:
    """The names of the number formats."""
    return [name for name, _ in names("formats")]


def passes() -> list[str]:
    """The names of the passes that `Graph.apply` runs."""
    return [name for name, _ in names("passes")]
