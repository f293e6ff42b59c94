"""Fixtures that several files share."""

import pytest

import leat as tf


@pytest.fixture
def traced(monkeypatch):
    """Functions that become callbacks fail."""
    def refuse(function, what, reason):
        raise AssertionError(f"a callback, {what}: {reason}")
    monkeypatch.setattr(tf.trace, "announce", refuse)
