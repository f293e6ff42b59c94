"""leat's functions as TensorFlow's: a body of nodes, and those of the functions within it.

A function comes as the text that the library describes it with (``leat_function_describe``); a node becomes one or more
nodes of TensorFlow's by a line of ``table`` or a function of ``writers``. What reads or assigns variables, asserts and
calls stands in one order, which control inputs keep.
"""

import base64
import json

import numpy as np

import leat as tf
from leat import dtypes
from leat._core import specs
from leat._core.table import TABLE
from leat._graph.traced import Function
from leat._saved_model import table, values
from leat._saved_model.messages import Message
from leat._saved_model.values import Name, Shape
from leat.errors import UnimplementedError


class Value:
    """A value of a function that is written: how nodes name it, its dtype, and its dimensions (None: any rank; -1)."""

    __slots__ = ("ref", "dtype", "dims")

    def __init__(self, ref, dtype, dims):
        self.ref, self.dtype, self.dims = ref, dtype, dims

    @property
    def rank(self):
        """The number of dimensions; None: any."""
        return None if self.dims is None else len(self.dims)


class Gradient:
    """A function that is the gradient of nodes of one type: its name and theirs, the types of its results' gradients,
    the dtypes and dimensions of what it makes, None where it makes nothing, and what it takes beside: nodes of the
    function `within`, and places of variables."""

    def __init__(self, name, function, given, made, within, captures, resources):
        self.name, self.function, self.given, self.made = name, function, given, made
        self.within, self.captures, self.resources = within, captures, resources


class Library:
    """The functions of a SavedModel that is written, and names for more. `writers`: what writes leat's operations;
    `with_gradients`: are custom gradients written?"""

    def __init__(self, writers, with_gradients=True):
        self.functions = {}  # name -> FunctionDef
        self.writers, self.with_gradients = writers, with_gradients
        self.gradients = []
        self._counts = {}

    def name_for(self, stem):
        """A name that no other function has."""
        stem = "".join(one if one.isalnum() or one == "_" else "_" for one in stem)
        number = self._counts[stem] = self._counts.get(stem, -1) + 1
        return f"__inference_{stem}_{number}"

    def add(self, function):
        """Adds a FunctionDef; its name."""
        self.functions[function.signature.name] = function
        return Name(function.signature.name)


def literal(found):
    """(numpy array, DType) of a tensor in the JSON of plans."""
    dtype = dtypes.as_dtype(found["dtype"])
    shape = found["shape"]
    if "packed" in found:
        letters = found["packed"]  # without the padding that Python wants
        data = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
        return np.frombuffer(data, dtype.as_numpy_dtype).reshape(shape), dtype
    data = [_plain(one) for one in found["data"]]
    if dtype is dtypes.string:
        return np.array(data, object).reshape(shape), dtype
    return np.array(data, dtype.as_numpy_dtype if dtype is not dtypes.bool else bool).reshape(shape), dtype


_WORDS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def _plain(value):
    """A value of the JSON of plans: numbers that it has no form for are words, bytes {"hex"}."""
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    return value


class Node:
    """A node of leat's that is written: its operation's name, attributes with their defaults, and types of outputs."""

    def __init__(self, found):
        self.op, self.attrs = found["op"], dict(found.get("attrs", {}))
        self.types, self.variables = found["types"], found["variables"]
        self.given = {}
        if self.op == "computed":
            self.given = {name: None for name in self.attrs["bound"]}
            self.op, self.attrs = self.attrs["op"], json.loads(self.attrs["arguments"])
        self._defaults = {row["name"]: row.get("default") for row in TABLE[self.op]["arguments"]}

    def __getitem__(self, name):
        """The value of an attribute: of Python's, or the Value that computes it."""
        if self.given.get(name) is not None:
            return self.given[name]
        found = self.attrs.get(name)
        return self._defaults.get(name) if found is None else found

    def fixed(self, name):
        """An attribute that TensorFlow has to know before a function runs."""
        if name in self.given:
            raise UnimplementedError(None, None, f"the argument {name!r} of {self.op} is computed in the function, "
                                     "which TensorFlow's operation does not take; give a number")
        return self[name]


