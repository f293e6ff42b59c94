"""``tf.saved_model.load``: objects, variables and functions of a SavedModel, TensorFlow's or leat's.

A function is made a function of the library when it is first called, of the nodes that the file has of it
(``interpret``). The file may come from anybody: what it says is checked, and nothing is read outside of its folder.
"""

import inspect
import os

from leat import nest
from leat._checkpoint import files, graph
from leat._core import specs
from leat._core.paths import anywhere, remote
from leat._files import folders, limits, places
from leat._files.wire import DecodeError
from leat._graph import introspection, trace
from leat._graph.arguments import fitted
from leat._graph.traced import Function
from leat._saved_model import interpret, messages, values
from leat._saved_model.options import Asset
from leat._structures.variables import Variable, VariableAggregation, VariableSynchronization
from leat.errors import DataLossError, NotFoundError

NAME = "saved_model.pb"


# ---- objects ----

class UserObject:
    """An object of a SavedModel, with what it had as attributes."""

    def _checkpoint_children(self):
        return [(name, value) for name, value in vars(self).items() if not isinstance(value, (Function, Signature))]


class CallableUserObject(UserObject):
    """The same of an object that is called."""

    def __call__(self, *args, **kwargs):
        return self.__dict__["__call__"](*args, **kwargs)


class Signatures(dict):
    """The signatures of a SavedModel, {name: Signature}."""

    def __repr__(self):
        return f"_SignatureMap({dict(self)!r})"


class _Concrete:
    """A traced form in the file: the structures of its arguments and results, and what it takes beside them."""

    def __init__(self, loading, name, message):
        self.name, self._loading = name, loading
        found = values.structure_of(message.canonicalized_input_signature)
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], tuple)
                and isinstance(found[1], dict)):
            raise DecodeError(f"function {name} has no arguments and keywords")
        self.signature = found
        self.results = values.structure_of(message.output_signature)
        self.bound = [loading.number(number) for number in message.bound_inputs]

    def fit(self, args, kwargs, is_exact):
        """The arguments as this form takes them; TypeError where it takes others. `is_exact`: tensors are given."""
        wanted, by_name = self.signature
        if len(args) != len(wanted) or set(kwargs) != set(by_name):
            raise TypeError(f"{len(args)} arguments and {sorted(kwargs)} do not fit {self.signature}")
        if is_exact:
            for spec, value in zip(nest.flatten((wanted, by_name)), nest.flatten((args, kwargs))):
                if isinstance(spec, specs.TypeSpec) and not hasattr(value, "_type_spec") and not hasattr(
                        value, "_has_values") and not hasattr(value, "_as_tensor"):
                    raise TypeError(f"{value!r} is no tensor")
        return (tuple(fitted(spec, _read(value)) for spec, value in zip(wanted, args)),
                {name: fitted(by_name[name], _read(value)) for name, value in kwargs.items()})

    def run(self, args, kwargs):
        """Its results, of arguments that fit."""
        inputs = []
        for spec, leaf in zip(nest.flatten(self.signature), nest.flatten((args, kwargs))):
            if isinstance(spec, specs.TypeSpec):
                inputs += spec._take(leaf)
        made = self._loading.run(self.name, inputs, self.bound)
        leaves, rest = nest.flatten(self.results), iter(made)
        try:
            found = [leaf._put(rest) if isinstance(leaf, specs.TypeSpec) else leaf for leaf in leaves]
        except StopIteration:
            raise DataLossError(None, None, f"function {self.name} of a SavedModel has {len(made)} results, its "
                                "structure has more") from None
        return nest.pack_sequence_as(self.results, found)


def _read(value):
    return value._as_tensor() if hasattr(value, "_as_tensor") and not hasattr(value, "_has_values") else value


