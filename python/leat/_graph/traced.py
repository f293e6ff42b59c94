"""``tf.function``: a Python function that is traced once for each sort of arguments, and then runs in the library.

A function that cannot be traced (it needs the value of a tensor) is called as it is; that is announced once with its
reason. Under a gradient tape the variables that it reads are arguments of the traced function, so that gradients flow.
"""

import functools
import inspect
import operator
import threading

import numpy as np

from leat import _native, dtypes, nest
from leat._core import specs
from leat._core.tensor import Tensor, constant, convert_leaf, convert_to_tensor
from leat._graph import introspection, replay, steps, trace
from leat._graph.arguments import (_as_tensor, _covers, _given, _join, _known_by, _leaf, _named, _read, _shape_of,
                                   _Static, distinct, fitted, of_wider_types)
from leat.errors import InvalidArgumentError, OpError, OutOfRangeError

_eager_mode = [False]


def run_functions_eagerly(run_eagerly):
    """Makes all functions run as they are, or undoes that (``tf.config.run_functions_eagerly``)."""
    _eager_mode[0] = bool(run_eagerly)


def functions_run_eagerly():
    """Do all functions run as they are?"""
    return _eager_mode[0]


_collected = [None]  # {id of a trace: the library's function} of those that ran since it was asked for


def collect(is_wanted):
    """From here on functions that run are noted, or no more (``tf.summary.trace_on``)."""
    _collected[0] = {} if is_wanted else None


def collected():
    """Those that were noted; None where none are."""
    return None if _collected[0] is None else list(_collected[0].values())


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
             experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None):
    """Makes a Python function one that is traced (``tf.function``); a decorator with or without arguments.

    `input_signature`: TensorSpecs of the arguments, for one trace alone. `reduce_retracing`: arguments that differ in
    shape share a trace. `jit_compile` is accepted: what is traced is compiled anyway.
    """
    def decorate(inner):
        return functools.update_wrapper(Function(inner, input_signature, autograph, bool(
            reduce_retracing or experimental_relax_shapes)), inner)
    return decorate if func is None else decorate(func)


_state = trace._state
_MOST_QUICK = 256
_LASTING = (bool, int, float, str, type(None))


class _Trace:
    """One traced form: the library's function and how its results are put together."""

    __slots__ = ("native", "structure", "leaves", "variables", "graph_variables", "has_effects", "has_customs",
                 "is_random", "concrete", "step", "signature", "outer", "_put")

    def __init__(self, native, structure, leaves, variables, graph_variables, graph):
        self.native = native
        self.structure = structure  # the result's, over anything
        self.leaves = leaves  # specs of its leaves; None: that leaf is None
        self._put = None  # makes a result of a run's tensors, once there was one
        self.variables = variables  # those that it was given as its last arguments
        self.graph_variables = graph_variables  # all that it reads or writes
        self.has_effects, self.has_customs = graph.has_effects, graph.has_customs
        self.is_random = graph.is_random
        self.outer = list(graph.outer.values())  # weak references to tensors from outside that it uses
        self.step = steps.Step(native) if graph.is_large and not (graph.is_random or graph.branches) else None
        self.concrete = None  # the ConcreteFunction that shows it to users
        self.signature = None  # (args, kwargs) with TypeSpecs in the place of tensors

    def uses_recorded(self):
        """Does a tape record a tensor that the function uses and is not given?"""
        self.outer = [one for one in self.outer if one() is not None]
        return any(trace.graph_for([tensor], frozenset()) is not None for tensor in (one() for one in self.outer)
                   if tensor is not None)

    def put_together(self, tensors):
        """The result, of the tensors that a run gave."""
        if self._put is None:
            self._put = nest.putter(nest.pack_sequence_as(self.structure, self.leaves))
        return self._put(iter(tensors))


