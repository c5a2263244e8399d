"""Modules that the Python MASE has in other places, and those that are not here. Skipped without PyTorch."""

import importlib

import pytest

pytest.importorskip("torch")

from chop._moved import MOVED  # noqa: E402
from chop._refused import REFUSED  # noqa: E402


@pytest.mark.parametrize("name", MOVED)
def test_modules_that_moved_have_the_names_of_their_places(name):
    module, here = importlib.import_module(name), importlib.import_module(MOVED[name])
    names = [key for key in vars(here) if key.endswith("_pass") or key in getattr(here, "__all__", ())]
    assert names and all(getattr(module, key) is getattr(here, key) for key in names)


@pytest.mark.parametrize("name", REFUSED)
def test_every_refused_module_says_why(name):
    with pytest.raises(ImportError, match="not in this package: .*; see docs/python-from-mase.md"):
        importlib.import_module(name)


@pytest.mark.parametrize(
    ("place", "name", "words"),
    [
        ("chop.actions", "simulate", "ch simulate"),
        ("chop.passes.graph", "runtime_analysis_pass", "ch report --time"),
        ("chop.passes", "rotation_transform_pass", "not rotated here"),
    ],
)
def test_names_that_are_refused_say_why(place, name, words):
    with pytest.raises(ImportError, match=words):
        getattr(importlib.import_module(place), name)