class RestoredFunction(Function):
    """A ``tf.function`` of a SavedModel: it has the traced forms that were saved, and no others."""

    def __init__(self, name, signature, concretes):
        def python_function(*args, **kwargs):
            concrete, args, kwargs = self._found(args, kwargs)
            return concrete.run(args, kwargs)
        python_function.__name__ = python_function.__qualname__ = name
        self._concretes = concretes
        super().__init__(python_function, autograph=False)
        self._signature = signature
        self.__name__ = name

    def __get__(self, instance, owner):
        return self

    @property
    def bound_variables(self):
        """The variables that its traced forms take."""
        return _variables_of(self._concretes)

    @property
    def concrete_functions(self):
        """The traced forms that were saved."""
        return [self._concrete(one) for one in self._concretes]

    def _concrete(self, one):
        return self.get_concrete_function(*one.signature[0], **one.signature[1])

    def _found(self, args, kwargs):
        """(the form that takes these arguments, they as it takes them)"""
        for is_exact in (True, False):
            for concrete in self._concretes:
                try:
                    return concrete, *concrete.fit(args, kwargs, is_exact)
                except (TypeError, ValueError):
                    continue
        options = "\n".join(f"Option {number}:\n  {concrete.signature}"
                            for number, concrete in enumerate(self._concretes, 1))
        raise ValueError("Could not find matching concrete function to call loaded from the SavedModel. Got:\n  "
                         f"{args}, {kwargs}\n\n Expected these arguments to match one of the following "
                         f"{len(self._concretes)} option(s):\n\n{options}")

    def __call__(self, *args, **kwargs):
        if not self._concretes:
            raise ValueError("Found zero restored functions for caller function.")
        try:
            args, kwargs = self._bound(args, kwargs)
        except TypeError as error:
            raise TypeError(f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
                            f"kwargs: {kwargs} for signature: {self._arguments_spec()}.") from None
        concrete, args, kwargs = self._found(args, kwargs)
        if trace.is_tracing():
            return concrete.run(args, kwargs)
        return super().__call__(*args, **kwargs)

    def _saved_traces(self):
        for concrete in self._concretes:
            self._concrete(concrete)
        return super()._saved_traces()

    def _trace_for(self, structure, flat, variables=(), is_recorded=False):
        concrete, *_ = self._found(*structure)
        leaves = [_wider(spec, leaf) for spec, leaf in zip(nest.flatten(concrete.signature), flat)]
        return self._trace_of(structure, leaves, variables, is_recorded)


def _variables_of(concretes):
    found = [concrete._loading.object(number) for concrete in concretes for number in concrete.bound]
    return list({id(one): one for one in found if isinstance(one, Variable)}.values())


def _wider(spec, leaf):
    """What a trace is made for: the type that was saved, but for one of any rank."""
    if not isinstance(spec, specs.TypeSpec):
        return leaf
    return spec if getattr(spec, "shape", None) is None or spec.shape.rank is not None else nest.spec_of_leaf(leaf)


class Signature:
    """A signature of a SavedModel: it takes tensors by their names, and gives a dictionary of tensors."""

    def __init__(self, function, concrete, names, positional):
        self._function, self._concrete = function, concrete
        self._names, self._positional = names, positional
        self.name = concrete.name

    @property
    def structured_input_signature(self):
        """((), {name: TensorSpec})"""
        return self._concrete.signature

    @property
    def structured_outputs(self):
        """{name: TensorSpec}"""
        return self._concrete.results

    bound_variables = property(lambda self: _variables_of([self._concrete]))
    inputs = property(lambda self: nest.flatten(self.structured_input_signature))
    outputs = property(lambda self: nest.flatten(self.structured_outputs))
    variables = property(lambda self: self._function._concrete(self._concrete).variables)
    trainable_variables = property(lambda self: self._function._concrete(self._concrete).trainable_variables)
    graph = property(lambda self: self._function._concrete(self._concrete).graph)

    def __call__(self, *args, **kwargs):
        if len(args) > self._positional:
            raise TypeError(f"{self.name}({', '.join(self._names)}) takes {self._positional} positional arguments, got "
                            f"{len(args)}.")
        given = {**dict(zip(self._names, args)), **kwargs}
        missing = [name for name in self._names if name not in given]
        more = [name for name in given if name not in self._names]
        if missing or more:
            raise TypeError(f"{self.name}({', '.join(self._names)}) " + (
                f"missing required arguments: {', '.join(missing)}." if missing else
                f"got unexpected keyword arguments: {', '.join(more)}."))
        args, by_name = self._concrete.signature
        # Signatures take keywords; a traced form that was saved on its own has a structure.
        if set(by_name) == set(self._names) and not nest.flatten(args):
            return self._function(**given)
        leaves = iter(given[name] for name in self._names)
        args, by_name = nest.pack_sequence_as(self._concrete.signature, [
            next(leaves) if isinstance(leaf, specs.TypeSpec) else leaf
            for leaf in nest.flatten(self._concrete.signature)])
        return self._function(*args, **by_name)

    @property
    def function_type(self):
        """What it takes, by names, and gives."""
        taken = (leaf for leaf in nest.flatten(self.structured_input_signature) if isinstance(leaf, specs.TypeSpec))
        return introspection.FunctionType([introspection.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, False, introspection.type_of(spec))
            for name, spec in zip(self._names, taken)],
            introspection.type_of(self.structured_outputs))

    def pretty_printed_signature(self, verbose=True):
        """Its signature for readers, in lines or as one."""
        return introspection.printed(self.function_type, self.bound_variables) if verbose else repr(self.function_type)

    def __repr__(self):
        return f"<ConcreteFunction {self.function_type!r} at 0x{id(self):X}>"

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"


