"""What operators take in Python: arguments that the library has no form for are converted or refused here.

What the library knows of an argument it refuses itself, with a reason that says which exception it is. No locks.
"""

import numpy as np

from leat import dtypes, nest
from leat._core.shapes import TensorShape
from leat._core.specs import NoneTensorSpec, TensorSpec
from leat._core.tensor import Tensor
from leat.errors import InvalidArgumentError


def checked(op, inputs, arguments):
    """The arguments in the library's form; raises TypeError or ValueError where TensorFlow would for operator `op`."""
    found = _CHECKS.get(op)
    changed = found(inputs, arguments) if found is not None else None
    return arguments if changed is None else changed


def whole(value):
    """Refuses what is no whole number, nor a tensor of them."""
    if isinstance(value, (str, bytes, float, np.floating)):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int64")
    if isinstance(value, (Tensor, np.ndarray)) and not dtypes.as_dtype(value.dtype).is_integer:
        raise ValueError("Tensor conversion requested dtype int64 for Tensor with dtype "
                         f"{dtypes.as_dtype(value.dtype).name}: {value!r}")


def strings(name, value):
    """Refuses numbers and tensors of them where an argument, which is called so, has strings."""
    items = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(item, (bool, int, float)) or
           hasattr(item, "dtype") and dtypes.as_dtype(item.dtype) is not dtypes.string for item in items):
        raise TypeError(f"The `{name}` argument must contain `tf.string` elements. Got {value!r}.")


def _from_list(_, arguments):
    if not isinstance(arguments["elements"], list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    return dict(arguments, elements=tuple(arguments["elements"]))


def _zip(inputs, _):
    for leaf in nest.leaves(inputs):
        if isinstance(leaf, list):
            raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                            "`tf.data.Dataset` objects. Python `list` is not supported and you should "
                            "use `tuple` instead.")
        if not hasattr(leaf, "element_spec"):
            raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                            f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}.")


def _choose(inputs, arguments):
    if not nest.leaves(inputs):
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    choice = arguments["choice_dataset"]
    if not hasattr(choice, "element_spec"):
        raise TypeError("Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
                        f"{type(choice)}.")
    spec = choice.element_spec
    if not (isinstance(spec, TensorSpec) and spec.dtype is dtypes.int64 and spec.shape.rank in (0, None)):
        raise TypeError("Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but "
                        f"are {spec!r}.")
    _same_specs(inputs, arguments)


def _same_specs(inputs, _):
    """Refuses datasets whose elements are of other structures or dtypes."""
    datasets = nest.leaves(inputs)
    for number, other in enumerate(datasets[1:], 1):
        try:
            nest.map_structure(_same_dtype, datasets[0].element_spec, other.element_spec)
        except (TypeError, ValueError):
            raise TypeError("Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 "
                            f"element_spec={datasets[0].element_spec}.\nDataset {number} "
                            f"element_spec={other.element_spec}.") from None


def _same_dtype(one, other):
    if type(one) is not type(other) or getattr(one, "dtype", None) is not getattr(other, "dtype", None):
        raise TypeError("other specs")


def _alike(inputs, _):
    """Refuses elements in other containers, which only Python knows; other specs the library refuses."""
    datasets = nest.leaves(inputs)
    for other in datasets[1:]:
        try:
            nest.map_structure(lambda *_: None, datasets[0].element_spec, other.element_spec)
        except (TypeError, ValueError):
            raise TypeError(f"Incompatible dataset elements:\n  {datasets[0].element_spec} vs. "
                            f"  {other.element_spec}") from None


def _padded_batch(inputs, arguments):
    """Shapes become vectors, -1 for as long as the longest."""
    element, padded = nest.leaves(inputs)[0].element_spec, arguments.get("padded_shapes")
    for leaf in nest.leaves(element):
        if hasattr(leaf, "element_spec"):
            raise TypeError("`padded_batch` is not supported for datasets of datasets")
        if not isinstance(leaf, (TensorSpec, NoneTensorSpec)):
            raise TypeError("`padded_batch` is only supported for datasets that produce tensor elements but type spec "
                            f"of elements in the input dataset is not a subclass of TensorSpec: `{leaf!r}`.")
    _check_padding(element, arguments.get("padding_values"))
    flat = [] if padded is None else _flat_like(element, padded)
    if len(flat) != len(nest.leaves(element)):  # none, or another structure, which the library refuses
        return arguments
    return dict(arguments, padded_shapes=nest.pack_as(element, [_padded_shape(shape) for shape in flat]))


def _flat_like(structure, shapes):
    """One entry of `shapes` for each leaf; where the structures differ, the library says so."""
    kind = nest._kind_of(structure)
    if kind is None:
        return [shapes]
    found = nest._kind_of(tuple(shapes) if isinstance(shapes, list) else shapes)
    if found is None or len(found[1]) != len(kind[1]):
        return []
    return [shape for child, part in zip(kind[1], found[1]) for shape in _flat_like(child, part)]


def _check_padding(element, values):
    """Refuses padding of another dtype than its component's."""
    flat = [] if values is None else nest.leaves(values)
    specs = nest.leaves(element)
    for value, spec in zip(flat if len(flat) == len(specs) else [], specs):
        found = dtypes.as_dtype(value.dtype) if hasattr(value, "dtype") else None
        if found is not None and hasattr(spec, "dtype") and found is not spec.dtype:
            raise TypeError(f"Invalid `padding_values`. `padding_values` values type {found!r} does not match type "
                            f"{spec.dtype!r} of the corresponding input component.")


def _padded_shape(shape):
    if isinstance(shape, (Tensor, np.ndarray)):
        shown = f"Padded shape {np.asarray(shape)} must be a `tf.int64` vector tensor, but its "
        if not dtypes.as_dtype(shape.dtype).is_integer:
            raise TypeError(f"{shown}element type was {dtypes.as_dtype(shape.dtype).name}.")
        if len(shape.shape) != 1:
            raise ValueError(f"{shown}shape was {tuple(shape.shape)}.")
    if shape is None or isinstance(shape, (Tensor, np.ndarray)):
        return shape
    dims = shape if isinstance(shape, list) else TensorShape(shape)
    return np.array([-1 if size is None else size for size in dims], np.int64)


def _csv(_, arguments):
    size = arguments.get("buffer_size")
    if isinstance(size, int) and size <= 0:
        raise InvalidArgumentError(None, None, f"csv_dataset: buffer_size should be positive, found {size}")


def _sparse_batch(_, arguments):
    """Refuses sizes that are none; of leat's form of a shape, -1 is one that is not known."""
    shape = arguments["row_shape"]
    for size in shape if isinstance(shape, (list, tuple)) else ():
        if isinstance(size, int) and size < -1:
            raise ValueError(f"Dimension {size} must be >= 0")


_CHECKS = {"choose_from_datasets": _choose, "concatenate": _alike, "csv_dataset": _csv,
           "from_list": _from_list, "padded_batch": _padded_batch, "sample_from_datasets": _same_specs,
           "sparse_batch": _sparse_batch, "zip": _zip}
