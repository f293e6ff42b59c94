"""``tf.saved_model.save``: the graph of objects, its variables, and its functions as TensorFlow's graphs."""

import errno
import inspect
import itertools
import json
import os
import re

import numpy as np

from leat import dtypes, nest
from leat._api.modules import Module
from leat._checkpoint import files, graph, objects
from leat._core import specs
from leat._core.paths import anywhere, remote
from leat._files import folders, places
from leat._graph.arguments import distinct
from leat._graph.traced import ConcreteFunction, Function
from leat._saved_model import values
from leat._saved_model.messages import Message, encode
from leat._saved_model.options import Asset
from leat._saved_model.translate import Body, Library, Value, write_function
from leat._saved_model.writers import WRITERS
from leat.errors import UnimplementedError

TENSORFLOW = "2.21.0"  # whose files these are like
PRODUCER = 2418  # the version of its graphs
_PREDICT = "tensorflow/serving/predict"
INIT = "__saved_model_init_op"
# What in its folder belongs to a SavedModel, also of other writers.
_OWN = {"saved_model.pb", "saved_model.pbtxt", "fingerprint.pb", "keras_metadata.pb", "variables", "assets", "debug"}


class _Signatures(dict):
    """The signatures of a SavedModel: {name: ConcreteFunction}."""


class _Node(objects.Node):
    """An object that is written; `made`: what of it is a function's traced form."""

    attribute = property(lambda self: objects.VALUE if _is_variable(self.value) else None)


def _is_variable(value):
    return objects.is_variable(value)


def _functions_of(value):
    """[(name, function)] of an object's attributes and of its class' that are traced."""
    names = [*vars(value), *(name for kind in type(value).__mro__ for name in vars(kind))]
    found = {}
    for name in names:
        static = inspect.getattr_static(value, name)
        if name not in found and isinstance(static, (Function, ConcreteFunction)):
            found[name] = getattr(value, name)
    return list(found.items())


def _children(value, signatures):
    """[(name, object)] right below an object, functions and assets among them."""
    if isinstance(value, _Signatures):
        return list(value.items())
    if isinstance(value, Function):
        return [(f"trace_{i}", value._shown(made)) for i, made in enumerate(value._saved_traces())]
    if isinstance(value, (ConcreteFunction, Asset)):
        return []
    found = objects.children(value)
    if isinstance(value, Module) or signatures is not None and not objects.is_container(value):
        own = [(name, one) for name, one in getattr(value, "__dict__", {}).items()
               if isinstance(one, Asset)]
        found = [*found, *own, *(_functions_of(value) if hasattr(value, "__dict__") else [])]
    if signatures is not None:
        found = [(name, one) for name, one in found if name != "signatures"] + [("signatures", signatures)]
    return found


# ---- signatures ----

def _output_names(function):
    """{name: TensorSpec} of the results of a function, as a signature has them, in the order that it gives them in."""
    found = function._output_specs
    by_key = isinstance(found, dict)  # whose values come in the order of their keys
    if hasattr(found, "_asdict"):
        found = found._asdict()
    if not isinstance(found, dict):
        found = {f"output_{i}": one for i, one in enumerate(found if isinstance(found, (list, tuple)) else [found])}
    for name, one in found.items():
        if not isinstance(name, str) or type(one) is not specs.TensorSpec:
            raise ValueError(f"Got a non-Tensor value {one!r} for key {name!r} in the output of the function "
                             f"{_name_of(function)} used to generate a SavedModel signature. Outputs for functions "
                             "used as signatures must be a single Tensor, a sequence of Tensors, or a dictionary from "
                             "string to Tensor.")
    return {name: found[name] for name in sorted(found)} if by_key else found


def _concrete(name, function):
    """The one traced form of what is given as a signature."""
    if isinstance(function, Function):
        if function.input_signature is not None:
            return function.get_concrete_function()
        traces = function._saved_traces()
        if len(traces) != 1:
            raise ValueError(f"Unable to use the function {getattr(function, '__name__', '')} as a signature directly. "
                             f"Functions used as signatures must have exactly one trace or an `input_signature`; "
                             f"{name!r} has {len(traces)}: call `get_concrete_function` with TensorSpecs.")
        return function._shown(traces[0])
    if not isinstance(function, ConcreteFunction):
        raise ValueError(f"Expected a TensorFlow function for which to generate a signature, but got {function!r}. "
                         "Only `tf.functions` with an input signature or concrete functions can be used as a "
                         "signature.")
    return function


