"""Scenarios of TensorFlow's tests of the data service: dynamic and static sharding.

They hold with TensorFlow 2.21, too, in place of leat, where nothing else is said.
"""

import collections

import numpy as np
import pytest

import leat as tf

from service_clusters import WORDS, Policy, rest, same, service, take, values

Dataset = tf.data.Dataset
TEN = list(range(10))
DYNAMIC = Policy.DYNAMIC
HINT = tf.data.experimental.SHARD_HINT


# ---- dynamic ----

def slices_of(x):
    return Dataset.from_tensor_slices([x])


@pytest.mark.parametrize("make, expected", [
    (lambda: Dataset.range(100), list(range(100))),
    (lambda: Dataset.from_tensor_slices([5, 1, 2, 4]), [5, 1, 2, 4]),
    (lambda: Dataset.from_tensor_slices([1, 5, 0]).interleave(slices_of), [1, 5, 0]),
    (lambda: Dataset.from_tensor_slices([1, 5, 0]).interleave(slices_of, num_parallel_calls=tf.data.AUTOTUNE),
     [1, 5, 0]),
    (lambda: Dataset.from_tensor_slices([1, 5, 0]).flat_map(slices_of), [1, 5, 0]),
    (lambda: Dataset.range(20).repeat(5), 5 * list(range(20))),
    (lambda: Dataset.range(20).shuffle(20).repeat(5), 5 * list(range(20))),
    (lambda: Dataset.range(100).concatenate(Dataset.range(100, 200)), list(range(200))),
    (lambda: Dataset.range(5).flat_map(lambda _: Dataset.from_tensor_slices(["a", "b", "c"]).repeat(10)),
     50 * [b"a", b"b", b"c"])])
@pytest.mark.parametrize("job_name", [None, "job"])
def test_each_once(clusters, make, expected, job_name):
    same(values(clusters(2).distribute(make(), DYNAMIC, job_name=job_name)), expected)


def test_windows_are_not_split(clusters):
    dataset = Dataset.from_tensor_slices([1, 5, 0]).group_by_window(
        lambda x: np.int64(0), lambda _, window: Dataset.zip((window, Dataset.range(100))), window_size=3)
    found = [(int(a), int(b)) for a, b in clusters(2).distribute(dataset, DYNAMIC, job_name="job")]
    assert sorted(a for a, _ in found) == [0, 1, 5]


def test_repeat_after_distribution(clusters):
    same(values(clusters(2).range(20, DYNAMIC, job_name="job").repeat(5)), 5 * list(range(20)))


def test_endless_repeat(clusters):
    iterator = iter(clusters(2).distribute(Dataset.range(20).repeat(), DYNAMIC, job_name="job"))
    counts = collections.Counter(take(iterator, 1000))
    assert set(counts) == set(range(20)) and min(counts.values()) > 25


def test_endless_repeat_of_one_element(clusters):
    cluster = clusters(5)
    iterator = iter(cluster.distribute(Dataset.range(1).repeat(), DYNAMIC, job_name="job"))
    assert take(iterator, 20) == [0] * 20
    for worker in cluster.workers[:4]:
        worker.stop()
    assert take(iterator, 20) == [0] * 20


def test_zips(clusters):
    numbers = Dataset.range(10)
    cluster = clusters()
    pairs = Dataset.zip((numbers, numbers))
    assert [(int(a), int(b)) for a, b in cluster.distribute(pairs, DYNAMIC)] == [(i, i) for i in TEN]
    nested = Dataset.zip((numbers, numbers, pairs, numbers))
    found = [(int(a), int(b), (int(c), int(d)), int(e)) for a, b, (c, d), e in cluster.distribute(nested, DYNAMIC)]
    assert found == [(i, i, (i, i), i) for i in TEN]


def test_zips_of_other_lengths(clusters):
    dataset = Dataset.zip((Dataset.range(200), Dataset.range(1000)))
    once = [(i, i) for i in range(200)]
    cluster = clusters()
    assert [(int(a), int(b)) for a, b in cluster.distribute(dataset, DYNAMIC)] == once
    assert [(int(a), int(b)) for a, b in cluster.distribute(dataset.repeat(3), DYNAMIC)] == 3 * once
    assert len(list(clusters(3).distribute(dataset, DYNAMIC, job_name="job"))) == 200


def test_zips_of_other_rates(clusters):
    cluster = clusters(3)
    rates = Dataset.zip((Dataset.range(100), Dataset.range(100).filter(lambda x: x % 10 == 0)))
    assert len(list(cluster.distribute(rates, DYNAMIC))) == 10
    repeats = Dataset.zip((Dataset.range(50), Dataset.range(10).repeat(10)))
    assert len(list(cluster.distribute(repeats, DYNAMIC))) == 50


