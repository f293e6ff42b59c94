"""Tensor operations, made of the library's table: a line there is a function here.

Each operation stands under TensorFlow's paths with TensorFlow's parameters (``leat.reduce_sum``,
``leat.math.reduce_sum``). It is computed at once, becomes a node of the function that is being traced, or is computed
and remembered by the gradient tapes that watch. Importing the package reads the names alone; an operation's line and
its function are made when they are first used.
"""

import collections
import json
import math

import numpy as np

from leat import _native, dtypes, nest
from leat._core import later
from leat._graph import trace
from leat.dtypes import DType
from leat.errors import InvalidArgumentError
from leat._core.later import Lazy
from leat._core.shapes import TensorShape
from leat._core.signatures import REQUIRED, function
from leat._core.tensor import Tensor, convert_to_tensor, of_composites, operation
from leat._graph.graphs import DtypeError, ShapeError, refined


def _entry(name):
    entry = json.loads(_native.operation(name))
    return dict(entry, flags=frozenset(entry["flags"]))


_NAMES = dict(line.partition(" ")[::2] for line in _native.operation_names().split("\n"))  # name -> its paths
TABLE = Lazy(_NAMES, _entry)


# ---- calling ----

def _is_checked(name):
    """Does TensorFlow check an operation's arguments in Python? Its errors are ValueError as well, also of values."""
    return trace.is_tracing() or _NAMES[name].startswith("image.") or name in (
        "add_n", "argsort", "boolean_mask", "dynamic_stitch", "einsum", "pad", "repeat", "searchsorted", "select",
        "sort", "stack", "unstack")


@operation.provide
def call(name, attributes, inputs):
    """Computes operation `name` of tensors, or adds it to the function that is traced; a list of tensors."""
    text = json.dumps(attributes) if attributes else None
    graph = trace.graph_for(inputs, TABLE[name]["flags"])
    if graph is None:
        try:
            return _native.Graph.eager(name, text, inputs)
        except InvalidArgumentError as error:
            raise refined(error, _is_checked(name)) from None
    outputs = graph.call(name, text, [trace.reach(graph, tensor) for tensor in inputs])
    return outputs if not trace._state.guards else trace.guarded(graph, outputs)


def _bound_call(name, attributes, inputs, bound):
    """An operation some of whose arguments are tensors without values: they are further inputs."""
    inputs = list(inputs)
    for argument, tensor in bound:
        attributes = dict(attributes, **{argument: {"input": len(inputs)}})
        inputs.append(tensor)
    return call(name, attributes, inputs)


def _attribute(argument, value):
    """A Python value as the JSON of an argument."""
    kind = argument["type"]
    if kind == "structure of tensors":
        exact = dtypes.float64 if isinstance(value, float) and argument["name"] == "constant_values" else None
        tensor = convert_to_tensor(value, exact)
        if not tensor._has_values:
            raise trace.Bound(argument["name"], tensor)
        return literal(tensor)
    if isinstance(value, Tensor):
        if not value._has_values:
            raise trace.Bound(argument["name"], value)
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if kind == "dtype":
        return dtypes.as_dtype(value).name
    if kind == "shape" and not isinstance(value, TensorShape) and _is_open(value):
        raise trace.Bound(argument["name"], convert_to_tensor(value))
    if kind == "shape":
        return _dims(value)
    if kind == "list of integers":
        found = _integers(argument, value)
        return _window(found) if argument["name"] in _WINDOWS and not argument.get("none") and (
            argument["name"] == "ksize" or not argument["required"]) else found
    if isinstance(value, DType):
        return value.name
    if argument["name"] == "axis" and kind == "integer" and isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if isinstance(value, (list, tuple)):
        return [_attribute({"type": kind, "name": argument["name"]}, item) for item in value]
    return plain_value(value)


def _dims(value):
    try:
        shape = TensorShape(value)
    except ValueError as error:
        raise ShapeError(None, None, str(error)) from None
    return None if shape.rank is None else [-1 if d is None else d for d in shape]


# Of pictures; what may be none is strided_slice's, and the strides that extract_patches requires are four.
_WINDOWS = frozenset(["strides", "ksize", "dilations"])


