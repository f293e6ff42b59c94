"""Snapshots that the workers of a data service write (distributed_save), and loading them, also while they are written.

What is expected is what TensorFlow 2.21 gives in the scenarios of its tests; data/snapshots.json has what it wrote
itself (tools/record/snapshots.py)."""

import base64
import collections
import json
import os
import pathlib
import signal
import subprocess
import threading

import numpy as np
import pytest

import leat as tf

BUILD = os.environ.get("LEAT_BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
LEAT = os.path.join(BUILD, "bin", "leat")
service = tf.data.experimental.service
PROTOCOL = "local"
CHUNK = 16 * 1024
RECORDED = json.loads((pathlib.Path(__file__).parent / "data" / "snapshots.json").read_text())


class Cluster:
    """A fault tolerant dispatcher and workers."""

    def __init__(self, folder, workers=1, **options):
        self.folder = folder
        self.options = {"fault_tolerant_mode": True, "work_dir": str(folder / "work"), **options}
        self.dispatcher = self.new_dispatcher()
        self.workers = [self.new_worker() for _ in range(workers)]

    def new_dispatcher(self, **more):
        return service.DispatchServer(service.DispatcherConfig(protocol=PROTOCOL, **{**self.options, **more}))

    def new_worker(self):
        return service.WorkerServer(service.WorkerConfig(
            self.dispatcher._address, protocol=PROTOCOL, heartbeat_interval_ms=100, dispatcher_timeout_ms=5000,
            snapshot_max_chunk_size_bytes=CHUNK))

    def restart_dispatcher(self):
        port = int(self.dispatcher._address.rpartition(":")[2])
        self.dispatcher.stop()
        self.dispatcher = self.new_dispatcher(port=port)

    def save(self, dataset, name="saved", **arguments):
        path = self.folder / name
        tf.data.experimental.distributed_save(dataset, str(path), self.dispatcher.target, **arguments)
        return str(path)

    def snapshots(self):
        return self.dispatcher._status()["snapshots"]

    def stop(self):
        for worker in self.workers:
            worker.stop()
        self.dispatcher.stop()


@pytest.fixture
def clusters(tmp_path):
    """Makes clusters, and stops them in the end."""
    made = []

    def make(workers=1, **options):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Cluster(folder, workers, **options))
        return made[-1]
    yield make
    for cluster in made:
        cluster.stop()


def values(dataset):
    return [np.asarray(value).tolist() for value in dataset.as_numpy_iterator()]


def wait(path):
    """Reads until the end comes, so that the snapshot is complete."""
    return sorted(values(tf.data.Dataset.load(path)))


# ---- saving and loading ----

@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("compression", ["AUTO", None, "SNAPPY", "GZIP"])
def test_save_and_load(clusters, workers, compression):
    path = clusters(workers).save(tf.data.Dataset.range(1000), compression=compression)
    assert wait(path) == list(range(1000))


def test_what_is_known_before_and_after(clusters):
    cluster = clusters(0)
    path = cluster.save(tf.data.Dataset.range(10))
    assert int(tf.data.Dataset.load(path).cardinality()) == tf.data.UNKNOWN_CARDINALITY
    cluster.workers.append(cluster.new_worker())
    wait(path)
    loaded = tf.data.Dataset.load(path)
    assert int(loaded.cardinality()) == 10
    assert loaded.element_spec == tf.TensorSpec((), tf.int64)


def test_nested_elements(clusters):
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": (["x", "y", "z"], [[1.0], [2.0], [3.0]])})
    path = clusters(2).save(dataset)
    loaded = sorted(tf.data.Dataset.load(path).as_numpy_iterator(), key=lambda element: element["a"])
    assert [int(element["a"]) for element in loaded] == [1, 2, 3]
    assert [element["b"][0] for element in loaded] == [b"x", b"y", b"z"]
    assert [element["b"][1].tolist() for element in loaded] == [[1.0], [2.0], [3.0]]


def test_no_elements(clusters):
    path = clusters(2).save(tf.data.Dataset.range(0))
    assert wait(path) == []
    assert int(tf.data.Dataset.load(path).cardinality()) == 0