def test_samples(clusters):
    datasets = [Dataset.from_tensors(i).repeat() for i in range(3)]
    dataset = Dataset.sample_from_datasets(datasets, [0.6, 0.3, 0.1])
    counts = collections.Counter(values(clusters(3).distribute(dataset, DYNAMIC, job_name="job").take(200)))
    assert counts[0] > counts[1] > counts[2]


@pytest.mark.parametrize("num_workers", [1, 3])
def test_choices(clusters, num_workers):
    """Which is chosen is not split, but told to each worker."""
    words = [b"foo", b"bar", b"baz"]
    choices = np.random.randint(3, size=15, dtype=np.int64)
    datasets = [Dataset.from_tensors(word).repeat() for word in words]
    dataset = Dataset.choose_from_datasets(datasets, Dataset.from_tensor_slices(choices))
    found = values(clusters(num_workers).distribute(dataset, DYNAMIC, job_name="job"))
    expected = [words[i] for i in choices] * num_workers
    assert found == expected if num_workers == 1 else sorted(found) == sorted(expected)


def test_numbers_are_not_split(clusters):
    dataset = Dataset.from_tensor_slices(["a", "b", "c"]).repeat().enumerate()
    counts = collections.Counter()
    for i, _ in clusters(3).distribute(dataset, DYNAMIC, job_name="job"):
        counts[int(i)] += 1
        if counts[10] == 3:
            break
    assert [counts[i] for i in range(10)] == [3] * 10


@pytest.mark.parametrize("num_workers", [1, 3])
def test_concatenated_in_order(clusters, num_workers):
    dataset = Dataset.range(100).concatenate(Dataset.range(100, 200))
    found = values(clusters(num_workers).distribute(dataset, DYNAMIC, job_name="job"))
    assert (found if num_workers == 1 else sorted(found)) == list(range(200))


@pytest.mark.parametrize("written", [True, False])
def test_snapshots_cannot_be_split(clusters, tmp_path, written):
    dataset = Dataset.range(100).snapshot(str(tmp_path))
    if written:
        values(dataset)
    with pytest.raises(tf.errors.UnimplementedError, match=WORDS["splitting_is_not_implemented"]):
        values(clusters(3).distribute(dataset, DYNAMIC, job_name="job"))


def test_what_a_service_gives_cannot_be_split(clusters):
    dataset = clusters().distribute(Dataset.from_tensor_slices(5 * TEN), Policy.OFF).map(lambda x: x + 1)
    with pytest.raises(tf.errors.UnimplementedError, match=WORDS["cannot_create_split_providers"]):
        values(clusters().distribute(dataset, DYNAMIC, job_name="job"))


def test_registered_twice(clusters):
    cluster = clusters(2)
    first, second = (iter(cluster.range(100, DYNAMIC, job_name="job")) for _ in range(2))
    same(rest(first) + rest(second), list(range(100)))


def test_other_ids_under_one_name(clusters):
    """The id is part of the name that from_dataset_id gives a job."""
    cluster = clusters(2)
    dataset = Dataset.range(100)
    ids = [service.register_dataset(cluster.address, dataset, dataset_id=name) for name in ("one", "two")]
    first, second = (iter(service.from_dataset_id(DYNAMIC, cluster.address, one, dataset.element_spec, job_name="job"))
                     for one in ids)
    found = []
    for _ in range(5):
        found += take(first, 1) + take(second, 1)
    same(found + rest(first) + rest(second), 2 * list(range(100)))


# ---- files ----

@pytest.fixture
def files(tmp_path):
    """Ten files of ten records each."""
    names = []
    for file in range(10):
        names.append(str(tmp_path / f"file.{file}.tfrecord"))
        with tf.io.TFRecordWriter(names[-1]) as writer:
            for record in range(10):
                writer.write(b"Record %d of file %d" % (record, file))
    return names


def records(numbers, of_files):
    return [b"Record %d of file %d" % (record, file) for file in of_files for record in numbers]


def across(of_files):
    return [b"Record %d of file %d" % (record, file) for record in range(10) for file in of_files]


def test_shuffled_files(clusters, files):
    dataset = Dataset.from_tensor_slices(tf.random.shuffle(files)).interleave(tf.data.TFRecordDataset)
    same(values(clusters(3).distribute(dataset, DYNAMIC)), records(range(10), range(10)))


# ---- static ----

@pytest.fixture
def shard(clusters):
    """Five workers, of which number `index` is of this process."""
    def make(index, num_workers=5, addresses=None):
        addresses = ["localhost"] * num_workers if addresses is None else addresses
        cluster = clusters(0, worker_addresses=addresses, deployment_mode=1)
        for i in range(num_workers):
            if i == index:
                cluster.add_worker()
            else:
                cluster.add_remote()
        return cluster
    return make


STATIC = [Policy.FILE, Policy.DATA, Policy.FILE_OR_DATA, Policy.HINT]