def _window(numbers):
    """Height and width of one number for both, of both, or of all four dimensions of pictures."""
    return numbers * 2 if len(numbers) == 1 else numbers[1:3] if len(numbers) == 4 else numbers


def _is_open(value):
    """Is it a list with a tensor whose value is not known yet?"""
    return isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) and not item._has_values
                                                    for item in value)


def _integers(argument, value):
    if isinstance(value, TensorShape):
        value = value.as_list()
    if _is_open(value):
        raise trace.Bound(argument["name"], convert_to_tensor(value))
    items = value if isinstance(value, (list, tuple)) else [value]
    for item in items:
        if isinstance(item, float) or isinstance(item, (list, tuple)):
            kind = DtypeError if isinstance(item, float) else ShapeError
            raise kind(None, None, f"argument {argument['name']}: expected a list of integers, found {value!r}")
    return [-1 if item is None else int(item) for item in items]


def literal(tensor):
    """A tensor as the JSON of docs/PLANS.md."""
    values = tensor._values() if tensor.dtype not in (dtypes.float16, dtypes.bfloat16) else (
        np.asarray(tensor.numpy(), np.float64).reshape(-1).tolist())
    return {"dtype": tensor.dtype.name, "shape": list(tensor._shape), "data": [plain_value(value) for value in values]}


def plain_value(value):
    """A number, text or bytes as the JSON of plans."""
    if isinstance(value, bytes):
        plain = value.isascii() and all(32 <= byte < 127 for byte in value)
        return value.decode() if plain else {"hex": value.hex()}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return str(value) if isinstance(value, int) and value >= 2**63 else value


def _convert_inputs(entry, values):
    """Tensors of the inputs; a Python number takes the dtype of the tensors beside it."""
    flat = []
    for declared, value in zip(entry["inputs"], values):
        if declared.get("list"):
            flat.extend(list(value) if not isinstance(value, Tensor) else [value])
        elif value is not None:
            flat.append(value)
    first = 1 if entry["name"] in ("select", "substr") else 0  # whose own dtype is bool, or string
    hint = None
    if "elementwise" in entry["flags"] or any(declared.get("list") for declared in entry["inputs"]) or (
            entry["name"] in ("range", "histogram_fixed_width", "substr")):
        tensors = [value for value in flat[first:] if isinstance(value, Tensor) or hasattr(value, "_as_tensor")]
        for value in tensors or flat[first:]:
            if isinstance(value, Tensor) or hasattr(value, "dtype"):
                hint = dtypes.as_dtype(value.dtype)
                break
    if entry["name"] == "range" and hint is None and any(isinstance(value, float) for value in flat):
        hint = dtypes.float32
    if entry["name"] == "tensor_scatter_nd_update":
        flat[0] = convert_to_tensor(flat[0])
        flat[2] = convert_to_tensor(flat[2], dtype_hint=flat[0].dtype)
    if entry["name"] == "fill":  # an empty list is a shape
        flat[0] = convert_to_tensor(flat[0], dtype_hint=dtypes.int32)
    return [convert_to_tensor(value, dtype=None, dtype_hint=None if i < first else hint)
            for i, value in enumerate(flat)]


def _of_strings(name, inputs):
    """A sum of strings is one string behind the other."""
    return ("string_join" if inputs[0].dtype is dtypes.string else name), inputs


def _as_floats(name, inputs):
    """A quotient of integers is a float."""
    if inputs[0].dtype is inputs[1].dtype and inputs[0].dtype.is_integer:
        wide = dtypes.float32 if inputs[0].dtype.size < 4 else dtypes.float64
        inputs = [call("cast", {"dtype": wide.name}, [tensor])[0] for tensor in inputs]
    return name, inputs


def _as_mask(name, inputs):
    """A mask may be of numbers."""
    tensor, mask = inputs
    return name, [tensor, mask if mask.dtype is dtypes.bool else call("cast", {"dtype": "bool"}, [mask])[0]]


def _rows(values):
    """What takes a list of tensors takes the rows of one."""
    return (list(values[0]),) if type(values[0]) is Tensor else values


def _in_dtype(values, dtype):
    """Numbers and tensors in the dtype of their range."""
    dtype = dtypes.as_dtype(dtype)
    return tuple(FUNCTIONS["cast"](value, dtype) if isinstance(value, Tensor) else convert_to_tensor(value, dtype)
                 for value in values)


