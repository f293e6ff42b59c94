"""leat beside the packages whose files and objects it takes. `make test-formats`; what is skipped here has failed."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that is skipped is one that failed."""
    report = (yield).get_result()
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which here is a failure: {report.longrepr}"
