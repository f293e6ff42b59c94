"""``Strategy.run`` of a tf.function, or in one: it is traced for one replica's arguments and runs on all at once.

A trace serves for every call with arguments of the same types and shapes by a function of the same code over the same
captured objects, so that a function which is defined anew for each step is not traced anew. Replicas whose shapes
differ have traces of their own, which meet at the same exchanges.
"""

import collections
import functools
import types

from leat import _native, dtypes, nest
from leat._core import specs
from leat._core.tensor import Tensor, constant
from leat._graph import trace
from leat._graph.arguments import _leaf, _shape_of, _Static
from leat._graph.traced import Function, _collected
from leat._structures.variables import Variable
from leat.distribute import agreement
from leat.distribute.context import ReplicaContext, UnknownSizes, check_joined
from leat.distribute.scope import entered
from leat.distribute.values import _PLAIN, DistributedValues, PerReplica, check_structures, same
from leat.errors import OpError

_MOST_STEPS = 64  # different functions that a strategy remembers
_MOST_CALLED = 16  # functions that a function calls and that are looked into


# ---- which functions are the same ----

def identity(function, keep, seen=None):
    """What tells a function from others: its code, what it has captured, and the globals that its code reads.

    `keep` grows by what must stay alive, `seen` by the functions that were looked into.
    """
    seen = set() if seen is None else seen
    if isinstance(function, Function):
        return ("function", function._autograph, identity(function.python_function, keep, seen))
    if isinstance(function, functools.partial):
        inner = [_captured(value, keep, seen) for value in (*function.args, *function.keywords.values())]
        return ("partial", identity(function.func, keep, seen), tuple(inner), tuple(function.keywords))
    if isinstance(function, types.MethodType):
        keep.append(function.__self__)
        return ("method", id(function.__self__), identity(function.__func__, keep, seen))
    keep.append(function)
    if not isinstance(function, types.FunctionType) or function in seen or len(seen) > _MOST_CALLED:
        return id(function)
    seen.add(function)
    values = list(function.__defaults__ or ()) + list((function.__kwdefaults__ or {}).values())
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # still empty
            values.append(None)
    captured = [_captured(value, keep, seen) for value in values]
    around = function.__globals__
    for name in _globals_of(function.__code__):
        value = around.get(name)
        if type(value) is types.FunctionType and value.__globals__ is not around:
            captured.append(id(value))  # what functions of other modules read is their own affair
            keep.append(value)
        elif type(value) is not types.ModuleType:
            captured.append(_captured(value, keep, seen))
    return (id(function.__code__), id(around), tuple(captured))


_codes = {}  # by the code's id: the code, and the globals that it and the functions in it read