# Where TensorFlow's function is not the operation on its arguments as they are.
_VALUES = {"range": lambda values: values if values[1] is not None else (0, *values[::2]),
           **dict.fromkeys(("add_n", "string_join"), _rows)}
_TENSORS = {"add": _of_strings, "boolean_mask": _as_mask, "divide": _as_floats, "divide_no_nan": _as_floats}


# Operations that the library computes in float32 and float64 alone: halves are made wider and narrow again.
_WIDENED = frozenset(["matmul", "softmax", "log_softmax", "einsum", "sparse_softmax_cross_entropy_with_logits",
                      "cumulative_logsumexp", "range", "linspace"])
# Where an operation takes indices or counts, and the narrow dtypes that TensorFlow allows there.
_INDICES = {"gather": (1, "int16"), "gather_nd": (1, "int16"), "scatter_nd": (0, "int16"), "one_hot": (0, "int8"),
            "sequence_mask": (0, "int8 int16 uint8 uint16 uint32 uint64"),
            **{f"tensor_scatter_nd_{kind}": (1, "int16") for kind in ("add", "max", "min", "sub", "update")}}


def _cast(tensor, dtype):
    return call("cast", {"dtype": dtype.name}, [tensor])[0]


def _fit(name, inputs):
    """The inputs in dtypes that the library has, and the dtype that the result is to have; None: its own."""
    if name in _WIDENED:
        half = next((x.dtype for x in inputs if x.dtype in (dtypes.float16, dtypes.bfloat16)), None)
        return inputs if half is None else [_cast(x, dtypes.float32) if x.dtype is half else x for x in inputs], half
    place, narrow = _INDICES.get(name, (0, ""))
    if narrow and inputs[place].dtype.name in narrow.split():
        wide = dtypes.int64 if inputs[place].dtype.size >= 4 else dtypes.int32
        return [*inputs[:place], _cast(inputs[place], wide), *inputs[place + 1:]], None
    return inputs, None


def _static(name, dims, out_type):
    """A shape or size that is known while a function is traced, as a constant."""
    dtype = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    return convert_to_tensor(math.prod(dims) if name == "size" else list(dims), dtype)


def dispatch(name, values, arguments):
    """Calls an operation with the Python values of its inputs and arguments; what a generated function does."""
    entry = TABLE[name]
    if name in _VALUES:
        values = _VALUES[name](values)
    if name == "range" and arguments[0] is not None:
        values, arguments = _in_dtype(values, arguments[0]), (None,)
    for value in values:
        if type(value) is not Tensor:
            special = of_composites(entry, values, arguments)
            if special is not NotImplemented:
                return special
            inputs = _convert_inputs(entry, values)
            break
    else:
        inputs = list(values)
    if name in _TENSORS:
        name, inputs = _TENSORS[name](name, inputs)
    if name in ("shape", "size") and not inputs[0]._has_values:
        dims = inputs[0]._shape
        if dims is not None and None not in dims:
            return _static(name, dims, arguments[0])
    attributes, bound, back = {}, [], None
    if name in _WIDENED or name in _INDICES:
        inputs, back = _fit(name, inputs)
    for argument, value in zip(entry["arguments"], arguments):
        if value is None and not argument["required"]:
            continue
        try:
            attributes[argument["name"]] = _attribute(argument, value)
        except trace.Bound as found:
            bound.append((found.name, found.tensor))
    outputs = _bound_call(name, attributes, inputs, bound) if bound else call(name, attributes, inputs)
    if back is not None:
        outputs = [_cast(tensor, back) if tensor.dtype.is_floating else tensor for tensor in outputs]
    if len(outputs) == 1 and name not in _LISTS or name in _FIRST_OUTPUT:
        return outputs[0]
    return _RESULTS[name](*outputs) if name in _RESULTS else outputs


