"""leat beside the packages whose files it reads and writes. `make test-interop`; what is skipped here has failed."""

import os
import pathlib
import sys

import pytest

os.environ["KERAS_BACKEND"] = "jax"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that is skipped is one that failed."""
    report = (yield).get_result()
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which here is a failure: {report.longrepr}"


@pytest.fixture(autouse=True)
def fresh_names():
    """Names of layers start anew, on both sides."""
    import keras as real
    from leat import keras
    keras.backend.clear_session()
    real.backend.clear_session()
