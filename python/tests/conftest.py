"""Fixtures that several files share."""

import signal

import pytest

import leat as tf

# A shell lets what it starts in the background ignore Ctrl-C, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def traced(monkeypatch):
    """Functions that become callbacks fail."""
    def refuse(function, what, reason):
        raise AssertionError(f"a callback, {what}: {reason}")
    monkeypatch.setattr(tf.trace, "announce", refuse)
