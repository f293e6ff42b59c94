"""Iterators of the data service that are saved and restored.

LEAT_SERVICE_RESTORES is the number of random trials, LEAT_SERVICE_RESTORES_FROM the first one's seed.
"""

import collections
import os
import threading

import pytest

import leat as tf

import random_service_restores

service = tf.data.experimental.service
OFF, DYNAMIC = service.ShardingPolicy.OFF, service.ShardingPolicy.DYNAMIC
TRIALS = int(os.environ.get("LEAT_SERVICE_RESTORES", "6"))
FIRST = int(os.environ.get("LEAT_SERVICE_RESTORES_FROM", "0"))


class Cluster:
    """A dispatcher with a folder, and workers."""

    def __init__(self, folder=None, workers=1):
        config = service.DispatcherConfig(protocol="local", work_dir=folder, fault_tolerant_mode=folder is not None)
        self.dispatcher = service.DispatchServer(config)
        self.workers = [self.worker() for _ in range(workers)]

    def worker(self):
        config = service.WorkerConfig(self.dispatcher._address, protocol="local", heartbeat_interval_ms=100)
        return service.WorkerServer(config)

    def distribute(self, dataset, mode=DYNAMIC, visitation="exactly_once", **arguments):
        return dataset.apply(service._distribute(mode, self.dispatcher.target, task_refresh_interval_hint_ms=20,
                                                 visitation=visitation, **arguments))

    def stop(self):
        for worker in self.workers:
            worker.stop()
        self.dispatcher.stop()


def take(iterator, count):
    return [int(next(iterator)) for _ in range(count)]


def rest(iterator):
    return [int(value) for value in iterator]


def test_random_restores(tmp_path):
    for seed in range(FIRST, FIRST + TRIALS):
        assert random_service_restores.trial(seed, str(tmp_path / str(seed))) is None, seed


def test_checkpoints(clusters, tmp_path):
    """In the middle of a pipeline, with another number of workers, twice from the same state."""
    cluster = clusters(workers=2)

    def build():
        dataset = cluster.distribute(tf.data.Dataset.range(500).batch(3).unbatch(), job_name="job")
        return dataset.map(lambda x: x * 2).shuffle(20).batch(4).unbatch().prefetch(2)
    iterator = iter(build())
    before = take(iterator, 123)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "state"))
    take(iterator, 99)
    cluster.workers.append(cluster.worker())
    for _ in range(2):
        other = iter(build())
        tf.train.Checkpoint(iterator=other).restore(path).assert_consumed()
        assert sorted(before + rest(other)) == list(range(0, 1000, 2))


def test_a_dispatcher_that_moved(clusters, tmp_path):
    """Its folder is what matters: the address is no part of the pipeline."""
    folder = str(tmp_path / "work")
    cluster = clusters(folder, 2)
    iterator = iter(cluster.distribute(tf.data.Dataset.range(300)))
    before = take(iterator, 100)
    state = iterator.save()
    del iterator
    cluster.stop()
    clusters()    # has the address of the first one
    moved = clusters(folder, 1)
    assert moved.dispatcher.target != cluster.dispatcher.target
    iterator = iter(moved.distribute(tf.data.Dataset.range(300)))
    iterator.restore(state)
    assert sorted(before + rest(iterator)) == list(range(300))


def test_later_epochs(clusters):
    """What other iterators read of later epochs meanwhile is read again; new iterators follow the restored one."""
    cluster = clusters()
    dataset = cluster.distribute(tf.data.Dataset.range(50), job_name="job")
    iterator = iter(dataset)
    before = take(iterator, 20)
    state = iterator.save()
    take(iter(dataset), 30)
    again = cluster.distribute(tf.data.Dataset.range(50), job_name="job")
    iterator = iter(again)
    iterator.restore(state)
    assert sorted(before + rest(iterator)) == list(range(50))
    for _ in range(2):
        assert sorted(rest(again)) == list(range(50))