def test_repeated_dataset(clusters):
    path = clusters(2).save(tf.data.Dataset.range(100).repeat(3))
    assert wait(path) == sorted(list(range(100)) * 3)


@pytest.mark.parametrize("repetitions", [1, 2])
def test_choose_from_datasets(clusters, repetitions):
    parts = [tf.data.Dataset.from_tensor_slices(list(word)) for word in ("abcde", "fghij", "klmno")]
    choice = tf.data.Dataset.range(3).repeat(5)
    dataset = tf.data.Dataset.choose_from_datasets(parts, choice, stop_on_empty_dataset=False).repeat(repetitions)
    path = clusters(1).save(dataset)
    assert wait(path) == sorted(letter.encode() for letter in "abcdefghijklmno" * repetitions)


def test_imbalanced_zip_and_repeat(clusters):
    dataset = tf.data.Dataset.zip((tf.data.Dataset.range(100), tf.data.Dataset.range(400))).repeat(3)
    path = clusters(1).save(dataset)
    loaded = sorted((int(a), int(b)) for a, b in tf.data.Dataset.load(path).as_numpy_iterator())
    assert loaded == sorted([(i, i) for i in range(100)] * 3)


def test_shuffled_and_batched(clusters):
    path = clusters(2).save(tf.data.Dataset.range(1000).shuffle(100).batch(7))
    assert sorted(x for batch in values(tf.data.Dataset.load(path)) for x in batch) == list(range(1000))


def test_functions_of_this_process(clusters):
    path = clusters(2).save(tf.data.Dataset.range(50).map(lambda x: tf.numpy_function(lambda v: v * 3, [x], tf.int64)))
    assert wait(path) == [3 * i for i in range(50)]


def test_several_at_once(clusters):
    cluster = clusters(2)
    paths = [cluster.save(tf.data.Dataset.range(i, i + 500), f"part_{i}") for i in range(8)]
    for i, path in enumerate(paths):
        assert wait(path) == list(range(i, i + 500))


def test_streams_of_a_worker(clusters):
    """No worker has more than worker_max_concurrent_snapshots streams: the others wait."""
    cluster = clusters(0, worker_max_concurrent_snapshots=2)
    gate = threading.Event()

    def held(x):
        gate.wait()
        return x
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(held, [x], tf.int64))
    paths = [cluster.save(dataset, f"part_{i}") for i in range(5)]
    cluster.workers.append(cluster.new_worker())
    active = [snapshot["active"] for snapshot in cluster.snapshots()]
    gate.set()
    assert sum(active) == 2
    assert max(active) == 1
    assert [wait(path) for path in paths] == [[0, 1, 2]] * 5


