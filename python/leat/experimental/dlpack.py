"""``tf.experimental.dlpack``: tensors as capsules that other packages take, and theirs as tensors, without a copy."""

from leat import _native

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tf_tensor):
    """A capsule over the tensor's values, read only (``tf.experimental.dlpack.to_dlpack``)."""
    return _native.to_dlpack(tf_tensor, False)


def from_dlpack(dlcapsule):
    """The tensor over a capsule's memory, or over that of an object that gives one
    (``tf.experimental.dlpack.from_dlpack``)."""
    return _native.from_dlpack(dlcapsule.__dlpack__() if hasattr(dlcapsule, "__dlpack__") else dlcapsule)
