"""Values without numbers, of which models are put together: KerasTensors and their dtypes."""

from leat import dtypes
from leat.keras._base import policies, tables

OPERATIONS = {}  # name -> function of ``keras.ops``, which notes them; as the configuration of a model names them


def _dtype_name(dtype):
    if dtype is None:
        return policies.floatx()
    if isinstance(dtype, dict):  # of a configuration
        return policies.deserialize(dtype).compute_dtype
    if isinstance(dtype, policies.DTypePolicy):
        return dtype.compute_dtype
    try:
        return dtype.name if hasattr(dtype, "name") else dtypes.as_dtype(dtype).name
    except TypeError:
        raise ValueError("Cannot interpret `dtype` argument. Expected a string or an instance of DTypePolicy. "
                         f"Received: dtype={dtype}") from None


def _fixed(name):
    """A property that cannot be set."""
    def refuse(self, value):
        raise AttributeError(f"The `{name}` attribute of KerasTensor is immutable. One should create a new instance of "
                             "KerasTensor for this.")
    return property(lambda self: self._given[name], refuse)


def _operator(name, reflected=False):
    """The operator that an operation of ``keras.ops`` is."""
    def operator(self, other):
        return OPERATIONS[name](other, self) if reflected else OPERATIONS[name](self, other)
    return operator


def _operator_alone(name):
    """The same of one operand."""
    def operator(self):
        return OPERATIONS[name](self)
    return operator


class KerasTensor:
    """What stands for a tensor while a model is put together (``keras.KerasTensor``): a shape and a dtype."""

    def __init__(self, shape, dtype="float32", sparse=False, ragged=False, record_history=True, name=None):
        if sparse and ragged:
            raise ValueError("KerasTensor cannot have `sparse=True` and `ragged=True` at the same time.")
        if shape is None:
            raise ValueError("Undefined shapes are not supported.")
        if not hasattr(shape, "__iter__"):
            raise ValueError(f"Cannot convert '{shape}' to a shape.")
        self._given = {"shape": tuple(shape), "dtype": _dtype_name(dtype), "sparse": sparse, "ragged": ragged}
        self.name = name or tables.auto_name("keras_tensor")
        self._history = None  # the call that gave it

    _keras_mask = None  # what stands for the mask, while a model is put together
    shape, dtype, sparse, ragged = map(_fixed, ("shape", "dtype", "sparse", "ragged"))
    ndim = property(lambda self: len(self.shape))

    def __repr__(self):
        return (f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse={self.sparse}, ragged={self.ragged}, "
                f"name={self.name}>")

    def __array__(self, *_):
        raise ValueError("A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any "
                         "actual numerical value. You cannot convert it to a NumPy array, and it cannot be used as "
                         "input to a TensorFlow function: use a function of keras.ops, or a layer "
                         "(keras.layers.Lambda)")

    def __bool__(self):
        raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")

    def _as_tensor(self):
        raise ValueError("A KerasTensor cannot be used as input to a TensorFlow function: it stands for a shape and a "
                         "dtype while a model is put together. Call functions of `keras.ops` on it, or put the "
                         "function into the `call` of a layer of your own, or into a Lambda layer.")

    def __iter__(self):
        raise NotImplementedError("Iterating over a symbolic KerasTensor is not supported.")

    def __getitem__(self, index):
        return OPERATIONS["get_item"](self, index)

    def reshape(self, newshape):
        """The same values in another shape (``keras.ops.reshape``)."""
        return OPERATIONS["reshape"](self, newshape)

    def squeeze(self, axis=None):
        """Without dimensions of 1 (``keras.ops.squeeze``)."""
        return OPERATIONS["squeeze"](self, axis)

    # ---- operators ----

    __add__, __radd__ = _operator("add"), _operator("add", True)
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", True)
    __mul__, __rmul__ = _operator("multiply"), _operator("multiply", True)
    __truediv__, __rtruediv__ = _operator("divide"), _operator("divide", True)
    __floordiv__, __rfloordiv__ = _operator("floor_divide"), _operator("floor_divide", True)
    __mod__, __rmod__ = _operator("mod"), _operator("mod", True)
    __pow__, __rpow__ = _operator("power"), _operator("power", True)
    __matmul__, __rmatmul__ = _operator("matmul"), _operator("matmul", True)
    __and__, __rand__ = _operator("logical_and"), _operator("logical_and", True)
    __or__, __ror__ = _operator("logical_or"), _operator("logical_or", True)
    __xor__, __rxor__ = _operator("logical_xor"), _operator("logical_xor", True)
    __lt__ = _operator("less")
    __le__ = _operator("less_equal")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")
    __ne__ = _operator("not_equal")
    __neg__ = _operator_alone("negative")
    __abs__ = _operator_alone("abs")
    __invert__ = _operator_alone("logical_not")
