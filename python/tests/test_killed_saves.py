"""Saves whose process is killed in front of each of its calls that change files (killed_saves.py has the scenarios).

`make test-long` kills several hundred at random calls, and of more scenarios at each (tests/sweeps/kills_long_test.py).
"""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("h5py")
PRELOAD = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve() / "tests/faults_preload.so"
COUNT = int(os.environ.get("LEAT_KILLS", "15"))
PROGRAM = pathlib.Path(__file__).parent / "killed_saves.py"


def run(folder, *arguments):
    """The lines that the program prints: (scenario, number)."""
    (folder / "it").mkdir()
    environment = {**os.environ, "LD_PRELOAD": str(PRELOAD), "LEAT_FAULTS_FOLDER": str(folder / "it") + "/"}
    found = subprocess.run([sys.executable, PROGRAM, str(folder / "it"), *map(str, arguments)], env=environment,
                           capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return [(line.rsplit(" ", 1)[0], int(line.rsplit(" ", 1)[1])) for line in found.stdout.splitlines()]


@pytest.mark.skipif(not PRELOAD.exists(), reason="a sanitizer's build has no tests/faults_preload.so")
def test_saves_are_whole_wherever_they_are_killed(tmp_path):
    names = ["a.keras", "backup True"]
    if COUNT >= 500:
        names += ["a.weights.h5", "a.safetensors", "backup False", "weights in parts", "a.h5", "KerasFileEditor",
                  "saved_model.save", "Model.export"]
    found = run(tmp_path, "each", *names)
    assert sorted(name for name, _ in found) == sorted(names) and all(calls > 10 for _, calls in found)


@pytest.mark.skipif(not PRELOAD.exists(), reason="a sanitizer's build has no tests/faults_preload.so")
def test_random_kills(tmp_path):
    """LEAT_KILLS is how many processes are killed, LEAT_KILLS_SEED what decides which and where."""
    found = run(tmp_path, "random", COUNT, os.environ.get("LEAT_KILLS_SEED", "1"))
    assert sum(killed for _, killed in found) >= COUNT
    assert COUNT < 500 or all(killed > 0 for _, killed in found)
