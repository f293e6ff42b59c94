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
    monkeypatch.setattr(tf._graph.trace, "announce", refuse)


@pytest.fixture(autouse=True)
def without_a_seed():
    """Each test begins without a global seed, whatever ran before it."""
    tf.random.set_seed(None)
