"""Tensor operations, made of the library's table: a line there is a function here.

Each operation stands under TensorFlow's paths with TensorFlow's parameters (``leat.reduce_sum``,
``leat.math.reduce_sum``). It is computed at once, becomes a node of the function that is being traced, or is computed
and remembered by the gradient tapes that watch. Importing the package reads the names alone; an operation's line and
its function are made when they are first used.
"""

import json
import math
import re

import numpy as np

from leat import _native, dtypes
from leat._core import later
from leat._core.later import Lazy
from leat._core.shapes import TensorShape
from leat._core.signatures import REQUIRED, function
from leat._core.table import NAMES, TABLE, result_of
from leat._core.tensor import Tensor, convert_to_tensor, of_composites, operation
from leat._graph import trace
from leat._graph.graphs import DtypeError, ShapeError, refined
from leat.dtypes import DType
from leat.errors import InvalidArgumentError, OpError


# ---- calling ----

def _is_checked(name):
    """Does TensorFlow check an operation's arguments in Python? Its errors are ValueError as well, also of values."""
    return trace.is_tracing() or TABLE[name]["checks"] == "python"


@operation.provide
def call(name, attributes, inputs):
    """Computes operation `name` of tensors, or adds it to the function that is traced; a list of tensors."""
    key = None
    if not (_state.graphs or _state.tapes):
        key = _repeat_key(name, tuple(attributes.values()), tuple(attributes)) if attributes else (name, ())
        outputs = _repeat(key, inputs)
        if outputs is not None:
            return outputs
    text = json.dumps(attributes) if attributes else None
    graph = trace.graph_for(inputs, TABLE[name]["flags"])
    if graph is None:
        try:
            outputs = _native.Graph.eager(name, text, inputs)
        except InvalidArgumentError as error:
            raise refined(error, _is_checked(name)) from None
        _note_call(key, name, attributes)
        return outputs
    outputs = graph.call(name, text, [trace.reach(graph, tensor) for tensor in inputs])
    return outputs if not trace._state.guards else trace.guarded(graph, outputs)


def _bound_call(name, attributes, inputs, bound):
    """An operation some of whose arguments are tensors without values: they are further inputs."""
    inputs = list(inputs)
    for argument, tensor in bound:
        attributes = dict(attributes, **{argument: {"input": len(inputs)}})
        inputs.append(tensor)
    return call(name, attributes, inputs)


# ---- operations whose attributes are read once ----

_state = trace._state
_MOST_PREPARED = 4096


def _prepared(name, text):
    """The library's operation with these attributes; None: it takes a graph."""
    try:
        return _native.Operation(name, text)
    except OpError:
        return None


# By name, the method that computes an operation without attributes of plain tensors; None: nothing is known at once.
_PLAIN = Lazy(NAMES, lambda name: getattr(_prepared(name, None), "value", lambda *tensors: None))
# What a call is known by -> the method `values` of its operation; False: it was seen once; None: it takes a graph.
_repeated = {}


def _repeat_key(name, arguments, names=None):
    """What a call of an operation is known by; None where an argument may change, or stands for more than its value."""
    try:
        return (name, names, *map(type, arguments), *[value if type(value) in _LASTING else _lasting(value)
                                                      for value in arguments])
    except _Passing:
        return None


class _Passing(Exception):
    """An argument that cannot be a key."""


def _lasting(value):
    """A value that a key can hold and that is equal to no argument of other types or signs."""
    kind = type(value)
    if (kind is list or kind is tuple) and len(value) <= _MOST_ITEMS:
        kinds = [*map(type, value)]
        return tuple(value) if kinds.count(int) == len(kinds) else (*kinds, *map(_lasting, value))
    if kind in _LASTING:
        return value
    if kind is float:  # zeros have two signs, and are equal
        return value or repr(value)
    if kind is TensorShape:
        return value._dims
    raise _Passing


_LASTING = frozenset([type(None), bool, int, str, DType])
_MOST_ITEMS = 64  # of a list; notes are kept


def _repeat(key, inputs):
    """The outputs of a call that was seen before; None: it must go the general way."""
    known = _repeated.get(key)
    return known(*inputs) if known else None


def _note_call(key, name, attributes):
    """Notes how a call is repeated when it comes for the second time, unless it takes a graph or notes are many."""
    if key is None or _repeated.get(key, False) is not False:
        return
    if len(_repeated) >= _MOST_PREPARED:
        _repeated.clear()
    seen = key in _repeated
    _repeated[key] = seen and getattr(_prepared(name, json.dumps(attributes) if attributes else None), "values", None)


class _Composite(Exception):
    """An argument that knows itself what an operation does with it, a DynamicRaggedShape."""

    def __init__(self, value):
        super().__init__()
        self.value = value


