"""The pages about Python are run: what a cell prints must be the text beneath it."""

import contextlib
import io
import re
from pathlib import Path

import pytest

BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```)?", re.S)


def pages():
    root = next((up for up in Path(__file__).resolve().parents if (up / "docs/python.md").exists()), None)
    return [root / "README.md", *sorted((root / "docs").glob("python*.md"))] if root else []


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
