"""`make docs`: Sphinx builds the reference without a warning, and it has what a reader looks for. Needs .venv with the packages of
python/requirements-docs.txt."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build"))
PYTHON = ROOT / ".venv/bin/python"


def reason():
    """Why the reference cannot be built; None: it can."""
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import sphinx"], capture_output=True).returncode:
        return "there is no Sphinx in .venv; `make docs` installs it"
    if not (BUILD / "python/leat/_native.abi3.so").exists():
        return "the Python package was not built"
    return None


@unittest.skipIf(reason(), reason())
class Reference(unittest.TestCase):
    def test_reference(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PYTHON, "-B", ROOT / "tools/website/main.py", folder], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for page, words in {"tf.data": ("Dataset", "global_shuffle", "Elements of a batch."), "leat.torch": ("DataLoader",),
                                "tf": ("reduce_sum",), "tf.math": ("reduce_std",), "tf.keras.layers": ("Conv2D",),
                                "c-data_ops": ("leat_dataset_shuffle_options",)}.items():
                text = pathlib.Path(folder, "html/reference", page + ".html").read_text(encoding="utf-8")
                for word in words:
                    self.assertIn(word, text)


if __name__ == "__main__":
    sys.exit(unittest.main())
