"""How the functions that users give to operators become functions of the library, and what is written around them."""

import inspect
import os

import numpy as np

from leat import _native, dtypes, nest
from leat._core import specs
from leat._core.element_specs import DatasetSpec
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import trace
from leat._graph.control import same_structure
from leat._graph.graphs import StructureError
from leat.data.operators import make
from leat.errors import InvalidArgumentError

_dataset = DatasetSpec.value_class

# How an operator calls a function argument that does not take the element's parts alone: its value is a tuple of the
# parts named here.
_PAIRS = {("scan", "scan_func"), ("group_by_window", "reduce_func"), ("group_by_reducer", "reduce_func")}


# Operators that call their only function with the element alone.
_ELEMENTWISE = frozenset(["map", "filter", "flat_map", "interleave", "take_while", "parallel_interleave",
                          "map_and_batch", "unique"])


def _dataset_result(result):
    if not isinstance(result, _dataset.value):
        raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {type(result)}.")
    return result


def _reduced_dataset(result):
    if not isinstance(result, _dataset.value):
        raise TypeError("Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its "
                        f"return type is {nest.spec_of(nest.normalize(result))!r}.")
    return result


def _returns(op, argument):
    if (op, argument) in {("flat_map", "map_func"), ("interleave", "map_func"), ("parallel_interleave", "map_func"),
                          ("snapshot", "reader_func"), ("load", "reader_func")}:
        return _dataset_result
    if (op, argument) == ("group_by_window", "reduce_func"):
        return _reduced_dataset
    if op in ("filter", "take_while"):
        return _predicate
    if (op, argument) == ("group_by_window", "key_func"):
        return _key
    if (op, argument) == ("group_by_reducer", "key_func"):
        return _reducer_key
    if (op, argument) == ("group_by_window", "window_size_func"):
        return _window_size
    return _mapped if op == "map" else _packed


def _packed(result):
    """A list that a function returns is a tuple; lists within it are tensors."""
    return nest.normalize(tuple(result) if isinstance(result, list) else result)


_packed.is_plain = True


def _key(result):
    result = convert_to_tensor(list(result) if isinstance(result, tuple) else result, dtypes.int64)
    if result.shape.rank not in (0, None):
        raise ValueError("Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor but its return "
                         f"type is {nest.spec_of(result)!r}.")
    return result


def _reducer_key(result):
    try:
        return _key(result)
    except TypeError as error:
        raise ValueError("Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor: "
                         f"{error}") from None


def _window_size(result):
    return convert_to_tensor(result, dtypes.int64)


def _mapped(result):
    try:
        return _packed(result)
    except trace.NotTraceable:
        raise
    except (TypeError, ValueError) as error:
        raise TypeError(f"Unsupported return value from function passed to Dataset.map(): {result}. {error}") from None


_mapped.is_plain = True


def _predicate(result):
    result = nest.normalize(result)
    if not isinstance(result, Tensor) or result.dtype is not dtypes.bool or result.shape.rank not in (0, None):
        raise ValueError("Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type "
                         f"is {nest.spec_of(result)!r}.")
    return result


def for_operator(node, function, argument, spec):
    """The library's function for `function` given as `argument` of a node, called with values of `spec`."""
    if hasattr(function, "_library_function"):  # it says itself what it becomes
        return function._library_function(spec)
    call = _call_pair if (node.op, argument) in _PAIRS else None

    def sample():
        element = _first_element(node.inputs)
        known = None if element is _NONE else nest.spec_of(element)
        return element if known is not None and nest.compatible(spec, known) else zeros(spec)
    made, _ = trace.trace_or_call(function, spec, f"{node.op}({argument})", sample, call, _returns(node.op, argument))
    return made


def inside(node, function, argument):
    """The same within a function that is traced: (library function, what it captures)."""
    call = _call_pair if (node.op, argument) in _PAIRS else None
    captures = trace.values_around(function)
    spec = _argument_spec(node, argument)
    for _ in range(8):  # shapes of a state are relaxed until they hold for every step
        made, found = trace.trace_inside(function, spec, captures, call, _returns(node.op, argument))
        if (node.op, argument) not in (("scan", "scan_func"), ("group_by_reducer", "reduce_func")):
            break
        if node.op == "scan" and not (type(found) is tuple and len(found) == 2):
            break  # the library refuses it
        state = found[0] if node.op == "scan" else found
        joined = _next_spec(spec[0], state)
        if nest.key(joined) == nest.key(spec[0]):
            found = joined
            break
        spec = (joined, spec[1])
    node.results[argument] = found
    return made, captures


