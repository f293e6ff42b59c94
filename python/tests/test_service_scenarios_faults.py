"""Scenarios of TensorFlow's tests of the data service: dispatchers and workers that stop, start again, come late.

They hold with TensorFlow 2.21, too, in place of leat, where nothing else is said.
"""

import multiprocessing
import threading

import pytest

import leat as tf

from service_clusters import WORDS, Policy, eventually, free_port, rest, same, service, take, values

Dataset = tf.data.Dataset
HUNDRED = list(range(100))


def test_a_dispatcher_that_stops(clusters):
    cluster = clusters()
    iterator = iter(cluster.range(100))
    found = take(iterator, 1)
    cluster.dispatcher._stop()
    assert found + take(iterator, 99) == HUNDRED


@pytest.mark.parametrize("mode", ["parallel_epochs", "distributed_epoch"])
@pytest.mark.parametrize("before", [0, 50])
def test_a_dispatcher_that_starts_again(clusters, mode, before):
    cluster = clusters()
    dataset = cluster.range(100, mode)
    if before == 0:
        cluster.restart_dispatcher()
    iterator = iter(dataset)
    found = take(iterator, before)
    if before != 0:
        cluster.restart_dispatcher()
    assert found + rest(iterator) == HUNDRED


def test_restarts_in_a_repeated_epoch(clusters):
    cluster = clusters()
    iterator = iter(cluster.distribute(Dataset.range(100).repeat(5), "distributed_epoch"))
    found = []
    for point in (50, 250, 450, 500):
        found += take(iterator, point - len(found))
        cluster.restart_dispatcher()
    same(found, 5 * HUNDRED)


def test_a_restart_between_iterations(clusters):
    cluster = clusters()
    dataset = cluster.range(100)
    assert values(dataset) == HUNDRED
    cluster.restart_dispatcher()
    assert values(dataset) == HUNDRED


def test_many_restarts(clusters):
    cluster = clusters()
    datasets = []
    for stop in range(10, 15):
        datasets.append(cluster.range(stop))
        cluster.restart_dispatcher()
    assert [len(values(one)) for one in datasets] == [10, 11, 12, 13, 14]


def test_a_dispatcher_and_a_worker_that_start_again(clusters):
    cluster = clusters()
    dataset = cluster.range(100)
    for _ in range(2):
        cluster.restart_dispatcher()
        cluster.workers[0].restart()
        assert values(dataset) == HUNDRED


def test_a_dispatcher_and_workers_that_start_again(clusters):
    cluster = clusters(2)
    iterator = iter(cluster.range(100))
    found = []
    for _ in range(2):
        cluster.restart_dispatcher()
        for worker in cluster.workers:
            worker.restart()
        found += rest(iterator)
        same(found, 2 * HUNDRED)


def test_servers_that_start_late(clusters):
    cluster = clusters(0, start=False, port=free_port())

    def start():
        cluster.dispatcher.start()
        cluster.add_worker()
    starting = threading.Timer(0.5, start)
    starting.start()
    assert values(cluster.range(10)) == list(range(10))
    starting.join()


def test_a_worker_that_comes_late(clusters):
    cluster = clusters()
    elements = list(range(2 * multiprocessing.cpu_count() + 100))
    iterator = iter(cluster.range(len(elements), max_outstanding_requests=1))  # or all of it may be here by now
    found = take(iterator, len(elements) // 2)
    cluster.add_worker()
    eventually(lambda: cluster.dispatcher._num_workers() == 2)
    same(found + rest(iterator), 2 * elements)


def test_workers_that_leave_while_little_is_asked_for(clusters):
    cluster = clusters(5)
    iterator = iter(cluster.range(2 ** 55, max_outstanding_requests=1))
    zeros = 0
    while zeros < 5:
        zeros += take(iterator, 1) == [0]
    for worker in cluster.workers[:4]:
        worker.stop()
    take(iterator, 1000)


@pytest.mark.parametrize("same_port", [True, False])
@pytest.mark.parametrize("work_dir, fault_tolerant_mode", [(None, True), (None, False), ("", False)])
def test_a_worker_that_starts_again(clusters, same_port, work_dir, fault_tolerant_mode):
    """It begins anew."""
    cluster = clusters(work_dir=work_dir, fault_tolerant_mode=fault_tolerant_mode)
    count = 2 * multiprocessing.cpu_count() + 100
    iterator = iter(cluster.range(count, max_outstanding_requests=1))
    assert take(iterator, count // 2) == list(range(count // 2))
    cluster.workers[0].restart(same_port)
    while take(iterator, 1) != [0]:
        pass
    assert take(iterator, count // 2 - 1) == list(range(1, count // 2))


def test_a_name_in_another_mode_after_a_restart(clusters):
    cluster = clusters()
    iterator = iter(cluster.range(100, job_name="job"))
    take(iterator, 50)
    cluster.restart_dispatcher()
    with pytest.raises(tf.errors.InvalidArgumentError, match=WORDS["but_found_an_existing"]):
        next(iter(cluster.range(100, "distributed_epoch", job_name="job")))


def test_a_stuck_worker(clusters):
    """Others are read while one of them does not go on, and no more than one element is asked for. TensorFlow hangs."""
    cluster = clusters(1, 5)
    iterator = iter(cluster.range(10 ** 9, max_outstanding_requests=1))
    take(iterator, 20)
    cluster.remotes[0].process.send_signal(19)
    take(iterator, 200)
    cluster.remotes[0].process.send_signal(18)


def test_worker_addresses(clusters):
    cluster = clusters(2)
    for worker in cluster.workers:
        host, port = worker.address.split(":")
        assert host == "localhost" and int(port) == worker.port
    assert cluster.dispatcher._address == cluster.address and cluster.target == "grpc://" + cluster.address