# Operations whose further outputs serve their gradients alone.
_FIRST_OUTPUT = frozenset(["sparse_softmax_cross_entropy_with_logits"])
# Those that give a list, also of one tensor.
_LISTS = frozenset(["dynamic_partition", "split", "unstack"])
# Those whose outputs TensorFlow names.
_RESULTS = {name: collections.namedtuple(kind, fields) for name, kind, fields in (
    ("top_k", "TopKV2", "values indices"), ("unique", "Unique", "y idx"),
    ("unique_with_counts", "UniqueWithCounts", "y idx count"), ("qr", "Qr", "q r"), ("lu", "Lu", "lu p"),
    ("log_matrix_determinant", "LogMatrixDeterminant", "sign log_abs_determinant"))}
_RESULTS.update(dict.fromkeys(("self_adjoint_eig", "svd", "image_gradients", "non_max_suppression_with_scores"),
                              lambda *outputs: outputs))


# ---- functions of the table ----

def _default_of(entry, parameter):
    """The default of a parameter; REQUIRED: it has none."""
    if "default" in parameter:
        return parameter["default"]
    if parameter["kind"] == "name":
        return None
    argument = next((a for a in entry["arguments"] if a["name"] == parameter["name"]), None)
    if argument is None or argument["required"]:
        return REQUIRED
    if argument["type"] == "dtype" and argument["default"] is not None:
        return getattr(dtypes, argument["default"])
    if argument["type"] == "number" and isinstance(argument["default"], str):
        return float(argument["default"])  # an infinity
    return argument["default"]


def _parameters(entry):
    """[(name, default)] of an operation's function; behind the first default all have one."""
    out, late = [], False
    for parameter in entry["signature"]:
        default = _default_of(entry, parameter)
        late = late or default is not REQUIRED
        out.append((parameter["name"], None if late and default is REQUIRED else default))
    return out


def _docstring(entry):
    lines = [entry["doc"], ""]
    for argument in entry["arguments"]:
        lines.append(f"{argument['name']}: {argument['doc']}")
    return "\n".join(lines).strip()


def fixed(function, name, value, default):
    """Refuses an argument that only takes its default here. Numbers are real, so conjugates are themselves."""
    if name != "conjugate" and value is not default and value != default:
        raise NotImplementedError(f"{function}: {name}={value!r} is not supported; leave it at {default!r}")


def _make(entry, function_name, module="leat"):
    """The function of an operation under one of its names."""
    operation, parameters = entry["name"], _parameters(entry)
    inputs = [declared["name"] for declared in entry["inputs"]]
    arguments = [argument["name"] for argument in entry["arguments"]]
    only = [(parameter["name"], _default_of(entry, parameter)) for parameter in entry["signature"]
            if parameter["kind"] == "fixed"]

    def call(given):
        for name, default in only:
            fixed(function_name, name, given[name], default)
        values = tuple([given[name] for name in inputs])
        return dispatch(operation, values, tuple([given.get(name) for name in arguments]))
    return function(function_name, parameters, call, _docstring(entry), module)


def by_arity(functions):
    """One function for operations that share a path: the number of inputs decides."""
    def choose(*args, **kwargs):
        given = len(args) + sum(1 for key in kwargs if key != "name")
        for entry, function in functions:
            if entry["max_inputs"] < 0 or given <= entry["max_inputs"]:
                return function(*args, **kwargs)
        return functions[-1][1](*args, **kwargs)
    first = functions[0][1]
    choose.__doc__ = "\n\n".join(function.__doc__ for _, function in functions)
    choose.__name__, choose.__qualname__, choose.__module__ = first.__name__, first.__qualname__, first.__module__
    return choose


_PATHS = {}  # path -> names of its operations
_MODULES = {}  # name of a module -> {name in it: path}
for _name, _paths in _NAMES.items():
    for _path in _paths.split():
        _PATHS.setdefault(_path, []).append(_name)
        _parent, _, _last = _path.rpartition(".")
        _MODULES.setdefault(f"leat.{_parent}" if _parent else "leat", {})[_last] = _path


def _function_at(path):
    """What stands at a path. Paths of the same operations that end in the same name have one function."""
    parent, _, last = path.rpartition(".")
    alike = [other for other in _NAMES[_PATHS[path][0]].split()
             if other.rpartition(".")[2] == last and _PATHS[other] == _PATHS[path]]
    first = min(alike, key=lambda other: other.count("."))
    if first != path:
        return FUNCTIONS[first]
    module = f"leat.{parent}" if parent else "leat"
    found = [(TABLE[name], _make(TABLE[name], last, module)) for name in _PATHS[path]]
    return found[0][1] if len(found) == 1 else by_arity(sorted(found, key=lambda f: f[0]["max_inputs"]))


