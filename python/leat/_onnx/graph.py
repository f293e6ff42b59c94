"""The nodes of a graph of ONNX's that is written, and of those within it.

Names are given once in a whole model, so the graph of a branch or of a loop's body reads values of the graphs around
it. Variables and constants are initializers of the outermost graph; those that no node reads are left out.
"""

import numpy as np

from leat import dtypes
from leat._onnx import table
from leat._saved_model.messages import Message
from leat._saved_model.translate import Translation, Value
from leat.errors import UnimplementedError

I64, BOOL = dtypes.int64, dtypes.bool
END = (1 << 63) - 1  # of a slice: as far as it goes

_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 4, 5, 6, 7, 8
_NUMBERS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8,
            "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15,
            "bfloat16": 16}


def number_of(dtype):
    """ONNX's number of a DType."""
    name = dtypes.as_dtype(dtype).name
    if name not in _NUMBERS:
        raise UnimplementedError(None, None, f"ONNX has no tensors of the dtype {name}; cast before")
    return _NUMBERS[name]


def refuse(node, what):
    """Refuses an operation of which ONNX, or what runs it, has not all."""
    raise UnimplementedError(None, None, f"{node.op} {what} cannot be written into an ONNX model; do without, or "
                             "export a SavedModel (tf.saved_model.save)")


class Fixed(Value):
    """A Value that is known while the model is written: `array`."""

    __slots__ = ("array",)

    def __init__(self, ref, dtype, array):
        super().__init__(ref, dtype, list(array.shape))
        self.array = array


class Model:
    """What the graphs of a model share: names, initializers, variables, and which operators of others it takes."""

    def __init__(self, writers, variables):
        self.writers, self.variables = writers, variables
        self.fixed, self.read, self.domains = {}, {}, {}
        self._counts = {}

    def name_for(self, stem):
        """A name that no other value or node has."""
        number = self._counts[stem] = self._counts.get(stem, -1) + 1
        return stem if not number else self.name_for(f"{stem}_{number}")

    def keep(self, stem, array, dtype):
        """An initializer."""
        made = Fixed(self.name_for(stem), dtype, array)
        self.fixed[made.ref] = made
        return made

    def variable(self, place):
        """What a variable holds now, as an initializer: one for all who read it."""
        if place not in self.read:
            held = self.variables[place]
            name = str(getattr(held, "path", None) or held.name).split(":")[0]
            self.read[place] = self.keep(name, np.asarray(held.numpy()), dtypes.as_dtype(held.dtype))
        return self.read[place]

    def initializers(self, used):
        """The messages of the initializers whose names are in `used`."""
        return [_tensor(one) for name, one in self.fixed.items() if name in used]


def _tensor(fixed):
    message = Message("OnnxTensor", dims=list(fixed.array.shape), data_type=number_of(fixed.dtype), name=fixed.ref)
    if fixed.dtype is dtypes.string:
        message["string_data"] = list(fixed.array.ravel())
    else:
        message["raw_data"] = np.ascontiguousarray(fixed.array).tobytes()
    return message


def _attribute(name, value):
    made = Message("OnnxAttribute", name=name)
    if isinstance(value, Message):
        made["g"], made["type"] = value, _GRAPH
    elif isinstance(value, float):
        made["f"], made["type"] = value, _FLOAT
    elif isinstance(value, (str, bytes)):
        made["s"], made["type"] = value.encode() if isinstance(value, str) else value, _STRING
    elif not isinstance(value, (list, tuple)):
        made["i"], made["type"] = int(value), _INT
    elif value and isinstance(value[0], bytes):
        made["strings"], made["type"] = value, _STRINGS
    elif value and isinstance(value[0], float):
        made["floats"], made["type"] = value, _FLOATS
    else:
        made["ints"], made["type"] = [int(one) for one in value], _INTS
    return made


def value_message(name, dtype, dims, symbol=None):
    """The message of an input's or a result's type; `symbol(axis)`: the name of an unknown dimension."""
    kind = Message("OnnxTensorType", elem_type=number_of(dtype))
    if dims is not None:
        kind["shape"] = Message("OnnxShape", dim=[
            Message("OnnxDim", dim_value=size) if size >= 0 else
            Message("OnnxDim", **({"dim_param": symbol(axis)} if symbol else {})) for axis, size in enumerate(dims)])
    return Message("OnnxValue", name=name, type=Message("OnnxType", tensor_type=kind))


