"""600 random pipelines over a data service whose iterators are saved and restored while workers come and go and the dispatcher is started
again: python/tests/test_service_restores.py, which else takes 6.

Needs .venv."""
import os
import sys
import unittest

from suites import suite

Restores = suite("test_service_restores", {**os.environ, "LEAT_SERVICE_RESTORES": "600", "LEAT_SERVICE_RESTORES_FROM": "1000"})

if __name__ == "__main__":
    sys.exit(unittest.main())