def local(cluster, dataset, mode, target_workers="LOCAL"):
    return values(cluster.distribute(dataset, mode, target_workers=target_workers))


def test_shares_of_a_range(shard):
    cluster = shard(1)
    numbers = Dataset.range(20)
    for policy in (Policy.DATA, Policy.FILE_OR_DATA):
        assert local(cluster, numbers, policy) == [1, 6, 11, 16]
    assert local(cluster, numbers.shard(HINT, HINT), Policy.HINT) == [1, 6, 11, 16]
    assert local(cluster, numbers.shard(num_shards=1, index=0), Policy.HINT) == list(range(20))
    assert local(cluster, numbers, Policy.OFF) == list(range(20))
    same(local(cluster, numbers, Policy.FILE_OR_DATA, "ANY"), list(range(20)))
    for policy in (Policy.FILE_OR_DATA, Policy.DATA):
        assert local(cluster, numbers.batch(3), policy) == [[3, 4, 5], [18, 19]]
    assert local(cluster, Dataset.range(0), Policy.FILE_OR_DATA) == []


def test_one_worker(shard):
    assert local(shard(0, 1), Dataset.range(20), Policy.FILE_OR_DATA) == list(range(20))


def test_shares_of_files(shard, files):
    cluster = shard(3)
    listed = Dataset.list_files(files, shuffle=False)
    dataset = listed.flat_map(tf.data.TFRecordDataset)
    for policy in (Policy.FILE, Policy.FILE_OR_DATA):
        assert local(cluster, dataset, policy) == records(range(10), (3, 8))
        shuffled = Dataset.list_files(files, shuffle=True).flat_map(tf.data.TFRecordDataset)
        same(local(cluster, shuffled, policy), records(range(10), (3, 8)))
    assert local(cluster, dataset, Policy.DATA) == records((3, 8), range(10))
    assert local(cluster, dataset.shard(HINT, HINT), Policy.HINT) == records((3, 8), range(10))
    hinted = listed.shard(HINT, HINT).flat_map(tf.data.TFRecordDataset)
    assert local(cluster, hinted, Policy.HINT) == records(range(10), (3, 8))
    assert local(cluster, dataset, Policy.OFF) == records(range(10), range(10))
    same(local(cluster, dataset, Policy.FILE_OR_DATA, "ANY"), records(range(10), range(10)))
    for policy in Policy:
        local(cluster, dataset, policy)


def test_fewer_files_than_workers(shard, files):
    cluster = shard(3)
    dataset = Dataset.list_files(files[:4], shuffle=False).flat_map(tf.data.TFRecordDataset)
    for policy in (Policy.FILE, Policy.FILE_OR_DATA):
        with pytest.raises(tf.errors.InvalidArgumentError, match=WORDS["not_enough_for_the"]):
            local(cluster, dataset, policy)
    assert local(cluster, dataset, Policy.DATA) == records((3, 8), range(4))


def test_shares_of_several_lists(shard, files):
    cluster = shard(3)

    def interleaved():
        return Dataset.list_files(files, shuffle=False).interleave(tf.data.TFRecordDataset, cycle_length=10,
                                                                   num_parallel_calls=tf.data.AUTOTUNE)
    assert local(cluster, interleaved().prefetch(tf.data.AUTOTUNE), Policy.FILE_OR_DATA) == across((3, 8))
    zipped = Dataset.zip((interleaved(), interleaved())).prefetch(tf.data.AUTOTUNE)
    found = list(cluster.distribute(zipped, Policy.FILE_OR_DATA, target_workers="LOCAL").as_numpy_iterator())
    assert found == [(one, one) for one in across((3, 8))]
    joined = interleaved().concatenate(interleaved()).prefetch(tf.data.AUTOTUNE)
    assert local(cluster, joined, Policy.FILE_OR_DATA) == 2 * across((3, 8))


@pytest.mark.parametrize("address", ["localhost:%port%", "localhost:%port_worker%"])
def test_ports_with_names(shard, address):
    assert local(shard(3, addresses=[address] * 5), Dataset.range(20), Policy.FILE_OR_DATA) == [3, 8, 13, 18]


@pytest.mark.parametrize("addresses", [["localhost:worker"] * 5, [f"fake_worker_{i}" for i in range(5)]])
def test_addresses_that_are_not_listed(shard, addresses):
    with pytest.raises(RuntimeError, match=WORDS["the_worker_s_address"]):
        shard(0, addresses=addresses)


def test_no_list(shard):
    with pytest.raises(tf.errors.NotFoundError, match=WORDS["worker_is_not_in"]):
        local(shard(1, addresses=[]), Dataset.range(20), Policy.FILE_OR_DATA)


def test_more_workers_than_listed(shard):
    with pytest.raises(RuntimeError, match=WORDS["other_workers_are_already"]):
        shard(1, addresses=["localhost:%port%"])