def _default_signature(obj):
    """The functions that are the signatures of an object which is saved without any."""
    own = getattr(obj, "_default_save_signature", None)
    if own is not None:
        found = own()
        return {} if found is None else {"serving_default": found}
    if not isinstance(obj, Module):
        return {}
    found = []
    for _, function in _functions_of(obj):
        if isinstance(function, Function) and function.input_signature is not None:
            concrete = _concrete("", function)
            if _can_be_served(concrete):
                found.append(concrete)
    return {"serving_default": found[0]} if len(found) == 1 else {}


def _can_be_served(function):
    """Does it take and give tensors alone?"""
    try:
        _output_names(function)
    except ValueError:
        return False
    return all(type(leaf) is specs.TensorSpec for leaf in nest.flatten(function.structured_input_signature)
               if values.is_spec(leaf))


def _signatures_of(obj, given):
    if given is None:
        given = _default_signature(obj)
    if not isinstance(given, dict):
        given = {"serving_default": given}
    found = _Signatures()
    for name, function in given.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"a signature's name is text, found {name!r}")
        found[name] = _Signature(_concrete(name, function))
    return found


class _Signature(ConcreteFunction):
    """A traced form as a signature: it takes keywords and gives a dictionary."""

    def __init__(self, inner):
        self.inner = inner
        leaves = [leaf for leaf in nest.flatten(inner.structured_input_signature) if values.is_spec(leaf)]
        names = _distinct_names(leaves)
        for leaf in leaves:
            if type(leaf) is not specs.TensorSpec:
                raise UnimplementedError(None, None, f"a signature takes tensors, found {leaf!r}; wrap it in a "
                                         "tf.function of their parts")
        self.takes = {name: specs.TensorSpec(leaf.shape, leaf.dtype, name) for name, leaf in zip(names, leaves)}
        self.gives = {name: specs.TensorSpec(one.shape, one.dtype, name)
                      for name, one in _output_names(inner).items()}


def _distinct_names(leaves):
    return distinct([getattr(leaf, "name", None) or "tensor_arg" for leaf in leaves])


def _name_of(function):
    return getattr(function._function.python_function, "__name__", "function")


# ---- functions ----

def _components(leaf):
    """The types of the tensors that a TypeSpec's value is made of, as Values."""
    dims = _dims(leaf)
    if isinstance(leaf, specs.RaggedTensorSpec):
        rest = None if dims is None else [-1, *dims[leaf.ragged_rank + 1:]]
        return [Value("", leaf.dtype, rest), *(Value("", leaf.row_splits_dtype, [-1]) for _ in range(leaf.ragged_rank))]
    if isinstance(leaf, specs.SparseTensorSpec):
        rank = -1 if dims is None else len(dims)
        return [Value("", dtypes.int64, [-1, rank]), Value("", leaf.dtype, [-1]), Value("", dtypes.int64, [rank])]
    return [Value("", leaf.dtype, dims)]


def _dims(typed):
    """The dimensions of what has a shape, as Values have them."""
    return None if typed.shape.rank is None else [-1 if size is None else size for size in typed.shape]


