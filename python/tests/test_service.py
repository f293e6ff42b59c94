"""The data service within a process; what is expected is what TensorFlow 2.21 gives, in the scenarios of its tests."""

import collections
import os
import signal
import threading

import numpy as np
import pytest

import leat as tf

import devices

service = tf.data.experimental.service
OFF, DYNAMIC = service.ShardingPolicy.OFF, service.ShardingPolicy.DYNAMIC
PROTOCOL = "local"


class Cluster:
    """A dispatcher and workers; times are short, as in TensorFlow's tests."""

    def __init__(self, workers=1, **options):
        self.dispatcher = service.DispatchServer(service.DispatcherConfig(protocol=PROTOCOL, **options))
        self.workers = [self.add_worker() for _ in range(workers)]

    @property
    def target(self):
        return self.dispatcher.target

    def worker(self, **options):
        config = service.WorkerConfig(self.dispatcher._address, protocol=PROTOCOL, heartbeat_interval_ms=100,
                                      dispatcher_timeout_ms=5000, **options)
        return service.WorkerServer(config)

    add_worker = worker

    def distribute(self, dataset, mode=OFF, **arguments):
        return dataset.apply(service._distribute(mode, self.target, task_refresh_interval_hint_ms=20, **arguments))

    def range(self, stop, mode=OFF, **arguments):
        return self.distribute(tf.data.Dataset.range(stop), mode, **arguments)

    def stop(self):
        for worker in self.workers:
            worker.stop()
        self.dispatcher.stop()


def values(dataset):
    return [np.asarray(value).tolist() for value in dataset.as_numpy_iterator()]


# ---- basics ----

@pytest.mark.parametrize("compression", ["AUTO", None, "SNAPPY"])
def test_one_worker_gives_the_dataset(clusters, compression):
    dataset = clusters().range(10, compression=compression)
    assert values(dataset) == list(range(10))


def test_what_a_dataset_is_called(clusters):
    dataset = clusters().range(10)
    assert repr(dataset) == "<_DataServiceDatasetV2 element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY


def test_sparse_and_ragged_elements(clusters):
    cluster = clusters()
    sparse = tf.SparseTensor(indices=[[0]], values=tf.constant([0], tf.int32), dense_shape=[1])
    found = list(cluster.distribute(tf.data.Dataset.from_tensors(sparse)))
    assert len(found) == 1 and found[0].indices.numpy().tolist() == [[0]] and found[0].values.numpy().tolist() == [0]
    ragged = tf.ragged.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    rows = list(cluster.distribute(tf.data.Dataset.from_tensor_slices(ragged)))
    assert [row.numpy().tolist() for row in rows] == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_structures_come_back_as_they_went_in(clusters):
    pair = collections.namedtuple("pair", "first second")
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": pair(["x", "y"], np.ones((2, 3), np.float32))})
    element = next(iter(clusters().distribute(dataset)))
    assert isinstance(element["b"], pair) and element["b"].first.numpy() == b"x"
    assert element["b"].second.numpy().tolist() == [1, 1, 1]


def test_several_workers_give_the_dataset_each(clusters):
    assert sorted(values(clusters(3).range(10))) == sorted(3 * list(range(10)))


def test_epochs_are_alike(clusters):
    dataset = clusters().range(3)
    for _ in range(10):
        assert values(dataset) == [0, 1, 2]


def test_a_repeated_dataset(clusters):
    assert values(clusters().range(10).repeat(5)) == 5 * list(range(10))


def test_iterators_at_the_same_time(clusters):
    cluster = clusters()
    datasets = [cluster.range(10), cluster.range(10)]
    iterators = [iter(dataset) for dataset in datasets]
    for i in range(10):
        assert [int(next(iterator)) for iterator in iterators] == [i, i]


def test_a_generator_runs_in_this_process(clusters):
    def numbers():
        yield from range(10)
    signature = tf.TensorSpec((), tf.int64)
    dataset = tf.data.Dataset.from_generator(numbers, output_signature=signature)
    assert values(clusters().distribute(dataset)) == list(range(10))