@pytest.mark.skipif(not os.path.exists(LEAT), reason="this is no build folder")
def test_streams_of_a_worker_by_the_tool(tmp_path):
    command = [LEAT, "service", "dispatcher", "--work-dir", str(tmp_path / "work"), "--fault-tolerant",
               "--worker-snapshots", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dispatcher:
        address = dispatcher.stdout.readline().split("://")[1].strip()
        for i in range(3):
            tf.data.experimental.distributed_save(tf.data.Dataset.range(1 << 40), str(tmp_path / str(i)), address)
        with service.WorkerServer(service.WorkerConfig(address)):
            status = json.loads(subprocess.check_output([LEAT, "service", "status", "--dispatcher", address, "--json"]))
        dispatcher.kill()
    assert sum(snapshot["active"] for snapshot in status["snapshots"]) == 2


def test_over_grpc(tmp_path):
    config = service.DispatcherConfig(fault_tolerant_mode=True, work_dir=str(tmp_path / "work"))
    with service.DispatchServer(config) as dispatcher, \
            service.WorkerServer(service.WorkerConfig(dispatcher._address)):
        tf.data.experimental.distributed_save(tf.data.Dataset.range(10), str(tmp_path / "saved"), dispatcher._address)
        assert wait(str(tmp_path / "saved")) == list(range(10))


# ---- loading ----

def test_reader_func(clusters):
    path = clusters(2).save(tf.data.Dataset.range(500))
    wait(path)
    loaded = tf.data.Dataset.load(path, reader_func=lambda chunks: chunks.shuffle(10).flat_map(lambda chunk: chunk))
    assert sorted(values(loaded)) == list(range(500))
    loaded = tf.data.Dataset.load(path, reader_func=lambda chunks: chunks.flat_map(lambda chunk: chunk.take(1)))
    assert 0 < len(values(loaded)) < 10


def test_order_is_the_same_again(clusters):
    path = clusters(3).save(tf.data.Dataset.range(20000))
    wait(path)
    loaded = tf.data.Dataset.load(path)
    first = values(loaded)
    assert first == values(loaded) == values(tf.data.Dataset.load(path))
    assert sorted(first) == list(range(20000))


@pytest.mark.parametrize("mode", ["DYNAMIC", "OFF", "DATA"])
def test_distributed_load(clusters, mode):
    cluster = clusters(2, worker_addresses=["localhost", "localhost"]) if mode == "DATA" else clusters(2)
    path = cluster.save(tf.data.Dataset.range(20000))
    wait(path)
    policy = service.ShardingPolicy[mode]
    loaded = tf.data.Dataset.load(path).apply(service.distribute(policy, cluster.dispatcher.target))
    assert sorted(values(loaded)) == sorted(list(range(20000)) * (2 if mode == "OFF" else 1))


def test_distributed_load_while_it_is_written(clusters):
    """What grows is one split."""
    cluster = clusters(0)
    path = cluster.save(tf.data.Dataset.range(1000))
    loaded = tf.data.Dataset.load(path).apply(
        service.distribute(service.ShardingPolicy.DYNAMIC, cluster.dispatcher.target))
    cluster.workers += [cluster.new_worker(), cluster.new_worker()]
    assert sorted(values(loaded)) == list(range(1000))


def test_enumerate_and_operators_behind(clusters):
    path = clusters(2).save(tf.data.Dataset.range(100))
    loaded = tf.data.Dataset.load(path).enumerate().batch(10, drop_remainder=True)
    pairs = [pair for numbers, batch in loaded.as_numpy_iterator() for pair in zip(numbers.tolist(), batch.tolist())]
    assert [number for number, _ in pairs] == list(range(100))
    assert sorted(value for _, value in pairs) == list(range(100))


def test_load_while_it_is_written(clusters):
    """The reader begins before the first worker is there, and is in the middle when the next one comes."""
    cluster = clusters(0)
    path = cluster.save(tf.data.Dataset.range(20000))
    iterator = iter(tf.data.Dataset.load(path))
    cluster.workers.append(cluster.new_worker())
    seen = [int(next(iterator)) for _ in range(10)]
    cluster.workers.append(cluster.new_worker())
    assert sorted(seen + [int(x) for x in iterator]) == list(range(20000))


def test_wait_for_it_to_appear(clusters):
    cluster = clusters(1)
    path, seen = str(cluster.folder / "saved"), []
    reader = threading.Thread(target=lambda: seen.extend(values(tf.data.Dataset.load(path, wait=True))))
    reader.start()
    cluster.save(tf.data.Dataset.range(100))
    reader.join()
    assert sorted(seen) == list(range(100))


def test_repeat_of_what_is_written(clusters):
    path = clusters(1).save(tf.data.Dataset.range(5000))
    assert sorted(values(tf.data.Dataset.load(path).repeat(3))) == sorted(list(range(5000)) * 3)


def test_checkpoint_of_a_reader(clusters, tmp_path):
    path = clusters(2).save(tf.data.Dataset.range(5000))
    wait(path)
    check_checkpoint(tf.data.Dataset.load(path), tf.data.Dataset.load(path), tmp_path)


def check_checkpoint(dataset, later, folder):
    """An iterator that is saved in the middle gives the rest again, in its order."""
    iterator = iter(dataset)
    head = [int(next(iterator)) for _ in range(1234)]
    saved = tf.train.Checkpoint(iterator=iterator).save(str(folder / "state"))
    rest = [int(x) for x in iterator]
    restored = iter(later)
    tf.train.Checkpoint(iterator=restored).restore(saved)
    again = [int(x) for x in restored]
    assert sorted(head + rest) == sorted(head + again) == list(range(5000))
    return rest, again


@pytest.mark.parametrize("shuffled", [False, True])
def test_checkpoint_while_it_is_written(clusters, tmp_path, shuffled):
    """Saved while the snapshot grew, restored when it was complete: each element once all the same."""
    cluster = clusters(0)
    path = cluster.save(tf.data.Dataset.range(20000))
    unfinished = tf.data.Dataset.load(path)
    unfinished = unfinished.shuffle(100, seed=1) if shuffled else unfinished
    iterator = iter(unfinished)
    cluster.workers.append(cluster.new_worker())
    head = [int(next(iterator)) for _ in range(500)]
    saved = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "state"))
    assert sorted(head + [int(x) for x in iterator]) == list(range(20000))
    later = tf.data.Dataset.load(path)
    restored = iter(later.shuffle(100, seed=1) if shuffled else later)
    tf.train.Checkpoint(iterator=restored).restore(saved)
    assert sorted(head + [int(x) for x in restored]) == list(range(20000))


