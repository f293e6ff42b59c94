"""HashedCrossing: one number for what several features are together, by the hash of ``tf.sparse.cross_hashed``."""

from leat._core.tensor import Tensor, convert_to_tensor
from leat._structures import crosses
from leat.keras._base.layer import Layer, symbolic_call
from leat.keras._base.named import op as _op
from leat.keras._base.sparse import as_sparse
from leat.keras._base.symbolic import KerasTensor
from leat.keras.layers.lookups import checked_sparse, encode


class HashedCrossing(Layer):
    """A number below `num_bins` for each row of several features, by a hash (``keras.layers.HashedCrossing``).

    It is called with a list of two tensors or more, of integers or strings, [], [batch] or [batch, 1]. `output_mode`:
    "int" or "one_hot".
    """

    _casts_inputs = False

    def __init__(self, num_bins, output_mode="int", sparse=False, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype="int64" if output_mode == "int" and dtype is None else dtype)
        if output_mode not in ("int", "one_hot"):
            raise ValueError("Invalid value for argument `output_mode`. Expected one of ('int', 'one_hot'). Received: "
                             f"output_mode={output_mode}")
        self.num_bins, self.output_mode, self.built = num_bins, output_mode, True
        self.sparse = checked_sparse(sparse, output_mode)

    def __call__(self, inputs, *args, **kwargs):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError("`HashedCrossing` should be called on a list or tuple of inputs. Received: "
                             f"inputs={inputs}")
        if len(inputs) < 2:
            raise ValueError(f"`HashedCrossing` should be called on at least two inputs. Received: inputs={inputs}")
        if any(isinstance(one, KerasTensor) for one in inputs):
            return symbolic_call(self, (inputs,), kwargs)
        if any(hasattr(one, "dense_shape") or hasattr(one, "with_flat_values") for one in inputs):
            raise ValueError(f"All `HashedCrossing` inputs should be dense tensors. Received: inputs={inputs}")
        inputs = [one if isinstance(one, Tensor) else convert_to_tensor(one) for one in inputs]
        shapes = [tuple(one.shape) for one in inputs]
        if len(shapes[0]) > 2 or len(shapes[0]) == 2 and shapes[0][1] != 1:
            raise ValueError("All `HashedCrossing` inputs should have shape `()`, `(batch_size)` or `(batch_size, 1)`. "
                             f"Received: inputs={inputs}")
        if any(shape != shapes[0] for shape in shapes):
            raise ValueError(f"All `HashedCrossing` inputs should have equal shape. Received: inputs={inputs}")
        if any(not (one.dtype.is_integer or one.dtype.name == "string") for one in inputs):
            raise ValueError("All `HashedCrossing` inputs should have an integer or string dtype. Received: "
                             f"inputs={inputs}")
        found = super().__call__(inputs, *args, **kwargs)
        return as_sparse(found) if self.sparse else found

    def call(self, inputs):
        """The numbers, or vectors of them."""
        found = _op("fill", _op("shape", inputs[0]), convert_to_tensor(crosses.KEY, "uint64"))
        for one in inputs:
            found = crosses.joined(found, crosses.fingerprint(one))
        numbers = _op("cast", _op("math.floormod", found, convert_to_tensor(self.num_bins, "uint64")), "int64")
        return encode(numbers, self.output_mode, self.num_bins, self.compute_dtype)

    def compute_output_shape(self, input_shape):
        """The shape of the output for inputs of these shapes. ValueError for other than two or for different ones."""
        if len(input_shape) != 2 or not all(isinstance(shape, tuple) for shape in input_shape):
            raise ValueError(f"Expected as input a list/tuple of 2 tensors. Received input_shape={input_shape}")
        if input_shape[0][-1] != input_shape[1][-1]:
            raise ValueError("Expected the two input tensors to have identical shapes. Received "
                             f"input_shape={input_shape}")
        shape = tuple(input_shape[0])
        if self.output_mode == "int":
            return shape
        return (*(shape[:-1] if shape[-1] == 1 else shape), self.num_bins)

    def get_config(self):
        """The arguments that make another one like it."""
        return {"num_bins": self.num_bins, "output_mode": self.output_mode, "sparse": self.sparse, "name": self.name,
                "dtype": self.dtype}
