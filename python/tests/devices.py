"""Logical devices, strategies over them, and what their replicas call, for tests."""

import pytest

import leat as tf

DEVICES = 4
if tf.config.list_logical_devices("CPU")[DEVICES - 1:] == []:
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                               [tf.config.LogicalDeviceConfiguration()] * DEVICES)
ONE, TWO, THREE = (tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(n)]) for n in (1, 2, 3))


@pytest.fixture(params=["python", "traced"])
def way(request, monkeypatch):
    """How `run` goes: as outside of a tf.function, then as in one."""
    monkeypatch.setattr(tf.distribute.Strategy, "_runs_python", request.param == "python")
    return request.param


TRACED = pytest.mark.parametrize("way", ["traced"], indirect=True)
BOTH_WAYS = pytest.mark.usefixtures("way")


def replica_id():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def total(value):
    return tf.distribute.get_replica_context().all_reduce("SUM", value)


def numbers(value):
    return [one.numpy().tolist() for one in value.values]
