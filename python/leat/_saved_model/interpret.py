"""TensorFlow's functions run as leat's: node by node, by a line of ``table`` or a function of ``readers``.

It happens while a function is traced, so what comes of it is a function of the library. Values are tensors, variables,
tables, and lists of tensors (TensorArrays). What is read may be anything: nodes are counted, calls within each other
are bounded, circles are found.
"""

from leat._files.wire import DecodeError
from leat._graph import ops
from leat._saved_model import table, values
from leat._saved_model.readers import READERS
from leat.errors import ResourceExhaustedError, UnimplementedError

_MOST_NODES = 2_000_000  # of one function with all that it calls
_MOST_CALLS = 64  # functions within each other


class Node:
    """A node that is run: its attributes have TensorFlow's defaults, which files leave out."""

    def __init__(self, message):
        self.name, self.op, self._attrs = message.name, message.op, message.attr

    def _get(self, name, field, default):
        found = self._attrs.get(name)
        return default if found is None or field not in found else found[field]

    def i(self, name, default=0):
        """A whole number."""
        return self._get(name, "i", default)

    def f(self, name, default=0.0):
        """A number."""
        return self._get(name, "f", default)

    def b(self, name, default=False):
        """A bool."""
        return self._get(name, "b", default)

    def s(self, name, default=""):
        """Text."""
        found = self._get(name, "s", None)
        return default if found is None else found.decode()

    def raw(self, name):
        """Bytes."""
        return self._get(name, "s", b"")

    def type(self, name, default=None):
        """A DType."""
        found = self._get(name, "type", None)
        return default if found is None else values.dtype_of(found)

    def ints(self, name, default=None):
        """A list of whole numbers."""
        found = self._get(name, "list", None)
        return default if found is None else list(found.i)

    def shape(self, name):
        """A TensorShape; of any rank where it is not there."""
        found = self._get(name, "shape", None)
        return values.shape_of(found) if found is not None else None

    def shapes(self, name):
        """A list of TensorShapes."""
        found = self._get(name, "list", None)
        return [] if found is None else [values.shape_of(one) for one in found.shape]

    def functions(self, name):
        """The names of functions in a list."""
        found = self._get(name, "list", None)
        return [] if found is None else [one.name for one in found.func]

    def function(self, name):
        """The name of a function."""
        found = self._get(name, "func", None)
        if found is None:
            raise DecodeError(f"node {self.name} has no function {name}")
        return found.name

    def tensor(self, name):
        """A tensor."""
        found = self._get(name, "tensor", None)
        if found is None:
            raise DecodeError(f"node {self.name} has no value")
        return values.tensor_of(found)


def _source(ref):
    """(node or argument, name of the output, its number) of an input; a control input's name is None."""
    if ref.startswith("^"):
        return ref[1:], None, 0
    parts = ref.split(":")
    number = parts[-1] if len(parts) > 1 else "0"
    if len(parts) > 3 or not number.isdecimal() or len(number) > 6:
        raise DecodeError(f"{ref!r} names no output of a node")
    return parts[0], parts[1] if len(parts) == 3 else "", int(number)


class Graph:
    """The nodes of a function in an order in which they can run."""

    def __init__(self, function):
        signature = function.signature
        self.name = signature.name
        self.arguments = [one.name for one in signature.input_arg]
        self.nodes = {one.name: one for one in function.node_def}
        if len(self.nodes) != len(function.node_def):
            raise DecodeError(f"function {self.name} has two nodes of one name")
        self.returns = []
        for one in signature.output_arg:
            if one.name not in function.ret:
                raise DecodeError(f"function {self.name} has no result {one.name}")
            self.returns.append(_source(function.ret[one.name]))
        self.sources = {name: [_source(ref) for ref in node.input] for name, node in self.nodes.items()}
        wanted = [name for name, *_ in self.returns] + list(function.control_ret.values())
        self.order = self.sorted(wanted)

    def sorted(self, wanted):
        """The nodes that results and effects need, each behind those that it needs."""
        order, state, arguments = [], {}, set(self.arguments)
        for first in wanted:
            waiting = [(first, False)]
            while waiting:
                name, is_done = waiting.pop()
                if is_done:
                    state[name] = 2
                    order.append(name)
                elif name in arguments or state.get(name) == 2:
                    continue
                elif state.get(name) == 1:
                    raise DecodeError(f"function {self.name} has a circle at node {name}")
                elif name not in self.nodes:
                    raise DecodeError(f"function {self.name} has no node {name}")
                else:
                    state[name] = 1
                    waiting.append((name, True))
                    waiting += [(one, False) for one, *_ in reversed(self.sources[name]) if state.get(one) != 2]
        return order

    def is_kept(self, place):
        """Is result number `place` the argument of that number, as it is?"""
        name = self.returns[place][0]
        while name in self.nodes and self.nodes[name].op == "Identity" and self.sources[name]:
            name = self.sources[name][0][0]
        return place < len(self.arguments) and name == self.arguments[place]


