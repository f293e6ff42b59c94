"""leat beside the packages whose files and objects it takes. `make test-formats`; what is skipped here has failed."""

import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests"))  # remote_servers


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that is skipped is one that failed."""
    report = (yield).get_result()
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which here is a failure: {report.longrepr}"
