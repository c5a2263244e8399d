"""The pages about Python are run: what a cell prints must be the text beneath it."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```)?", re.S)


ROOT = next(up for up in Path(__file__).resolve().parents if (up / "docs/python.md").exists())


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("python*.md"))]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_cells_of_a_page_print_what_it_says(page):
    if page.name not in ("python.md", "README.md"):
        pytest.importorskip("torch")
    names, cells = {}, list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    assert cells
    for cell in cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(cell["code"], page.name, "exec"), names)
        assert cell["printed"] is None or printed.getvalue() == cell["printed"]


@pytest.mark.parametrize("path", sorted((ROOT / "docs/labs").glob("*.ipynb")), ids=lambda path: path.name)
def test_the_cells_of_a_notebook_run(path):
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells and all(cell["outputs"] == [] for cell in cells)
    source = ["".join(cell["source"]) for cell in cells]
    if any("chop" in text for text in source):
        pytest.importorskip("torch")
    names = {}
    for text in source:
        exec(compile(text, path.name, "exec"), names)