FUNCTIONS = Lazy(_PATHS, _function_at)


def join(name, **elsewhere):
    """Lets module `name` have the operations below its path, beside its own names and those of ``later.module``."""
    paths = _MODULES.get(name, {})
    later.module(name, Lazy(paths, lambda key: FUNCTIONS[paths[key]]), **elsewhere)


def make_modules(others):
    """Makes the modules below leat that only the table names, not being among `others`; the names of both."""
    made = [name for name in _MODULES if name.count(".") == 1 and name not in others]
    for name in made:
        later.new_module(name)
        join(name)
    return [*others, *made]


# ---- operators of tensors ----

def _binary(path, reflected=False):
    def operator(self, other):
        if not isinstance(other, Tensor) and (isinstance(other, (dict, set)) or hasattr(other, "_is_leaf_value")
                                              or hasattr(other, "_history")):  # a KerasTensor, which knows the operator
            return NotImplemented
        if other is None:
            raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
                             "Tensor.")
        if path == "math.add" and self.dtype is dtypes.string:
            return FUNCTIONS["strings.join"]([other, self] if reflected else [self, other])
        return FUNCTIONS[path](other, self) if reflected else FUNCTIONS[path](self, other)
    return operator


def _install_operators():
    """The operators of Tensor for the operations that the table has."""
    pairs = {"add": "math.add", "sub": "math.subtract", "mul": "math.multiply", "truediv": "math.truediv",
             "floordiv": "math.floordiv", "mod": "math.floormod", "pow": "math.pow", "matmul": "linalg.matmul"}
    for operator, path in pairs.items():
        if path in FUNCTIONS:
            setattr(Tensor, f"__{operator}__", _binary(path))
            setattr(Tensor, f"__r{operator}__", _binary(path, reflected=True))
    for operator, path in {"lt": "math.less", "le": "math.less_equal", "gt": "math.greater",
                           "ge": "math.greater_equal"}.items():
        setattr(Tensor, f"__{operator}__", _binary(path))
    for operator, path, bits in (("and", "math.logical_and", "bitwise.bitwise_and"),
                                 ("or", "math.logical_or", "bitwise.bitwise_or"),
                                 ("xor", "math.logical_xor", "bitwise.bitwise_xor")):
        setattr(Tensor, f"__{operator}__", _logical(path, bits))
        setattr(Tensor, f"__r{operator}__", _logical(path, bits))
    Tensor.__neg__ = lambda self: FUNCTIONS["math.negative"](self)
    Tensor.__pos__ = lambda self: self
    Tensor.__abs__ = lambda self: FUNCTIONS["math.abs"](self)
    Tensor.__invert__ = lambda self: FUNCTIONS["math.logical_not"](self) if self.dtype is dtypes.bool else (
        FUNCTIONS["bitwise.invert"](self))
    Tensor.__eq__ = _equality("math.equal", False)
    Tensor.__ne__ = _equality("math.not_equal", True)


def _logical(path, bits):
    def operator(self, other):
        return FUNCTIONS[path if self.dtype is dtypes.bool else bits](self, other)
    return operator


def _broadcasts(shape, other):
    if shape.rank is None or other.rank is None:
        return True
    return all(a is None or b is None or a == b or 1 in (a, b)
               for a, b in zip(reversed(shape.as_list()), reversed(other.as_list())))


def _equality(path, otherwise):
    def operator(self, other):
        if other is None:
            return otherwise
        if isinstance(other, (str, bytes)) and self.dtype is not dtypes.string:
            raise TypeError(f"Cannot convert {other!r} to EagerTensor of dtype {self.dtype.name}")
        other = other if isinstance(other, Tensor) else convert_to_tensor(other, dtype_hint=self.dtype)
        if self.dtype is other.dtype and not _broadcasts(self.shape, other.shape):
            return convert_to_tensor(otherwise)
        return FUNCTIONS[path](self, other)
    return operator


_install_operators()
