"""Scenarios of TensorFlow's tests of the data service: workers of this process and of others, tags, coordinated reads,
the cross-trainer cache.

They hold with TensorFlow 2.21, too, in place of leat, where nothing else is said.
"""

import pytest

import leat as tf

from service_clusters import WORDS, Policy, eventually, groups_fit, rest, same, service, take, values

Dataset = tf.data.Dataset
TEN = list(range(10))
TAG = "COLOCATED"


# ---- workers of this process and of others ----

MIXED = [(1, 0), (1, 3), (3, 0), (3, 3)]


@pytest.mark.parametrize("here, there", MIXED)
def test_workers_of_this_process(clusters, here, there):
    cluster = clusters(here, there, deployment_mode=1)
    for target in ("LOCAL", "local"):
        same(values(cluster.range(10, target_workers=target)), here * TEN)
    same(values(cluster.range(10, target_workers="LOCAL").repeat(5)), 5 * here * TEN)
    same(values(cluster.range(10, target_workers="LOCAL").prefetch(10)), here * TEN)
    dataset = cluster.range(10, target_workers="LOCAL")
    for _ in range(10):
        same(values(dataset), here * TEN)
    same(values(cluster.range(100, Policy.DYNAMIC, target_workers="LOCAL")), list(range(100)))
    assert values(cluster.range(0, target_workers="LOCAL")) == []


@pytest.mark.parametrize("here, there", [(0, 1), (0, 3), (3, 1), (3, 3)])
def test_all_workers(clusters, here, there):
    same(values(clusters(here, there, deployment_mode=1).range(10)), (here + there) * TEN)


def test_several_consumers(clusters):
    cluster = clusters(1, 3, deployment_mode=1)
    iterators = [iter(cluster.range(300, job_name="job")) for _ in range(8)]
    found = []
    for _ in range(10):
        for one in iterators:
            found += take(one, 1)
    for one in iterators:
        found += rest(one)
    same(found, 4 * list(range(300)))


def test_no_worker_of_this_process(clusters):
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match=WORDS["local_reads_require_local"]):
        values(clusters(0, 3, deployment_mode=1).range(10, target_workers="LOCAL"))


def test_targets_of_one_job(clusters):
    cluster = clusters(3, 1, deployment_mode=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match=WORDS["existing_target_workers_auto"]):
        for target in ("AUTO", "ANY", "LOCAL"):
            values(cluster.range(10, job_name="job", target_workers=target))
    counts = [len(values(cluster.range(10, target_workers=target))) for target in ("AUTO", "ANY", "LOCAL")]
    assert counts == [40, 40, 30]


def test_coordinated_reads_of_this_process(clusters):
    with pytest.raises(tf.errors.InvalidArgumentError, match=WORDS["coordinated_reads_require_non"]):
        dataset = clusters(3).distribute(Dataset.range(10).repeat(), job_name="job", consumer_index=0, num_consumers=3,
                                         target_workers="LOCAL")
        values(dataset)


def endless(cluster, job_name=None):
    return cluster.distribute(Dataset.range(1000000).repeat(), Policy.OFF, job_name=job_name, target_workers="LOCAL")


@pytest.mark.parametrize("job_name", [None, "job"])
@pytest.mark.parametrize("there", [0, 3])
def test_epochs_that_are_left(clusters, job_name, there):
    cluster = clusters(1, there, deployment_mode=1)
    dataset = endless(cluster, job_name)
    for _ in range(5):
        assert take(iter(dataset), 5) == list(range(5))
    same(values(cluster.range(10, job_name=job_name and "other", target_workers="LOCAL").repeat(3)), 3 * TEN)


@pytest.mark.parametrize("restarted", ["worker", "dispatcher"])
def test_epochs_that_are_left_and_a_restart(clusters, restarted):
    cluster = clusters(1, 1, deployment_mode=1)
    dataset = endless(cluster, "job")
    assert take(iter(dataset), 10) == TEN
    if restarted == "worker":
        cluster.workers[0].restart()
    else:
        cluster.restart_dispatcher()
    assert take(iter(dataset), 10) == TEN