class Library:
    """The functions of a SavedModel by their names."""

    def __init__(self, library, folder, taken_by):
        self._messages = {one.signature.name: one for one in library.function}
        self._gradients = {one.registered_op_type: one.gradient_func for one in library.registered_gradients}
        self._graphs, self._taken_by = {}, taken_by
        self.folder = folder

    def graph(self, name):
        """The Graph of a function's name."""
        if name not in self._graphs:
            if name not in self._messages:
                raise DecodeError(f"there is no function {name!r}")
            self._graphs[name] = Graph(self._messages[name])
        return self._graphs[name]

    def run(self, name, inputs):
        """The values of the results of a function."""
        return Run(self).call(name, inputs)

    def gradient(self, kind):
        """(name, what it takes beside gradients, the structure of its results) of the function that is the gradient of
        nodes of a type; what it takes are variables, and pairs of a function's name and a tensor's in it. LookupError
        where the file has none."""
        if kind not in self._gradients:
            raise LookupError(f"gradient registry has no entry for: {kind}; the SavedModel was written without the "
                              "gradients of its custom_gradients")
        name = self._gradients[kind]
        return name, *self._taken_by(name)


class Run:
    """One run of a function and those that it calls. `frames`: those that run, [(Graph, values of its nodes)]."""

    def __init__(self, library, frames=(), depth=0):
        self.library, self._count, self._depth = library, 0, depth
        self.frames, self._open = list(frames), set()  # what is being computed: (number of a frame, node)

    def resumed(self):
        """Another run that knows what this one knows now: that of a gradient, which is called later."""
        return Run(self.library, self.frames, self._depth + 1)

    def graph(self, name):
        """The Graph of a function's name."""
        return self.library.graph(name)

    def call(self, name, inputs):
        """The values of the results of a function, of those of its arguments."""
        graph = self.library.graph(name)
        if len(inputs) != len(graph.arguments):
            raise DecodeError(f"function {name} takes {len(graph.arguments)} arguments, found {len(inputs)}")
        self._depth += 1
        try:
            if self._depth > _MOST_CALLS:
                raise DecodeError(f"functions call each other deeper than {_MOST_CALLS}")
            return self._run(graph, inputs)
        finally:
            self._depth -= 1

    def _run(self, graph, inputs):
        known = {name: [value] for name, value in zip(graph.arguments, inputs)}
        self.frames.append((graph, known))
        try:
            self._go(graph, known, graph.order)
        finally:
            self.frames.pop()
        return [self._value(graph, known, *source) for source in graph.returns]

    def _go(self, graph, known, order):
        for name in order:
            if name in known:
                continue
            if (id(known), name) in self._open:
                raise DecodeError(f"function {graph.name} has a circle at node {name}, through a gradient")
            self._count += 1
            if self._count > _MOST_NODES:
                raise ResourceExhaustedError(None, None, f"function {graph.name} runs more than {_MOST_NODES} nodes "
                                             "with those that it calls")
            message = graph.nodes[name]
            given = [self._value(graph, known, *source) for source in graph.sources[name] if source[1] is not None]
            self._open.add((id(known), name))
            try:
                known[name] = self._compute(Node(message), given)
            finally:
                self._open.discard((id(known), name))

    def tensor(self, function, ref):
        """A tensor of a function that runs, which is computed now where it is not known yet."""
        graph, known = next(((graph, known) for graph, known in reversed(self.frames) if graph.name == function),
                            (None, None))
        if graph is None:
            raise DecodeError(f"a gradient takes {ref} of function {function}, which does not run")
        name, _, number = _source(ref)
        if name not in known:
            self._go(graph, known, graph.sorted([name]))
        return self._value(graph, known, name, "", number)

    def _value(self, graph, known, name, output, number):
        found = known[name]
        place = number
        if output and name in graph.nodes:
            line = table.line_of(graph.nodes[name].op)
            if line is not None and len(line.outputs) > 1:
                if output not in line.outputs:
                    raise DecodeError(f"node {name} has no output {output}")
                place = line.outputs.index(output)
        if place >= len(found):
            raise DecodeError(f"node {name} has {len(found)} outputs, number {place} is used")
        return found[place]

    def _compute(self, node, inputs):
        line = table.line_of(node.op)
        if node.op in READERS:
            try:
                made = READERS[node.op](self, node, *inputs)
            except (TypeError, IndexError, AttributeError) as error:
                # What a file says may be anything: an input that is no tensor, numbers that are not there.
                error.add_note(f"leat: at node {node.name}, a {node.op} of a SavedModel")
                raise
        elif line is not None and line.own is not None:
            if not all(hasattr(one, "_has_values") for one in inputs):
                raise DecodeError(f"node {node.name}, a {node.op}, takes tensors alone")
            made = ops.call(line.own, None, inputs)
        else:
            raise UnimplementedError(None, None, f"the operation {node.op} of a SavedModel (node {node.name}) is one "
                                     "that leat has not; export a function without it, or load the model's weights "
                                     "alone, by leat.train.load_checkpoint of its variables/variables")
        return list(made) if isinstance(made, (list, tuple)) else [made]
