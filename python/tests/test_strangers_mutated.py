"""Changed files of models, weights and arrays: each is refused or read, and nothing else happens (mutated_files.py).

A sample runs here; LEAT_MUTATIONS=20000 (`make test-long`) makes so many of each of the six kinds.
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


@pytest.mark.parametrize("kind", ["config", "keras", "h5", "old", "safetensors", "npy"])
def test_changed_files(tmp_path, kind):
    refused = 0
    for seed in range(SEEDS):
        done = subprocess.run([sys.executable, PROGRAM, kind, str(COUNT // SEEDS), str(seed), str(tmp_path)],
                              capture_output=True, text=True)
        assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
        refused += int(done.stdout)
    assert refused > COUNT // 5  # or nothing was changed


def test_no_plugin_is_loaded_for_a_file(tmp_path):
    """HDF5 asks each library of its plug-ins' folders whether it can open what its own reader cannot."""
    (tmp_path / "libstranger.so").write_bytes(b"no library")
    path = tmp_path / "m.weights.h5"
    path.write_bytes(b"no HDF5")
    program = f"""if True:
        import h5py, os
        from leat import keras
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
        def tell(what, read):
            try:
                read({str(path)!r})
            except (OSError, ValueError):
                os.write(2, f"[{{what}}]".encode())
        tell("leat", model.load_weights)
        tell("h5py", h5py.File)
        """
    environment = {**os.environ, "HDF5_PLUGIN_PATH": str(tmp_path), "LD_DEBUG": "files"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    of_leat, _, rest = done.stderr.partition("[leat]")
    of_h5py, _, _ = rest.partition("[h5py]")
    assert "libstranger.so" not in of_leat
    assert "libstranger.so" in of_h5py, "the folders are HDF5's again"
