"""Every decoder with a thousand changes of each of its inputs: python/tests/test_damage.py, which else takes a sample.

Needs .venv."""
import os
import sys
import unittest

from suites import suite

Damage = suite("test_damage", {**os.environ, "LEAT_DAMAGE": "1000"})

if __name__ == "__main__":
    sys.exit(unittest.main())
