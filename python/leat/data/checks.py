"""What TensorFlow refuses in Python, before an operator is made: the same exception classes, texts that say the same.

The library refuses all of this too, as InvalidArgumentError; programs that catch TypeError or ValueError see those
here. `checked` is called with every operator; it looks at specs and arguments alone, reads no element, takes no lock.
"""

import collections.abc

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._graph import trace
from leat._core.element_specs import DatasetSpec
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor


def checked(op, inputs, arguments):
    """The arguments in the library's form; raises TypeError or ValueError where TensorFlow would for operator `op`."""
    found = _CHECKS.get(op)
    changed = found(inputs, arguments) if found is not None else None
    return arguments if changed is None else changed


def _element_spec(inputs):
    return nest.leaves(inputs)[0].element_spec


def _shape(spec):
    shape = getattr(spec, "shape", None)
    return TensorShape(None) if shape is None else shape


def _check_rows(leaves, of_scalar, of_unequal):
    """ValueError where leaves have no rows (the text `of_scalar`), or not equally many (`of_unequal`, with both)."""
    first = None
    for leaf in leaves:
        shape = _shape(leaf)
        if isinstance(leaf, (specs.NoneTensorSpec, DatasetSpec)) or shape.rank is None:
            continue
        if shape.rank == 0:
            raise ValueError(of_scalar)
        if not isinstance(leaf, specs.TensorSpec):
            continue  # the rows of composite values are counted when they are there
        if first is not None and shape[0] is not None and shape[0] != first:
            raise ValueError(of_unequal.format(first, shape[0]))
        first = shape[0] if first is None else first


# ---- sources ----

def _from_tensor_slices(_, arguments):
    leaves = nest.leaves(nest.spec_of(nest.normalize(arguments["tensors"])))
    if not leaves:
        raise ValueError("Invalid `element`. `element` should not be empty.")
    _check_rows(leaves, "Unbatching a tensor is only supported for rank >= 1; from_tensors takes a scalar",
                "Dimensions {} and {} are not compatible")


def _from_list(_, arguments):
    elements = arguments["elements"]
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
                         "`tf.data.Dataset.range(0)`.")
    elements = [nest.normalize(element) for element in elements]
    first = nest.spec_of(elements[0])
    for element in elements[1:]:
        for a, b in zip(nest.leaves(first), nest.leaves(nest.spec_of(element))):
            if getattr(a, "dtype", None) != getattr(b, "dtype", None):
                raise ValueError(f"Invalid `elements`. The elements are not all of one dtype: {a} and {b}.")
        nest.map_structure(lambda a, b: None, first, element)
    return dict(arguments, elements=tuple(elements))


def _csv(_, arguments):
    """A column's default is a value, or a dtype where there must be one."""
    defaults = []
    for default in arguments["record_defaults"]:
        if isinstance(default, (dtypes.DType, type)):
            default = np.empty(0, dtypes.as_dtype(default).as_numpy_dtype)
        defaults.append(default)
    _filenames(_, arguments)
    return dict(arguments, record_defaults=tuple(defaults))


def _filenames(_, arguments):
    value = arguments["filenames"]
    if hasattr(value, "element_spec"):
        spec = value.element_spec
        if not isinstance(spec, specs.TensorSpec) or spec.dtype is not dtypes.string:
            raise TypeError("The `filenames` argument must contain `tf.string` elements. Got a dataset of "
                            f"{_dtype_name(spec)} elements.")
        if spec.shape.rank not in (0, None):
            raise TypeError("The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). "
                            f"Got a dataset of shape {spec.shape} elements.")
        return
    if isinstance(value, (list, tuple)) and not value or hasattr(value, "__fspath__"):
        return
    try:
        spec = nest.spec_of_leaf(nest.normalize(value if not isinstance(value, (list, tuple)) else
                                                [getattr(name, "__fspath__", lambda n=name: n)() for name in value]))
    except (TypeError, ValueError):
        return
    if isinstance(spec, specs.TensorSpec) and spec.dtype is not dtypes.string:
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. "
                        f"Got {_dtype_name(spec)} elements.")


def _dtype_name(spec):
    return f"`{spec.dtype!r}`" if hasattr(spec, "dtype") else repr(spec)


# ---- several datasets ----

def _zip(inputs, _):
    for leaf in nest.leaves(inputs):
        if isinstance(leaf, list):
            raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                            "`tf.data.Dataset` objects. Python `list` is not supported and you should "
                            "use `tuple` instead.")
        if not hasattr(leaf, "element_spec"):
            raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                            f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}.")


