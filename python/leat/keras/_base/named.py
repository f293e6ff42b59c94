"""Operations of the library by TensorFlow's names."""

from leat._graph import ops


def op(path, *args, **kwargs):
    """What the operation of a name, "math.rsqrt", gives."""
    return ops.FUNCTIONS[path](*args, **kwargs)