# Functions of operators that are called with the element, though others of the operator are not.
_OF_ELEMENTS = frozenset(["key_func", "element_length_func", "class_func"])


def _argument_spec(node, argument):
    """What an operator within a traced function calls its function with."""
    inputs, key = nest.leaves(node.inputs), specs.TensorSpec([], dtypes.int64)
    if len(inputs) != 1:
        raise trace.NotTraceable(f"{node.op} inside of a function")
    element = inputs[0].element_spec
    if node.op in _ELEMENTWISE or argument in _OF_ELEMENTS:
        return element
    known = {("group_by_window", "window_size_func"): lambda: key,
             ("group_by_window", "reduce_func"): lambda: (key, DatasetSpec(element)),
             ("group_by_reducer", "init_func"): lambda: key,
             ("group_by_reducer", "reduce_func"): lambda: (node.results["init_func"], element),
             ("group_by_reducer", "finalize_func"): lambda: node.results["reduce_func"],
             ("scan", "scan_func"): lambda: (nest.spec_of(nest.normalize(node.arguments["initial_state"])), element)}
    if (node.op, argument) not in known:
        raise trace.NotTraceable(f"{node.op} inside of a function")
    return known[node.op, argument]()


def _call_pair(function, value):
    """scan_func(state, element) and its like: the two parts are the parameters, whatever they are made of."""
    return function(value[0], value[1])


_NONE = object()


def _first_element(inputs):
    for dataset in nest.leaves(inputs):
        for element in dataset.take(1):
            return element
    return _NONE


def zeros(spec):
    """A value of a structure of specs; unknown dimensions are 1."""
    def leaf(one):
        if isinstance(one, DatasetSpec):
            return _dataset.value.from_tensors(zeros(one.element_spec))
        if isinstance(one, specs.NoneTensorSpec):
            return None
        if not isinstance(one, specs.TensorSpec):
            raise trace.NotTraceable(f"no value is known to try the function with: {one}")
        shape = [] if one.shape.rank is None else [1 if d is None else d for d in one.shape]
        return convert_to_tensor(np.full(shape, b"" if one.dtype is dtypes.string else 0,
                                         one.dtype.as_numpy_dtype))
    return nest.map_structure(leaf, spec)


def reduce(dataset, initial_state, reduce_func):
    """What ``Dataset.reduce`` does: the last state, in the structure of `initial_state`."""
    state = nest.normalize(initial_state)
    state_spec = nest.spec_of(state)
    if trace.is_tracing():
        return _reduce_inside(dataset, state, state_spec, trace.converted(reduce_func))
    for _ in range(8):  # shapes of the state are relaxed until they hold for every step
        spec = (state_spec, dataset.element_spec)
        made, found = trace.trace_or_call(reduce_func, spec, "reduce(reduce_func)",
                                          lambda: (state, _first_element(dataset)), _call_pair)
        joined = _next_spec(state_spec, found)
        if nest.key(joined) == nest.key(state_spec):
            break
        state_spec = joined
    native = dataset._plan("reduce")
    tensors = native.reduce((nest.to_text(state_spec), nest.components(state, state_spec)), made)
    return nest.assemble(found, iter(tensors))


class _Relaxed(BaseException):
    """The shapes of a state do not hold for every step."""

    def __init__(self, spec):
        super().__init__()
        self.spec = spec


def _reduce_inside(dataset, state, spec, reduce_func):
    """`reduce` in a function that is traced."""
    from leat._graph.control import over_dataset

    def check(before, found):
        joined = _next_spec(before[0], found[0])
        if nest.key(joined) != nest.key(before[0]):
            raise _Relaxed(joined)

    def step(value, element):
        return (trace.as_result(reduce_func(value, element)),)
    for _ in range(8):
        try:
            return over_dataset(dataset, step, (state,), (spec,), check, shapes=(spec,))[0]
        except _Relaxed as relaxed:
            spec = relaxed.spec
    raise TypeError(f"The shapes of the state {spec} change in every step.")


def _single_inside(dataset):
    """`get_single_element` in a function that is traced."""
    from leat._graph.control import guarded_by, over_dataset
    from leat._core.tensor import constant
    spec = dataset.element_spec
    shapes = (specs.TensorSpec([], dtypes.int64), spec)
    count, value = over_dataset(dataset.take(2), lambda count, _, element: (count + 1, element),
                                (constant(0, dtypes.int64), zeros(spec)), shapes, lambda before, found: None,
                                shapes=shapes)
    value = guarded_by(count > 0, "Dataset was empty.", value)
    return guarded_by(count < 2, "Dataset had more than one element.", value)