def test_interrupt_while_it_waits(clusters):
    """Ctrl-C ends a wait for chunks that do not come."""
    path = clusters(0).save(tf.data.Dataset.range(10))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        next(iter(tf.data.Dataset.load(path)))
    timer.join()


# ---- refusals ----

def test_nothing_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        tf.data.Dataset.load(str(tmp_path / "nothing"))


def test_twice(clusters):
    cluster = clusters(1)
    path = cluster.save(tf.data.Dataset.range(10))
    with pytest.raises(tf.errors.AlreadyExistsError):
        cluster.save(tf.data.Dataset.range(10))
    wait(path)
    with pytest.raises(tf.errors.AlreadyExistsError):
        cluster.save(tf.data.Dataset.range(10))


@pytest.mark.parametrize("what", ["folder", "file", "saved"])
def test_something_is_there(clusters, what):
    cluster = clusters(1)
    path = cluster.folder / "saved"
    if what == "folder":
        path.mkdir()
    elif what == "file":
        path.write_text("x")
    else:
        tf.data.Dataset.range(3).save(str(path))
    with pytest.raises(tf.errors.AlreadyExistsError):
        cluster.save(tf.data.Dataset.range(10))


@pytest.mark.parametrize("address, error", [("", ValueError), (5, ValueError), (None, ValueError)])
def test_bad_address(tmp_path, address, error):
    with pytest.raises(error, match="data_service_address"):
        tf.data.experimental.distributed_save(tf.data.Dataset.range(10), str(tmp_path / "saved"), address)


@pytest.mark.parametrize("dataset", [tf.data.Dataset.range(10).repeat(), tf.data.experimental.Counter()])
def test_without_an_end(clusters, dataset):
    with pytest.raises(tf.errors.InvalidArgumentError, match="end"):
        clusters(1).save(dataset)


def test_bad_compression(clusters):
    cluster = clusters(1)
    with pytest.raises(ValueError, match="compression"):
        cluster.save(tf.data.Dataset.range(10), compression="foo")
    path = cluster.save(tf.data.Dataset.range(10), compression="SNAPPY")
    with pytest.raises(ValueError, match="compression"):
        tf.data.Dataset.load(path, compression="GZIP")
    assert sorted(values(tf.data.Dataset.load(path, compression="SNAPPY"))) == list(range(10))


def test_bad_element_spec(clusters):
    path = clusters(1).save(tf.data.Dataset.range(10))
    with pytest.raises(ValueError, match="element_spec"):
        tf.data.Dataset.load(path, element_spec=tf.TensorSpec((), tf.int32))
    assert sorted(values(tf.data.Dataset.load(path, element_spec=tf.TensorSpec((), tf.int64)))) == list(range(10))


