"""A hundred thousand changed files of models: python/tests/test_strangers_mutated.py, which else takes a few hundred.

Needs .venv."""
import os
import sys
import unittest

from suites import suite

Strangers = suite("test_strangers_mutated", {"LEAT_MUTATIONS": "20000", **os.environ}, packages=("pytest", "h5py"))

if __name__ == "__main__":
    sys.exit(unittest.main())