def _next_spec(spec, found):
    """What a state is before and after a step of a reduction; TypeError where that is nothing common."""
    if not same_structure(spec, found):
        raise StructureError(None, None, "The element classes for the new state must match the initial state. Expected "
                             f"{spec}; got {found}.")
    try:
        return nest.map_structure(_joined, spec, found)
    except ValueError as error:
        raise TypeError(f"The element types for the new state must match the initial state. Expected {spec}; got "
                        f"{found}: {error}") from None


def _joined(state, found):
    if isinstance(state, specs.NoneTensorSpec) and isinstance(found, specs.NoneTensorSpec):
        return state
    if getattr(state, "dtype", None) != getattr(found, "dtype", None):
        raise ValueError(f"{state} and {found} differ in dtype")
    return state._with_shape(state.shape.most_specific_compatible_shape(found.shape))


_CHECKPOINT_ARGS = ("directory", "max_to_keep", "keep_checkpoint_every_n_hours", "checkpoint_name", "step_counter",
                    "checkpoint_interval", "init_fn", "step_counter_interval")


def save(dataset, path, compression, shard_func, checkpoint_args):
    """What ``Dataset.save`` does."""
    shard, checkpoint, interval = None, None, 0
    if shard_func is not None:
        shard, _ = trace.trace_or_call(shard_func, dataset.element_spec, "save(shard_func)",
                                       lambda: _first_element(dataset))
    if checkpoint_args is not None:
        unknown = sorted(set(checkpoint_args).difference(_CHECKPOINT_ARGS))
        if unknown:
            raise TypeError(f"checkpoint_args has a key {unknown[0]!r}; expected {', '.join(_CHECKPOINT_ARGS)}")
        folder = os.fsdecode(checkpoint_args.get("directory", path))
        os.makedirs(folder, exist_ok=True)
        checkpoint = os.path.join(folder, "checkpoint")
        interval = int(checkpoint_args.get("step_counter_interval") or checkpoint_args.get("checkpoint_interval") or 0)
    dataset._plan("save").save(compression, shard, interval, path, checkpoint)


def from_list(elements, name=None):
    """The dataset of ``tf.data.experimental.from_list``."""
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    return make("from_list", (), {"elements": tuple(elements)}, name)


def column_defaults(values):
    """Defaults of columns as a tuple of tensors: a dtype means a column that must have a value."""
    return tuple(convert_to_tensor(np.zeros(0, object if dtypes.as_dtype(value) is dtypes.string
                                            else dtypes.as_dtype(value).as_numpy_dtype))
                 if isinstance(value, (dtypes.DType, type)) else convert_to_tensor(value) for value in values)


# ---- generators ----

def from_generator(generator, output_types, output_shapes, args, output_signature, name):
    """What ``Dataset.from_generator`` does: a source over a Python callable."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    if output_signature is not None and (output_types is not None or output_shapes is not None):
        raise TypeError("The `output_types` and `output_shapes` arguments can not be used together with the "
                        "`output_signature` argument.")
    for leaf in nest.leaves(output_signature) if output_signature is not None else []:
        if not isinstance(leaf, specs.TypeSpec):
            raise TypeError("`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                            f"{type(leaf)} which is not.")
    if output_signature is None:
        if output_types is None:
            raise TypeError("Either the `output_signature` or the `output_types` argument must be specified.")
        for leaf in nest.leaves(output_types):
            if isinstance(leaf, list):
                raise TypeError(f"Cannot convert the argument `type_value`: {leaf} to a TensorFlow DType; give a "
                                "tuple of them.")
        types = nest.map_structure(dtypes.as_dtype, output_types)
        if output_shapes is None:
            output_signature = nest.map_structure(lambda t: specs.TensorSpec(None, t), types)
        else:
            shapes = nest.pack_as(types, _shapes_like(types, output_shapes))
            output_signature = nest.map_structure(lambda t, s: specs.TensorSpec(s, t), types, shapes)
    values = () if args is None else tuple(convert_to_tensor(value) for value in args)
    if any(not value._has_values for value in values):
        raise trace.NotTraceable("from_generator with arguments whose values are not known while tracing")
    native = _native.Dataset.generator(_Run(generator, output_signature), nest.to_text(output_signature),
                                       (nest.to_text(nest.spec_of(values)), list(values)))
    dataset = _dataset.value._of(native, name="FlatMap")
    if name is not None:
        dataset._native = dataset._native.label(name)
    return dataset


def _shapes_like(types, shapes):
    """The shapes in flat order: a list of dimensions is a shape where the types have a leaf."""
    from leat._core.shapes import TensorShape
    kind = nest._kind_of(types)
    if kind is None:
        return [TensorShape(shapes)]
    found = nest._kind_of(shapes)
    if found is None or len(found[1]) != len(kind[1]):
        raise TypeError("`output_shapes` and `output_types` must have the same structure")
    out = []
    for child, shape in zip(kind[1], found[1]):
        out.extend(_shapes_like(child, shape))
    return out


class _Run:
    """Starts the user's generator: start(tensors) gives an iterator of lists of tensors."""

    def __init__(self, generator, signature):
        self._generator = generator
        self._signature = signature

    def __call__(self, tensors):
        with trace.eagerly():
            values = iter(self._generator(*[tensor.numpy() for tensor in tensors]))
        return _Values(values, self._signature)


