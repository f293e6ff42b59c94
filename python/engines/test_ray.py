"""leat.ray on a local cluster of Ray: workers that are killed come back, their number follows, nothing is left."""

import os
import subprocess
import sys
import textwrap
import time

import pytest
import ray

import leat as tf
import leat.ray

SMALL = {"num_cpus": 0.2}


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def no_token(monkeypatch):
    """The token that a service draws is no other test's."""
    monkeypatch.setenv("LEAT_SERVICE_TOKEN", "")


def until(condition, what, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it took too long until {what}"
        time.sleep(0.05)


def read(service, count, **more):
    """The elements of range(count) by the service, sorted."""
    dataset = tf.data.Dataset.range(count)
    dataset = dataset.apply(tf.data.experimental.service.distribute("distributed_epoch", service.address, **more))
    return sorted(dataset.as_numpy_iterator())


def states(service):
    return sorted(worker["state"] for worker in service.status()["workers"])


def test_reading(cluster, no_token):
    with leat.ray.start_service(2, worker_options=SMALL) as service:
        service.wait()
        assert read(service, 1000) == list(range(1000))
        assert states(service) == ["ready", "ready"]
        address, token = service.address, service.token
        assert service.environment == {"LEAT_SERVICE_ADDRESS": address, "LEAT_SERVICE_TOKEN": token}
        assert len(token) == 64
    with pytest.raises(tf.errors.OpError):
        service.status()
    service.stop()


def test_a_killed_worker_comes_back(cluster, no_token):
    with leat.ray.start_service(2, worker_options=SMALL, worker_timeout_s=1) as service:
        service.wait()
        ray.kill(service._workers[0], no_restart=False)
        until(lambda: states(service) == ["lost", "ready", "ready"], "it is back")
        assert read(service, 1000) == list(range(1000))


def test_a_killed_dispatcher_comes_back(cluster, no_token, tmp_path):
    """On its work folder, at the same address; workers join it again."""
    with leat.ray.start_service(1, worker_options=SMALL, work_dir=str(tmp_path)) as service:
        assert read(service, 100) == list(range(100))
        before = service.status()
        ray.kill(service._dispatcher, no_restart=False)
        until(lambda: service._try_status().get("incarnation", 0) > before["incarnation"], "it is back")
        until(lambda: "ready" in states(service), "its worker has joined")
        assert service.status()["service"] == before["service"]
        assert read(service, 100) == list(range(100))


def test_scale(cluster, no_token):
    """More are there at once; those that are too many are drained."""
    with leat.ray.start_service(1, worker_options=SMALL) as service:
        service.scale(3)
        service.wait(3)
        service.scale(1)
        until(lambda: states(service).count("ready") == 1, "two have left")
        assert "lost" not in states(service)
        assert read(service, 100) == list(range(100))
        assert service.num_workers == 1
        with pytest.raises(ValueError, match="num_workers"):
            service.scale(0)


def test_other_processes_read(cluster, no_token):
    @ray.remote(num_cpus=0.2)
    def sum_of(count):
        service = tf.data.experimental.service
        dataset = tf.data.Dataset.range(count)
        dataset = dataset.apply(service.distribute("distributed_epoch", os.environ["LEAT_SERVICE_ADDRESS"]))
        return int(sum(dataset.as_numpy_iterator()))

    with leat.ray.start_service(1, worker_options=SMALL) as service:
        task = sum_of.options(runtime_env={"env_vars": service.environment})
        assert ray.get(task.remote(100), timeout=120) == 4950


def test_follows(cluster, no_token, monkeypatch):
    """What the dispatcher recommends becomes the number of workers, more at once and fewer after a while."""
    with leat.ray.start_service(1, max_workers=3, worker_options=SMALL, follow_interval_s=0.05,
                                follow_patience=3) as service:
        real, asked = service.status, [9]

        def recommending():
            return {**real(), "jobs": [{"state": "active", "optimal_workers": asked[0]}]}

        monkeypatch.setattr(service, "status", recommending)
        until(lambda: service.num_workers == 3, "it has grown to its most")
        asked[0] = 0
        until(lambda: service.num_workers == 1, "it has shrunk to its least")


@pytest.mark.parametrize("jobs, expected", [
    ([], 4), ([{"state": "active"}], 4), ([{"state": "finished", "optimal_workers": 9}], 4),
    ([{"state": "active", "optimal_workers": 6}, {"state": "active", "optimal_workers": 5}], 6),
    ([{"state": "active", "optimal_workers": 100}], 8), ([{"state": "active", "optimal_workers": 0}], 2)])
def test_wanted_workers(jobs, expected):
    assert leat.ray.wanted_workers({"jobs": jobs}, 4, 2, 8) == expected


def test_no_resources(cluster, no_token):
    """A cluster that has no place for the first worker: an error that says so, and nothing left."""
    with pytest.raises(TimeoutError, match="resources"):
        leat.ray.start_service(1, worker_options={"num_cpus": 64}, ready_timeout_s=3)


def test_arguments(cluster, no_token):
    for arguments in ({"num_workers": 0}, {"num_workers": 1, "min_workers": 0}, {"num_workers": 5, "max_workers": 4}):
        with pytest.raises(ValueError, match="num_workers"):
            leat.ray.start_service(**arguments)


def test_the_guide(cluster, no_token, root):
    """The block of docs/SERVICE.md, but for its own cluster."""
    sys.path.insert(0, str(root / "tools"))
    import doc_blocks
    block, = [block for block in doc_blocks.blocks("SERVICE.md", (root / "docs" / "SERVICE.md").read_text())
              if block.needs == "ray"]
    ray.shutdown()
    done = subprocess.run([sys.executable, "-c", block.text], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, block.output), done.stderr
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)


def test_without_ray():
    """The error names the package and the way to it."""
    program = textwrap.dedent("""
        import sys
        sys.modules["ray"] = None
        import leat.ray
        try:
            leat.ray.start_service(1)
        except ImportError as error:
            print(error)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install ray" in done.stdout, done.stderr
