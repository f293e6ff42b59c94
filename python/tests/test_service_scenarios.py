"""Scenarios of TensorFlow's tests of the data service: datasets, arguments, jobs and their collection.

They hold with TensorFlow 2.21, too, in place of leat, where nothing else is said.
"""

import time

import numpy as np
import pytest

import leat as tf

from service_clusters import WORDS, Policy, eventually, rest, same, service, take, values

Dataset = tf.data.Dataset
TEN = list(range(10))


# ---- datasets ----

@pytest.mark.parametrize("work_dir, fault_tolerant_mode", [(None, True), (None, False), ("", False)])
def test_basic(clusters, work_dir, fault_tolerant_mode):
    assert values(clusters(work_dir=work_dir, fault_tolerant_mode=fault_tolerant_mode).range(10)) == TEN


def test_sparse(clusters):
    element = tf.SparseTensor(indices=[[0]], values=tf.constant([0], dtype=tf.int32), dense_shape=[1])
    dataset = clusters().distribute(Dataset.from_tensors(element))
    assert [tf.sparse.to_dense(one).numpy().tolist() for one in dataset] == [[0]]


def test_ragged(clusters):
    dataset = Dataset.from_tensor_slices([1, 5, 3, 2, 8]).map(tf.range)
    dataset = dataset.apply(tf.data.experimental.dense_to_ragged_batch(2))
    found = [one.to_tensor().numpy().tolist() for one in clusters().distribute(dataset)]
    assert found == [[[0, 0, 0, 0, 0], [0, 1, 2, 3, 4]], [[0, 1, 2], [0, 1, 0]], [[0, 1, 2, 3, 4, 5, 6, 7]]]


def test_lookup_table(clusters, tmp_path):
    keys, numbers = tf.constant([0, 1], tf.int64), tf.constant([10, 11], tf.int64)
    file = tmp_path / "vocabulary"
    file.write_text("10\n11\n")
    pairs = Dataset.zip((Dataset.range(2), Dataset.from_tensor_slices([10, 11]).map(lambda x: tf.cast(x, tf.int64))))
    whole, number = tf.lookup.TextFileIndex.LINE_NUMBER, tf.lookup.TextFileIndex.WHOLE_LINE
    initializers = [tf.lookup.KeyValueTensorInitializer(keys, numbers),
                    tf.lookup.TextFileInitializer(str(file), tf.int64, whole, tf.int64, number),
                    tf.data.experimental.DatasetInitializer(pairs)]
    for initializer in initializers:
        table = tf.lookup.StaticHashTable(initializer, -1)
        assert values(clusters().distribute(Dataset.range(3).map(table.lookup))) == [10, 11, -1]


@pytest.mark.parametrize("rank", [0, 1])
def test_mutable_table(clusters, rank):
    first, second, default = ([one, one] if rank else one for one in (10, 11, -1))
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, default)
    table.insert(tf.constant([0, 1], tf.int64), tf.constant([first, second], tf.int64))
    assert values(clusters().distribute(Dataset.range(3).map(table.lookup))) == [first, second, default]


def test_variables(clusters):
    variable = tf.Variable(10, dtype=tf.int64)
    assert values(clusters().distribute(Dataset.range(3).map(lambda x: x + variable))) == [10, 11, 12]


@pytest.mark.parametrize("seed", [None, 10])
def test_order_of_a_shuffle(clusters, seed):
    """Two workers shuffle alike where the seed is given."""
    orders = ({}, {})
    for one in values(clusters(2).distribute(Dataset.range(100).shuffle(100, seed=seed))):
        order = orders[one in orders[0]]
        order[one] = len(order)
    assert (orders[0] == orders[1]) == (seed is not None)


def test_epochs(clusters):
    dataset = clusters().range(3)
    assert [values(dataset) for _ in range(10)] == [[0, 1, 2]] * 10


def test_epochs_are_shuffled_anew(clusters):
    cluster = clusters()
    again = cluster.distribute(Dataset.range(100).shuffle(100, reshuffle_each_iteration=True))
    assert values(again) != values(again)
    kept = cluster.distribute(Dataset.range(100).shuffle(100, seed=3, reshuffle_each_iteration=False).repeat(2))
    found = values(kept)
    assert found[:100] == found[100:]


def test_repeat(clusters):
    assert values(clusters().range(10).repeat(5)) == 5 * TEN


def test_iterators_side_by_side(clusters):
    cluster = clusters()
    iterators = [iter(cluster.range(10)) for _ in range(3)]
    assert [take(one, 1) for _ in TEN for one in iterators] == [[i] for i in TEN for _ in iterators]