def test_python_functions_run_in_this_process(clusters):
    seen = []

    def note(x):
        seen.append(int(x))
        return np.int64(x * 2)
    dataset = tf.data.Dataset.range(4).map(lambda x: tf.numpy_function(note, [x], tf.int64))
    assert values(clusters().distribute(dataset)) == [0, 2, 4, 6]
    assert seen == [0, 1, 2, 3]


def test_the_memory_of_a_worker(clusters):
    cluster = clusters(0)
    cluster.workers.append(cluster.add_worker(memory_budget_bytes=1))
    jobs = [iter(cluster.range(1000)) for _ in range(4)]
    for i in range(1000):
        assert [int(next(job)) for job in jobs] == 4 * [i]
    assert cluster.dispatcher._status()["workers"][0]["memory_budget_bytes"] == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="sizes"):
        cluster.add_worker(memory_budget_bytes=-1)


def test_max_outstanding_requests(clusters):
    dataset = clusters(5).range(10, max_outstanding_requests=1)
    assert sorted(values(dataset)) == sorted(5 * list(range(10)))


def test_errors_of_elements(clusters):
    dataset = tf.data.Dataset.range(4).map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x - 2, tf.float32), "bad"))
    iterator = iter(clusters().distribute(dataset))
    assert [float(next(iterator)) for _ in range(2)] == [-0.5, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        next(iterator)
    assert float(next(iterator)) == 1
    with pytest.raises(StopIteration):
        next(iterator)


def test_a_service_dataset_in_a_service_dataset(clusters):
    first, second = clusters(), clusters()
    dataset = second.distribute(first.range(10).map(lambda x: x + 1))
    assert values(dataset) == list(range(1, 11))


def test_two_service_datasets_side_by_side(clusters):
    cluster = clusters()
    dataset = tf.data.Dataset.zip((cluster.range(5), cluster.range(9).map(lambda x: x * x)))
    assert [(int(a), int(b)) for a, b in dataset] == [(0, 0), (1, 1), (2, 4), (3, 9), (4, 16)]


def test_operators_above(clusters):
    dataset = clusters().range(100).map(lambda x: x + 1, num_parallel_calls=4).batch(10).prefetch(2).take(3)
    assert values(dataset) == [list(range(i, i + 10)) for i in (1, 11, 21)]


def test_an_interleave_of_service_datasets(clusters):
    cluster = clusters()
    dataset = tf.data.Dataset.from_tensor_slices([0, 1]).interleave(lambda _: cluster.range(3), cycle_length=2)
    assert values(dataset) == [0, 0, 1, 1, 2, 2]


def test_in_a_function(clusters):
    dataset = clusters().range(10)

    @tf.function
    def total():
        sum_of_all = tf.constant(0, tf.int64)
        for element in dataset:
            sum_of_all += element
        return sum_of_all
    assert int(total()) == 45
    assert int(total()) == 45


def test_a_distributed_dataset(clusters):
    strategy = devices.TWO
    distributed = strategy.experimental_distribute_dataset(clusters().range(8, job_name="job").batch(4))
    found = [value.numpy().tolist() for element in distributed
             for value in strategy.experimental_local_results(element)]
    assert found == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_batches_that_are_dropped_and_not(clusters):
    cluster = clusters(2)
    batches = tf.data.Dataset.range(6).batch(4, drop_remainder=False)
    assert sorted(map(len, values(cluster.distribute(batches)))) == [2, 2, 4, 4]
    assert values(cluster.distribute(tf.data.Dataset.range(5).batch(6, drop_remainder=True))) == []


def test_a_plan_of_many_megabytes(clusters):
    rows = np.arange(1 << 19, dtype=np.float32)
    dataset = clusters().distribute(tf.data.Dataset.from_tensors(rows))
    assert next(iter(dataset)).numpy().sum() == rows.sum()


def test_closing_early_is_quick(clusters):
    cluster = clusters(3)
    for _ in range(5):
        iterator = iter(cluster.distribute(tf.data.Dataset.range(10 ** 9)))
        assert int(next(iterator)) == 0
        del iterator


# ---- jobs ----

def test_a_shared_job(clusters):
    cluster = clusters()
    first, second = (iter(cluster.range(1000, job_name="job")) for _ in range(2))
    found = []
    for _ in range(100):
        found += [int(next(first)), int(next(second))]
    for iterator in (first, second):
        found += [int(value) for value in iterator]
    assert sorted(found) == list(range(1000))


def test_jobs_of_other_names(clusters):
    cluster = clusters()
    assert values(cluster.range(10, job_name="one")) == list(range(10))
    assert values(cluster.range(10, job_name="two")) == list(range(10))


def test_a_shared_job_of_several_epochs(clusters):
    cluster = clusters()
    datasets = [cluster.range(10, job_name="job") for _ in range(2)]
    for _ in range(3):
        found = values(datasets[0]) + values(datasets[1])
        assert sorted(found) == list(range(10))


def test_modes_of_one_job_differ(clusters):
    cluster = clusters()
    values(cluster.range(10, job_name="job"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="job"):
        values(cluster.range(10, job_name="job", target_workers="ANY"))


def test_a_registered_dataset(clusters):
    cluster = clusters()
    dataset = tf.data.Dataset.range(10)
    dataset_id = service.register_dataset(cluster.target, dataset)
    assert dataset_id.shape == () and dataset_id.dtype == tf.string
    assert values(service.from_dataset_id("parallel_epochs", cluster.target, dataset_id, dataset.element_spec)) == \
        list(range(10))
    assert values(service.from_dataset_id(OFF, cluster.target, dataset_id)) == list(range(10))
    protocol, address = cluster.target.split("://")
    assert values(service.from_dataset_id(OFF, (protocol, address), dataset_id)) == list(range(10))


def test_names_of_jobs_belong_to_their_datasets(clusters):
    cluster = clusters()
    ids = [service.register_dataset(cluster.target, tf.data.Dataset.range(n)) for n in (3, 5, 3)]
    read = [values(service.from_dataset_id(OFF, cluster.target, one, job_name="shared")) for one in ids]
    assert read == [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1, 2]]


def test_registering_with_an_id(clusters):
    cluster = clusters()
    assert service.register_dataset(cluster.target, tf.data.Dataset.range(10), dataset_id="mine").numpy() == b"mine"
    assert service.register_dataset(cluster.target, tf.data.Dataset.range(10), dataset_id="mine").numpy() == b"mine"
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        service.register_dataset(cluster.target, tf.data.Dataset.from_tensors("text"), dataset_id="mine")
    assert values(service.from_dataset_id(OFF, cluster.target, "mine")) == list(range(10))


@pytest.mark.parametrize("make, expected", [
    (lambda: tf.data.Dataset.range(10), tf.data.UNKNOWN_CARDINALITY),
    (lambda: tf.data.Dataset.range(0), 0),
    (lambda: tf.data.Dataset.range(10).repeat(), tf.data.INFINITE_CARDINALITY),
    (lambda: tf.data.Dataset.range(10).filter(lambda x: True), tf.data.UNKNOWN_CARDINALITY)])
def test_cardinality(clusters, make, expected):
    assert int(clusters().distribute(make()).cardinality()) == expected


# ---- which workers ----

def test_workers_of_this_process(clusters):
    cluster = clusters(2)
    assert sorted(values(cluster.range(5, target_workers="LOCAL"))) == sorted(2 * list(range(5)))
    assert sorted(values(cluster.range(5, target_workers="any"))) == sorted(2 * list(range(5)))


def test_a_worker_that_joins(clusters):
    cluster = clusters()
    iterator = iter(cluster.range(100))
    found = [int(next(iterator)) for _ in range(10)]
    cluster.workers.append(cluster.add_worker())
    found += [int(value) for value in iterator]
    assert sorted(found) in (sorted(2 * list(range(100))), list(range(100)))


def test_counts_of_servers(clusters):
    cluster = clusters(3)
    assert cluster.dispatcher._num_workers() == 3
    iterator = iter(cluster.range(10 ** 9))
    next(iterator)
    # The first element may come before the other workers have their tasks.
    while sum(worker._num_tasks() for worker in cluster.workers) != 3:
        pass


# ---- arguments ----

@pytest.mark.parametrize("arguments, word", [({"job_name": ""}, "job_name"), ({"job_name": 7}, "job_name"),
                                             ({"processing_mode": "invalid"}, "processing")])
def test_arguments_that_do_not_fit(arguments, word):
    with pytest.raises(ValueError, match=word):
        service.distribute(**{"processing_mode": OFF, "service": "grpc://localhost:1", **arguments})
    with pytest.raises(ValueError, match=word):
        service.from_dataset_id(**{"processing_mode": OFF, "service": "grpc://localhost:1", "dataset_id": 0,
                                   "element_spec": tf.TensorSpec((), tf.int64), **arguments})


@pytest.mark.parametrize("address", [1, "", "grpc://a://b"])
def test_addresses_that_do_not_fit(address):
    with pytest.raises(ValueError, match="service"):
        tf.data.Dataset.range(3).apply(service.distribute(OFF, address))


def test_a_protocol_that_nobody_knows():
    with pytest.raises(tf.errors.NotFoundError, match="bogus"):
        tf.data.Dataset.range(3).apply(service.distribute(OFF, "bogus://localhost:1"))


def test_compressions_that_do_not_fit(clusters):
    with pytest.raises(ValueError, match="compression"):
        clusters().range(10, compression="foo")


def test_consumers_that_do_not_fit(clusters):
    cluster = clusters()
    with pytest.raises(ValueError, match="num_consumers"):
        cluster.range(10, consumer_index=0, num_consumers=1)
    with pytest.raises(ValueError, match="num_consumers"):
        cluster.range(10, job_name="job", num_consumers=1)


def test_ids_that_are_not_registered(clusters):
    with pytest.raises(tf.errors.NotFoundError, match="id"):
        values(service.from_dataset_id(OFF, clusters().target, 0, tf.TensorSpec((), tf.int64)))


def test_specs_that_do_not_fit(clusters):
    cluster = clusters()
    dataset_id = service.register_dataset(cluster.target, tf.data.Dataset.range(10))
    with pytest.raises(tf.errors.InvalidArgumentError, match="element_spec"):
        service.from_dataset_id(OFF, cluster.target, dataset_id, tf.TensorSpec((), tf.string))


def test_configurations():
    assert service.DispatcherConfig() == (0, "grpc", None, False, None, 0, 0, None, 0)
    assert service.DispatcherConfig(job_gc_timeout_ms=0).job_gc_timeout_ms == 1
    with pytest.raises(ValueError, match="work_dir"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True))
    with pytest.raises(ValueError, match="dispatcher_address"):
        service.WorkerServer(service.WorkerConfig(None))
    with pytest.raises(ValueError, match="trainer"):
        service.CrossTrainerCache("")