def test_needs_a_fault_tolerant_dispatcher(tmp_path):
    with service.DispatchServer(service.DispatcherConfig(protocol=PROTOCOL)) as dispatcher:
        with pytest.raises(tf.errors.InvalidArgumentError, match="fault_tolerant_mode"):
            tf.data.experimental.distributed_save(tf.data.Dataset.range(10), str(tmp_path / "saved"), dispatcher.target)
    assert not (tmp_path / "saved").exists()


def test_sparse_elements(clusters):
    path = clusters(1).save(tf.data.Dataset.range(3).map(lambda x: tf.sparse.SparseTensor([[0]], [x], [2])))
    assert [tf.sparse.to_dense(x).numpy().tolist() for x in tf.data.Dataset.load(path)] == [[0, 0], [1, 0], [2, 0]]


def test_elements_without_a_form_in_files(clusters):
    with pytest.raises(tf.errors.UnimplementedError):
        clusters(1).save(tf.data.Dataset.range(3).window(2))


def test_a_folder_that_cannot_be_made(clusters):
    cluster = clusters(1)
    (cluster.folder / "file").write_text("x")
    with pytest.raises(tf.errors.OpError, match="file"):
        cluster.save(tf.data.Dataset.range(3), "file/below")


def test_an_element_fails(clusters):
    """The snapshot fails, which whoever loads it is told, and so is who does later."""
    cluster = clusters(2)
    dataset = tf.data.Dataset.range(4).map(
        lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "no"))
    path = cluster.save(dataset)
    with pytest.raises(tf.errors.InvalidArgumentError, match="check_numerics"):
        values(tf.data.Dataset.load(path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="check_numerics"):
        tf.data.Dataset.load(path)
    (snapshot,) = cluster.snapshots()
    assert snapshot["state"] == "failed"
    assert "check_numerics" in snapshot["why"]


# ---- damage ----

@pytest.fixture
def complete(clusters):
    path = clusters(1).save(tf.data.Dataset.range(10000), compression=None)
    wait(path)
    return pathlib.Path(path)


def test_a_byte_is_another_one(complete):
    chunk = sorted((complete / "chunks").iterdir())[0]
    data = bytearray(chunk.read_bytes())
    data[1000] ^= 1
    chunk.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError) as refused:
        values(tf.data.Dataset.load(str(complete)))
    # Each record takes 30 bytes, and is named by its first one.
    assert (refused.value.file, refused.value.byte) == (str(chunk), 990)


def test_a_chunk_is_cut(complete):
    chunk = sorted((complete / "chunks").iterdir())[0]
    chunk.write_bytes(chunk.read_bytes()[:900])
    with pytest.raises(tf.errors.DataLossError, match=chunk.name):
        values(tf.data.Dataset.load(str(complete)))


def test_a_chunk_is_gone(complete):
    sorted((complete / "chunks").iterdir())[0].unlink()
    with pytest.raises(tf.errors.DataLossError, match="gone"):
        tf.data.Dataset.load(str(complete))


def test_a_chunk_is_there_twice(complete):
    chunk = sorted((complete / "chunks").iterdir())[0]
    (complete / "chunks" / "chunk_0_0_3").write_bytes(chunk.read_bytes())
    with pytest.raises(tf.errors.DataLossError, match="twice"):
        tf.data.Dataset.load(str(complete))


def test_metadata_are_damaged(complete):
    (complete / "snapshot.metadata").write_text('element_spec: "\\377"\n')
    with pytest.raises(tf.errors.DataLossError, match="snapshot.metadata"):
        tf.data.Dataset.load(str(complete))


def test_without_the_spec_file(complete):
    """The metadata have the spec, too, as in TensorFlow."""
    (complete / "dataset_spec.pb").unlink()
    assert sorted(values(tf.data.Dataset.load(str(complete)))) == list(range(10000))


# ---- processes that die ----

def test_a_worker_comes_back_never(clusters):
    """Its streams are other workers' after its timeout; in TensorFlow the snapshot waits for it for ever."""
    cluster = clusters(2)
    path = cluster.save(tf.data.Dataset.range(50000))
    iterator = iter(tf.data.Dataset.load(path))
    seen = [int(next(iterator)) for _ in range(100)]
    cluster.workers.pop().stop()
    assert sorted(seen + [int(x) for x in iterator]) == list(range(50000))