def test_several_workers(clusters):
    same(values(clusters(3).range(10)), 3 * TEN)


def test_generator(clusters):
    def numbers():
        yield from range(10)
    dataset = Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64))
    assert values(dataset.apply(service.distribute(Policy.OFF, clusters().address))) == TEN


def test_max_outstanding_requests(clusters):
    same(values(clusters(3).range(10, max_outstanding_requests=1)), 3 * TEN)


def test_inside_a_function(clusters):
    cluster = clusters(3)

    @tf.function
    def read():
        result = tf.TensorArray(tf.int64, size=30, dynamic_size=True)
        i = 0
        for element in cluster.range(10):
            result = result.write(i, element)
            i += 1
        return result.stack()
    same(read().numpy().tolist(), 3 * TEN)


def test_a_generator_of_random_numbers(clusters):
    for policy in ("IGNORE", "WARN"):
        options = tf.data.Options()
        options.experimental_external_state_policy = getattr(tf.data.experimental.ExternalStatePolicy, policy)
        dataset = Dataset.range(10).map(lambda _: tf.random.uniform(())).with_options(options)
        assert len(values(clusters(3).distribute(dataset))) == 30
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.FAIL
    with pytest.raises(tf.errors.FailedPreconditionError):
        values(clusters(3).distribute(dataset.with_options(options)))


def test_interleave(clusters):
    cluster = clusters()
    pairs = Dataset.range(2)
    dataset = pairs.interleave(lambda x: cluster.distribute(Dataset.range(10 * x, 10 * x + 2)), cycle_length=2)
    assert values(dataset) == [0, 10, 1, 11]


def test_order_that_is_not_kept(clusters):
    options = tf.data.Options()
    options.deterministic = False
    dataset = Dataset.range(10).interleave(Dataset.from_tensors, cycle_length=10, num_parallel_calls=10)
    same(values(clusters().distribute(dataset.with_options(options))), TEN)


def test_distributed_twice(clusters):
    cluster = clusters()
    assert values(cluster.distribute(cluster.range(10))) == TEN


def test_two_levels(clusters):
    first, second = clusters(3), clusters(1)
    strings = ["a" * i for i in range(10)] * 5
    dataset = first.distribute(Dataset.from_tensor_slices(strings).shuffle(len(strings)))
    dataset = dataset.group_by_window(lambda x: tf.cast(tf.strings.length(x), tf.int64), lambda _, x: x.batch(5), 15)
    found = [one.numpy().tolist() for one in second.distribute(dataset)]
    assert len(found) == 30
    for i in range(0, 30, 3):
        assert found[i] == found[i + 1] == found[i + 2] == [found[i][0]] * 5


@pytest.mark.parametrize("work_dir, late", [("", False), ("", True), (None, True)])
def test_large_plan(clusters, work_dir, late):
    """Larger than the message that gRPC takes by default; a worker that comes late gets it, too."""
    cluster = clusters(0, work_dir=work_dir, fault_tolerant_mode=False)
    if not late:
        cluster.add_worker()
    iterator = iter(cluster.distribute(Dataset.from_tensors(tf.ones((2, 1000, 1000)))))
    if late:
        cluster.add_worker()
    assert next(iterator).numpy().sum() == 2e6


def test_large_elements(clusters):
    dataset = clusters().distribute(Dataset.range(3).map(lambda x: tf.fill((3, 1000, 1000), tf.cast(x, tf.float32))))
    assert [float(one.numpy().sum()) for one in dataset] == [0, 3e6, 6e6]


def test_batches(clusters):
    cluster = clusters(2, fault_tolerant_mode=False)
    assert values(cluster.distribute(Dataset.range(10).batch(1000, drop_remainder=True), Policy.OFF)) == []
    assert values(cluster.distribute(Dataset.range(10).batch(1000), Policy.OFF)) == [TEN, TEN]


def test_components(clusters):
    numbers = Dataset.range(10)
    for structure in ({"a": (numbers, numbers), "b": numbers}, (numbers, (numbers, numbers))):
        dataset = Dataset.zip(structure)
        cluster = clusters()
        read = service.from_dataset_id("parallel_epochs", cluster.target,
                                       service.register_dataset(cluster.address, dataset), dataset.element_spec)
        assert read.element_spec == dataset.element_spec
        assert list(read.as_numpy_iterator()) == list(dataset.as_numpy_iterator())


def test_empty_components(clusters):
    cluster = clusters()
    optional = Dataset.from_tensors((tf.constant([], tf.float32), None, ()))
    dataset = cluster.distribute(optional)
    assert dataset.element_spec == optional.element_spec
    found = next(iter(dataset))
    assert found[0].numpy().tolist() == [] and found[1] is None and found[2] == ()