class _Functions:
    """The functions that are written: of ConcreteFunctions their names, and which variables they take."""

    def __init__(self, nodes, with_gradients):
        self.library, self.messages, self._names = Library(WRITERS, with_gradients), {}, {}
        self.variables = [node.value for node in nodes if _is_variable(node.value) and hasattr(node.value, "_native")]
        self._natives = [variable._native for variable in self.variables]
        self._numbers = {id(node.value): number for number, node in enumerate(nodes)}
        self.values = [Value("", dtypes.as_dtype(one.dtype), _dims(one)) for one in self.variables]

    def _check(self, function):
        known = {id(variable) for variable in self.variables}
        for variable in function._made.graph_variables:
            if variable._is_remote:
                raise UnimplementedError(None, None, f"variable {variable.name} is on a parameter server, and those "
                                         "of a SavedModel's functions are here; load the weights into a model that is "
                                         "made outside of the scope, and save that")
            if id(variable) not in known:
                raise AssertionError(
                    f"Tried to export a function which references an 'untracked' resource: {variable!r}, which "
                    f"{_name_of(function)} uses. TensorFlow objects (e.g. tf.Variable) captured by functions must be "
                    "'tracked' by assigning them to an attribute of a tracked object or assigned to an attribute of "
                    "the main object directly.")

    def write(self, function):
        """Writes a ConcreteFunction, once; (its name, the places of its variables)."""
        found = self._names.get(id(function))
        if found is None:
            found = self._names[id(function)] = (self._write_signature if isinstance(function, _Signature)
                                                 else self._write)(function)
        return found

    def _write(self, function):
        self._check(function)
        made = function._made
        native = function._function._saved_form(made, self.library.with_gradients)
        description = json.loads(native.describe(self._natives))
        types = [one for leaf in nest.flatten(made.signature) if values.is_spec(leaf) for one in _components(leaf)]
        used = sorted(Body(self.library, {}).resources_in(description))
        name = write_function(self.library, _name_of(function), [(f"arg_{i}", one) for i, one in enumerate(types)],
                              used, self.values, lambda inner, given: inner.write(description, given))
        self._note(name, used, made.signature, function._output_specs)
        return name, used

    def _note(self, name, used, signature, outputs):
        self.messages[str(name)] = Message(
            "SavedConcreteFunction", bound_inputs=[self._numbers[id(self.variables[place])] for place in used],
            canonicalized_input_signature=values.structure_message(_as_tuples(signature)),
            output_signature=values.structure_message(outputs))

    def objects_of_gradients(self, count):
        """The objects that stand for what gradients take of the functions whose gradients they are, behind `count`
        others; notes these gradients."""
        found = []
        for one in self.library.gradients:
            taken = [specs.TensorSpec(value.dims, value.dtype) for value in one.given]
            self._note(one.function, one.resources, ((None, *taken), {}), [
                None if value is None else specs.TensorSpec(value.dims, value.dtype) for value in one.made])
            numbers = range(count + len(found), count + len(found) + len(one.captures))
            self.messages[str(one.function)]["bound_inputs"][:0] = numbers
            found += [Message("SavedObject", captured_tensor=Message(
                "CapturedTensor", name=f"{name}:0", concrete_function=one.within)) for name in one.captures]
        return found

    def _write_signature(self, signature):
        inner, used = self.write(signature.inner)
        target = self.library.functions[inner]
        names, ends = sorted(signature.takes), sorted(signature.gives)
        order = list(signature.gives)

        def fill(body, given):
            by_name = dict(zip(names, given))
            inputs = [*(by_name[name] for name in signature.takes), *body.variables.values()]
            found = call(body, inner, target, inputs, [_components(signature.gives[name])[0] for name in order])
            return [found[order.index(name)] for name in ends]
        name = write_function(self.library, f"signature_wrapper_{_name_of(signature.inner)}", [
            (name, _components(signature.takes[name])[0]) for name in names], used, self.values, fill, ends)
        self._note(name, used, ((), {name: signature.takes[name] for name in names}),
                   {name: signature.gives[name] for name in ends})
        return name, used


def _as_tuples(signature):
    args, kwargs = signature
    return tuple(args), dict(kwargs)


def call(body, name, target, inputs, results):
    """Adds a call of a function to a body; its results, of the types of `results`, in their order."""
    effect = bool(target.signature.is_stateful)
    kinds = [(one.dtype, one.dims) for one in results]
    taken = [argument.type for argument in target.signature.input_arg]
    return body.op("StatefulPartitionedCall" if effect else "PartitionedCall", inputs, outputs=kinds, effect=effect,
                   Tin=[values.Type(one) for one in taken], Tout=[dtype for dtype, _ in kinds], f=name,
                   config="", config_proto="", executor_type="")


# ---- the graph that runs without objects: for programs that serve ----

class _MainGraph(Body):
    """The graph of a MetaGraph: its nodes name the outputs of others without the names of outputs."""

    def __init__(self, library):
        super().__init__(library, {})

    def op(self, name, inputs, *args, **kwargs):
        made = super().op(name, inputs, *args, **kwargs)
        for one in made if isinstance(made, list) else [made] if isinstance(made, Value) else []:
            node, _, place = one.ref.split(":")
            one.ref = node if place == "0" else f"{node}:{place}"
        return made

    def named(self, node_name, name, inputs, *args, **kwargs):
        """The same under a name of its own, which is free."""
        made = self.op(name, inputs, *args, **kwargs)
        self.nodes[-1]["name"] = node_name = self.name_for(node_name)
        if isinstance(made, Value):
            made.ref = node_name
        return made if isinstance(made, Value) else node_name


def _variable_names(nodes):
    return [node for node in nodes if node.attribute is not None]


