"""``keras.ops``: conversion, and functions that run others."""

import builtins
import functools
import re

import numpy as np

import leat as tf
from leat import nest
from leat._api.folds import over_rows
from leat._graph import trace
from leat.keras._base.symbolic import KerasTensor
from leat.keras._base.variables import Variable as KerasVariable
from leat.keras.ops.promote import OPERATIONS, dtype_name, operation, same_specs, specified, tensor, together

_before = set(OPERATIONS)


@operation
def cast(x, dtype):
    """In another dtype (``keras.ops.cast``)."""
    return tf.cast(tensor(x), dtype_name(dtype))


@operation
def saturate_cast(x, dtype):
    """In another dtype, moved into its range (``keras.ops.saturate_cast``)."""
    x, dtype = tensor(x), dtype_name(dtype)
    return tf.cast(x, dtype) if "bool" in (dtype, x.dtype) else tf.saturate_cast(x, dtype)


@operation
def stop_gradient(variable):
    """The value, through which no gradient goes (``keras.ops.stop_gradient``)."""
    return tf.stop_gradient(tensor(variable))


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """A value as a tensor (``keras.ops.convert_to_tensor``); what stands for one stays."""
    if isinstance(x, KerasTensor):
        same = dtype is None or dtype_name(dtype) == x.dtype
        return x if same and not (x.sparse and sparse is False) else cast(x, dtype or x.dtype)
    if hasattr(x, "dense_shape") and sparse is not False:
        return x if dtype is None else x.with_values(tf.cast(x.values, dtype_name(dtype)))
    if isinstance(x, tf.RaggedTensor) and ragged is False:
        x = x.to_tensor()
    return tensor(x, dtype)


def convert_to_numpy(x):
    """A tensor as an array (``keras.ops.convert_to_numpy``)."""
    if isinstance(x, np.ndarray):
        return x
    return np.array(x.to_tensor() if isinstance(x, tf.RaggedTensor) else tensor(x))


def is_tensor(x):
    """Is it a tensor (``keras.ops.is_tensor``)?"""
    kinds = (tf.Tensor, tf.Variable, tf.SparseTensor, tf.RaggedTensor)
    return isinstance(x, kinds) and not isinstance(x, KerasVariable)


def shape(x):
    """The shape as a tuple; a scalar tensor stands for an unknown dimension (``keras.ops.shape``)."""
    if isinstance(x, KerasTensor):
        return x.shape
    x = tensor(x)
    known = list(x.shape.as_list())
    if isinstance(x, tf.RaggedTensor):
        return tuple(known)
    return tuple(tf.shape(x)[place] if size is None else size for place, size in enumerate(known))


def dtype(x):
    """The dtype's name (``keras.ops.dtype``)."""
    return x.dtype if isinstance(x, KerasTensor) else dtype_name(x.dtype) if hasattr(x, "dtype") else (
        dtype_name(tensor(x).dtype))


def _spec_of_cond(pred, true_fn, false_fn):
    """What both functions give; ValueError where they differ."""
    def given(function):
        out = function()
        return None if out is None else same_specs(out)
    kinds = [given(true_fn), given(false_fn)]
    texts = [nest.map_structure(lambda one: (tuple(one.shape), one.dtype), kind) if kind is not None else None
             for kind in kinds]
    if texts[0] != texts[1]:
        raise ValueError("`true_fn` and `false_fn` should return outputs of the same kind (struct, dtype and shape). "
                         f"Got {kinds[0]} and {kinds[1]} instead.")
    return kinds[0]


@specified(_spec_of_cond)
@operation
def cond(pred, true_fn, false_fn):
    """What one of two functions gives (``keras.ops.cond``)."""
    return tf.cond(tensor(pred, "bool"), true_fn, false_fn)


def switch(index, branches, *operands):
    """What the index-th function of the operands gives (``keras.ops.switch``)."""
    return _switch(index, list(operands), branches)


@operation
def _switch(index, operands, branches):
    """The same with its operands as a list."""
    index = tf.clip_by_value(tensor(index, "int32"), 0, len(branches) - 1)
    return tf.switch_case(index, [lambda branch=branch: branch(*operands) for branch in branches])