def test_a_worker_drains(clusters):
    cluster = clusters(2)
    path = cluster.save(tf.data.Dataset.range(50000))
    iterator = iter(tf.data.Dataset.load(path))
    seen = [int(next(iterator)) for _ in range(100)]
    cluster.workers[0]._server.drain(60_000)
    assert sorted(seen + [int(x) for x in iterator]) == list(range(50000))


def test_the_only_worker_drains(clusters):
    cluster = clusters(1)
    path = cluster.save(tf.data.Dataset.range(50000))
    iterator = iter(tf.data.Dataset.load(path))
    seen = [int(next(iterator)) for _ in range(100)]
    cluster.workers.pop()._server.drain(60_000)
    cluster.workers.append(cluster.new_worker())
    assert sorted(seen + [int(x) for x in iterator]) == list(range(50000))


@pytest.mark.parametrize("worker_too", [False, True])
def test_the_dispatcher_is_restarted(clusters, worker_too):
    cluster = clusters(2)
    path = cluster.save(tf.data.Dataset.range(50000).repeat(2))
    iterator = iter(tf.data.Dataset.load(path))
    seen = collections.Counter(int(next(iterator)) for _ in range(100))
    if worker_too:
        cluster.workers.pop().stop()
    cluster.restart_dispatcher()
    cluster.workers.append(cluster.new_worker())
    seen.update(int(x) for x in iterator)
    assert set(seen) == set(range(50000))
    assert set(seen.values()) == {2}
    other = cluster.save(tf.data.Dataset.range(10), "other")
    assert wait(other) == list(range(10))
    with pytest.raises(tf.errors.AlreadyExistsError):
        cluster.save(tf.data.Dataset.range(10))


def test_saved_before_there_is_a_worker(clusters):
    cluster = clusters(0)
    path = cluster.save(tf.data.Dataset.range(100))
    cluster.restart_dispatcher()
    cluster.workers.append(cluster.new_worker())
    assert wait(path) == list(range(100))


# ---- what TensorFlow wrote, and where ----

EXPECTED = {
    "range": list(range(10)), "snappy": list(range(10)), "gzip": list(range(10)),
    "strings": [b"", b"a", b"bc", b"def"], "repeated": sorted(list(range(5)) * 3),
    "chosen": [b"a", b"b", b"c", b"d", b"e", b"f"], "empty": [],
}


@pytest.fixture
def recorded(tmp_path):
    """Writes the folder that TensorFlow wrote."""
    def write(name):
        for path, data in RECORDED[name].items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(base64.b64decode(data))
        return str(tmp_path)
    return write


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_recorded(recorded, name):
    assert sorted(values(tf.data.Dataset.load(recorded(name)))) == EXPECTED[name]


def test_recorded_nested(recorded):
    loaded = sorted(tf.data.Dataset.load(recorded("nested")).as_numpy_iterator(), key=lambda element: element["a"])
    assert [int(element["a"]) for element in loaded] == [1, 2, 3]
    assert [element["b"]["c"] for element in loaded] == [b"x", b"y", b"z"]
    assert [element["b"]["d"].tolist() for element in loaded] == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_recorded_failure(recorded):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
        tf.data.Dataset.load(recorded("failed"))


def test_the_same_files_as_tensorflow(clusters):
    """But for the graph, and the splits of each stream, which stand in the dispatcher's database."""
    path = pathlib.Path(clusters(1).save(tf.data.Dataset.range(10), compression=None))
    wait(str(path))
    ours = {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    theirs = {name: base64.b64decode(data) for name, data in RECORDED["range"].items()}
    for name in ("dataset_spec.pb", "DONE", "streams/stream_0/DONE"):
        assert ours.pop(name) == theirs[name]
    assert set(ours) == {"snapshot.metadata", "chunks/chunk_0_0_10", "streams/stream_0/owner_worker"}
    assert len(ours["chunks/chunk_0_0_10"]) == sum(len(data) for name, data in theirs.items() if "chunks/" in name)