def test_before_and_behind_an_epoch(clusters):
    dataset = clusters().distribute(tf.data.Dataset.range(10))
    iterator = iter(dataset)
    states = [(0, iterator.save())]
    take(iterator, 10)
    states.append((10, iterator.save()))
    assert next(iterator, None) is None
    states.append((10, iterator.save()))
    for taken, state in states:
        other = iter(dataset)
        other.restore(state)
        assert len(rest(other)) == 10 - taken


def test_errors_come_once(clusters):
    numbers = tf.data.Dataset.range(4).map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x - 1, tf.float32), "bad"))
    dataset = clusters().distribute(numbers)
    iterator = iter(dataset)
    next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        next(iterator)
    state = iterator.save()
    iterator = iter(dataset)
    iterator.restore(state)
    assert [float(x) for x in iterator] == [1, 0.5]


def test_at_least_once_without_an_order(clusters):
    """Positions of a dataset that is not deterministic say nothing: all comes again, and nothing is lost."""
    numbers = tf.data.Dataset.range(100).map(lambda x: x + 0, num_parallel_calls=2, deterministic=False)
    dataset = clusters().distribute(numbers, visitation="at_least_once")
    iterator = iter(dataset)
    take(iterator, 30)
    state = iterator.save()
    iterator = iter(dataset)
    iterator.restore(state)
    assert sorted(rest(iterator)) == list(range(100))


@pytest.mark.parametrize("endless, arguments, word", [
    (False, {"visitation": "at_most_once"}, "exactly_once"),
    (True, {"job_name": "job", "consumer_index": 0, "num_consumers": 1, "mode": OFF}, "coordinated"),
    (True, {"job_name": "job", "cross_trainer_cache": service.CrossTrainerCache("one"), "mode": OFF}, "cache")])
def test_what_is_not_saved(clusters, endless, arguments, word):
    numbers = tf.data.Dataset.range(10)
    iterator = iter(clusters().distribute(numbers.repeat() if endless else numbers, **arguments))
    next(iterator)
    with pytest.raises(tf.errors.UnimplementedError, match=word):
        iterator.save()
    next(iterator)


def test_states_that_do_not_fit(clusters):
    """Another dataset, another dispatcher: refused, and the iterator goes on where it was."""
    cluster, other = clusters(), clusters()
    iterator = iter(cluster.distribute(tf.data.Dataset.range(10)))
    take(iterator, 4)
    state = iterator.save()
    found = iter(cluster.distribute(tf.data.Dataset.range(11)))
    take(found, 3)
    with pytest.raises(tf.errors.FailedPreconditionError, match="plan"):
        found.restore(state)
    assert len(rest(found)) == 8
    found = iter(other.distribute(tf.data.Dataset.range(10)))
    take(found, 3)
    with pytest.raises(tf.errors.NotFoundError, match="dispatcher"):
        found.restore(state)
    assert len(rest(found)) == 7


def test_batches_of_a_worker_that_drains(clusters):
    """Another worker makes the stream again from its beginning: the first one gives no shorter batch before."""
    cluster = clusters(workers=2)
    for _ in range(10):
        seen, drains = collections.Counter(), []
        for i, batch in enumerate(cluster.distribute(tf.data.Dataset.range(3000).batch(7))):
            seen.update(int(x) for x in batch)
            if i % 60 == 30:
                cluster.workers.append(cluster.worker())
                drains.append(threading.Thread(target=cluster.workers.pop(0)._server.drain, args=(60_000,)))
                drains[-1].start()
        for drain in drains:
            drain.join()
        assert seen == collections.Counter(range(3000))


def test_a_state_from_before_a_shuffle_began(clusters):
    """The shuffle had not come to its input, which the state knows nothing of, and others read the job of that name."""
    cluster = clusters(workers=2)

    def build():
        return cluster.distribute(tf.data.Dataset.range(20), job_name="job").shuffle(32, seed=3)

    iterator = iter(build())
    state = iterator.save()
    assert sorted(rest(iterator)) == list(range(20))
    for again in (iter(build()), iterator):
        again.restore(state)
        assert sorted(take(again, 7) + rest(again)) == list(range(20))
    again.restore(state)
    behind = again.save()
    again.restore(behind)
    assert sorted(rest(again)) == list(range(20))