@pytest.mark.parametrize("arguments", [{"data_transfer_protocol": "grpc"}, {}, {"data_transfer_protocol": "local"}])
def test_protocols_of_transfer(clusters, arguments):
    cluster = clusters(data_transfer_protocol="grpc")
    dataset = Dataset.range(10)
    dataset_id = service.register_dataset(cluster.target, dataset)
    assert values(service.from_dataset_id("parallel_epochs", cluster.target, dataset_id, dataset.element_spec,
                                          **arguments)) == TEN
    assert values(dataset.apply(service.distribute("parallel_epochs", "grpc://" + cluster.address, **arguments))) == TEN


def test_protocol_of_transfer_that_nobody_has(clusters):
    dataset = clusters(data_transfer_protocol="grpc").range(10, data_transfer_protocol="unknown")
    with pytest.raises(tf.errors.NotFoundError, match=WORDS["not_available"]):
        next(iter(dataset))


@pytest.mark.parametrize("compression", ["AUTO", None, "SNAPPY"])
def test_compression(clusters, compression):
    cluster = clusters(data_transfer_protocol="grpc")
    assert values(cluster.range(10, compression=compression)) == TEN

    def upper(x):
        return tf.numpy_function(lambda text: text.decode().upper(), [x], tf.string)
    dataset = Dataset.from_tensor_slices(list("abcdefghij")).map(upper, num_parallel_calls=tf.data.AUTOTUNE)
    dataset_id = service.register_dataset(cluster.target, dataset, compression=compression)
    for spec in (dataset.element_spec, None):
        read = service.from_dataset_id(Policy.OFF, cluster.target, dataset_id, spec)
        assert values(read) == [letter.encode() for letter in "ABCDEFGHIJ"]


def test_pinned(clusters):
    options = tf.data.Options()
    assert options.experimental_service.pinned is None
    options.experimental_service.pinned = True
    assert values(clusters().range(10).with_options(options)) == TEN


# ---- arguments ----

def test_names_of_jobs_that_do_not_fit(clusters):
    cluster = clusters()
    dataset_id = service.register_dataset(cluster.target, Dataset.range(10))
    for name, said in (("", WORDS["job_name_must_not"]), (tf.constant("foo"), WORDS["job_name_must_be"])):
        with pytest.raises(ValueError, match=said):
            Dataset.range(10).apply(service.distribute("parallel_epochs", cluster.target, job_name=name))
        with pytest.raises(ValueError, match=said):
            service.from_dataset_id("parallel_epochs", cluster.target, dataset_id, job_name=name)


def test_services_that_do_not_fit(clusters):
    for address, said in ((1, WORDS["service_must_be_a"]), ("", WORDS["service_must_not_be"]),
                          ("grpc://a://b", "multiple")):
        with pytest.raises(ValueError, match=said):
            Dataset.range(10).apply(service.distribute("parallel_epochs", address))
    with pytest.raises(tf.errors.NotFoundError, match=WORDS["no_credentials_factory_has"]):
        values(Dataset.range(10).apply(service.distribute("parallel_epochs", "grp://" + clusters().address)))


def test_modes_that_do_not_fit():
    said = WORDS["should_be_a_tf"]
    with pytest.raises(ValueError, match=said):
        Dataset.range(10).apply(service.distribute("invalid", "grpc://localhost:5000"))


def test_compressions_that_do_not_fit(clusters):
    with pytest.raises(ValueError, match=WORDS["invalid_compression_argument"]):
        clusters().range(10, compression="foo")


def test_specs_that_do_not_fit(clusters):
    cluster = clusters()
    dataset_id = service.register_dataset(cluster.address, Dataset.range(10))
    with pytest.raises(Exception):
        values(service.from_dataset_id("parallel_epochs", cluster.target, dataset_id, tf.TensorSpec((), tf.variant)))


def test_ids_that_are_not_registered(clusters):
    with pytest.raises(tf.errors.NotFoundError, match=WORDS["dataset_id_unregisteredid_not"]):
        values(service.from_dataset_id(Policy.OFF, clusters().target, "UnregisteredID", tf.TensorSpec((), tf.variant)))


def test_registered_in_a_function(clusters):
    """The spec is not known where a dataset was registered in a graph."""
    cluster = clusters(work_dir="", fault_tolerant_mode=False)
    dataset = Dataset.range(10)
    register = tf.function(service.register_dataset)
    dataset_id = register((tf.constant("grpc"), tf.constant(cluster.address)), dataset)
    assert values(service.from_dataset_id("parallel_epochs", cluster.target, dataset_id, dataset.element_spec)) == TEN