def test_servers_that_were_stopped():
    dispatcher = service.DispatchServer(service.DispatcherConfig(protocol=PROTOCOL), start=False)
    dispatcher.start()
    dispatcher.stop()
    dispatcher.stop()
    with pytest.raises(RuntimeError) as raised:
        dispatcher.start()
    assert isinstance(raised.value, tf.errors.OpError) and raised.value.error_code == tf.errors.FAILED_PRECONDITION
    with service.DispatchServer(service.DispatcherConfig(protocol=PROTOCOL)) as other:
        assert other.target.startswith("local://localhost:")


def test_no_worker_of_this_process():
    """A client whose only worker is in another process asks for LOCAL."""
    with service.DispatchServer(service.DispatcherConfig(protocol=PROTOCOL)) as dispatcher:
        dataset = tf.data.Dataset.range(3).apply(service.distribute(OFF, dispatcher.target, target_workers="LOCAL"))
        worker = service.WorkerServer(service.WorkerConfig(dispatcher._address, protocol=PROTOCOL))
        assert values(dataset) == [0, 1, 2]
        worker.stop()


# ---- in step ----

@pytest.mark.parametrize("num_workers, num_consumers", [(1, 1), (1, 3), (3, 1), (3, 2)])
def test_coordinated_reads(clusters, num_workers, num_consumers):
    """In each step all consumers read the same worker: their values follow each other."""
    cluster = clusters(num_workers)
    consumers = [iter(cluster.distribute(tf.data.Dataset.range(10 ** 9).repeat(), job_name="job", consumer_index=i,
                                         num_consumers=num_consumers)) for i in range(num_consumers)]
    rounds = [[int(next(consumer)) for consumer in consumers] for _ in range(30)]
    for step in rounds:
        assert step == list(range(step[0], step[0] + num_consumers)), step
    firsts = sorted(step[0] for step in rounds)
    assert firsts[:num_workers] == [0] * num_workers