class Translation:
    """A body of nodes of another format that leat's functions are written into; `writer` says what writes which."""

    def writer(self, name):
        """What writes an operation of leat's: a function of this body, a Node, the Values of its inputs, and the dtypes
        and dimensions of its outputs, which gives a Value or a list of them. UnimplementedError where nothing does."""
        raise NotImplementedError(name)

    def write(self, description, arguments):
        """The Values of the results of a function that is described, of the Values of its arguments."""
        known = list(arguments)
        for found in description["nodes"]:
            node = Node(found)
            inputs = [known[place] for place in found["inputs"]]
            if node.given:
                inputs, bound = inputs[:len(inputs) - len(node.given)], inputs[len(inputs) - len(node.given):]
                node.given = dict(zip(node.given, bound))
            kinds = [(dtypes.as_dtype(kind["dtype"]), kind["shape"]) for kind in node.types]
            made = self.writer(node.op)(self, node, inputs, kinds)
            made = made if isinstance(made, list) else [made]
            for value, (dtype, dims) in zip(made, kinds):
                value.dims = dims if value.dims is None or dims is not None and -1 not in dims else value.dims
            known += made
        return [known[place] for place in description["outputs"]]

    def inline(self, python_function, inputs):
        """Writes what a Python function makes of `inputs`: an operation as other operations of leat's."""
        given = [specs.TensorSpec([None if one < 0 else one for one in value.dims] if value.dims is not None else None,
                                  value.dtype) for value in inputs]
        traced = Function(python_function)._trace_of((tuple(given), {}), given)
        return self.write(json.loads(traced.native.describe([])), inputs)

    def resources_in(self, description):
        """The places of the variables that a function and those within it use."""
        found = set()
        for node in description["nodes"]:
            found.update(node["variables"])
            for value in node.get("attrs", {}).values():
                if isinstance(value, dict) and "nodes" in value:
                    found |= self.resources_in(value)
        return found


class Body(Translation):
    """The nodes of a function of TensorFlow's that is written; `variables`: Values of those that nodes number."""

    def __init__(self, library, variables, name=None):
        self.library, self.variables, self.name = library, variables, name
        self.nodes, self.effects, self.last = [], [], None
        self._counts = {}

    def name_for(self, stem):
        """A name that no other node has."""
        number = self._counts[stem] = self._counts.get(stem, -1) + 1
        return f"{stem}_{number}" if number else stem

    def op(self, name, inputs, dtype=None, dims=None, outputs=None, effect=False, after=(), **attributes):
        """Adds a node of TensorFlow's operation; its output as a Value of that dtype and of those dimensions, or with
        `outputs`, pairs of these, a list of Values. `effect`: it comes after those that have one; `after`: after these
        nodes too."""
        line = table.line_of(name)
        for attribute, place in line.dtypes:
            attributes.setdefault(attribute, inputs[int(place)].dtype)
        if line.counted:
            attributes.setdefault("N", len(inputs))
        node_name = self.name_for(name)
        refs = [one.ref for one in inputs] + [f"^{one}" for one in after]
        if effect and self.last is not None and f"^{self.last}" not in refs:
            refs.append(f"^{self.last}")
        self.nodes.append(Message("NodeDef", name=node_name, op=name, input=refs, attr={
            key.removesuffix("_"): values.attribute(value) for key, value in attributes.items() if value is not None}))
        if effect:
            self.last = node_name
            self.effects.append(node_name)
        if outputs is None and dtype is None:
            return node_name
        kinds = [(dtype, dims)] if outputs is None else outputs
        if len(line.outputs) == 1:
            made = [Value(f"{node_name}:{line.outputs[0]}:{i}", *kind) for i, kind in enumerate(kinds)]
        else:
            made = [Value(f"{node_name}:{own}:0", *kind) for own, kind in zip(line.outputs, kinds)]
        return made[0] if outputs is None else made

    def constant(self, array, dtype):
        """A constant of a numpy array, a number or a list."""
        dtype = dtypes.as_dtype(dtype)
        kind = object if dtype is dtypes.string else dtype.as_numpy_dtype
        array = np.asarray(array, kind)
        return self.op("Const", [], dtype, list(array.shape), dtype_=dtype, value=values.tensor_message(array, dtype))

    def ints(self, found, dtype=dtypes.int32):
        """Whole numbers as a Value: those, or what computes them."""
        if isinstance(found, Value):
            return found
        wide = isinstance(found, list) and any(abs(one) >= 1 << 31 for one in found)
        return self.constant(found, dtypes.int64 if wide else dtype)

    def cast(self, value, dtype):
        """The value in a dtype."""
        dtype = dtypes.as_dtype(dtype)
        if value.dtype is dtype:
            return value
        return self.op("Cast", [value], dtype, value.dims, DstT=dtype)

    def shape_of(self, value, dtype=dtypes.int32):
        """The shape of a value: a constant where it is known."""
        if value.dims is not None and -1 not in value.dims:
            return self.constant(value.dims, dtype)
        return self.op("Shape", [value], dtype, [-1 if value.dims is None else len(value.dims)], out_type=dtype)

    def writer(self, name):
        """A function of `writers`, or what a line of ``table`` says."""
        found = self.library.writers.get(name)
        if found is not None:
            return found
        own = table.same().get(name)
        if own is None:
            raise UnimplementedError(None, None, f"the operation {name} cannot be written into a SavedModel: "
                                     "TensorFlow has no such operation that leat knows; export a function without it")
        return lambda body, node, inputs, kinds: body.op(own, inputs, outputs=kinds)

    def function(self, stem, description, arguments, resources):
        """Writes a function within this one into the library; its name. `arguments`: its arguments' types as Values;
        `resources`: places of the variables that are further arguments."""
        return write_function(self.library, stem, [(f"arg_{i}", one) for i, one in enumerate(arguments)],
                              resources, self.variables, lambda body, given: body.write(description, given))