def _main_graph(nodes, functions, signatures):
    """(GraphDef's nodes, SaverDef, {name: SignatureDef}) of the functions, for programs that know no objects."""
    main = _MainGraph(functions.library)
    handles = {}
    for node in _variable_names(nodes):
        variable = node.value
        dims, dtype = _dims(variable), dtypes.as_dtype(variable.dtype)
        name = getattr(variable, "path", None) or str(variable.name).split(":")[0]
        held = main.named(_node_name(name), "VarHandleOp", [], dtype, dims, dtype_=dtype,
                          shape=values.Shape(dims), shared_name=node.key, container="")
        handles[id(variable)] = held
    saver = _saver(main, nodes, handles)
    init = main.named("NoOp", "NoOp", [])
    found = {INIT: Message("SignatureDef", outputs={INIT: Message(
        "TensorInfo", name=init, tensor_shape=values.shape_message(None))})}
    for name, signature in signatures.items():
        found[name] = _signature_def(main, name, signature, functions, handles)
    return main.nodes, saver, found


def _node_name(text):
    found = "".join(one if one.isalnum() or one in "_./-" else "_" for one in text)
    return found if found[:1].isalnum() else f"v_{found}"


def _info(ref, spec):
    return Message("TensorInfo", name=ref if ":" in ref else f"{ref}:0", dtype=values.number_of(spec.dtype),
                   tensor_shape=values.shape_message(spec.shape))


def _signature_def(main, name, signature, functions, handles):
    own, used = functions.write(signature)
    inputs, given = {}, []
    for key in sorted(signature.takes):
        spec = signature.takes[key]
        dims = _dims(spec)
        made = main.named(_node_name(f"{name}_{key}"), "Placeholder", [], spec.dtype, dims, dtype_=spec.dtype,
                          shape=values.shape_message(spec.shape))
        inputs[key] = _info(made.ref, spec)
        given.append(made)
    given += [handles[id(functions.variables[place])] for place in used]
    ends = sorted(signature.gives)
    main.last = None  # signatures do not wait for each other
    found = call(main, own, functions.library.functions[own], given,
                 [_components(signature.gives[key])[0] for key in ends])
    return Message("SignatureDef", inputs=inputs, method_name=_PREDICT, outputs={
        key: _info(one.ref, signature.gives[key]) for key, one in zip(ends, found)})


def _saver(main, nodes, handles):
    """What restores the variables from a checkpoint, and writes one."""
    held = _variable_names(nodes)
    prefix = main.named("saver_filename", "Placeholder", [], dtypes.string, [], dtype_=dtypes.string,
                        shape=values.Shape())
    if not held:
        done = main.named("restore_all", "Identity", [prefix], dtypes.string, [])
        return Message("SaverDef", filename_tensor_name="saver_filename:0", save_tensor_name=f"{done.ref}:0",
                       restore_op_name=done.ref, version=2)
    names = main.constant([node.key for node in held], dtypes.string)
    slices = main.constant([""] * len(held), dtypes.string)
    kinds = [(dtypes.as_dtype(node.value.dtype), handles[id(node.value)].dims) for node in held]
    read = main.op("RestoreV2", [prefix, names, slices], outputs=kinds, dtypes=[dtype for dtype, _ in kinds])
    assigned = [main.op("AssignVariableOp", [handles[id(node.value)], one]) for node, one in zip(held, read)]
    restored = main.named("restore_all", "NoOp", [], after=assigned)
    now = [main.op("ReadVariableOp", [handles[id(node.value)]], *kind, dtype_=kind[0])
           for node, kind in zip(held, kinds)]
    saved = main.op("SaveV2", [prefix, names, slices, *now], dtypes=[dtype for dtype, _ in kinds])
    done = main.named("save_all", "Identity", [prefix], dtypes.string, [], after=[saved])
    return Message("SaverDef", filename_tensor_name="saver_filename:0", save_tensor_name=f"{done.ref}:0",
                   restore_op_name=restored, version=2)


# ---- objects ----

_CONTAINERS = {list: "trackable_list_wrapper", dict: "trackable_dict_wrapper", tuple: "trackable_tuple_wrapper"}


def _user_object(identifier):
    return Message("SavedUserObject", identifier=identifier, version=Message("VersionDef", producer=1, min_consumer=1))


