"""Every Python block of the pages runs, in the order of its page, and prints what the page says.

tools/doc_blocks.py says how a page marks its blocks; tests/cli/docs_test.py runs the other languages, but for the
commands that need the package. The blocks of a page run in one folder, which holds what a clone has in data/.
"""

import contextlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import doc_blocks  # noqa: E402
import leat as tf  # noqa: E402

import leat as tf  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build")).resolve()
PATH = os.pathsep.join([str(pathlib.Path(sys.executable).parent), str(BUILD / "bin"), os.environ["PATH"]])


def is_run(block):
    return doc_blocks.runs(block, "python") or doc_blocks.runs(block, "sh") and block.needs is not None


BLOCKS = [block for block in doc_blocks.all_blocks(str(ROOT)) if is_run(block)]
PAGES = sorted({block.page for block in BLOCKS})


def run_python(block, scope):
    """What a block prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (block.line - 1) + block.text, str(ROOT / block.page), "exec"), scope)
    return printed.getvalue()


def run_commands(block):
    """Likewise; lines of several processes come in any order, so they are sorted, as on the page."""
    environment = {**os.environ, "PATH": PATH, "PYTHONPATH": str(BUILD / "python")}
    done = subprocess.run(["bash", "-euc", block.text], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return "".join(sorted(done.stdout.splitlines(True)))


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    scope = {"__name__": "__main__"}
    for block in BLOCKS:
        if block.page != page or block.needs is not None and importlib.util.find_spec(block.needs) is None:
            continue
        printed = run_python(block, scope) if block.language == "python" else run_commands(block)
        if block.output is not None:
            assert printed == block.output, f"{page}:{block.line}"


def test_blocks_are_found():
    assert len(BLOCKS) >= 4 and {"README.md", "docs/PYTHON.md"} <= set(PAGES)


@pytest.mark.parametrize("text, found", [
    ("```python\na\n```\n```output\nb\n```\n", [("python", None, None, None, "a\n", "b\n")]),
    ("* x\n\n  ```c from src/a.c\n  a\n\n    b\n  ```\n", [("c", "src/a.c", None, None, "a\n\n  b\n", None)]),
    ("```sh not-run: needs a network\na\n```\n", [("sh", None, "needs a network", None, "a\n", None)]),
    ("```python needs: torch\na\n```\n", [("python", None, None, "torch", "a\n", None)]),
])
def test_blocks_are_read(text, found):
    assert [tuple(block[2:]) for block in doc_blocks.blocks("a.md", text)] == found


def is_there(name):
    one = tf
    for word in name.split(".")[1:]:
        one = getattr(one, word, None)
    return one is not None


def test_what_the_page_of_names_misses_is_missing():
    """docs/NAMES.md is written beside TensorFlow; here it must not lag behind what leat has."""
    lines = (ROOT / "docs/NAMES.md").read_text().splitlines()
    table = [line for line in lines if line.startswith("| tf") and line.count("|") == 6]
    rows = [[cell.strip() for cell in line.split("|")[1:6]] for line in table]
    missing = [module if names == "all" else f"{module}.{name}"
               for module, _, _, _, names in rows for name in names.split()]
    assert len(missing) > 50
    assert [name for name in missing if is_there(name)] == [], "python3 -B tools/differ/main.py --names > docs/NAMES.md"


@pytest.mark.parametrize("value, text", [
    (tf.constant([0.5, -1, 2, 3, 4, 5]), "float32[6]: 0.5, -1, 2, 3, 4, ..."), (tf.constant(7), "int32: 7"),
    ((tf.constant([True]), tf.constant([["a" * 30]])), "bool[1]: True; string[1, 1]: b'aaaaaaaaaaaaaaaaaaa..."),
    (tf.constant([1.5], tf.bfloat16), "bfloat16[1]: 1.5"), (tf.zeros([0, 2]), "float32[0, 2]: "),
    (tf.constant([1 + 2j]), "complex128[1]: (1+2j)")])
def test_results_of_examples_are_shown(value, text):
    import reference
    assert reference.shown(value) == text