def _alike(inputs, _):
    """Refuses datasets whose elements have no common spec."""
    first, *others = nest.leaves(inputs)
    for other in others:
        try:
            nest.map_structure(lambda a, b: a.most_specific_compatible_type(b), first.element_spec, other.element_spec)
        except (TypeError, ValueError):
            raise TypeError(f"Incompatible dataset elements:\n  {first.element_spec} vs.\n"
                            f"  {other.element_spec}") from None


def _sample_from_datasets(inputs, arguments):
    datasets = nest.leaves(inputs)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    _alike(inputs, arguments)
    weights = arguments.get("weights")
    if weights is None:
        return
    if hasattr(weights, "element_spec"):
        spec = weights.element_spec
        if not isinstance(spec, specs.TensorSpec) or not spec.dtype.is_floating:
            raise TypeError(f"Invalid `weights`. Elements of `weights` must be floating point vectors but are {spec}.")
        return
    spec = nest.spec_of_leaf(nest.normalize(weights))
    if not spec.dtype.is_floating:
        raise TypeError("Invalid `weights`. `weights` must be convertible to a tensor of `tf.float32` or `tf.float64` "
                        f"elements; these are `{spec.dtype!r}`.")
    shape = _shape(spec)
    if shape.rank == 1 and shape[0] is not None and shape[0] != len(datasets):
        raise ValueError("Invalid `weights`. `weights` should have the same length as `datasets` but got "
                         f"`len(weights)={shape[0]}` vs. `len(datasets)={len(datasets)}`.")


# ---- batches ----

def _padded_batch(inputs, arguments):
    element = _element_spec(inputs)
    leaves = nest.leaves(element)
    for leaf in leaves:
        if not isinstance(leaf, (specs.TensorSpec, specs.NoneTensorSpec)):
            raise TypeError("`padded_batch` is only supported for datasets that produce tensor elements but type spec "
                            f"of elements in the input dataset is not a subclass of TensorSpec: `{leaf}`.")
    padded = arguments.get("padded_shapes")
    tensors = [leaf for leaf in leaves if isinstance(leaf, specs.TensorSpec)]
    if padded is None:
        for i, leaf in enumerate(tensors):
            if leaf.shape.rank is None:
                raise ValueError(f"You must provide `padded_shapes` argument because component {i} has unknown rank.")
        return
    flat = _flat_like(element, padded)
    if len(flat) != len(leaves):
        return arguments
    shapes = [_padded_shape(leaf.shape, shape) if isinstance(leaf, specs.TensorSpec) else None
              for leaf, shape in zip(leaves, flat)]
    return dict(arguments, padded_shapes=nest.pack_as(element, shapes))


def _flat_like(structure, shapes):
    """One entry of `shapes` for each leaf; where the structures differ, the library says so."""
    kind = nest._kind_of(structure)
    if kind is None:
        return [shapes]
    found = nest._kind_of(tuple(shapes) if isinstance(shapes, list) else shapes)
    if found is None or len(found[1]) != len(kind[1]):
        return []
    return [shape for child, part in zip(kind[1], found[1]) for shape in _flat_like(child, part)]


def _padded_shape(component, padded):
    """The padded shape of a component as int64 numbers, -1 for as long as the longest."""
    if isinstance(padded, Tensor):
        if not padded.dtype.is_integer and padded.shape.num_elements() != 0:
            raise TypeError(f"Padded shape {padded.numpy()} must be a `tf.int64` vector tensor, but its element type "
                            f"was {padded.dtype.name}.")
        if padded.shape.rank not in (1, None):
            raise ValueError(f"Padded shape {padded.numpy().tolist()} must be a `tf.int64` vector tensor, but its "
                             f"shape was {tuple(padded.shape)}.")
        if not padded._has_values:
            return padded
        padded = padded.numpy().tolist()
    if isinstance(padded, np.ndarray):
        padded = padded.tolist()
    dims = TensorShape([None if d is not None and d < 0 else d for d in TensorShape(padded)] if not isinstance(
        padded, list) else [None if d is None or int(d) < 0 else int(d) for d in padded])
    same = component.rank is None or component.rank == dims.rank and all(
        want is None or have is None or want >= have for want, have in zip(dims, component))
    if not same:
        shown = _shown(-1 if d is None else d for d in dims)
        raise ValueError(f"The padded shape {shown} is not compatible with the shape {_shown(component)} of the "
                         "corresponding input component.")
    return np.array([-1 if d is None else d for d in dims], np.int64)


