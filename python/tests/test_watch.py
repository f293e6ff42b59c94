"""``options.watch``: a web page shows a dataset's iterators while they live."""
import http.client
import json
import os
import socket
import subprocess
import sys

import pytest

import leat as tf

BUILD = os.environ.get("LEAT_BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
pytestmark = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "tests", "web_serve")),
                                reason="this build has no libmicrohttpd")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def fetch(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def watched(port, name):
    options = tf.data.Options()
    options.watch = port
    options.dataset_name = name
    return tf.data.Dataset.range(100).map(lambda x: x + 1).batch(4).with_options(options)


def state_with(port, elements):
    """The state once it has come to so many elements: it is made anew every second."""
    while True:
        status, body = fetch(port, "/state")
        state = json.loads(body) if status == 200 else None
        if state and state["totals"]["elements"] >= elements:
            return state


def test_an_iterator_is_shown():
    port = free_port()
    iterator = iter(watched(port, "numbers"))
    assert [int(next(iterator)[0]) for _ in range(3)] == [1, 5, 9]
    state = state_with(port, 3)
    assert (state["kind"], state["pid"], state["name"]) == ("pipeline", os.getpid(), "numbers")
    [pipeline] = state["pipelines"]
    assert pipeline["name"] == "numbers"
    names = [operator["name"] for operator in pipeline["operators"]]
    assert names[-1] == "range" and pipeline["operators"][-1]["depth"] == len(names) - 1
    assert state["totals"]["consumers"] == 1
    second = iter(watched(port, "more"))
    next(second)
    status, metrics = fetch(port, "/metrics")
    assert status == 200
    samples = [line for line in metrics.splitlines() if line.startswith("leat_pipeline_seconds{")]
    assert sorted(line.split('"')[1] for line in samples) == ["more", "numbers"]
    assert metrics.count("# TYPE leat_pipeline_seconds ") == 1
    del iterator, second
    with pytest.raises(ConnectionRefusedError):
        fetch(port, "/healthz")


def test_a_token(monkeypatch):
    monkeypatch.setenv("LEAT_WATCH_TOKEN", "s3cret")
    port = free_port()
    iterator = iter(watched(port, "guarded"))
    next(iterator)
    assert fetch(port, "/metrics")[0] == 401
    assert fetch(port, "/metrics", Authorization="Bearer s3cret")[0] == 200
    assert fetch(port, "/healthz") == (200, "ok\n")


def test_a_port_that_is_taken():
    """The pipeline goes on without a page."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert len(list(watched(taken.getsockname()[1], "alone"))) == 25


@pytest.mark.parametrize("port", [-2, 65536])
def test_no_port(port):
    with pytest.raises(tf.errors.InvalidArgumentError, match="watch"):
        watched(port, "nowhere")


def test_a_child_of_fork():
    """It has neither the page nor the port, and its iterators may be shown at another one."""
    port = free_port()
    iterator = iter(watched(port, "parent"))
    next(iterator)
    child = os.fork()
    if child == 0:
        other = free_port()
        mine = iter(watched(other, "child"))
        os._exit(0 if fetch(other, "/healthz")[0] == 200 and int(next(mine)[0]) == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert fetch(port, "/healthz")[0] == 200


def test_the_environment(monkeypatch):
    """LEAT_WATCH shows every pipeline, and the page stays between two of them; options of a dataset come first."""
    port, other = free_port(), free_port()
    monkeypatch.setenv("LEAT_WATCH", str(port))
    plain = tf.data.Dataset.range(100).map(lambda x: x + 1)
    iterator = iter(plain)
    next(iterator)
    assert state_with(port, 1)["pipelines"][0]["operators"][-1]["name"] == "range"
    chosen = iter(watched(other, "chosen"))
    assert fetch(other, "/healthz") == (200, "ok\n")
    del iterator, chosen
    assert fetch(port, "/healthz") == (200, "ok\n")
    with pytest.raises(ConnectionRefusedError):
        fetch(other, "/healthz")
    assert [int(x) for x in plain.take(2)] == [1, 2]
    assert state_with(port, 3)["pid"] == os.getpid()


@pytest.mark.parametrize("value, warns", [("", False), ("0", False), ("eighty", True), ("70000", True), ("-1", True)])
def test_an_environment_without_a_port(value, warns):
    """Nothing is shown, and what is no port is told once."""
    program = "import leat as tf; print(sum(int(x) for _ in range(2) for x in tf.data.Dataset.range(4)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120,
                          env={**os.environ, "LEAT_WATCH": value})
    assert done.stdout == "12\n"
    assert done.stderr.count("LEAT_WATCH") == warns