# ---- tags ----

def test_colocated_workers(clusters):
    """Those of other hosts are left alone."""
    cluster = clusters(1, 3, tags=[TAG], deployment_mode=1)
    assert values(cluster.range(100)) == list(range(100))
    cluster.add_remote(worker_tags=None)
    same(values(cluster.range(100)), 2 * list(range(100)))
    same(values(cluster.range(100, Policy.DYNAMIC)), list(range(100)))


def test_a_local_worker_without_a_tag(clusters):
    cluster = clusters(0, 3, tags=[TAG], deployment_mode=1)
    cluster.add_worker(worker_tags=None)
    assert values(cluster.range(100)) == list(range(100))


def test_colocated_workers_with_static_sharding(clusters):
    cluster = clusters(1, 3, tags=[TAG], worker_addresses=["localhost:%port%"] * 5, deployment_mode=1)
    cluster.add_remote(worker_tags=None)
    assert values(cluster.range(100, Policy.FILE_OR_DATA)) == list(range(0, 100, 5))


def test_workers_that_come_with_tags(clusters):
    cluster = clusters(1, 1, tags=[TAG], deployment_mode=1)
    iterator = iter(cluster.range(300))
    found = take(iterator, 100)
    for tags in (None, [TAG], None, [TAG]):
        cluster.add_remote(worker_tags=tags)
    eventually(lambda: cluster.dispatcher._num_workers() == 6)
    same(found + rest(iterator), 3 * list(range(300)))


def test_several_tags(clusters):
    cluster = clusters(1, 2, tags=[TAG, "COLOCATED_2", "COLOCATED_3"], deployment_mode=1)
    assert values(cluster.range(100)) == list(range(100))
    cluster = clusters(1, 2, tags=["one", "two"], deployment_mode=1)
    same(values(cluster.range(100)), 3 * list(range(100)))


def test_tags_that_do_not_fit(clusters):
    with pytest.raises(RuntimeError, match=WORDS["worker_tags_cannot_be"]):
        clusters(1, tags=["", TAG])


# ---- coordinated reads ----

@pytest.mark.parametrize("num_workers", [1, 3])
@pytest.mark.parametrize("num_consumers", [1, 2, 5])
def test_coordinated_reads(clusters, num_workers, num_consumers):
    groups_fit(values(clusters(num_workers).coordinated(num_consumers).take(100)), num_consumers)


def test_consumers_that_start_again(clusters):
    cluster = clusters()
    values(cluster.coordinated(3).take(20))
    with pytest.raises(tf.errors.FailedPreconditionError, match=WORDS["current_round_has_already"]):
        values(cluster.coordinated(3).take(20))


def test_buckets(clusters):
    """In each step all consumers get batches of the same bucket."""
    num_consumers = 15
    cluster = clusters(4)
    dataset = Dataset.range(100, output_type=tf.int32).shuffle(100).repeat()
    dataset = dataset.bucket_by_sequence_length(lambda x: x, [30, 60], [10] * 3, drop_remainder=True)
    dataset = dataset.group_by_window(lambda x: tf.cast(x[1], tf.int64), lambda _, x: Dataset.from_tensors(x),
                                      window_size=num_consumers)
    dataset = dataset.flat_map(lambda x: x)
    hosts = []
    for host in range(3):
        consumers = [cluster.distribute(dataset, job_name="test", consumer_index=5 * host + i,
                                        num_consumers=num_consumers) for i in range(5)]
        hosts.append(Dataset.from_tensor_slices(consumers).interleave(lambda x: x, cycle_length=5, num_parallel_calls=5,
                                                                      deterministic=True))
    dataset = Dataset.from_tensor_slices(hosts).interleave(lambda x: x, block_length=5, cycle_length=3,
                                                           num_parallel_calls=3, deterministic=True)
    batches = take(iter(dataset), 4 * num_consumers)
    assert all(len(batch) == 10 for batch in batches)