def test_services_that_listen_twice(clusters):
    """TensorFlow takes one port for both without a word."""
    cluster = clusters(0)
    port = int(cluster.address.split(":")[1])
    with pytest.raises(RuntimeError):
        service.DispatchServer(service.DispatcherConfig(port=port))


# ---- jobs ----

def test_shared_job(clusters):
    cluster = clusters()
    first, second = (iter(cluster.distribute(Dataset.range(1000).shuffle(1000), job_name="job")) for _ in range(2))
    found = []
    for _ in range(200):
        found += take(first, 1) + take(second, 1)
    same(found + rest(first) + rest(second), list(range(1000)))


def test_other_names(clusters):
    cluster = clusters()
    assert [values(cluster.range(10, job_name=name)) for name in ("one", "two")] == [TEN, TEN]


def test_shared_job_of_several_iterations(clusters):
    cluster = clusters()
    first, second = (cluster.range(10, job_name="job") for _ in range(2))
    assert [values(one) for one in (first, second, second, first)] == [TEN, [], TEN, []]


def test_shared_job_repeated(clusters):
    cluster = clusters()
    first, second = (iter(cluster.range(100, job_name="job").repeat(3)) for _ in range(2))
    found = take(first, 60) + take(second, 60)
    same(found + rest(first) + rest(second), 3 * list(range(100)))


def test_shared_job_repeated_after_the_first(clusters):
    cluster = clusters()
    first, second = (cluster.range(10, Policy.OFF, job_name="job").repeat() for _ in range(2))
    assert take(iter(first), 30) == 3 * TEN
    assert len(take(iter(second), 30)) == 30


def test_shared_job_of_epochs(clusters):
    dataset = clusters().range(10, job_name="job")
    assert [values(dataset) for _ in range(5)] == [TEN] * 5


@pytest.mark.parametrize("kind", ["tensor", "text", "bytes"])
def test_ids(clusters, kind):
    cluster = clusters()
    dataset_id = service.register_dataset(cluster.target, Dataset.range(10))
    dataset_id = {"tensor": dataset_id, "text": dataset_id.numpy().decode(), "bytes": dataset_id.numpy()}[kind]
    assert values(service.from_dataset_id(Policy.OFF, cluster.target, dataset_id, job_name="job")) == TEN


def test_zipped_with_other_modes(clusters):
    cluster = clusters()
    dataset = Dataset.zip((cluster.range(100, "distributed_epoch"), cluster.range(100)))
    assert [(int(a), int(b)) for a, b in dataset] == [(i, i) for i in range(100)]
    dataset = Dataset.zip((cluster.range(100, "distributed_epoch", job_name="job"), cluster.range(100, job_name="job")))
    with pytest.raises(tf.errors.InvalidArgumentError, match=WORDS["but_found_an_existing"]):
        list(dataset)


def test_jobs_shared_by_ids(clusters):
    cluster = clusters(2)
    numbers = [Dataset.range(20, output_type=tf.int32), Dataset.from_tensor_slices(list(range(20, 40)))]
    for i, one in enumerate(numbers):
        service.register_dataset(cluster.address, one, dataset_id=f"dataset_{i}")
    read = [service.from_dataset_id("distributed_epoch", cluster.target, f"dataset_{i}", one.element_spec,
                                    job_name="job")
            for _ in range(2) for i, one in enumerate(numbers)]
    same(values(Dataset.from_tensor_slices(read).interleave(lambda x: x, cycle_length=4)), list(range(40)))


def test_ids_that_are_given(clusters):
    cluster = clusters()
    dataset = Dataset.range(10)
    assert service.register_dataset(cluster.target, dataset, dataset_id="mine").numpy() == b"mine"
    assert values(service.from_dataset_id(Policy.OFF, cluster.target, "mine", dataset.element_spec)) == TEN
    assert values(service.from_dataset_id(Policy.OFF, cluster.target, "mine")) == TEN
    again = service.register_dataset(cluster.target, Dataset.range(10), dataset_id="mine")
    read = [service.from_dataset_id(Policy.OFF, cluster.target, one, dataset.element_spec, job_name="job")
            for one in ("mine", again)]
    assert [values(one) for one in read] == [TEN, []]
    for other in (None, "another"):
        other = service.register_dataset(cluster.target, Dataset.range(10), dataset_id=other)
        assert values(service.from_dataset_id(Policy.OFF, cluster.target, other, job_name="job")) == TEN