@specified(lambda cond, body, loop_vars, maximum_iterations=None: same_specs(loop_vars))
@operation
def while_loop(cond, body, loop_vars, maximum_iterations=None):
    """Calls `body` while `cond` holds (``keras.ops.while_loop``)."""
    many = isinstance(loop_vars, (tuple, list))
    state = nest.map_structure(tensor, tuple(loop_vars) if many else (loop_vars,))

    def step(*values):
        out = body(*values)
        return tuple(out) if isinstance(out, (tuple, list)) else (out,)
    out = tf.while_loop(cond, step, state, maximum_iterations=maximum_iterations)
    out = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    return out if many else out[0]


@specified(lambda lower, upper, body_fun, init_val: same_specs(init_val))
@operation
def fori_loop(lower, upper, body_fun, init_val):
    """``body_fun(i, value)`` for i of [lower, upper) (``keras.ops.fori_loop``)."""
    if not tf.inside_function():
        place, value = lower, init_val
        while place < upper:
            place, value = place + 1, body_fun(place, value)
        return nest.map_structure(tensor, value)
    lower, upper = together(lower, upper)
    init = nest.map_structure(tensor, init_val)
    state = tf.while_loop(lambda i, _: i < upper, lambda i, value: (i + 1, body_fun(i, value)), (lower, init))
    return state[1]


@operation
def map(f, xs):
    """f of each part of the first dimension, stacked (``keras.ops.map``)."""
    return tf.vectorized_map(f, nest.map_structure(tensor, xs))


@operation
def vectorized_map(function, elements):
    """The same as ``map`` (``keras.ops.vectorized_map``)."""
    return tf.vectorized_map(function, nest.map_structure(tensor, elements))


def _core_dimensions(signature):
    """The names of the dimensions that a call takes of each input and gives, of "(m,n),(n)->(m)". ValueError."""
    if not re.fullmatch(r"(\([\w, ]*\),?)+->(\([\w, ]*\),?)+", signature.replace(" ", "")):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    return [[[name for name in part.replace(" ", "").split(",") if name] for part in re.findall(r"\(([^)]*)\)", side)]
            for side in signature.split("->")]


def _flattened(args, cores):
    """Tensors whose dimensions in front of those that a call takes are broadcast and made one, and their shape."""
    sizes, shapes = {}, []
    for one, core in zip(args, cores):
        rank = len(one.shape) - len(core)
        if rank < 0:
            raise ValueError(f"input with shape {tuple(one.shape)} does not have enough dimensions for all core "
                             f"dimensions {core}")
        for name, size in zip(core, one.shape[rank:]):
            if size is not None and sizes.setdefault(name, size) != size:
                raise ValueError(f"inconsistent size for core dimension {name}: {sizes[name]} and {size}")
        shapes.append(tf.shape(one)[:rank])
    whole = functools.reduce(tf.broadcast_dynamic_shape, shapes)
    flat = []
    for one, core in zip(args, cores):
        inner = tf.shape(one)[len(one.shape) - len(core):]
        one = tf.broadcast_to(one, tf.concat([whole, inner], 0))
        known = one.shape.as_list()[len(one.shape) - len(core):] if core else []
        flat.append(tf.ensure_shape(tf.reshape(one, tf.concat([[-1], inner], 0)), [None, *known]))
    return flat, whole


def vectorize(pyfunc, *, excluded=None, signature=None):
    """A function of single values as one of tensors, element by element (``keras.ops.vectorize``).

    `signature`: the dimensions that the function takes and gives, "(m,n),(n)->(m)"; `excluded`: the positions and names
    of arguments that it gets as they are.
    """
    if not callable(pyfunc):
        raise ValueError(f"Expected argument `pyfunc` to be a callable. Received: pyfunc={pyfunc}")
    kept = set(excluded or ())

    def call(*args, **kwargs):
        named = [name for name in kwargs if name not in kept]
        places = [place for place, one in enumerate(args) if place not in kept and one is not None]
        inputs = [tensor(args[place]) for place in places] + [tensor(kwargs[name]) for name in named]
        cores = [[]] * len(inputs) if signature is None else _core_dimensions(signature)[0]
        if signature is not None and len(inputs) != len(cores):
            cores = cores[:len(inputs)]
        flat, whole = _flattened(inputs, cores)

        def one(parts):
            given = list(args)
            for place, part in zip(places, parts):
                given[place] = part
            return pyfunc(*given, **{**kwargs, **dict(zip(named, parts[len(places):]))})
        out = map(one, tuple(flat))
        return nest.map_structure(lambda part: tf.reshape(part, tf.concat([whole, tf.shape(part)[1:]], 0)), out)
    return call


