"""10,000 random pipelines whose iterators are restored while others live: python/tests/test_restores.py, which else takes 150.

Needs .venv."""
import os
import sys
import unittest

from suites import suite

Restores = suite("test_restores", {**os.environ, "LEAT_RESTORES": "10000", "LEAT_RESTORES_FROM": "1000"})

if __name__ == "__main__":
    sys.exit(unittest.main())
