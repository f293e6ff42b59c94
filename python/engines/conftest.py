"""leat on machines that others manage. `make test-engines`; what is skipped here has failed."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that is skipped is one that failed."""
    report = (yield).get_result()
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which here is a failure: {report.longrepr}"


@pytest.fixture(scope="session")
def root():
    """The folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def tool():
    """The tool that was built."""
    return ROOT / os.environ.get("LEAT_BUILD", "build") / "bin" / "leat"