def _traced_scan(f, init, xs, count, reverse):
    """``scan`` where a function is traced; `count` parts, or None: as many as there are."""
    def part(i):
        return () if xs is None else nest.map_structure(lambda x: tf.gather(x, i), xs)

    def step(state, one):
        state, output = f(state, None if xs is None else one)
        return nest.map_structure(tensor, state), () if output is None else nest.map_structure(tensor, output)
    number = tf.shape(nest.flatten(xs)[0])[0] if count is None else tf.constant(count)
    like = () if xs is None else nest.map_structure(lambda x: tf.TensorSpec(x.shape[1:], x.dtype), xs)
    state, outputs = over_rows(step, init, part, like, count, number, -1 if reverse else 1)
    return state, outputs if nest.flatten(outputs) else None


@operation
def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """(the last state, what each call ``f(state, part)`` gave, stacked) (``keras.ops.scan``)."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, (bool, int)) or not isinstance(unroll, bool) and unroll < 1:
        raise ValueError(f"`unroll` must be an positive integer or boolean. Received: unroll={unroll}")
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided.")
    xs = nest.map_structure(tensor, xs) if xs is not None else None
    init = nest.map_structure(tensor, init)
    count = int(length) if xs is None else nest.flatten(xs)[0].shape[0]
    if trace.is_tracing():
        return _traced_scan(f, init, xs, count, reverse)
    places = builtins.range(count - 1, -1, -1) if reverse else builtins.range(count)
    state, outputs = init, []
    for place in places:
        part = None if xs is None else nest.map_structure(lambda x, place=place: x[place], xs)
        state, out = f(state, part)
        outputs.append(out)
    if reverse:
        outputs.reverse()
    if outputs and outputs[0] is None:
        return state, None
    return state, nest.map_structure(lambda *parts: tf.stack([tensor(part) for part in parts]), *outputs)


def _spec_of_scan(elems, axis):
    if len({one.shape[axis] for one in nest.flatten(elems)}) > 1:
        raise ValueError("Array inputs to associative_scan must have the same first dimension. "
                         f"(saw: {[tuple(one.shape) for one in nest.flatten(elems)]})")
    return same_specs(elems)


def _folds_of_unknown(f, elems, reverse, axis):
    """``associative_scan`` over parts whose number is known when it runs."""
    def front(value):
        places = list(builtins.range(value.shape.rank))
        places.insert(0, places.pop(axis))
        return tf.transpose(value, places)

    def back(value):
        places = list(builtins.range(1, value.shape.rank))
        places.insert(axis % value.shape.rank, 0)
        return tf.transpose(value, places)

    def step(folded, part):
        folded, part = (nest.map_structure(lambda x: tf.expand_dims(x, axis), one) for one in (folded, part))
        return nest.map_structure(lambda x: tf.squeeze(x, [axis]), f(folded, part))
    out = tf.scan(step, nest.map_structure(front, elems), reverse=reverse)
    return nest.map_structure(back, out)


@specified(lambda f, elems, reverse=False, axis=0: _spec_of_scan(elems, axis))
@operation
def associative_scan(f, elems, reverse=False, axis=0):
    """The running folds by `f` (``keras.ops.associative_scan``)."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    elems = nest.map_structure(tensor, elems)
    counts = {one.shape[axis] for one in nest.flatten(elems)}
    if len(counts) > 1:
        raise ValueError("Array inputs to associative_scan must have the same first dimension. "
                         f"(saw: {[tuple(one.shape) for one in nest.flatten(elems)]})")
    count = counts.pop()
    if count is None:
        return _folds_of_unknown(f, elems, reverse, axis)
    places = list(builtins.range(count))
    if reverse:
        places.reverse()

    def part(place):
        return nest.map_structure(lambda x: tf.gather(x, [place], axis=axis), elems)
    outputs = []
    for place in places:
        outputs.append(part(place) if not outputs else f(outputs[-1], part(place)))
    if reverse:
        outputs.reverse()
    return nest.map_structure(lambda *parts: tf.concat(parts, axis), *outputs)


def custom_gradient(f):
    """A decorator: the function says its gradient (``keras.ops.custom_gradient``)."""
    return tf.custom_gradient(f)


__all__ = [name for name in OPERATIONS if name not in _before and name[0] != "_"] + [
    "convert_to_tensor", "convert_to_numpy", "is_tensor", "shape", "dtype", "switch", "vectorize", "custom_gradient"]
