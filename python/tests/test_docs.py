"""Every Python block of the documentation runs, in the order of its page."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
PAGES = [page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
         if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        lines = text.count("\n", 0, block.start(1))
        exec(compile("\n" * lines + block[1], str(page), "exec"), scope)


def test_the_first_screen_is_tested():
    assert {"README.md", "PYTHON.md"} <= {page.name for page in PAGES}