def _attribute(argument, value):
    """A Python value as the JSON of an argument."""
    kind = argument["type"]
    if isinstance(value, range):
        value = list(value)
    elif hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    elif hasattr(value, "_is_leaf_value"):
        raise _Composite(value)
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


_SURROGATE = re.compile("[\ud800-\udfff]")


def plain_value(value):
    """A number, text or bytes as the JSON of plans."""
    if isinstance(value, str):
        # Surrogates, which stand for bytes of names that are no UTF-8, are no JSON.
        return value if value.isascii() or _SURROGATE.search(value) is None else plain_value(
            _native.text_bytes(value))
    if isinstance(value, complex):
        return [plain_value(value.real), plain_value(value.imag)]
    if isinstance(value, bytes):
        plain = value.isascii() and all(32 <= byte < 127 for byte in value)
        return value.decode() if plain else {"hex": value.hex()}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return str(value) if isinstance(value, int) and value >= 2**63 else value


def _convert_inputs(entry, values):
    """Tensors of the inputs; a Python number takes the dtype of the tensors that have its type in the table, or else of
    the numbers before it."""
    flat, kinds = [], []
    for declared, value in zip(entry["inputs"], values):
        items = [] if value is None else list(value) if declared.get("list") and not isinstance(value, Tensor) else (
            [value])
        flat.extend(items)
        kinds.extend([declared] * len(items))
    names = [declared.get("type") for declared in kinds]
    hints = {name: _hint(entry, name, [value for value, other in zip(flat, names) if other == name])
             for name in set(names)}
    tensors = []
    for value, declared, name in zip(flat, kinds, names):
        hint = declared.get("dtype") or hints[name] or declared.get("default")
        tensors.append(convert_to_tensor(value, dtype_hint=hint))
        if name is not None and hints[name] is None:
            hints[name] = tensors[-1].dtype
    return tensors


def _hint(entry, kind, values):
    """The dtype of values of one type; None: their own."""
    tensors = [value for value in values if isinstance(value, Tensor) or hasattr(value, "_as_tensor")]
    for value in tensors or values:
        if isinstance(value, Tensor) or hasattr(value, "dtype"):
            return dtypes.as_dtype(value.dtype)
    widens = entry["dtype_row"] is not None and kind == entry["arguments"][entry["dtype_row"]]["name"]
    return dtypes.float32 if widens and any(isinstance(value, float) for value in values) else None


def _adapted(entry, values, arguments):
    """Inputs and arguments where TensorFlow's function is not the operation on its arguments as they are."""
    if "counts from zero" in entry["flags"] and values[1] is None:
        values = (0, values[0], *values[2:])
    place = entry["dtype_row"]
    if place is not None and arguments[place] is not None:
        row, dtype = entry["arguments"][place]["name"], dtypes.as_dtype(arguments[place])
        values = tuple(_in_dtype(value, dtype) if declared.get("type") == row else value
                       for declared, value in zip(entry["inputs"], values))
        arguments = (*arguments[:place], None, *arguments[place + 1:])
    return tuple(list(value) if declared.get("rows") and type(value) is Tensor else value
                 for declared, value in zip(entry["inputs"], values)), arguments


def _in_dtype(value, dtype):
    return FUNCTIONS["cast"](value, dtype) if isinstance(value, Tensor) else convert_to_tensor(value, dtype)


_OF_SHAPE = {"dimensions": list, "size": math.prod}


def _of_shape(entry, tensor, arguments):
    """What is made of a shape that is known while a function is traced, as a constant; None: it is not known."""
    dims = tensor._shape
    if tensor._has_values or dims is None or None in dims:
        return None
    dtype = arguments[0] or entry["arguments"][0]["default"]
    return convert_to_tensor(_OF_SHAPE[entry["of_shape"]](dims), dtypes.as_dtype(dtype))


def dispatch(name, values, arguments):
    """Calls an operation with the Python values of its inputs and arguments; what a generated function does."""
    entry, key = TABLE[name], None
    if not (_state.graphs or _state.tapes):
        key = _repeat_key(name, arguments)
        outputs = _repeat(key, values)
        if outputs is not None:
            return result_of(entry, outputs)
    if entry["adapts"]:
        values, arguments = _adapted(entry, values, arguments)
    for value in values:
        if type(value) is not Tensor:
            special = of_composites(entry, values, arguments)
            if special is not NotImplemented:
                return special
            inputs = _convert_inputs(entry, values)
            break
    else:
        inputs = list(values)
    if entry["of_shape"]:
        known = _of_shape(entry, inputs[0], arguments)
        if known is not None:
            return known
    attributes, bound = {}, []
    for argument, value in zip(entry["arguments"], arguments):
        if value is None and not argument["required"]:
            continue
        try:
            attributes[argument["name"]] = _attribute(argument, value)
        except trace.Bound as found:
            bound.append((found.name, found.tensor))
        except _Composite as found:
            return found.value._dispatch(entry, values, arguments)
    outputs = _bound_call(name, attributes, inputs, bound) if bound else call(name, attributes, inputs)
    if not bound and not entry["adapts"]:
        _note_call(key, name, attributes)
    return result_of(entry, outputs)


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
    """Refuses an argument that only takes its default here, but for `conjugate`, which `_make` sees to."""
    if name != "conjugate" and value is not default and value != default:
        raise NotImplementedError(f"{function}: {name}={value!r} is not supported; leave it at {default!r}")


