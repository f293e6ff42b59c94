"""Some hundred saves whose process is killed at random calls: python/tests/test_killed_saves.py, which else kills 15.

LEAT_KILLS=10000 kills as many. Needs .venv."""
import os
import sys
import unittest

from suites import suite

Kills = suite("test_killed_saves", {"LEAT_KILLS": "600", **os.environ}, packages=("pytest", "h5py"), files=["tests/faults_preload.so"])
Checkpoints = suite("test_killed_saves_of_checkpoints", {"LEAT_KILLS": "600", **os.environ}, files=["tests/faults_preload.so"])

if __name__ == "__main__":
    sys.exit(unittest.main())