# ---- reading ----

class _Loading:
    """A SavedModel that is being loaded: its objects by their numbers."""

    def __init__(self, folder, meta, options):
        self.folder, self._meta = folder, meta
        self._nodes = meta.object_graph_def.nodes
        if not self._nodes:
            raise DecodeError("it has no objects: it was written by TensorFlow 1, whose graphs leat does not load")
        self.library = interpret.Library(meta.graph_def.library, folder, self._taken_by)
        self._checkpoint = None if getattr(options, "experimental_skip_checkpoint", False) else self._open()
        self._keys = {} if self._checkpoint is None else self._variable_keys()
        self._objects, self._concretes = {}, {}
        self._constants = {node.name: node for node in meta.graph_def.node if node.op == "Const"}

    def _open(self):
        prefix = os.path.join(self.folder, "variables", "variables")
        if not places.exists(prefix + ".index"):
            if any("variable" in node for node in self._nodes):
                raise NotFoundError(None, None, f"{prefix}.index is not there: the SavedModel has variables, their "
                                    "values are missing")
            return None
        return files.open_checkpoint(prefix)

    def run(self, name, inputs, bound):
        """The results of a function, of its arguments and the numbers of the objects that it takes behind them."""
        held = [self.object(number) for number in bound]
        held = [one.asset_path if isinstance(one, Asset) else one for one in held]
        try:
            return self.library.run(name, inputs + held)
        except DecodeError as error:
            raise DataLossError(None, None, f"{os.path.join(self.folder, NAME)} is damaged: {error}") from None

    def _taken_by(self, name):
        """What a function takes beside its arguments, and the structure of its results."""
        listed = self._meta.object_graph_def.concrete_functions
        if name not in listed:
            raise DecodeError(f"there is no function {name!r}")
        found = []
        for number in listed[name].bound_inputs:
            node = self._nodes[self.number(number)]
            tensor = node.captured_tensor
            found.append((tensor.concrete_function, tensor.name) if "captured_tensor" in node else self.object(number))
        return found, values.structure_of(listed[name].output_signature)

    def number(self, number):
        """A node's number, which is one."""
        if not 0 <= number < len(self._nodes):
            raise DecodeError(f"there is no object number {number}")
        return number

    def _variable_keys(self):
        """{number of a variable: its key in the checkpoint}, by the ways from the root that both graphs have."""
        if graph.KEY not in self._checkpoint.entries:
            return {}
        tensor = self._checkpoint.tensor(graph.KEY)
        saved = graph.decode(bytes(tensor.numpy()))
        keys, seen, waiting = {}, {(0, 0)}, [(0, 0)]
        for number, other in waiting:
            if "variable" in self._nodes[number] and saved[other].attributes:
                keys.setdefault(number, next(iter(saved[other].attributes.values())))
            for edge in self._nodes[number].children:
                below = saved[other].children.get(edge.local_name)
                place = (self.number(edge.node_id), below)
                if below is not None and place not in seen:
                    seen.add(place)
                    waiting.append(place)
        return keys

    # ---- objects ----

    def root(self):
        """The object that was saved."""
        for number in range(len(self._nodes)):
            self.object(number)
        waiting, seen = [0], {0}
        for number in waiting:
            self._attach(number)
            for edge in self._nodes[number].children:
                if edge.node_id not in seen:
                    seen.add(edge.node_id)
                    waiting.append(edge.node_id)
        self._initialise()
        return self._objects[0]

    def object(self, number):
        """The object of a number, without its attributes."""
        if number not in self._objects:
            self._objects[number] = self._make(number)
        return self._objects[number]

    def _make(self, number):
        node = self._nodes[number]
        if "variable" in node:
            return self._variable(number, node.variable)
        if "function" in node:
            return self._function(number, node.function)
        if "bare_concrete_function" in node:
            return self._bare(node.bare_concrete_function)
        if "constant" in node:
            return self._constant(node.constant.operation)
        if "asset" in node:
            return self._asset(node.asset.asset_file_def_index)
        if "resource" in node:
            return _Resource()
        if "captured_tensor" in node:
            return None
        kind = node.user_object.identifier
        if kind == "signature_map":
            return Signatures()
        if kind in _CONTAINERS:
            return _CONTAINERS[kind]()
        names = {edge.local_name for edge in node.children}
        return CallableUserObject() if "__call__" in names else UserObject()

    def _attach(self, number):
        value, edges = self._objects[number], self._nodes[number].children
        for edge in edges:
            child = self._objects[self.number(edge.node_id)]
            child = tuple(child) if type(child) is _Tuple else child
            if isinstance(value, list):
                if not edge.local_name.isdecimal() or int(edge.local_name) != len(value):
                    continue  # a list's own functions
                value.append(child)
            elif isinstance(value, dict):
                value[edge.local_name] = child
            elif isinstance(value, UserObject):
                value.__dict__[edge.local_name] = child
            elif isinstance(value, _Resource):
                value.functions[edge.local_name] = child

    def _constant(self, name):
        if name not in self._constants:
            raise DecodeError(f"there is no constant {name!r}")
        return interpret.Node(self._constants[name]).tensor("value")

    def _asset(self, place):
        listed = self._meta.asset_file_def
        if not 0 <= place < len(listed):
            raise DecodeError(f"there is no asset number {place}")
        folder = os.path.join(self.folder, "assets")
        path = os.path.join(folder, listed[place].filename)
        if not places.is_within(path, folder):
            raise DecodeError(f"asset {listed[place].filename!r} lies outside of the SavedModel")
        return Asset(path if remote(path) else os.path.realpath(path))

    def _variable(self, number, saved):
        dtype, shape = values.dtype_of(saved.dtype), values.shape_of(saved.shape)
        key = self._keys.get(number)
        if key is None and self._checkpoint is not None:
            raise DataLossError(None, None, f"{self._checkpoint.prefix}.index has no value of variable {saved.name!r}")
        value = self._zeros(dtype, shape, saved) if key is None else self._value(key, dtype, shape, saved)
        return Variable(value, trainable=saved.trainable, name=saved.name or "Variable",
                        synchronization=VariableSynchronization(_one_of(VariableSynchronization,
                                                                        saved.synchronization)),
                        aggregation=VariableAggregation(_one_of(VariableAggregation, saved.aggregation)), shape=shape)

    def _zeros(self, dtype, shape, saved):
        from leat._graph.creation import zeros
        if shape.num_elements() is None:
            raise DecodeError(f"variable {saved.name!r} has the shape {shape}")
        limits.check("array_bytes", shape.num_elements() * dtype.size, self.folder, f"variable {saved.name!r}")
        return zeros(shape, dtype)

    def _value(self, key, dtype, shape, saved):
        if key not in self._checkpoint.entries:
            raise DataLossError(None, None, f"{self._checkpoint.prefix}.index has no {key}, which its graph of objects "
                                "speaks of")
        found = self._checkpoint.entries[key][1]
        if self._checkpoint.dtype(key) is not dtype or not shape.is_compatible_with(list(found)):
            raise DataLossError(None, None, f"variable {saved.name!r} is of {dtype.name} and the shape {shape}, its "
                                f"value of {getattr(self._checkpoint.dtype(key), 'name', None)} and {list(found)}")
        return self._checkpoint.tensor(key)

    # ---- functions ----

    def _concrete(self, name):
        if name not in self._concretes:
            listed = self._meta.object_graph_def.concrete_functions
            if name not in listed:
                raise DecodeError(f"there is no function {name!r}")
            self._concretes[name] = _Concrete(self, name, listed[name])
        return self._concretes[name]

    def _function(self, number, saved):
        name = next((edge.local_name for node in self._nodes for edge in node.children if edge.node_id == number),
                    "function")
        found = [self._concrete(one) for one in saved.concrete_functions]
        return RestoredFunction(name, _signature_of(saved.function_spec.fullargspec), found)

    def _bare(self, saved):
        concrete = self._concrete(saved.concrete_function_name)
        function = RestoredFunction(saved.concrete_function_name, False, [concrete])
        return Signature(function, concrete, list(saved.argument_keywords), saved.allowed_positional_arguments)

    def _initialise(self):
        """Makes and fills the tables."""
        found = [value for value in self._objects.values() if isinstance(value, _Resource)]
        with trace.eagerly():
            for step in ("_create_resource", "_initialize"):
                for held in found:
                    held.run(step)


