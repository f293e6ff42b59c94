"""Programs for TPUs, for which the CPUs of the process stand in; without being asked they do not."""

import numpy as np
import pytest

import leat as tf
from leat._core import devices

Resolver = tf.distribute.cluster_resolver.TPUClusterResolver


def begin():
    resolver = Resolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    topology = tf.tpu.experimental.initialize_tpu_system(resolver)
    return resolver, topology, tf.distribute.TPUStrategy(resolver)


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setenv("LEAT_TPU_PLATFORM", "cpu")


def test_cpus_stand_in(stand_in):
    resolver, topology, strategy = begin()
    count = len(tf.config.list_logical_devices("CPU"))
    assert strategy.num_replicas_in_sync == count and strategy.cluster_resolver is resolver
    assert topology.num_tpus_per_task == count and topology.device_coordinates.shape == (1, count, 4)
    assert resolver.num_accelerators() == {"TPU": count} and resolver.cluster_spec().jobs == []
    assert (resolver.master(), resolver.task_type, resolver.task_id, resolver.environment) == ("", "worker", 0, "")
    with strategy.scope():
        variable = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def step(x):
        variable.assign_add(tf.reduce_sum(x))

    for batch in strategy.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(2).map(
            lambda x: tf.cast(x, tf.float32))):
        strategy.run(step, args=(batch,))
    tf.tpu.experimental.shutdown_tpu_system(resolver)
    assert variable.numpy() == 16.0


def test_input_from_a_data_service(stand_in):
    strategy = begin()[2]
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    workers = [service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1]))
               for _ in range(2)]
    dataset = tf.data.Dataset.range(10).batch(2).prefetch(tf.data.AUTOTUNE)
    dataset = dataset.apply(service.distribute(processing_mode=service.ShardingPolicy.OFF, service=dispatcher.target))
    found = [value.numpy() for batch in strategy.experimental_distribute_dataset(dataset)
             for value in strategy.experimental_local_results(batch)]
    assert sorted(np.concatenate(found)) == sorted([*range(10)] * len(workers))


@pytest.mark.parametrize("platform", [None, "gpu"])
@pytest.mark.parametrize("make", [Resolver, tf.distribute.TPUStrategy, tf.tpu.experimental.initialize_tpu_system])
def test_without_a_stand_in(monkeypatch, platform, make):
    monkeypatch.delenv("LEAT_TPU_PLATFORM", raising=False)
    if platform is not None:
        monkeypatch.setenv("LEAT_TPU_PLATFORM", platform)
    with pytest.raises(tf.errors.UnimplementedError, match="LEAT_TPU_PLATFORM"):
        make()


@pytest.mark.skipif(devices.number("XLA_CPU") == 0, reason="the package xla-cpu-pjrt is not installed")
def test_devices_of_a_plugin_stand_in(monkeypatch):
    monkeypatch.setenv("LEAT_TPU_PLATFORM", "xla_cpu")
    resolver, topology, strategy = begin()
    count = devices.number("XLA_CPU")
    assert resolver.num_accelerators() == {"TPU": count} and topology.num_tpus_per_task == count
    assert strategy.num_replicas_in_sync == count and "XLA_CPU:0" in strategy.extended.worker_devices[0]
    values = strategy.run(tf.function(lambda: tf.constant([1.0, 2.0]) * 2.0))
    assert strategy.experimental_local_results(values)[0].numpy().tolist() == [2.0, 4.0]


def test_other_machines_are_refused(stand_in):
    with pytest.raises(tf.errors.UnimplementedError, match="grpc://10.0.0.1:8470"):
        Resolver(tpu="grpc://10.0.0.1:8470")
    with pytest.raises(tf.errors.UnimplementedError, match="worker"):
        tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": ["a:1", "b:1"]}))
