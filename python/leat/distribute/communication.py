"""How replicas exchange values: TensorFlow's options, which leat accepts and checks.

leat has one way to reduce between the devices of a process, so that they change nothing.
"""

import collections
import enum


class CommunicationImplementation(enum.Enum):
    """``tf.distribute.experimental.CommunicationImplementation``."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CommunicationOptions(collections.namedtuple("CommunicationOptions", [
        "bytes_per_pack", "timeout_seconds", "implementation"], defaults=[0, None, CommunicationImplementation.AUTO])):
    """``tf.distribute.experimental.CommunicationOptions``; ValueError for a negative `bytes_per_pack`."""

    __slots__ = ()

    def __new__(cls, bytes_per_pack=0, timeout_seconds=None, implementation=CommunicationImplementation.AUTO):
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        return super().__new__(cls, bytes_per_pack, timeout_seconds, implementation)

    def __str__(self):
        return (f"Options(bytes_per_pack={self.bytes_per_pack},timeout_seconds={self.timeout_seconds}, "
                f"implementation={self.implementation})")


class RunOptions(collections.namedtuple("RunOptions", [
        "experimental_enable_dynamic_batch_size", "experimental_bucketizing_dynamic_shape", "experimental_xla_options"],
        defaults=[True, False, None])):
    """``tf.distribute.RunOptions``: for TPUs, without effect on others."""

    __slots__ = ()