class _Tuple(list):
    """A tuple whose parts are being read."""


_CONTAINERS = {"trackable_list_wrapper": list, "trackable_dict_wrapper": dict, "trackable_tuple_wrapper": _Tuple}


class _Resource:
    """A table of a SavedModel, once it was made."""

    def __init__(self):
        self.functions, self.table = {}, None

    def run(self, step):
        """Makes the table, or fills it."""
        function = self.functions.get(step)
        concretes = getattr(function, "_concretes", None) or (
            [function._concrete] if isinstance(function, Signature) else [])
        if not concretes:
            return
        concrete = concretes[0]
        made = concrete._loading.run(concrete.name, [], concrete.bound)
        if step == "_create_resource" and made:
            self.table = made[0]

    def __getattr__(self, name):
        table = self.__dict__.get("table")
        if table is None or name.startswith("__"):
            raise AttributeError(name)
        return getattr(table, name)


def _one_of(kind, number):
    return number if number in {one.value for one in kind} else 0


def _signature_of(message):
    """The signature of a Python function, of its FullArgSpec; False where there is none that can be read."""
    found = values.structure_of(message)
    if not isinstance(found, tuple) or not hasattr(found, "_fields"):
        return False
    spec, kinds, out = found._asdict(), inspect.Parameter, []
    args, defaults = spec.get("args") or [], spec.get("defaults") or ()
    first = len(args) - len(defaults)
    try:
        for place, name in enumerate(args):
            out.append(kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults[place - first] if place >= first else
                             kinds.empty))
        if spec.get("varargs"):
            out.append(kinds(spec["varargs"], kinds.VAR_POSITIONAL))
        given = spec.get("kwonlydefaults") or {}
        out += [kinds(name, kinds.KEYWORD_ONLY, default=given.get(name, kinds.empty))
                for name in spec.get("kwonlyargs") or []]
        if spec.get("varkw"):
            out.append(kinds(spec["varkw"], kinds.VAR_KEYWORD))
        return inspect.Signature(out)
    except (TypeError, ValueError):
        return False