def _globals_of(code):
    found = _codes.get(id(code))
    if found is None:
        import dis
        names = {line.argval: None for line in dis.get_instructions(code)
                 if line.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                names.update(dict.fromkeys(_globals_of(inner)))
        if len(_codes) > 16 * _MOST_STEPS:
            _codes.clear()
        found = _codes[id(code)] = (code, tuple(names))
    return found[1]


def _captured(value, keep, seen):
    if type(value) in _PLAIN:
        return type(value), value
    if isinstance(value, (types.FunctionType, Function, functools.partial)):
        return identity(value, keep, seen)
    keep.append(value)
    return id(value)


# ---- traces ----

class _Trace:
    """One traced form: the library's function, and how its results are put together."""

    __slots__ = ("native", "structure", "leaves", "variables", "graph_variables", "gathers", "is_numbered",
                 "gives_strings")

    def __init__(self, native, structure, leaves, variables, graph_variables, replica):
        self.native = native
        self.structure = structure
        self.leaves = leaves  # of the result: a spec, (spec,) for what replicas share, ("argument", number),
        #                       ("constant", tensor), ("value", object)
        self.variables = variables  # those without copies on the replicas: its last arguments
        self.graph_variables = graph_variables
        self.gathers = replica.gathers  # does it call all_gather?
        self.is_numbered = replica.is_numbered  # does it depend on the number of its replica?
        self.gives_strings = any(getattr(leaf, "dtype", None) is dtypes.string for leaf in leaves)

    def results(self, tensors, arguments):
        rest = iter(tensors)
        out = []
        for leaf in self.leaves:
            if isinstance(leaf, specs.TypeSpec):
                out.append(leaf._put(rest))
            elif len(leaf) == 1:
                out.append(leaf[0]._put(rest))
            else:
                kind, value = leaf
                out.append(arguments[value] if kind == "argument" else value)
        return out


class _Step:
    """The traces of one function for one sort of arguments."""

    def __init__(self, strategy, function, structure, keep):
        self._strategy = strategy
        self._function = function
        self._structure = structure
        self._keep = keep
        self._traces = {}
        self._asking = {}  # what a trace that ended at its next all_gather finds along its axis there
        self._sizes = {}  # shapes of the replicas' arguments -> what each all_gather finds along its axis, by replica
        self._made = None  # the variables that its first trace made, and for which replica
        self.on_host = False
        self.native = _native.Step()

    def traces_for(self, rows):
        """(the traces for each replica's leaves, the tensors that these are called with).

        Devices compute numbers. A function that computes strings as well runs on the host, replica after replica, which
        serves where it neither exchanges nor assigns anything.
        """
        if not self.on_host:
            tensors = [_components(row, False) for row in rows]
            try:
                traces = self._traces_of(rows, tensors)
                self.on_host = any(made.gives_strings for made in traces)
            except trace.NeedsPython:
                raise
            except trace.NotTraceable:
                if not any(map(_is_string, rows[0])):
                    raise
                self.on_host = True
            if not self.on_host:
                return traces, tensors
            self._traces = {}
        tensors = [_components(row, True) for row in rows]
        return self._traces_of(rows, tensors), tensors

    def _traces_of(self, rows, tensors):
        """The traces. Where shapes differ, what replicas gather may: each gather asks all of them for its size first.

        Other workers' shapes are not known here, so that under several each gather asks at every step.
        """
        shapes = tuple([tuple([(tensor._shape, tensor._dtype) for tensor in parts]) for parts in tensors])
        alone = self._strategy._workers == 1
        replicas = [self._strategy._first + r for r in range(len(rows))]
        if not alone or all(other == shapes[0] for other in shapes):
            made = [self._trace_for(*one, None) for one in zip(replicas, rows, shapes)]
            if alone or not any(one.gathers for one in made):
                return made
        sizes = self._sizes.get(shapes, ())
        while True:
            missing, asked = [], []
            for one in zip(replicas, rows, shapes):
                try:
                    missing.append(self._trace_for(*one, sizes))
                except UnknownSizes as found:
                    missing.append(found.size)
                    asked.append(found)
            if asked:
                check_joined([one.shape for one in asked], asked[0].axis)
            if all(type(made) is _Trace for made in missing):
                return missing
            if any(type(made) is _Trace for made in missing):
                raise ValueError("all_gather is called by some replicas alone: their arguments have the shapes "
                                 f"{[[shape for shape, _ in parts] for parts in shapes]}")
            sizes = (*sizes, tuple(missing if alone else self._strategy._native.exchange(missing)))
            if alone:
                self._sizes[shapes] = sizes

    def _trace_for(self, replica, leaves, shapes, sizes):
        """The trace for one replica: one of its own where the function asks for the replica's number."""
        shapes = shapes, tuple([leaf if type(leaf) is _Static else leaf._shape for leaf in leaves
                                if type(leaf) is _Static or _is_string(leaf)])
        for key in ((shapes, None), (shapes, replica)):
            found = self._traces.get((key, None))
            if found is None or found.gathers and sizes is not None:
                found = self._traces.get((key, sizes))
            if found is not None:
                return found
        asking = (shapes, replica), sizes
        if asking in self._asking:
            raise self._asking[asking]
        try:
            found = trace.with_constants(lambda: self._trace(replica, leaves, (), sizes))
        except UnknownSizes as unknown:
            self._asking[asking] = UnknownSizes(unknown.size, unknown.shape, unknown.axis)
            raise
        except OpError as error:
            error.add_note(f"leat: while the function was traced for replica {replica} of {self._strategy._count}")
            raise
        key = shapes, replica if found.is_numbered else None
        self._traces[key, sizes if found.gathers else None] = found
        return found

    def _trace(self, replica, leaves, variables, sizes):
        tensors = _components(leaves, self.on_host)
        spec = [specs.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors]
        spec += [specs.TensorSpec(variable.shape, variable.dtype) for variable in variables]
        graph = trace.Graph(nest.to_text(tuple(spec)))
        trace._state.checks[id(graph)] = []
        try:
            made = self._trace_into(graph, leaves, variables, self._context(replica, sizes))
            if self.on_host and graph.has_effects:
                raise trace.NotTraceable("it computes strings, which devices do not, and assigns variables")
            missing = [variable for variable in made.graph_variables
                       if variable._native.num_copies() != self._strategy._local]
        finally:
            del trace._state.checks[id(graph)]
            graph.release()
        return self._trace(replica, leaves, missing, sizes) if len(missing) > len(variables) else made

    def _context(self, replica, sizes):
        """What the function knows while it is traced for a replica."""
        maker, made = self._made or (replica, None)
        found = ReplicaContext(self._strategy, sizes, replica, self._keep, None if maker == replica else made)
        if self._made is None:
            self._made = replica, found.made
        return found

    @staticmethod
    def _texts(leaves):
        """Values that stand for strings, of a graph of their own: nothing can be computed of them."""
        spec = tuple(nest.spec_of_leaf(leaf) for leaf in leaves if _is_string(leaf))
        return trace.Graph(nest.to_text(spec)).arguments() if spec else ()

    def _trace_into(self, graph, leaves, variables, replica):
        with trace.tracing(graph), trace.recorded(), entered(self._strategy, replica):
            arguments, texts = iter(graph.arguments()), iter(self._texts(leaves))
            flat = [leaf.value if isinstance(leaf, _Static) else nest.spec_of_leaf(leaf)._put(
                texts if _is_string(leaf) and not self.on_host else arguments) for leaf in leaves]
            graph.given = dict(zip((id(v) for v in variables), arguments))
            args, kwargs = nest.pack_sequence_as(self._structure, flat)
            result = _converted(self._function)(*args, **kwargs)
            made, outputs = [], []
            for leaf in nest.flatten(result):
                if isinstance(leaf, Variable) and id(leaf) in graph.written:
                    leaf = leaf._as_tensor()  # what an assignment returned
                given = next((i for i, argument in enumerate(flat) if argument is leaf), None)
                if given is not None:
                    made.append(("argument", given))
                elif isinstance(leaf, DistributedValues) and any(one is leaf for one in replica.captured):
                    made.append(("value", leaf))
                elif isinstance(leaf, Tensor) and leaf._has_values and id(leaf) not in graph.aliases:
                    is_shared = any(one is leaf for one in (*replica.shared, *replica.captured))
                    made.append(("value" if is_shared else "constant", leaf))
                elif isinstance(leaf, Tensor) or hasattr(leaf, "_type_spec"):
                    spec = nest.spec_of_leaf(leaf)
                    made.append((spec,) if any(one is leaf for one in replica.shared) else spec)
                    outputs += spec._take(leaf)
                else:
                    made.append(("value", leaf))
            # A function without results has one for what it asserts.
            outputs = [trace.reach(graph, tensor) for tensor in outputs or [constant(True)]]
            for condition, message in trace._state.checks[id(graph)]:
                outputs = [trace.guard(graph, output, condition, message) for output in outputs]
        file, line = trace._place(self._function)
        spec = tuple(specs.TensorSpec(output.shape, output.dtype) for output in outputs)
        native = graph.finish(outputs, nest.to_text(spec)).at(file, line)
        return _Trace(native, nest.map_structure(lambda leaf: None, result), made, list(variables),
                      [entry[0] for entry in graph.variables.values()], replica)


def _converted(function):
    if isinstance(function, Function):
        return trace.converted(function.python_function, function._autograph)
    return trace.converted(function)


def _is_string(leaf):
    return type(leaf) is Tensor and leaf._dtype == dtypes.string.number


def _components(leaves, on_host):
    """The tensors that leaves are made of; without strings where a step on devices hands these on at most."""
    out = []
    for leaf in leaves:
        if type(leaf) is Tensor:
            if on_host or leaf._dtype != dtypes.string.number:
                out.append(leaf)
        elif not isinstance(leaf, _Static):
            out += nest.spec_of_leaf(leaf)._take(leaf)
    return out


# ---- running ----

class Steps:
    """What a strategy remembers of the functions that it ran."""

    def __init__(self, strategy):
        self._strategy = strategy
        self._steps = collections.OrderedDict()
        self._checks = agreement.checks_every_step()

    def run(self, function, args, kwargs):
        """Runs ``function(*args, **kwargs)`` on every replica; the structure of its results."""
        replicas = self._strategy._local
        structure = (tuple(args), dict(kwargs))
        given = nest.flatten(structure)
        rows = [[_argument(leaf, r) for leaf in given] for r in range(replicas)]
        step = self._step_for(function, structure, rows[0])
        try:
            traces, tensors = step.traces_for(rows)
        except trace.NeedsPython:
            raise
        except trace.NotTraceable as reason:
            file, line = trace._place(function)
            raise trace.NotTraceable(
                f"Strategy.run traces the function at {file}:{line} for its replicas, but it needs a value that is "
                f"only known when they run: {reason}. Return the tensor and look at it outside of the replicas, or use "
                "tensor operations.") from reason
        if self._checks:
            agreement.compare_values(self._strategy, agreement.updated_together(traces[0].graph_variables),
                                     "before a step")
        if _collected[0] is not None:
            _collected[0].update({id(made): made.native for made in traces})
        for parts, made in zip(tensors, traces):
            parts += [variable._as_tensor() for variable in made.variables]
        if step.on_host:
            found = [made.native.call(parts) for made, parts in zip(traces, tensors)]
        else:
            found = self._strategy._native.run(step.native, [made.native for made in traces], tensors)
        for tape in trace._state.tapes:
            for made in traces:
                for variable in made.graph_variables:
                    tape._recording.forget_reads(variable)
        return _put_together(traces, found, given)

    def latest(self):
        """The traces of the function that ran last."""
        step = next(reversed(self._steps.values()), None)
        return [] if step is None else list(step._traces.values())

    def forget(self):
        """Every function is traced anew when it runs next."""
        self._steps.clear()

    def _step_for(self, function, structure, row):
        keep = []
        kinds = tuple([_kind(leaf) for leaf in row])
        key = (identity(function, keep), _shape_of(structure), kinds)
        step = self._steps.get(key)
        if step is None:
            step = self._steps[key] = _Step(self._strategy, function, nest.map_structure(lambda leaf: None, structure),
                                            keep)
            if len(self._steps) > _MOST_STEPS:
                self._steps.popitem(last=False)
        else:
            self._steps.move_to_end(key)
        return step

    def explain(self):
        """Where the time of the runs went: a table for each function."""
        return "\n".join(step.native.explain() for step in self._steps.values())


def _kind(leaf):
    """What a function is traced for besides shapes: a static value, a dtype, a spec without its dimensions."""
    if type(leaf) is Tensor:
        return leaf._dtype
    if isinstance(leaf, _Static):
        return leaf
    spec = nest.spec_of_leaf(leaf)
    rank = spec.shape.rank if hasattr(spec, "shape") else None
    return spec if rank is None else spec._with_shape([None] * rank)


def _argument(leaf, replica):
    """A leaf of the arguments as one replica gets it: a tensor, a composite value, or static."""
    if isinstance(leaf, DistributedValues):
        leaf = leaf.values[replica]
    if type(leaf) is Tensor:
        return leaf
    return _Static(leaf) if isinstance(leaf, Variable) else _leaf(leaf)


def _put_together(traces, found, given):
    rows = [made.results(tensors, [select if not isinstance(select, DistributedValues) else select.values[r]
                                   for select in given])
            for r, (made, tensors) in enumerate(zip(traces, found))]
    structure = traces[0].structure
    for r, made in enumerate(traces):
        if made is not traces[0] and _shape_of(made.structure) != _shape_of(structure):
            check_structures(structure, made.structure, r)
    if len(rows) == 1:
        return nest.pack_sequence_as(structure, rows[0])
    return nest.pack_sequence_as(structure, [_regroup(leaf, column) for leaf, *column in zip(traces[0].leaves, *rows)])


def _regroup(leaf, column):
    """What the replicas gave at one place: itself where it is one object or equal numbers, else a value per replica."""
    if type(leaf) is tuple and leaf[0] == "constant":
        return PerReplica(column)
    return column[0] if type(leaf) is tuple and len(leaf) == 1 or same(column) else PerReplica(column)