class _Values:
    def __init__(self, values, signature):
        self._values = values
        self._signature = signature
        self._is_strict = _is_strict(signature)

    def __iter__(self):
        return self

    def __next__(self):
        with trace.eagerly():
            value = next(self._values)
            try:
                return nest.components(conform(value, self._signature, self._is_strict), self._signature)
            except TypeError as error:
                return self._mismatch(value, error)

    def _mismatch(self, value, error):
        """A value that does not fit with its own spec, so that the library refuses it and goes on."""
        try:
            value = nest.normalize(value)
            spec = nest.spec_of(value)
        except (TypeError, ValueError):
            raise error from None
        if nest.compatible(self._signature, spec):
            raise error
        if self._is_strict:  # a tuple of it, as the library would cast what has the signature's structure
            value, spec = (value,), (spec,)
        return nest.to_text(spec), nest.components(value, spec)

    def close(self):
        close = getattr(self._values, "close", None)
        if close is not None:
            close()


class YieldError(InvalidArgumentError, TypeError):
    """A generator yielded something else than it was said to; TensorFlow's class, and the one that says what it is."""

    def __init__(self, message):
        InvalidArgumentError.__init__(self, None, None, message)


def _is_strict(signature):
    """Does a generator of this signature yield its dtypes? TensorFlow has numpy cast what it knows the ranks of."""
    if isinstance(signature, specs.TensorSpec):
        return signature.shape.rank is None
    return not all(isinstance(leaf, specs.TensorSpec) for leaf in nest.leaves(signature))


def conform(value, signature, is_strict):
    """What a generator yielded, as a value of the signature; YieldError where it is none."""
    kind = nest._kind_of(signature)
    if kind is not None:
        if isinstance(value, list):
            value = tuple(value)
        found = nest._kind_of(value)
        if found is None or found[2] != kind[2] or len(found[1]) != len(kind[1]):
            raise YieldError("`generator` yielded an element that did not match the expected structure. The expected "
                             f"structure was {signature}, but the yielded element was {value}.")
        parts = [conform(v, s, is_strict) for v, s in zip(found[1], kind[1])]
        return nest._build(kind[0], parts, kind[2])
    if not isinstance(signature, specs.TensorSpec):
        if hasattr(value, "_is_leaf_value") and signature.is_compatible_with(value):
            return value
        if value is None and isinstance(signature, specs.NoneTensorSpec):
            return None
        raise YieldError(f"`generator` yielded an element of {value!r} where an element of {signature!r} was expected.")
    try:
        if not is_strict and not isinstance(value, Tensor) and signature.dtype is not dtypes.string:
            value = np.asarray(value, dtype=signature.dtype.as_numpy_dtype)
        elif signature.dtype.is_integer and isinstance(value, (int, list, tuple)):
            np.asarray(value, signature.dtype.as_numpy_dtype)  # OverflowError where it does not fit
        tensor = convert_to_tensor(value, signature.dtype)
    except (TypeError, ValueError) as error:
        raise YieldError("`generator` yielded an element that could not be converted to the expected type. The "
                         f"expected type was {signature.dtype.name}, but the yielded element was {value}.") from error
    if not signature.shape.is_compatible_with(tensor.shape):
        raise YieldError(f"`generator` yielded an element of shape {tensor.shape} where an element of shape "
                         f"{signature.shape} was expected.")
    return tensor