# ---- waits ----

def interrupted(function):
    """Ctrl-C ends the call."""
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        function()


def test_ctrl_c_ends_waits(clusters):
    cluster = clusters(0)
    dataset = cluster.range(3)
    interrupted(cluster.dispatcher.join)
    interrupted(lambda: values(dataset))  # for a worker
    cluster.dispatcher.stop()
    interrupted(lambda: cluster.range(3))  # for a dispatcher
    interrupted(lambda: values(dataset))


# ---- dynamic sharding ----

def numbers(*args):
    return tf.data.Dataset.range(*args)


@pytest.mark.parametrize("make, expected", [
    (lambda: numbers(100), list(range(100))),
    (lambda: tf.data.Dataset.from_tensor_slices([5, 1, 2, 4, 3]), [1, 2, 3, 4, 5]),
    (lambda: numbers(10).interleave(lambda x: tf.data.Dataset.from_tensors(x)), list(range(10))),
    (lambda: numbers(10).interleave(lambda x: tf.data.Dataset.from_tensors(x), num_parallel_calls=4), list(range(10))),
    (lambda: numbers(5).flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(3)), sorted(3 * list(range(5)))),
    (lambda: numbers(5).repeat(3), sorted(3 * list(range(5)))),
    (lambda: numbers(5).shuffle(5).repeat(3), sorted(3 * list(range(5)))),
    (lambda: numbers(10).concatenate(numbers(10, 20)), list(range(20))),
    (lambda: numbers(10).batch(3).unbatch(), list(range(10)))])