class Function:
    """What ``tf.function`` makes: callable like the Python function that it is made of."""

    def __init__(self, python_function, input_signature=None, autograph=True, reduce_retracing=False):
        self.python_function = python_function
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._autograph = autograph
        self._relax = reduce_retracing
        self._traces = {}
        self._refused = False  # it cannot be traced
        self._has_traced = False
        self._lock = threading.RLock()
        self._quick = {}  # key of a call with plain tensors alone -> the trace that it ran
        self._signature = None
        self._count = 0
        self._calls = replay.Calls()

    def experimental_get_tracing_count(self):
        """How often the Python function was called to be traced."""
        return self._count

    def _saved_traces(self):
        """The traced forms that are saved with it, in the order in which they came; of a signature its own."""
        if self.input_signature is not None and not self._traces:
            self.get_concrete_function()
        return [made for key, made in self._traces.items() if not key[2] and not key[3] and not key[4]]

    @property
    def name(self):
        """The Python function's."""
        return getattr(self.python_function, "__name__", "function")

    def _concrete_functions(self):
        """The ConcreteFunctions of what was traced so far, but not of what tapes recorded."""
        return [self._shown(made) for key, made in self._traces.items() if not key[2] and not key[3]]

    def pretty_printed_concrete_signatures(self, verbose=True):
        """The signatures of all that was traced so far, for readers."""
        return "\n\n".join(one.pretty_printed_signature(verbose) for one in self._concrete_functions())

    @property
    def function_spec(self):
        """The signature of the Python function."""
        return self._arguments_spec()

    def __get__(self, instance, owner):
        if instance is None:
            return self
        bound = instance.__dict__.get("_leat_functions") if hasattr(instance, "__dict__") else None
        if bound is None:
            bound = {}
            try:
                object.__setattr__(instance, "_leat_functions", bound)
            except AttributeError:
                return functools.partial(self, instance)
        made = bound.get(id(self))
        if made is None:
            made = bound[id(self)] = functools.update_wrapper(
                Function(self.python_function.__get__(instance, owner), self.input_signature, self._autograph,
                         self._relax), self.python_function)
        return made

    # ---- arguments ----

    def _arguments_spec(self):
        if self._signature is None:
            try:
                self._signature = inspect.signature(self.python_function)
            except (TypeError, ValueError):
                self._signature = False
        return self._signature

    def _canonical(self, args, kwargs):
        """(args, kwargs) with defaults filled in, and what the signature says converted."""
        given_args, given_kwargs = args, kwargs
        try:
            args, kwargs = self._bound(args, kwargs)
            if self.input_signature is None:
                return args, kwargs
            given = args[:len(self.input_signature)]
            if len(given) != len(self.input_signature):
                raise TypeError(f"input_signature contains {len(self.input_signature) - len(given)} extra type "
                                "constraints.")
            taken = tuple(fitted(spec, value) for spec, value in zip(self.input_signature, given))
        except TypeError as error:
            raise TypeError(f"Binding inputs to tf.function failed due to `{error}`. Received args: {given_args} and "
                            f"kwargs: {given_kwargs} for signature: {self._arguments_spec() or '(...)'}.") from None
        return taken + tuple(args[len(self.input_signature):]), kwargs

    def _bound(self, args, kwargs):
        signature = self._arguments_spec()
        if not signature:
            return args, kwargs
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, bound.kwargs

    # ---- calling ----

    def __call__(self, *args, **kwargs):
        is_plain = not (kwargs or _eager_mode[0] or _state.graphs or _state.tapes or _state.contexts)
        key, tensors = _known_by(args) if is_plain else (None, ())
        made = None if key is None else self._quick.get(key)
        if made is not None:
            return made.put_together(self._compute(made, tensors))
        if _eager_mode[0]:
            return self.python_function(*args, **kwargs)
        if self._refused:
            return self._call_python(args, kwargs)
        if trace.is_tracing():
            graph = trace.current_graph()
            with graph.seeds_of_its_own():
                return self._calls.run_inside(graph, self._call_converted, *self._canonical(args, kwargs))
        given = args
        args, kwargs = self._canonical(args, kwargs)
        flat = [_leaf(leaf) for leaf in nest.flatten((args, kwargs))]
        try:
            made = self._trace_for((args, kwargs), flat)
        except trace.NotTraceable as reason:
            if trace.running_replica() is not None and isinstance(reason, trace.NeedsPython):
                return self.python_function(*args, **kwargs)  # elsewhere it may be traced
            if not isinstance(reason, trace.NeedsPython):
                trace.announce(self.python_function, "leat.function", reason)
            self._refused = True
            return self._call_python(args, kwargs)
        inputs = []
        for leaf in flat:
            if not isinstance(leaf, _Static):
                inputs.extend(nest.spec_of_leaf(leaf)._take(leaf))
        if key is not None and not kwargs and all(type(leaf) in _LASTING for leaf in args[len(given):]):
            self._note_quick(key, tensors, inputs, made)
        return self._run(made, (args, kwargs), flat, inputs)

    def _call_converted(self, *args, **kwargs):
        self._count += 1
        return trace.converted(self.python_function, self._autograph)(*args, **kwargs)

    def _note_quick(self, key, tensors, inputs, made):
        """From now on such a call runs that trace without asking what its arguments are."""
        if len(inputs) == len(tensors) and all(map(operator.is_, inputs, tensors)):
            if len(self._quick) >= _MOST_QUICK:
                self._quick.clear()
            self._quick[key] = made

    def _call_python(self, args, kwargs):
        """Runs the Python function itself; numbers and arrays that it returns are tensors. OutOfRangeError where it
        asks an iterator for more than there is."""
        try:
            with trace.called_in_python():
                return nest.map_structure(_as_tensor, self.python_function(*args, **kwargs))
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None

    def _run(self, made, structure, flat, inputs):
        tapes = [] if trace._state.stopped else trace._state.tapes
        watched = [v for v in made.graph_variables if any(tape._watches(v) for tape in tapes)]
        recording = trace.graph_for(inputs, frozenset())
        if watched:
            recording = tapes[-1]._recording
        if tapes and made.uses_recorded() or recording is not None and (made.has_effects or made.has_customs):
            # A tape sees the operations one by one.
            args, kwargs = structure
            return self.python_function(*args, **kwargs)
        replica = trace.running_replica()
        if recording is None and replica is not None and any(
                variable._strategy is replica.strategy for variable in made.graph_variables):
            if made.has_effects:  # on this replica's copies
                args, kwargs = structure
                return self.python_function(*args, **kwargs)
            made = self._trace_for(structure, flat, tuple(made.graph_variables))
            inputs = inputs + [variable._as_tensor() for variable in made.variables]
        if recording is None:
            outputs = self._compute(made, inputs)
        else:
            if watched or made.is_random:
                # What a tape records is another function, whose random numbers start anew, as in TensorFlow.
                made = self._trace_for(structure, flat, tuple(made.graph_variables) if watched else (), True)
            if watched:
                inputs = inputs + [variable._as_tensor() for variable in made.variables]
            here = [trace.reach(recording, tensor) for tensor in inputs]
            outputs = recording.cond(constant(True), made.native, made.native, here)
        for tape in trace._state.tapes:
            for variable in made.graph_variables:
                tape._recording.forget_reads(variable)
        return made.put_together(outputs)

    def _compute(self, made, inputs):
        if _collected[0] is not None:
            _collected[0][id(made)] = made.native
        try:
            found = made.step.run(inputs) if made.step is not None else None
            return made.native.call(inputs) if found is None else found
        except OpError as error:
            file, line = trace._place(self.python_function)
            error.add_note(f"leat: in the function {getattr(self.python_function, '__name__', '')} at {file}:{line}")
            raise

    def _trace_for(self, structure, flat, variables=(), is_recorded=False):
        leaf_specs = [leaf if isinstance(leaf, (_Static, specs.TypeSpec)) else nest.spec_of_leaf(leaf) for leaf in flat]
        if self.input_signature is not None:
            declared = nest.flatten(self.input_signature)
            leaf_specs[:len(declared)] = declared
        return self._trace_of(structure, leaf_specs, variables, is_recorded, flat)

    def _trace_of(self, structure, leaf_specs, variables=(), is_recorded=False, flat=()):
        key = (tuple(leaf_specs), _shape_of(structure), tuple(id(v) for v in variables), is_recorded, trace_context())
        found = self._traces.get(key)
        if found is not None:
            return found
        with self._lock:
            found = self._traces.get(key) or of_wider_types(self._traces, key)
            if found is None and self._relax:
                found, leaf_specs = self._relaxed(key, leaf_specs)
                key = (tuple(leaf_specs), *key[1:])
            if found is None:
                found = self._traces[key] = self._trace(structure, leaf_specs, variables, flat)
            return found

    def _relaxed(self, key, leaf_specs):
        """A trace for any dimensions of arguments that differ from earlier ones in dimensions alone."""
        alike = [other for other in self._traces if other[1:] == key[1:] and len(other[0]) == len(leaf_specs)]
        for other in alike:
            if all(_covers(a, b) for a, b in zip(other[0], leaf_specs)):
                return self._traces[other], leaf_specs
        for other in reversed(alike):
            joined = [_join(a, b) for a, b in zip(other[0], leaf_specs)]
            if None not in joined:
                return None, joined
        return None, leaf_specs

    def _trace(self, structure, leaf_specs, variables, given):
        first = not self._has_traced
        count = self._count
        made, has_created = trace.with_constants(
            lambda: self._trace_once(structure, leaf_specs, variables, given, first))
        self._count = min(self._count, count + 1)  # gradients by constants had it called twice
        # As in TensorFlow: what stays is a trace that finds the variables and makes none.
        if has_created:
            return self._trace(structure, leaf_specs, variables, ())
        made.signature = nest.pack_sequence_as(structure, [
            leaf.value if isinstance(leaf, _Static) else _named(leaf, name)
            for leaf, name in zip(leaf_specs, self._names(structure))])
        return made

    def _trace_once(self, structure, leaf_specs, variables, given, first):
        spec = tuple(leaf for leaf in leaf_specs if not isinstance(leaf, _Static))
        graph = trace.Graph(nest.to_text(spec + tuple(specs.TensorSpec(v.shape, v.dtype) for v in variables)))
        graph.is_called = True
        try:
            made = self._trace_into(graph, structure, leaf_specs, variables, first, given)
            return made, bool(graph.created)
        finally:
            graph.release()

    def _trace_into(self, graph, structure, leaf_specs, variables, first, given):
        with trace.tracing(graph), trace.recorded():
            tensors = graph.arguments()
            arguments = iter(tensors)
            flat = [leaf.value if isinstance(leaf, _Static) else leaf._put(arguments) for leaf in leaf_specs]
            graph.feeds = {leaf._id: value for leaf, value in zip(flat, given) if isinstance(leaf, Tensor)
                           and leaf._graph is graph and getattr(value, "_has_values", False)}
            for leaf, name in zip(flat, self._names(structure)):
                if isinstance(leaf, Tensor) and leaf._graph is graph:
                    graph.names[leaf._id] = name
            graph.given = dict(zip((id(v) for v in variables), arguments))
            args, kwargs = nest.pack_sequence_as(structure, flat)
            del tensors[len(tensors) - len(variables):]
            result = self._calls.run(graph, leaf_specs, tensors, variables, self._call_converted, args, kwargs)
            if (graph.created or graph.makes_state) and not first:
                raise ValueError("tf.function only supports singleton tf.Variables created on the first call. Make "
                                 "sure the tf.Variable is only created once or created outside tf.function. See "
                                 "https://www.tensorflow.org/guide/function#creating_tfvariables for more information.")
            leaves = [self._result(leaf) for leaf in nest.flatten(result)]
            out_specs = [nest.spec_of_leaf(leaf) for leaf in leaves]
            outputs = [trace.reach(graph, tensor) for leaf, one in zip(leaves, out_specs) for tensor in one._take(leaf)]
        self._has_traced = True
        file, line = trace._place(self.python_function)
        native = graph.finish(outputs, nest.to_text(tuple(out_specs))).at(file, line)
        return _Trace(native, nest.map_structure(lambda leaf: None, result), out_specs, list(variables),
                      [entry[0] for entry in graph.variables.values()], graph)

    def _result(self, leaf):
        try:
            read = _read(leaf)
            return read if hasattr(type(read), "_type_spec") else convert_leaf(read)
        except trace.NotTraceable:
            raise
        except (TypeError, ValueError):
            raise TypeError("To be compatible with tf.function, Python functions must return zero or more Tensors or "
                            f"ExtensionTypes or None values; in compilation of {self.python_function}, found return "
                            f"value of type {type(leaf).__name__}, which is not a Tensor or ExtensionType.") from None

    def get_concrete_function(self, *args, **kwargs):
        """The traced form for these arguments, tensors or TensorSpecs, as a callable."""
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        args, kwargs = self._bound(args, kwargs)
        flat = nest.flatten((args, kwargs))
        leaf_specs = [leaf if isinstance(leaf, specs.TypeSpec) else _leaf(leaf) for leaf in flat]
        leaf_specs = [leaf if isinstance(leaf, (specs.TypeSpec, _Static)) else nest.spec_of_leaf(leaf)
                      for leaf in leaf_specs]
        return self._shown(self._trace_of((args, kwargs), leaf_specs))

    def _saved_form(self, made, with_gradients):
        """The library's function of a traced form as it is saved: custom gradients are parts of it."""
        if not made.has_customs:
            return made.native
        flat = nest.flatten(made.signature)
        with self._lock, trace.saving(with_gradients):
            leaves = [leaf if isinstance(leaf, specs.TypeSpec) else _leaf(leaf) for leaf in flat]
            return self._trace_once(made.signature, leaves, (), (), False)[0].native

    def _shown(self, made):
        """The ConcreteFunction that shows a trace."""
        with self._lock:
            if made.concrete is None:
                made.concrete = ConcreteFunction(self, made, *made.signature)
        return made.concrete

    def _positions(self, count):
        """(names of so many positional arguments, those of them that are given by position alone)."""
        signature = self._arguments_spec()
        parameters = signature.parameters.values() if signature else []
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        alone = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]
        rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
        names += [f"{rest}_{i}" for i in range(count - len(names))]
        return names, names if any(p.kind is p.VAR_POSITIONAL for p in parameters) or not signature else alone

    def _names(self, structure):
        """The parameter that each leaf of the arguments belongs to."""
        args, kwargs = structure
        names, _ = self._positions(len(args))
        named = [*zip(names, args), *((key, kwargs[key]) for key in sorted(kwargs))]
        return [name for name, value in named for _ in nest.flatten(value)]


