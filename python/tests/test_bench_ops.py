"""bench/ops: the lines and the page of a short run of leat beside itself, and beside a package with faults."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = os.environ.get("LEAT_BUILD", str(ROOT / "build"))

# leat, but for three functions: another value, another dtype, and the end of the process.
CROOKED = """
import os
import leat

def __getattr__(name):
    return getattr(leat, name)

class math:
    cosh = leat.math.cosh
    tanh = staticmethod(lambda x: leat.math.tanh(x) + 1)
    square = staticmethod(lambda x: leat.cast(leat.math.square(x), leat.float64))
    exp = staticmethod(lambda x: os._exit(3))
"""


def bench(folder, *arguments, code=0):
    """The lines that a run of bench-ops printed, and its error output."""
    (folder / "crooked.py").write_text(CROOKED)
    command = [sys.executable, "-B", str(ROOT / "bench/ops/main.py"), "--build", BUILD, "--peer", sys.executable,
               "--rounds", "2", "--seconds", "0.001", "--out", str(folder / "ops.jsonl"), *arguments]
    paths = os.pathsep.join([str(folder), os.path.join(BUILD, "python")])
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_lines_and_page(tmp_path):
    page = tmp_path / "SPEED.md"
    lines, told = bench(tmp_path, "--package", "leat", "--sizes", "small", "--page", str(page), "math.tanh",
                        "strings.length", "step.tabular")
    assert [(one["case"], one["size"], one["form"]) for one in lines] == [
        ("math.tanh", "small", "eager"), ("math.tanh", "small", "traced"), ("strings.length", "small", "eager"),
        ("strings.length", "small", "traced"), ("step.tabular", "", "step")]
    for one in lines:
        assert one["leat"] > 0 and one["ratio"] == one["leat"] / one["peer"]
    assert [one["case"] for one in lines if "numpy" in one] == ["math.tanh"]
    assert "0 broken" in told and (tmp_path / "ops.jsonl").read_text().count("\n") == len(lines)
    text = page.read_text().split("\n")
    rows = [line for line in text if line.startswith(("| math.tanh |", "| strings.length |"))]
    worst = [float(row.split("|")[2]) for row in rows]
    assert len(rows) == 2 and worst == sorted(worst, reverse=True)
    assert [line for line in text if line.startswith("| step.tabular |")] and "## Operations without a case" in text


def test_faults_are_told(tmp_path):
    lines, told = bench(tmp_path, "--package", "crooked", "--sizes", "small", "--forms", "eager",
                        "math.tanh", "math.square", "math.exp", "math.cosh")
    found = {one["case"]: one.get("broken") for one in lines}
    assert found["math.cosh"] is None
    assert "value" in found["math.tanh"] and "float32" in found["math.square"] and "3" in found["math.exp"]
    assert "3 broken" in told and not [one for one in lines if "broken" in one and "ratio" in one]


def test_against_an_earlier_run(tmp_path):
    before = tmp_path / "before.jsonl"
    line = {"case": "math.cosh", "size": "small", "form": "eager", "leat": 1, "peer": 1e9, "ratio": 1e-9}
    before.write_text(json.dumps(line) + "\n")
    options = ["--package", "leat", "--sizes", "small", "--forms", "eager", "--against", str(before), "math.cosh"]
    assert "math.cosh" in bench(tmp_path, *options, code=1)[1]
    before.write_text(json.dumps({**line, "ratio": 1e9}) + "\n")
    bench(tmp_path, *options)


@pytest.mark.parametrize("name", ["no.such", "math.tan?h"])
def test_a_case_that_is_not_there(tmp_path, name):
    assert "cases.py" in bench(tmp_path, "--package", "leat", name, code=1)[1]


def test_a_peer_that_is_not_there(tmp_path):
    assert "LEAT_BENCH_PEER" in bench(tmp_path, "--package", "no_such_package", "math.tanh", code=1)[1]