def _shown(dims):
    return str(tuple(dims))


def _map_and_batch(_, arguments):
    if arguments.get("num_parallel_batches") is not None and arguments.get("num_parallel_calls") is not None:
        raise ValueError("`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls`.")


def _unbatch(inputs, _):
    _check_rows(nest.leaves(_element_spec(inputs)), "Cannot unbatch an input with scalar components.",
                "`unbatch()` is only supported for datasets of elements whose components have a matching leading "
                "dimension. Encountered both {} and {}.")


def _rebatch(inputs, _):
    for leaf in nest.leaves(_element_spec(inputs)):
        if isinstance(leaf, specs.TensorSpec) and leaf.shape.rank == 0:
            raise ValueError("Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with "
                             "scalar elements. Fix the issue by adding the `batch` transformation to the dataset.")


def _bucket(_, arguments):
    boundaries, sizes = arguments["bucket_boundaries"], arguments["bucket_batch_sizes"]
    if len(sizes) != len(boundaries) + 1:
        raise ValueError("`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                         f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`.")


def _group_by_window(_, arguments):
    if (arguments.get("window_size") is None) == (arguments.get("window_size_func") is None):
        raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")


# ---- one component ----

def _unique(inputs, _):
    spec = _element_spec(inputs)
    if isinstance(spec, specs.TensorSpec) and spec.dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
        raise TypeError(f"`tf.data.Dataset.unique` does not support type {spec.dtype!r} -- only `tf.int32`, "
                        "`tf.int64`, and `tf.string` are supported.")


def _pad_to_cardinality(inputs, arguments):
    dataset, wanted = nest.leaves(inputs)[0], arguments["cardinality"]
    own = int(dataset.cardinality()) if not trace.is_tracing() else None
    if own is not None and own < 0:
        raise ValueError("The dataset passed into `pad_to_cardinality` must have a known cardinality, but has "
                         f"cardinality {own}")
    if own is not None and own > int(wanted):
        raise ValueError("The dataset passed into `pad_to_cardinality` must have a cardinality less than the target "
                         f"cardinality ({wanted}), but has cardinality {own}")
    if not isinstance(dataset.element_spec, collections.abc.Mapping):
        raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")


def _whole(*names):
    """A check that these arguments are whole numbers, or tensors of them."""
    def checked(_, arguments):
        for name in names:
            value = arguments.get(name)
            if isinstance(value, (str, bytes)) or isinstance(value, (float, np.floating)):
                raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int64")
            if isinstance(value, (Tensor, np.ndarray)) and not dtypes.as_dtype(value.dtype).is_integer:
                raise ValueError("Tensor conversion requested dtype int64 for Tensor with dtype "
                                 f"{dtypes.as_dtype(value.dtype).name}: {value!r}")
    return checked


# ---- results of functions ----

def scan_result(spec):
    """A check of what scan_func returns, which is called with values of `spec`: (state, element)."""
    def checked_result(result):
        result = tuple(result) if isinstance(result, list) else result
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError("Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the "
                            f"output value but its return type is {nest.spec_of(nest.normalize(result))!r}.")
        result = nest.normalize(result)
        for want, found in zip(nest.leaves(spec[0]), nest.leaves(nest.spec_of(result[0]))):
            if getattr(want, "dtype", None) != getattr(found, "dtype", None):
                raise TypeError("Invalid `scan_func`. The element types for the new state must match the initial "
                                f"state. Expected {want.dtype!r}, got {found.dtype!r}.")
        return result
    return checked_result


_CHECKS = {
    "batch": _whole("batch_size"), "bucket_by_sequence_length": _bucket, "choose_from_datasets": _alike,
    "csv_dataset": _csv, "map_and_batch": _map_and_batch,
    "enumerate": _whole("start"),
    "fixed_length_record_dataset": _filenames, "from_list": _from_list, "from_tensor_slices": _from_tensor_slices,
    "group_by_window": _group_by_window, "pad_to_cardinality": _pad_to_cardinality, "padded_batch": _padded_batch,
    "prefetch": _whole("buffer_size"),
    "rebatch": _rebatch, "repeat": _whole("count"), "sample_from_datasets": _sample_from_datasets,
    "shard": _whole("num_shards", "index"), "shuffle": _whole("buffer_size"), "skip": _whole("count"),
    "take": _whole("count"), "text_line_dataset": _filenames, "tf_record_dataset": _filenames, "unbatch": _unbatch,
    "unique": _unique, "window": _whole("size", "shift", "stride"), "zip": _zip,
}