def test_ids_without_names_differ(clusters):
    cluster = clusters()
    ids = {service.register_dataset(cluster.address, Dataset.range(n)).numpy() for n in (10, 20)}
    assert len(ids) == 2


def test_datasets_that_do_not_match(clusters):
    cluster = clusters()
    service.register_dataset(cluster.target, Dataset.range(10), compression=None, dataset_id="mine")
    with pytest.raises(tf.errors.InvalidArgumentError, match=WORDS["datasets_with_the_same"]):
        service.register_dataset(cluster.target, Dataset.from_tensor_slices(list("text")), compression=None,
                                 dataset_id="mine")


# ---- collection ----

def collecting(clusters, num_workers=1, **fields):
    return clusters(num_workers, job_gc_check_interval_ms=50, job_gc_timeout_ms=20, **fields)


@pytest.mark.parametrize("job_name", [None, "test"])
def test_unused_jobs_are_collected(clusters, job_name):
    cluster = collecting(clusters)
    iterator = iter(cluster.range(100, job_name=job_name))
    assert take(iterator, 1) == [0] and cluster.num_tasks() == 1
    del iterator
    eventually(lambda: cluster.num_tasks() == 0)


@pytest.mark.parametrize("mode", ["parallel_epochs", Policy.DYNAMIC])
def test_used_jobs_are_not_collected(clusters, mode):
    """Nor are those under dynamic sharding, which would give elements again."""
    cluster = collecting(clusters)
    first = iter(cluster.range(1000, job_name="test1"))
    second = iter(cluster.range(1000, mode, job_name="test2"))
    third = iter(cluster.range(1000, mode, job_name="test2"))
    assert cluster.num_tasks() == 2
    del first, second
    if mode == Policy.DYNAMIC:
        del third
    eventually(lambda: cluster.num_tasks() == 1)
    assert cluster.num_tasks() == 1


def test_dynamic_jobs_are_collected_on_request(clusters):
    cluster = collecting(clusters, gc_dynamic_sharding_jobs=True)
    dataset = Dataset.range(1000).apply(service._distribute(Policy.DYNAMIC, cluster.target))
    for _ in range(2):
        iterator = iter(dataset)
        assert take(iterator, 1) == [0] and cluster.num_tasks() == 1
        del iterator
        eventually(lambda: cluster.num_tasks() == 0)


def test_collected_and_made_again(clusters):
    cluster = collecting(clusters, 3)
    for _ in range(3):
        iterator = iter(cluster.range(1000, job_name="test"))
        take(iterator, 50)
        del iterator
        eventually(lambda: cluster.num_tasks() == 0)


def test_clients_that_wait(clusters):
    cluster = collecting(clusters, client_timeout_ms=1000)
    dataset = Dataset.range(1000).apply(service._distribute(Policy.OFF, cluster.target,
                                                            task_refresh_interval_hint_ms=100))
    iterator = iter(dataset)
    time.sleep(3)
    assert rest(iterator) == list(range(1000))


# ---- what is known of a dataset ----

HINT = tf.data.experimental.SHARD_HINT
UNKNOWN, INFINITE = tf.data.UNKNOWN_CARDINALITY, tf.data.INFINITE_CARDINALITY


@pytest.mark.parametrize("make, mode, expected", [
    (lambda: Dataset.range(10).repeat(), Policy.OFF, INFINITE),
    (lambda: Dataset.range(5).repeat(), Policy.DYNAMIC, INFINITE),
    (lambda: Dataset.range(10).repeat(), Policy.DATA, INFINITE),
    (lambda: Dataset.range(0), Policy.OFF, 0),
    (lambda: Dataset.range(0), Policy.DYNAMIC, 0),
    (lambda: Dataset.range(0), Policy.DATA, 0),
    (lambda: Dataset.range(0), Policy.FILE_OR_DATA, 0),
    (lambda: Dataset.range(0).shard(HINT, HINT), Policy.HINT, UNKNOWN),
    (lambda: Dataset.range(10), Policy.OFF, UNKNOWN),
    (lambda: Dataset.range(10).repeat(), Policy.FILE_OR_DATA, UNKNOWN),
    (lambda: Dataset.range(10).shard(HINT, HINT).repeat(), Policy.HINT, UNKNOWN)])
def test_cardinality(clusters, make, mode, expected):
    cluster = clusters(2)
    assert int(cluster.distribute(make(), mode).cardinality()) == expected
    dataset_id = service.register_dataset(cluster.target, make())
    read = service.from_dataset_id(mode, cluster.target, dataset_id, make().element_spec)
    assert int(read.cardinality()) == expected