class ConcreteFunction:
    """One traced form of a function (``tf.types.experimental.ConcreteFunction``)."""

    def __init__(self, function_, made, args, kwargs):
        self._function = function_
        self._made = made
        self.structured_input_signature = (args, kwargs)

    def __repr__(self):
        return f"<ConcreteFunction {self.function_type!r} at 0x{id(self):X}>"

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    @property
    def name(self):
        """Its name as TensorFlow makes it, bytes."""
        return f"__inference_{getattr(self._function.python_function, '__name__', 'function')}_{id(self)}".encode()

    @property
    def function_type(self):
        """What it takes and gives."""
        return introspection.function_type(self._function._arguments_spec(), self.structured_input_signature,
                                           self._output_specs, self._function.input_signature)

    def pretty_printed_signature(self, verbose=True):
        """Its signature for readers, in lines or as one."""
        return introspection.printed(self.function_type, self.variables) if verbose else repr(self.function_type)

    @property
    def graph(self):
        """Its graph, for ``tf.summary.graph`` and to look at."""
        name = getattr(self._function.python_function, "__name__", "function")
        return introspection.FuncGraph(self._made.native, name, self)

    @property
    def inputs(self):
        """What stands in its graph for the tensors that it takes."""
        return introspection.values_of(self.structured_input_signature, "args")

    @property
    def outputs(self):
        """What stands in its graph for the tensors that it gives."""
        return introspection.values_of(self._output_specs, "Identity")

    @property
    def output_shapes(self):
        """The shapes of its results."""
        return introspection.shapes_of(self._output_specs)

    @property
    def output_dtypes(self):
        """The dtypes of its results."""
        return introspection.dtypes_of(self._output_specs)

    @property
    def captured_inputs(self):
        """The variables that it reads or assigns."""
        return self.variables

    @property
    def _output_specs(self):
        """The structure of TypeSpecs of the results."""
        return nest.pack_sequence_as(self._made.structure, self._made.leaves)

    @property
    def structured_outputs(self):
        """The structure of the results: what stands in its graph for tensors, TypeSpecs for what consists of them."""
        return introspection.with_values(self._output_specs, "Identity")

    @property
    def variables(self):
        """All variables that it reads or assigns."""
        return tuple(self._made.graph_variables)

    @property
    def trainable_variables(self):
        """Those of them that are trainable."""
        return tuple(variable for variable in self._made.graph_variables if variable.trainable)

    def __call__(self, *args, **kwargs):
        """Its result for all arguments of the Python function, or for one tensor in place of each leaf that is one.

        What is no tensor is as it was when traced: TypeError for any other value.
        """
        try:
            structure = self._bound(args, kwargs)
        except TypeError as error:
            try:
                structure = self._bound_flat(args, kwargs)
            except TypeError as other:
                raise TypeError(f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
                                f"kwargs: {kwargs} for signature: {self!r}.\nFallback to flat signature also failed "
                                f"due to: {other}") from None
        flat = [_leaf(leaf) for leaf in nest.flatten(structure)]
        inputs = [tensor for leaf in flat if not isinstance(leaf, _Static)
                  for tensor in nest.spec_of_leaf(leaf)._take(leaf)]
        return self._function._run(self._made, structure, flat, inputs)

    def _bound(self, args, kwargs):
        """The arguments by the Python function's parameters; TypeError where they are not what was traced."""
        wanted, by_name = self.structured_input_signature
        names, alone = self._function._positions(len(wanted))
        if len(args) > len(wanted):
            raise TypeError("too many positional arguments")
        found, rest = list(args), dict(kwargs)
        for name in names[len(args):len(wanted)]:
            found.append(_given({} if name in alone else rest, name))
        named = {name: _given(rest, name) for name in by_name}
        for name in rest:
            raise TypeError(f"multiple values for argument {name!r}" if name in names and name not in alone
                            else f"got an unexpected keyword argument {name!r}")
        return (tuple(fitted(spec, value, True) for spec, value in zip(wanted, found)),
                {name: fitted(by_name[name], value, True) for name, value in named.items()})

    def _bound_flat(self, args, kwargs):
        """The same of a tensor for each leaf of the arguments that is one, by position or by its name."""
        leaves = nest.flatten(self.structured_input_signature)
        wanted = [leaf for leaf in leaves if isinstance(leaf, specs.TypeSpec)]
        names = distinct([getattr(spec, "name", None) or "tensor_arg" for spec in wanted])
        if len(args) > len(wanted):
            raise TypeError(f"{len(wanted)} positional arguments are taken, got {len(args)}")
        rest = dict(kwargs)
        found = [*args, *(_given(rest, name) for name in names[len(args):])]
        if rest:
            raise TypeError(f"got unexpected keyword arguments: {', '.join(sorted(rest))}")
        for place, value in enumerate(found):
            if not hasattr(value, "_has_values") and not hasattr(value, "_as_tensor"):
                raise TypeError(f"expected argument #{place}(zero-based) to be a Tensor; got {type(value).__name__} "
                                f"({value})")
            dtype = getattr(wanted[place], "dtype", None)
            if isinstance(wanted[place], specs.TensorSpec) and dtype is not dtypes.as_dtype(value.dtype):
                raise InvalidArgumentError(
                    None, None, f"cannot compute {self._function.__name__} as input #{place}(zero-based) was expected "
                    f"to be a {dtype.name} tensor but is a {dtypes.as_dtype(value.dtype).name} tensor; cast it")
        tensors = map(fitted, wanted, found)
        return nest.pack_sequence_as(self.structured_input_signature, [
            next(tensors) if isinstance(leaf, specs.TypeSpec) else leaf for leaf in leaves])


def trace_context():
    """What a trace depends on besides its arguments: the strategy around it."""
    strategy = trace.strategy()
    return () if strategy is None else (id(strategy), trace.replica_context() is not None)
