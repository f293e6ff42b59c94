"""Workers that go at 60 random positions of an epoch, for each level of visitation, policy and protocol:
python/tests/test_service_visits.py, which else takes one of each.

Needs .venv."""
import os
import sys
import unittest

from suites import suite

Visits = suite("test_service_visits", {**os.environ, "LEAT_VISITS": "60", "LEAT_VISITS_FROM": "1000"})

if __name__ == "__main__":
    sys.exit(unittest.main())