def conjugated(tensor):
    """The conjugates of complex numbers; any others as they are."""
    return call("conj", {}, [tensor])[0] if tensor.dtype.is_complex else tensor


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
        if given.get("conjugate"):
            values = (conjugated(convert_to_tensor(values[0])), *values[1:])
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
for _name, _paths in NAMES.items():
    for _path in _paths.split():
        _PATHS.setdefault(_path, []).append(_name)
        _parent, _, _last = _path.rpartition(".")
        _MODULES.setdefault(f"leat.{_parent}" if _parent else "leat", {})[_last] = _path


def _function_at(path):
    """What stands at a path. Paths of the same operations that end in the same name have one function."""
    parent, _, last = path.rpartition(".")
    alike = [other for other in NAMES[_PATHS[path][0]].split()
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

_numbers = {}  # (dtype's number, type, value) -> a number beside tensors of that dtype, which is a tensor of it
_MOST_NUMBERS = 1024


def _number(tensor, value):
    """A Python number as a tensor of the other operand's dtype; None: it is none, or the general way says more."""
    kind = type(value)
    if kind is not float and kind is not int or kind is float and value == 0:  # two zeros are equal
        return None
    key = (tensor._dtype, kind, value)
    found = _numbers.get(key)
    if found is None and tensor._has_values:
        try:
            made = convert_to_tensor(value, dtype_hint=tensor.dtype)
        except (TypeError, ValueError, OverflowError, OpError):
            return None
        if made._dtype == tensor._dtype:
            if len(_numbers) >= _MOST_NUMBERS:
                _numbers.clear()
            found = _numbers[key] = made
    return found


def _of_one_shape(strings):
    """Tensors of strings in the shape that they are broadcast to, where shapes are known: `strings.join` wants one."""
    strings = [convert_to_tensor(one) for one in strings]
    shapes = [one.shape for one in strings]
    if shapes[0] == shapes[1] or not all(shape.is_fully_defined() and shape.rank for shape in shapes):
        return strings
    try:
        shape = np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        raise InvalidArgumentError(None, None, f"Incompatible shapes: {shapes[0]} vs. {shapes[1]}") from None
    return [FUNCTIONS["broadcast_to"](one, list(shape)) for one in strings]


def _product_of_truth(one, other):
    """Truth values times what integers can be made of, as the operator does: are both other than 0?"""
    one, other = (FUNCTIONS["cast"](part, dtypes.int32) for part in (one, other))
    return FUNCTIONS["cast"](FUNCTIONS["math.multiply"](one, other), dtypes.bool)


def _binary(path, reflected=False):
    plain = _PATHS[path][0] if len(_PATHS[path]) == 1 else None  # the operation that it is of plain tensors

    def operator(self, other):
        if plain is not None and not (_state.graphs or _state.tapes):
            right = other if type(other) is Tensor else _number(self, other)
            found = _PLAIN[plain](right, self) if reflected else _PLAIN[plain](self, right)
            if found is not None:
                return found
        if not isinstance(other, Tensor) and (isinstance(other, (dict, set)) or hasattr(other, "_is_leaf_value") and
                                              not hasattr(other, "_as_tensor")
                                              or hasattr(other, "_history")):  # a KerasTensor, which knows the operator
            return NotImplemented
        if other is None:
            raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
                             "Tensor.")
        if path == "math.add" and self.dtype is dtypes.string:
            return FUNCTIONS["strings.join"](_of_one_shape([other, self] if reflected else [self, other]))
        if path == "math.multiply" and dtypes.bool in (self.dtype, getattr(other, "dtype", None)):
            return _product_of_truth(self, convert_to_tensor(other, dtypes.bool) if reflected and type(other) in (
                int, float, complex, str, bytes) else other)
        return FUNCTIONS[path](other, self) if reflected else FUNCTIONS[path](self, other)
    return operator


def _install_operators():
    """The operators of Tensor for the operations that the table has."""
    pairs = {"add": "math.add", "sub": "math.subtract", "mul": "math.multiply", "truediv": "math.truediv",
             "floordiv": "math.floordiv", "mod": "math.floormod", "pow": "math.pow"}
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