def write_function(library, stem, arguments, resources, variables, fill, names=None):
    """Writes a function into the library; its name. `arguments`: [(name, Value of that type)]; `resources`: the places
    of variables that are arguments behind them; `fill(body, arguments)` writes nodes and gives the results' Values;
    `names`: those of the results."""
    given = [Value(name, one.dtype, one.dims) for name, one in arguments]
    held = {place: Value(f"resource_{place}", variables[place].dtype, variables[place].dims) for place in resources}
    body = Body(library, held, library.name_for(stem))
    for one in (*given, *held.values()):
        body.name_for(one.ref)
    results = fill(body, given)
    names = names or [f"output_{i}" for i in range(len(results))]
    ends = {}
    for name, value in zip(names, results):
        own = body.op("Identity", [value], value.dtype, value.dims, after=[body.last] if body.last else ())
        ends[name] = own.ref
    signature = Message(
        "OpDef", name=body.name,
        input_arg=[Message("ArgDef", name=one.ref, type=values.number_of(one.dtype)) for one in given]
        + [Message("ArgDef", name=one.ref, type=values.RESOURCE) for one in held.values()],
        output_arg=[Message("ArgDef", name=name, type=values.number_of(value.dtype))
                    for name, value in zip(names, results)])
    if body.effects:
        signature["is_stateful"] = True
        signature["control_output"] = list(body.effects)
    shapes = [Shape(one.dims) if one.dims is not None else Message("TensorShapeProto", unknown_rank=True)
              for one in given] + [Shape()] * len(held)
    return library.add(Message(
        "FunctionDef", signature=signature, node_def=body.nodes, ret=ends,
        control_ret={one: one for one in body.effects},
        attr={"_input_shapes": values.attribute(shapes)} if shapes else {}))


# ---- what writers share ----

def output_of(kinds, place=0):
    """The keywords of an output of that dtype and of those dimensions."""
    return dict(zip(("dtype", "dims"), kinds[place]))


def repeated(value, repeats, axis):
    """``tf.repeat`` as a gather of the places that it makes of 0, 1, 2, ..."""
    if axis is None:
        value, axis = tf.reshape(value, [-1]), 0
    count = tf.shape(value)[axis]
    repeats = tf.broadcast_to(tf.cast(repeats, tf.int32), [count])
    ends = tf.cumsum(repeats)
    places = tf.range(tf.reduce_sum(repeats))
    rows = tf.reduce_sum(tf.cast(places[:, None] >= ends[None], tf.int32), axis=1)
    return tf.gather(value, rows, axis=axis)
