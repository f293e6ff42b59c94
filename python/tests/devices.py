"""Logical devices, strategies over them, and what their replicas call, for tests."""

import leat as tf

DEVICES = 4
if tf.config.list_logical_devices("CPU")[DEVICES - 1:] == []:
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                               [tf.config.LogicalDeviceConfiguration()] * DEVICES)
ONE, TWO, THREE = (tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(n)]) for n in (1, 2, 3))


def replica_id():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def total(value):
    return tf.distribute.get_replica_context().all_reduce("SUM", value)


def numbers(value):
    return [one.numpy().tolist() for one in value.values]