class Graph(Translation):
    """The nodes of one graph of a Model."""

    def __init__(self, model):
        self.model, self.nodes = model, []

    # ---- nodes ----

    def op(self, name, inputs, dtype=None, dims=None, outputs=None, domain=None, **attributes):
        """Adds a node; its output as a Value of that dtype and of those dimensions, or with `outputs`, pairs of these,
        a list of Values. An input that is left out is None, and so is an attribute."""
        kinds = [(dtype, dims)] if outputs is None else outputs
        refs = [self.model.name_for(name) for _ in kinds]
        node = Message("OnnxNode", input=["" if one is None else one.ref for one in inputs], output=refs,
                       name=refs[0], op_type=name, attribute=[_attribute(*pair) for pair in attributes.items()
                                                              if pair[1] is not None])
        if domain is not None:
            node["domain"] = domain
            self.model.domains[domain] = table.DOMAINS[domain]
        self.nodes.append(node)
        made = [Value(ref, dtypes.as_dtype(kind), dims) for ref, (kind, dims) in zip(refs, kinds)]
        return made[0] if outputs is None else made

    def like(self, name, value, inputs=None, **attributes):
        """A node whose output has the dtype and the dimensions of `value`, which is its input."""
        return self.op(name, [value] if inputs is None else inputs, value.dtype, value.dims, **attributes)

    def constant(self, array, dtype):
        """A constant of a numpy array, a number or a list."""
        dtype = dtypes.as_dtype(dtype)
        array = np.asarray(array, object if dtype is dtypes.string else dtype.as_numpy_dtype)
        if dtype is dtypes.string:
            array = np.frompyfunc(lambda one: one.encode() if isinstance(one, str) else one, 1, 1)(array)
            array = np.asarray(array, object)
        return self.model.keep("const", array, dtype)

    def ints(self, found, dtype=I64):
        """Whole numbers as an int64 Value: those, or what computes them."""
        return self.cast(found, dtype) if isinstance(found, Value) else self.constant(found, dtype)

    def vector(self, found):
        """The same as a vector: of one number one of length 1."""
        made = self.ints(found)
        return made if made.rank == 1 else self.reshape(made, [1])

    def cast(self, value, dtype):
        """The value in a dtype."""
        dtype = dtypes.as_dtype(dtype)
        if value.dtype is dtype:
            return value
        if isinstance(value, Fixed) and dtypes.string not in (dtype, value.dtype):
            return self.model.keep("const", value.array.astype(dtype.as_numpy_dtype), dtype)
        return self.op("Cast", [value], dtype, value.dims, to=number_of(dtype))

    def shape_of(self, value):
        """The shape of a value in int64: a constant where it is known."""
        if value.dims is not None and -1 not in value.dims:
            return self.constant(value.dims, I64)
        return self.op("Shape", [value], I64, [-1 if value.dims is None else len(value.dims)])

    def reshape(self, value, shape, dims=None):
        """The value in a shape: a list, of which one number may be -1, or a Value."""
        fixed = isinstance(shape, list)
        if fixed and isinstance(value, Fixed):
            return self.model.keep("const", value.array.reshape(shape), value.dtype)
        return self.op("Reshape", [value, self.ints(shape)], value.dtype, list(shape) if dims is None and fixed else
                       dims, allowzero=1 if fixed and 0 in shape else None)

    def transpose(self, value, perm):
        """The value with its axes in another order."""
        if list(perm) == list(range(len(perm))):
            return value
        if isinstance(value, Fixed):
            return self.model.keep("const", np.ascontiguousarray(value.array.transpose(perm)), value.dtype)
        dims = None if value.dims is None else [value.dims[one] for one in perm]
        return self.op("Transpose", [value], value.dtype, dims, perm=list(perm))

    def sliced(self, value, axis, start, stop, step=1, dims=None):
        """A part of the value along one axis: numbers, or Values with one number."""
        bounds = [self.vector(one) for one in (start, stop, axis, step)]
        return self.op("Slice", [value, *bounds], value.dtype, dims)

    # ---- what leat's nodes are ----

    def writer(self, name):
        """A function of ``writers``, or what a line of ``table`` says."""
        found = self.model.writers.get(name)
        if found is not None:
            return found
        own = table.same().get(name)
        if own is None:
            raise UnimplementedError(None, None, f"the operation {name} cannot be written into an ONNX model; export a "
                                     "function without it, or a SavedModel (tf.saved_model.save)")
        return lambda graph, node, inputs, kinds: graph.op(own, inputs, *kinds[0])

    def subgraph(self, stem, kinds, fill):
        """The message of a graph within this one. `kinds`: dtypes and dimensions of its inputs; ``fill(graph, inputs)``
        gives the results' Values."""
        inner = Graph(self.model)
        given = [Value(self.model.name_for(f"{stem}_in"), dtypes.as_dtype(dtype), dims) for dtype, dims in kinds]
        return inner.message(self.model.name_for(stem), given, fill(inner, given))

    def message(self, name, inputs, results, names=None, symbol=None):
        """The graph's message; `names`: those of the results; `symbol(place, axis)` names unknown dimensions of inputs.
        """
        ends = []
        for place, value in enumerate(results):
            ref = names[place] if names else self.model.name_for("result")
            self.nodes.append(Message("OnnxNode", input=[value.ref], output=[ref], name=self.model.name_for("end"),
                                      op_type="Identity"))
            ends.append(value_message(ref, value.dtype, value.dims if names else None))
        return Message("OnnxGraph", node=self.nodes, name=name, output=ends, input=[
            value_message(one.ref, one.dtype, one.dims, None if symbol is None else lambda axis, place=place:
                          symbol(place, axis)) for place, one in enumerate(inputs)])


def names_in(graph):
    """The names that the nodes of a graph and of those within it read."""
    found = set()
    for node in graph["node"]:
        found.update(node["input"])
        for attribute in node.attribute:
            if "g" in attribute:
                found |= names_in(attribute["g"])
    return found
