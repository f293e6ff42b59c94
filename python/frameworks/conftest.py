"""leat beside PyTorch, torchdata, Lightning, scikit-learn, Ray Train and Keras on PyTorch. `make test-frameworks`; what
is skipped here has failed."""

import os
import pathlib
import sys

import pytest

os.environ["KERAS_BACKEND"] = "torch"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that is skipped is one that failed."""
    report = (yield).get_result()
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which here is a failure: {report.longrepr}"
