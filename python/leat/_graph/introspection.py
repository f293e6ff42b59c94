"""What users see of traced functions: their types, printed signatures, and graphs."""

import collections
import inspect

from leat import nest
from leat._core import specs
from leat._core.shapes import TensorShape
from leat._graph import trace


class Literal:
    """The type of an argument that is no tensor: its value."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Literal) and self.value == other.value

    def __hash__(self):
        return hash(repr(self.value))

    def __repr__(self):
        return f"Literal[{self.value!r}]"


class _Structure:
    """The type of a structure: its kind and the types of what is in it."""

    def __init__(self, kind, parts, keys=None):
        self._kind, self._parts, self._keys = kind, parts, keys

    def __eq__(self, other):
        return repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        shown = self._parts if self._keys is None else [
            f"[{key!r}, {part!r}]" for key, part in zip(self._keys, self._parts)]
        return f"{self._kind}[{', '.join(map(str, shown))}]"


def type_of(value):
    """The type of an argument or result of a traced function, whose tensors are TypeSpecs."""
    if isinstance(value, dict):
        return _Structure("Dict", [type_of(one) for one in value.values()], list(value))
    if isinstance(value, (list, tuple)):
        return _Structure("List" if isinstance(value, list) else "Tuple", [type_of(one) for one in value])
    return value if isinstance(value, specs.TypeSpec) else Literal(value)


Parameter = collections.namedtuple("Parameter", ["name", "kind", "optional", "type_constraint"])
Parameter.__doc__ = "A parameter of a traced function and the type it was traced for."
Parameter.__repr__ = lambda self: (f"Parameter(name={self.name}, kind={self.kind.name}, optional={self.optional}, "
                                   f"type_constraint={self.type_constraint!r})")


class FunctionType:
    """What a traced function takes and gives (``tf.types.experimental.FunctionType``)."""

    def __init__(self, parameters, output):
        self.parameters = collections.OrderedDict((one.name, one) for one in parameters)
        self.output = output

    def __repr__(self):
        shown, named = [], False
        for one in self.parameters.values():
            if one.kind is inspect.Parameter.KEYWORD_ONLY and not named:
                shown.append("*")
                named = True
            shown.append(f"{one.name}: {one.type_constraint!r}")
        return f"({', '.join(shown)}) -> {self.output!r}"

    def __eq__(self, other):
        return repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))


def function_type(signature, structure, output, declared):
    """The FunctionType of a trace. `declared`: the specs that are the user's, whose names count; None."""
    names = iter([getattr(spec, "name", None) for spec in nest.flatten(declared or ())])
    args, kwargs = nest.map_structure(lambda leaf: _named(leaf, next(names, None)), structure)
    known = list(signature.parameters.values()) if signature else []
    found = []
    for place, value in enumerate(args):
        own = known[min(place, len(known) - 1)] if known else None
        rest = own is None or own.kind is own.VAR_POSITIONAL
        name = f"{own.name if own is not None else 'args'}_{place - len(known) + 1 if known else place}" if rest else (
            own.name)
        kind = inspect.Parameter.POSITIONAL_ONLY if rest else own.kind
        found.append(Parameter(name, kind, False, type_of(value)))
    found += [Parameter(name, inspect.Parameter.KEYWORD_ONLY, False, type_of(kwargs[name])) for name in kwargs]
    return FunctionType(found, type_of(output))


def _named(leaf, name):
    return specs.TensorSpec(leaf.shape, leaf.dtype, name) if type(leaf) is specs.TensorSpec else leaf


def printed(type_, variables):
    """A signature in lines: what goes in, what comes out, what is captured."""
    lines = ["Input Parameters:"]
    lines += [f"  {one.name} ({one.kind.name}): {one.type_constraint!r}" for one in type_.parameters.values()]
    lines += ["  None"] if not type_.parameters else []
    captures = [f"  {id(one)}: TensorSpec(shape=(), dtype=tf.resource, name=None)" for one in variables]
    return "\n".join([*lines, "Output Type:", f"  {type_.output!r}", "Captures:", *(captures or ["  None"])])


# ---- graphs ----

class GraphTensor:
    """A value of a graph: its name, shape and dtype."""

    def __init__(self, name, spec):
        self.name, self.shape, self.dtype = name, spec.shape, spec.dtype

    def __repr__(self):
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self):
        shape = "" if self.shape.rank is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'


def with_values(structure, default):
    """A structure of TypeSpecs with values of a graph in the place of those of tensors."""
    found = iter(values_of(structure, default))
    return nest.map_structure(lambda leaf: leaf if not isinstance(leaf, specs.TypeSpec) else (
        next(found) if type(leaf) is specs.TensorSpec else (next(found), leaf)[1]), structure)


def values_of(structure, default):
    """The tensors of a structure of TypeSpecs as values of a graph; names that they lack are `default` and a number."""
    found = []
    for spec in nest.flatten(structure):
        if isinstance(spec, specs.TypeSpec):
            dense = isinstance(spec, specs.TensorSpec)
            name = getattr(spec, "name", None) or (f"{default}_{len(found)}" if found else default)
            found.append(GraphTensor(name + ":0", spec if dense else specs.TensorSpec(
                getattr(spec, "shape", None), getattr(spec, "dtype", "variant"))))
    return found


class Operation:
    """An operation of a graph (``tf.Operation``): its name, and its type, as leat calls it."""

    def __init__(self, node):
        self.name, self.type, self.node_def = node.name, node.op, node

    def __repr__(self):
        return f"<tf.Operation '{self.name}' type={self.type}>"


class FuncGraph:
    """The graph of a traced function (what ``tf.Graph`` is of a ConcreteFunction)."""

    def __init__(self, native, name, concrete=None):
        self._native, self.name, self._concrete = native, name, concrete

    def __repr__(self):
        return f"FuncGraph(name={self.name})"

    def as_graph_def(self, from_version=None, add_shapes=False):
        """The graph as a GraphDef message, which ``tf.summary.graph`` takes: arguments have their own names, other
        nodes those of leat's operations."""
        found = trace.graph_def(self._native.to_graph_def())
        taken = [node for node in found.node if node.op == "Placeholder" and "/" not in node.name]  # not of branches
        given = [] if self._concrete is None else [one.name.split(":")[0] for one in self._concrete.inputs]
        if len(given) == len(taken) and not set(given) & {node.name for node in found.node}:
            names = dict(zip((node.name for node in taken), given))
            for node in found.node:
                node.name = names.get(node.name, node.name)
                node.input[:] = [names.get(one, one) for one in node.input]
        return found

    def get_operations(self):
        """Its operations, in their order."""
        return [Operation(node) for node in self.as_graph_def().node]

    def get_operation_by_name(self, name):
        """The operation of that name; KeyError."""
        for operation in self.get_operations():
            if operation.name == name:
                return operation
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    captures = property(lambda self: [], doc="Empty: what a function uses from outside is a part of it.")
    inputs = property(lambda self: self._concrete.inputs)
    outputs = property(lambda self: self._concrete.outputs)
    structured_input_signature = property(lambda self: self._concrete.structured_input_signature)
    structured_outputs = property(lambda self: self._concrete.structured_outputs)
    variables = property(lambda self: self._concrete.variables)
    trainable_variables = property(lambda self: self._concrete.trainable_variables)


def shapes_of(structure):
    """The shapes of a structure of TypeSpecs."""
    return nest.map_structure(lambda spec: getattr(spec, "shape", TensorShape(None)), structure)


def dtypes_of(structure):
    """The dtypes of a structure of TypeSpecs."""
    return nest.map_structure(lambda spec: getattr(spec, "dtype", None), structure)