def test_finite_datasets_in_step(clusters):
    cluster = clusters()
    dataset = cluster.range(100, job_name="test", consumer_index=0, num_consumers=1)
    said = WORDS["round_robin_reads_require"]
    with pytest.raises(tf.errors.FailedPreconditionError, match=said) as refused:
        values(dataset)
    # Also where the dispatcher told it first. TensorFlow does not name the worker.
    assert str(refused.value).count(cluster.workers[0].address) == 1


def test_consumers_without_a_name(clusters):
    with pytest.raises(ValueError, match=WORDS["job_name_must_be_2"]):
        clusters().range(100, consumer_index=0, num_consumers=1)


@pytest.mark.parametrize("count", [1, 3, 10])
def test_workers_that_join(clusters, count):
    cluster = clusters(3)
    iterator = iter(cluster.coordinated(7))
    found = take(iterator, 25)
    for _ in range(count):
        cluster.add_worker()
    while found.count(0) < 3 + count:
        found += take(iterator, 1)
    groups_fit(found + take(iterator, 25), 7)


@pytest.mark.parametrize("count", [25, 27])
def test_coordinated_workers_that_leave(clusters, count):
    """All consumers get the same rounds, also of a worker that is lost in the middle of one."""
    cluster = clusters(2)
    iterator = iter(cluster.coordinated(3))
    found = take(iterator, count)
    for _ in range(2):
        cluster.workers[0].stop()
        found += take(iterator, 60)
        cluster.workers[0].restart()
        while found[-1] != 0:
            found += take(iterator, 1)
    groups_fit(found, 3)


@pytest.mark.parametrize("mode", ["parallel_epochs", "distributed_epoch"])
def test_coordinated_workers_that_drain(clusters, mode):
    """They have no end to wait for, nor is it one for the consumers."""
    cluster = clusters(2)
    dataset = Dataset.range(1000).flat_map(lambda x: Dataset.from_tensors(x).repeat(2)).repeat()
    iterators = [iter(cluster.distribute(dataset, mode, job_name="job", consumer_index=i, num_consumers=2))
                 for i in range(2)]
    for _ in range(10):
        assert take(iterators[0], 1) == take(iterators[1], 1)
    cluster.workers[0].drain()
    for _ in range(100):
        assert take(iterators[0], 1) == take(iterators[1], 1)


def test_coordinated_reads_of_colocated_workers(clusters):
    """A round is for the consumers of all hosts, so that those of other hosts are read, too."""
    cluster = clusters(1, 2, tags=[TAG], deployment_mode=1)
    found = take(iter(cluster.coordinated(4)), 100)
    groups_fit(found, 4)
    assert found.count(0) == 3


# ---- the cross-trainer cache ----

def caching(clusters, num_workers=1, size=10 << 30):
    cluster = clusters(0)
    for _ in range(num_workers):
        cluster.add_worker(cross_trainer_cache_size_bytes=size)
    return cluster


def trainer(cluster, name, dataset=None, job_name="job", mode="parallel_epochs", **arguments):
    dataset = Dataset.range(10000000).repeat() if dataset is None else dataset
    return cluster.distribute(dataset, mode, job_name=job_name, cross_trainer_cache=service.CrossTrainerCache(name),
                              **arguments)


@pytest.mark.parametrize("compression", ["AUTO", None])
def test_trainers_that_share(clusters, compression):
    cluster = caching(clusters)
    for name in ("one", "two"):
        assert values(trainer(cluster, name, compression=compression).take(10)) == TEN
    assert values(trainer(cluster, "three", job_name="other", compression=compression).take(10)) == TEN