def _full_argspec(signature):
    """The message of a Python function's signature."""
    kinds = inspect.Parameter
    parameters = list(signature.parameters.values()) if signature else []
    plain = [one for one in parameters if one.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    only = [one for one in parameters if one.kind is kinds.KEYWORD_ONLY]
    names = {kind: next((one.name for one in parameters if one.kind is kind), None)
             for kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)}
    given = [_plain_default(one.default) for one in plain if one.default is not kinds.empty]
    named = {one.name: _plain_default(one.default) for one in only if one.default is not kinds.empty}
    fields = [("args", [one.name for one in plain]), ("varargs", names[kinds.VAR_POSITIONAL]),
              ("varkw", names[kinds.VAR_KEYWORD]), ("defaults", tuple(given) or None),
              ("kwonlyargs", [one.name for one in only]), ("kwonlydefaults", named or None), ("annotations", {})]
    if not signature:
        fields[1], fields[2] = ("varargs", "args"), ("varkw", "kwargs")
    return Message("StructuredValue", named_tuple_value=Message("NamedTupleValue", name="FullArgSpec", values=[
        Message("PairValue", key=name, value=values.structure_message(value)) for name, value in fields]))


def _plain_default(value):
    try:
        values.structure_message(value)
    except UnimplementedError:
        return None
    return value


def _function_spec(function, input_signature=None):
    return Message("FunctionSpec", fullargspec=_full_argspec(function._arguments_spec()),
                   input_signature=values.structure_message(input_signature))


def _saved_function(function, functions):
    given = function.input_signature
    return Message("SavedFunction", function_spec=_function_spec(function, given), concrete_functions=[
        str(functions.write(function._shown(made))[0]) for made in function._saved_traces()])


def _saved_concrete(function, functions):
    name, _ = functions.write(function)
    if isinstance(function, _Signature):
        names, spec = sorted(function.takes), None
        allowed = len(names) == 1
    else:
        leaves = [leaf for leaf in nest.flatten(function.structured_input_signature) if values.is_spec(leaf)]
        names = _distinct_names(leaves)
        allowed, spec = len(nest.flatten(function.structured_input_signature[0])), function._function
    message = Message("SavedBareConcreteFunction", concrete_function_name=str(name), argument_keywords=names,
                      allowed_positional_arguments=min(int(allowed), len(names)))
    if spec is not None:
        message["function_spec"] = _function_spec(spec)
    return message


def _saved_object(node, functions, assets):
    value = node.value
    found = Message("SavedObject", children=[Message("ObjectReference", node_id=number, local_name=name)
                                             for name, number in node.children])
    if node.attribute is not None:
        found["variable"] = Message(
            "SavedVariable", dtype=values.number_of(value.dtype), shape=values.shape_message(value.shape),
            trainable=bool(getattr(value, "trainable", False)),
            synchronization=getattr(getattr(value, "synchronization", None), "value", 0),
            aggregation=_aggregation(value), name=str(getattr(value, "path", value.name)).split(":")[0])
    elif isinstance(value, Function):
        found["function"] = _saved_function(value, functions)
    elif isinstance(value, ConcreteFunction):
        found["bare_concrete_function"] = _saved_concrete(value, functions)
    elif isinstance(value, Asset):
        assets.append(value)
        found["asset"] = Message("SavedAsset", asset_file_def_index=len(assets) - 1)
    elif isinstance(value, _Signatures):
        found["user_object"] = _user_object("signature_map")
    else:
        kind = next((name for kind, name in _CONTAINERS.items() if isinstance(value, kind)), "_generic_user_object")
        found["user_object"] = _user_object(kind)
    if found["children"] and isinstance(value, (Function, ConcreteFunction)):
        found["dependencies"] = list(found["children"])
    return found


def _aggregation(value):
    found = getattr(getattr(value, "aggregation", None), "value", 0)
    return found if isinstance(found, int) else 0


# ---- files ----

def _content(path):
    try:
        return places.content(path)
    except FileNotFoundError:
        return None


def _asset_files(folder, assets):
    """({path: content}, [path]) of assets' files in a folder: those to be written, and those of saves before that are
    not needed any more. A name whose file has other content stays that file's, which the graph of before may need."""
    made = {}
    for asset in assets:
        content, base = _content(asset._path), os.path.join(folder, os.path.basename(asset._path))
        if content is None:
            raise FileNotFoundError(errno.ENOENT, "the file of an asset is not there", asset._path)
        names = itertools.chain([base], (f"{base}_{number}" for number in itertools.count(1)))
        made[next(name for name in names if name not in made and _content(name) in (None, content))] = content
    own = re.compile("|".join(re.escape(os.path.basename(asset._path)) + r"(_\d+)?" for asset in assets))
    there = places.names(folder) if made and places.is_folder(folder) else []
    return made, [path for name in there if own.fullmatch(name) and (path := os.path.join(folder, name)) not in made]


