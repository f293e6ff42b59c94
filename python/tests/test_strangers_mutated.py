"""Changed files of models, weights and arrays: each is refused or read, and nothing else happens (mutated_files.py).

A sample runs here; LEAT_MUTATIONS=20000 (`make test-long`) makes so many of each of the five kinds.
"""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("h5py")
PROGRAM = pathlib.Path(__file__).parent / "mutated_files.py"
COUNT = int(os.environ.get("LEAT_MUTATIONS", "80"))
SEEDS = max(2, COUNT // 5000)


@pytest.mark.parametrize("kind", ["config", "keras", "h5", "safetensors", "npy"])
def test_changed_files(tmp_path, kind):
    refused = 0
    for seed in range(SEEDS):
        done = subprocess.run([sys.executable, PROGRAM, kind, str(COUNT // SEEDS), str(seed), str(tmp_path)],
                              capture_output=True, text=True)
        assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
        refused += int(done.stdout)
    assert refused > COUNT // 5  # or nothing was changed