def test_each_element_comes_once(clusters, make, expected):
    assert sorted(values(clusters(3).distribute(make(), DYNAMIC))) == expected


def test_repeating_after_distribution(clusters):
    assert sorted(values(clusters(3).range(5, DYNAMIC).repeat(4))) == sorted(4 * list(range(5)))


def test_zipped_sources_on_one_worker(clusters):
    dataset = tf.data.Dataset.zip((numbers(10), numbers(10, 30)))
    found = [(int(a), int(b)) for a, b in clusters().distribute(dataset, DYNAMIC)]
    assert found == [(i, i + 10) for i in range(10)]


def test_chosen_from_datasets(clusters):
    datasets = [tf.data.Dataset.from_tensor_slices([word] * 3) for word in ("a", "b", "c")]
    chosen = tf.data.Dataset.choose_from_datasets(datasets, numbers(3).repeat(3))
    assert sorted(values(clusters().distribute(chosen, DYNAMIC))) == sorted(3 * [b"a", b"b", b"c"])


def test_what_cannot_be_split(clusters):
    cluster = clusters()
    with pytest.raises(tf.errors.UnimplementedError, match="data_service"):
        values(cluster.distribute(cluster.range(3), DYNAMIC))


def test_plans_that_only_other_modes_read(clusters):
    """What an operator asks of its input may not hold for splits."""
    cluster = clusters()
    padded = numbers(3).map(lambda x: {"x": x}).apply(tf.data.experimental.pad_to_cardinality(4)).map(lambda x: x["x"])
    assert len(values(cluster.distribute(padded))) == 4
    with pytest.raises(tf.errors.UnimplementedError, match="DYNAMIC"):
        values(cluster.distribute(padded, DYNAMIC))