def test_trainers_that_share_an_id(clusters):
    cluster = caching(clusters)
    dataset = Dataset.range(10000000).repeat()
    for name in ("one", "two"):
        dataset_id = service.register_dataset(cluster.target, dataset, dataset_id="mine")
        read = service.from_dataset_id(Policy.OFF, cluster.target, dataset_id, dataset.element_spec, job_name="job",
                                       cross_trainer_cache=service.CrossTrainerCache(trainer_id=name))
        assert values(read.take(10)) == TEN


def test_no_cache_by_default(clusters):
    cluster = caching(clusters)
    dataset = Dataset.range(10000000).repeat()
    assert values(cluster.distribute(dataset, job_name="job").take(10)) == TEN
    assert values(cluster.distribute(dataset, job_name="job").take(10))[0] >= 10


def test_readers_at_the_same_time(clusters):
    cluster = caching(clusters, size=(64 + 8) * 423)
    iterators = [iter(trainer(cluster, f"trainer {i}", max_outstanding_requests=1)) for i in range(10)]
    for i in range(50):
        assert [take(one, 1) for one in iterators] == [[i]] * 10


def test_a_slow_reader_skips(clusters):
    cluster = caching(clusters, size=500)
    assert values(trainer(cluster, "one").take(200)) == list(range(200))
    found = values(trainer(cluster, "two").take(200))
    assert found[0] > 0 and len(found) == 200
    for i in range(5):
        assert len(values(trainer(cluster, f"trainer {i}").take(200))) == 200


def test_a_shuffle_is_shared(clusters):
    cluster = caching(clusters)
    dataset = Dataset.range(10000000).repeat().shuffle(100)
    first, second = (values(trainer(cluster, name, dataset).take(10)) for name in ("one", "two"))
    assert first == second


def test_a_trainer_that_comes_again(clusters):
    """It does not read what it read before."""
    cluster = caching(clusters)
    assert values(trainer(cluster, "one").take(10)) == TEN
    assert values(trainer(cluster, "one").take(10))[0] >= 10


def test_a_cache_with_dynamic_sharding(clusters):
    cluster = caching(clusters, 2)
    first, second = (set(values(trainer(cluster, name, mode=Policy.DYNAMIC).take(100))) for name in ("one", "two"))
    assert first & second


def test_refusals_of_the_cache(clusters):
    cluster = caching(clusters)
    refused = tf.errors.InvalidArgumentError
    assert values(trainer(cluster, "one").take(10)) == TEN
    with pytest.raises(refused, match=WORDS["cross_trainer_caching_requires_2"]):
        values(trainer(cluster, "one", job_name=None))
    for stop in (0, 10):
        with pytest.raises(refused, match=WORDS["cross_trainer_caching_requires_3"]):
            values(trainer(cluster, "one", Dataset.range(stop).map(lambda x: x + 1), job_name="finite"))
    with pytest.raises(refused, match=WORDS["cross_trainer_caching_does"]):
        values(trainer(cluster, "one", job_name="in step", num_consumers=1, consumer_index=0))
    with pytest.raises(refused, match=WORDS["existing_cross_trainer_cache"]):
        values(cluster.distribute(Dataset.range(10000000).repeat(), job_name="job"))
    with pytest.raises(ValueError, match=WORDS["tf_data_service_cross"]):
        trainer(cluster, None)
    repeated = trainer(cluster, "one", job_name="repeated")
    said = WORDS["cross_trainer_caching_requires"]
    with pytest.raises(refused, match=said):
        for _ in range(3):
            values(repeated.take(10))


def test_a_cache_and_a_restart(clusters):
    cluster = caching(clusters)
    iterator = iter(trainer(cluster, "one"))
    assert take(iterator, 100) == list(range(100))
    cluster.restart_dispatcher()
    assert take(iterator, 100) == list(range(100, 200))
    cluster.workers[0].restart()
    while take(iterator, 1) != [0]:
        pass
    assert take(iterator, 100) == list(range(1, 101))
