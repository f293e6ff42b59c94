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


@pytest.fixture
def clusters(request):
    """Makes clusters of a data service, of the file's own class Cluster if it has one, and stops them in the end."""
    import service_clusters
    kind, made = getattr(request.module, "Cluster", service_clusters.Cluster), []

    def make(*args, **fields):
        made.append(kind(*args, **fields))
        return made[-1]
    yield make
    for one in made:
        one.stop()


@pytest.fixture(autouse=True)
def without_a_seed():
    """Each test begins without a global seed, whatever ran before it."""
    tf.random.set_seed(None)