def test_shares_of_files_that_there_are_not(clusters):
    cluster = clusters(2, worker_addresses=["localhost", "localhost"])
    with pytest.raises(tf.errors.NotFoundError, match="range"):
        values(cluster.range(10, service.ShardingPolicy.FILE))
    assert sorted(values(cluster.range(10, service.ShardingPolicy.FILE_OR_DATA))) == list(range(10))


def test_modes_of_one_name(clusters):
    cluster = clusters()
    both = tf.data.Dataset.zip((cluster.range(3), cluster.range(3, DYNAMIC)))
    assert [(int(a), int(b)) for a, b in both] == [(0, 0), (1, 1), (2, 2)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="job"):
        values(tf.data.Dataset.zip((cluster.range(3, job_name="one"), cluster.range(3, DYNAMIC, job_name="one"))))


# ---- how elements travel ----

@pytest.fixture
def worker_by():
    """Makes a dispatcher, and a worker that gives elements by a protocol; both are stopped in the end."""
    made = []

    def make(transfer):
        dispatcher = service.DispatchServer(service.DispatcherConfig())
        made.append(dispatcher)
        made.append(service.WorkerServer(service.WorkerConfig(
            dispatcher._address, heartbeat_interval_ms=100, data_transfer_protocol=transfer)))
        return dispatcher.target
    yield make
    for server in reversed(made):
        server.stop()


def read_by(transfer, target, dataset):
    return dataset.apply(service.distribute(OFF, target, data_transfer_protocol=transfer))


@pytest.mark.parametrize("transfer", ["shm", "tcp", "grpc"])
def test_large_elements_come_as_they_are(worker_by, transfer):
    dataset = tf.data.Dataset.range(40 * 20_000).batch(20_000)
    dataset = dataset.map(lambda x: (x, x % 2 == 0, tf.strings.as_string(x[:9])))
    came = list(read_by(transfer, worker_by(transfer), dataset).as_numpy_iterator())
    assert len(came) == 40
    # All at once and behind the stream's end: what was shared is not written again.
    for i, (numbers, even, texts) in enumerate(came):
        expected = np.arange(20_000 * i, 20_000 * (i + 1))
        assert np.array_equal(numbers, expected)
        assert np.array_equal(even, expected % 2 == 0)
        assert texts.tolist() == [str(x).encode() for x in expected[:9]]


@pytest.mark.parametrize("asked, way", [(None, "direct"), ("shm", "shm"), ("grpc", "grpc")])
def test_which_way_was_taken(asked, way):
    """The dispatcher knows it of each client, as long as it reads."""
    dispatcher = service.DispatchServer(service.DispatcherConfig())
    workers = [service.WorkerServer(service.WorkerConfig(dispatcher._address)) for _ in range(2)]
    iterator = iter(read_by(asked, dispatcher.target, tf.data.Dataset.range(1 << 40)))
    next(iterator)
    while dispatcher._status()["clients"][0]["transfers"] != {way: 2}:
        pass
    del iterator
    for server in (*workers, dispatcher):
        server.stop()


def test_windows(worker_by):
    """TensorFlow gives none; here they do not leave the worker's process."""
    windows = tf.data.Dataset.range(5).window(2)
    target = worker_by(None)
    assert [values(window) for window in read_by(None, target, windows)] == [[0, 1], [2, 3], [4]]
    with pytest.raises(tf.errors.UnimplementedError, match="component"):
        next(iter(read_by("grpc", target, windows)))


def test_protocols_that_are_not_there(worker_by):
    target = worker_by("grpc")
    with pytest.raises(tf.errors.NotFoundError, match="grpc, local, shm, tcp"):
        values(read_by("pigeon", target, tf.data.Dataset.range(3)))
    for transfer in ("shm", "tcp"):
        with pytest.raises(tf.errors.NotFoundError, match=transfer):
            values(read_by(transfer, target, tf.data.Dataset.range(3)))
    with pytest.raises(RuntimeError, match="pigeon"):
        worker_by("pigeon")