def _read_file(folder):
    path = os.path.join(folder, NAME)
    try:
        limits.check("array_bytes", places.size(path), path, "the file")
        return places.content(path)
    except (FileNotFoundError, NotADirectoryError):
        raise OSError(f"SavedModel file does not exist at: {folder}{os.path.sep}{{saved_model.pbtxt|saved_model.pb}}"
                      ) from None


def contains_saved_model(export_dir):
    """Is there a SavedModel in a folder (``tf.saved_model.contains_saved_model``)?"""
    folder = anywhere(export_dir)
    return any(places.is_file(os.path.join(folder, name)) for name in (NAME, "saved_model.pbtxt"))


def read_meta_graph(export_dir, tags=None):
    """The MetaGraphDef of a SavedModel, a Message, of these tags. RuntimeError where it has none of them."""
    folder = anywhere(export_dir)
    try:
        message = messages.decode("SavedModel", _read_file(folder))
    except DecodeError as error:
        raise DataLossError(None, None, f"{os.path.join(folder, NAME)} is damaged: {error}") from None
    wanted = None if tags is None else {tags} if isinstance(tags, str) else set(tags)
    found = [one for one in message.meta_graphs if wanted is None or wanted == set(one.meta_info_def.tags)]
    if not found:
        listed = [sorted(one.meta_info_def.tags) for one in message.meta_graphs]
        raise RuntimeError(f"MetaGraphDef associated with tags {sorted(wanted or [])} could not be found in "
                           f"SavedModel, with available tags {listed}.")
    return found[0]


def load(export_dir, tags=None, options=None):
    """The object of a SavedModel (``tf.saved_model.load``), leat's or TensorFlow's, with its variables, functions and
    `signatures`.

    OSError where there is none; DataLossError for a damaged one. A function is translated when it is first called:
    UnimplementedError, with its name, for an operation that leat has not. A model that is saved over while it is loaded
    is the old one or the new one.
    """
    return folders.read_one(anywhere(export_dir), lambda: _load_once(export_dir, tags, options))


def _load_once(export_dir, tags, options):
    folder = anywhere(export_dir)
    meta = read_meta_graph(export_dir, tags)
    try:
        root = _Loading(folder, meta, options).root()
    except DecodeError as error:
        raise DataLossError(None, None, f"{os.path.join(folder, NAME)} is damaged: {error}") from None
    root = tuple(root) if type(root) is _Tuple else root
    if isinstance(root, UserObject):
        root.__dict__.setdefault("signatures", Signatures())
        root.__dict__["tensorflow_version"] = meta.meta_info_def.tensorflow_version
    return root
