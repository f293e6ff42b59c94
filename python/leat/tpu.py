"""``tf.tpu``: what programs for TPUs call before they make a TPUStrategy.

TPUs are those that the package libtpu finds on this machine. With LEAT_TPU_PLATFORM=cpu (or xla_cpu) in the
environment the CPUs of this process stand in for them, so that such a program can be tried; where there is neither all
of this is an UnimplementedError that says so.
"""

import types

import numpy as np

from leat._core.later import public
from leat.distribute.cluster_resolver import tpu_devices

__dir__ = public(globals())

__all__ = ["experimental"]


class Topology:
    """Where the devices of a TPU system are: in a line, all of one task (``tf.tpu.experimental.Topology``)."""

    def __init__(self, num_devices):
        self.mesh_shape = np.array([num_devices, 1, 1, 1], np.int32)
        self.device_coordinates = np.array([[[i, 0, 0, 0] for i in range(num_devices)]], np.int32)
        self.mesh_rank, self.num_tasks, self.num_tpus_per_task = 4, 1, num_devices
        self.missing_devices = np.zeros([0, 4], np.int32)


def _initialize_tpu_system(cluster_resolver=None):
    """The Topology (``tf.tpu.experimental.initialize_tpu_system``). UnimplementedError without TPUs and stand-ins."""
    return Topology(len(tpu_devices("initialize_tpu_system")))


def _shutdown_tpu_system(cluster_resolver=None):
    """Nothing has to be done (``tf.tpu.experimental.shutdown_tpu_system``). UnimplementedError without TPUs."""
    tpu_devices("shutdown_tpu_system")


experimental = types.SimpleNamespace(initialize_tpu_system=_initialize_tpu_system,
                                     shutdown_tpu_system=_shutdown_tpu_system, Topology=Topology)