def _asset_messages(paths):
    return [Message("AssetFileDef", filename=os.path.basename(path), tensor_info=Message(
        "TensorInfo", name=f"asset_path_{number}:0", dtype=7)) for number, path in enumerate(paths)]


def _asset_nodes(messages):
    return [Message("NodeDef", name=one.tensor_info.name.split(":")[0], op="Const", attr={
        "dtype": values.attribute(dtypes.string),
        "value": values.attribute(values.tensor_message(np.array(one.filename.encode(), object), dtypes.string))})
        for one in messages]


def _write(folder, nodes, assets, meta_graph, graph_nodes):
    """The files of a SavedModel, of which saved_model.pb comes last."""
    made, outdated = _asset_files(os.path.join(folder, "assets"), assets)
    meta_graph["asset_file_def"] = _asset_messages(made)
    meta_graph["graph_def"]["node"] = graph_nodes + _asset_nodes(meta_graph["asset_file_def"])
    message = Message("SavedModel", saved_model_schema_version=1, meta_graphs=[meta_graph])
    if made:
        places.make_folders(os.path.join(folder, "assets"))
    files.write(os.path.join(folder, "variables", "variables"), [
        *((node.key, node.tensor()) for node in nodes if node.attribute is not None),
        (graph.KEY, files.text_tensor(graph.encode(nodes)))],
        list(made.items()), [(os.path.join(folder, "saved_model.pb"), encode(message))], outdated)


def save(obj, export_dir, signatures=None, options=None):
    """Writes an object with its variables and traced functions as a SavedModel (``tf.saved_model.save``), which
    TensorFlow 2.21 loads and serves.

    `obj`: a ``tf.Module``, a Keras model or layer, or what a ``tf.train.Checkpoint`` takes. `signatures`: a function
    with one traced form, or {name: function}; without them an object's only function that has an `input_signature`, and
    a Keras model's call, are "serving_default". UnimplementedError, with its name, for an operation that TensorFlow has
    none for.

    Over a SavedModel that is there the new one is written beside it and takes its place at once, so a process that is
    killed leaves one of them. Where that cannot be (a mount point, the working folder, a link, a folder above that
    cannot be written, an object store) the files are replaced one after the other when all are written, and
    saved_model.pb last.
    """
    if not objects.is_trackable(obj):
        raise ValueError(f"Expected a TensorFlow Trackable object for export, got {obj!r}. Export a tf.Module, a Keras "
                         "model, or a structure of them.")
    folder = anywhere(export_dir)
    found = _signatures_of(obj, signatures)
    nodes = objects.nodes_of(obj, lambda value: _children(value, found if value is obj else None), _Node)
    functions, assets = _Functions(nodes, getattr(options, "experimental_custom_gradients", True)), []
    saved = [_saved_object(node, functions, assets) for node in nodes]
    graph_nodes, saver, defs = _main_graph(nodes, functions, found)
    meta = Message("MetaInfoDef", tags=["serve", *getattr(options, "extra_tags", ())], tensorflow_version=TENSORFLOW,
                   stripped_default_attrs=False)
    aliases = getattr(options, "function_aliases", None)
    if aliases:
        meta["function_aliases"] = {str(functions.write(one._shown(made))[0]): alias
                                    for alias, one in aliases.items() for made in one._saved_traces()}
    saved += functions.objects_of_gradients(len(saved))
    library = Message("FunctionDefLibrary", function=list(functions.library.functions.values()), registered_gradients=[
        Message("RegisteredGradient", gradient_func=str(one.function), registered_op_type=one.name)
        for one in functions.library.gradients])
    meta_graph = Message(
        "MetaGraphDef", meta_info_def=meta, saver_def=saver, signature_def=defs,
        graph_def=Message("GraphDef", versions=Message("VersionDef", producer=PRODUCER), library=library),
        object_graph_def=Message("SavedObjectGraph", nodes=saved, concrete_functions=functions.messages))
    if (not remote(folder) and os.path.exists(os.path.join(folder, "saved_model.pb")) and
            folders.can_be_replaced(folder)):
        with folders.replaced(folder, _OWN) as new:
            _write(new, nodes, assets, meta_graph, graph_nodes)
    else:
        _write(folder, nodes, assets, meta_graph, graph_nodes)
