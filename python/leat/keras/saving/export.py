"""Models as SavedModels that serve: ``keras.export.ExportArchive`` and what ``Model.export`` writes."""

import leat as tf
from leat import nest
from leat._core import specs
from leat._core.paths import anywhere
from leat._graph.traced import Function
from leat._onnx.export import export
from leat._saved_model.save import save
from leat.errors import UnimplementedError
from leat.keras._base.input_spec import InputSpec
from leat.keras._base.layer import Layer
from leat.keras._base.symbolic import KerasTensor
from leat.keras._base.variables import Variable

ENDPOINT = "serve"


def tensor_spec(leaf):
    """The TensorSpec of an InputSpec, a KerasTensor, a TensorSpec or a tensor; any batch for what has one."""
    if isinstance(leaf, specs.TypeSpec):
        return leaf
    if isinstance(leaf, InputSpec):
        if leaf.shape is None or leaf.dtype is None:
            raise ValueError(f"The `shape` and `dtype` must be provided. Received: x={leaf}")
        return tf.TensorSpec(leaf.shape, leaf.dtype, leaf.name)
    if isinstance(leaf, KerasTensor) or tf.is_tensor(leaf):
        return tf.TensorSpec([None, *list(leaf.shape)[1:]], leaf.dtype, leaf.name if isinstance(leaf, KerasTensor)
                             else None)
    raise TypeError(f"Unsupported x={leaf} of the type ({type(leaf)}). Supported types are: `keras.InputSpec`, "
                    "`keras.KerasTensor` and backend tensor.")


def input_signature_of(model):
    """The list of what a model's call takes, as TensorSpecs."""
    if not model.built:
        raise ValueError("The model provided has not yet been built. It must be built before export.")
    found = model._input_signature()
    if found is None:
        raise ValueError("The model provided has never called. It must be called at least once before export.")
    return nest.map_structure(tensor_spec, found)


def serving_function(model):
    """The traced form of a model's call for any batch; None where what it takes is not known."""
    found = model._input_signature() if model.built else None
    if found is None:
        return None

    def unnamed(leaf):
        spec = tensor_spec(leaf)
        return tf.TensorSpec(spec.shape, spec.dtype)

    def serving(inputs, *others):
        return model(inputs, *others)
    return Function(serving, nest.map_structure(unnamed, found)).get_concrete_function()


class _Exported:
    """What an archive writes: endpoints, and lists of variables, as attributes."""

    def _checkpoint_children(self):
        return [(name, value) for name, value in vars(self).items() if not isinstance(value, Function)]


class ExportArchive:
    """Writes functions of models or layers as a SavedModel (``keras.export.ExportArchive``).

    archive = ExportArchive(); archive.track(model); archive.add_endpoint("serve", model.call, [spec]);
    archive.write_out(path)
    """

    def __init__(self, format="saved_model"):
        if format != "saved_model":
            raise ValueError(f"Unsupported format: {format}")
        self._root, self._endpoints, self._tracked = _Exported(), {}, []

    # ---- what is in it ----

    def track(self, resource):
        """Notes a layer or a model, whose variables are written."""
        if not isinstance(resource, (Layer, tf.Module)):
            raise ValueError("Invalid resource type. Expected a layer, a model or a tf.Module. Received instead an "
                             f"object of type '{type(resource)}'. Object received: {resource}")
        if isinstance(resource, Layer) and not resource.built:
            raise ValueError("The layer provided has not yet been built. It must be built before export.")
        self._tracked.append(resource)

    def _of_tracked(self, attribute):
        found = {id(one): one for resource in self._tracked for one in getattr(resource, attribute, ())}
        return list(found.values())

    variables = property(lambda self: self._of_tracked("variables"))
    trainable_variables = property(lambda self: self._of_tracked("trainable_variables"))
    non_trainable_variables = property(lambda self: self._of_tracked("non_trainable_variables"))

    def add_endpoint(self, name, fn, input_signature=None, **kwargs):
        """Adds a function under a name; returns it, traced.

        `input_signature`: what it takes, InputSpecs, TensorSpecs or tensors; without it `fn` is a ``tf.function`` that
        was called already, or has a signature of its own.
        """
        if name in self._endpoints:
            raise ValueError(f"Endpoint name '{name}' is already taken.")
        if kwargs:
            raise ValueError(f"The arguments {sorted(kwargs)} belong to other backends.")
        if input_signature is None:
            if not isinstance(fn, Function):
                raise ValueError("If the `fn` argument provided is not a `tf.function`, you must provide an "
                                 "`input_signature` argument to specify the shape and dtype of the function arguments.")
            if not fn._saved_traces():
                raise ValueError("The provided tf.function has never been called. To specify the expected shape and "
                                 "dtype of the function arguments, you must either provide a function that has been "
                                 "called at least once, or alternatively pass an `input_signature` argument in "
                                 "`add_endpoint()`.")
            function = fn
        else:
            if not isinstance(input_signature, (list, tuple)):
                raise ValueError(f"`input_signature` is a list, found {input_signature!r}")
            function = Function(fn.python_function if isinstance(fn, Function) else fn,
                                nest.map_structure(tensor_spec, list(input_signature)))
            function.__name__ = name
            function.get_concrete_function()
        self._endpoints[name] = function
        setattr(self._root, name, function)
        return function

    def track_and_add_endpoint(self, name, resource, input_signature, **kwargs):
        """`track` and `add_endpoint` of a layer's or a model's call."""
        self.track(resource)
        return self.add_endpoint(name, lambda *args: resource(*args), input_signature, **kwargs)

    def add_variable_collection(self, name, variables):
        """Writes a list of keras.Variables as the attribute `name`."""
        if not isinstance(variables, (list, tuple, set)):
            raise ValueError("Expected `variables` to be a list/tuple/set. Received instead object of type "
                             f"'{type(variables)}'.")
        if not all(isinstance(one, Variable) for one in variables):
            raise ValueError("Expected all elements in `variables` to be `keras.Variable` instances. Found instead the "
                             f"following types: {list({type(one) for one in variables})}")
        setattr(self._root, name, list(variables))

    # ---- writing ----

    def write_out(self, filepath, options=None, verbose=True):
        """Writes the SavedModel; each endpoint is a signature, the first one "serving_default" too."""
        if not self._endpoints:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        signatures = {name: function._saved_traces()[0] for name, function in self._endpoints.items()}
        signatures = {name: self._endpoints[name].get_concrete_function(*made.signature[0], **made.signature[1])
                      for name, made in signatures.items()}
        signatures.setdefault("serving_default", next(iter(signatures.values())))
        for name in ("variables", "trainable_variables", "non_trainable_variables"):
            setattr(self._root, name, getattr(self, name))
        used = {id(one): one for function in signatures.values() for one in function.variables}
        self._root._all_variables = list(used.values())
        save(self._root, anywhere(filepath), signatures, options)
        if verbose:
            shown = [f"* Endpoint '{name}'\n" + signatures[name].pretty_printed_signature().split("\n", 1)[1]
                     for name in self._endpoints]
            print(f"Saved artifact at '{filepath}'. The following endpoints are available:\n\n" + "\n\n".join(shown))


_FORMATS = ("tf_saved_model", "onnx", "openvino", "litert", "torch")


def export_model(model, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs):
    """Writes a model's call as a SavedModel or as an ONNX model (``Model.export``)."""
    if format not in _FORMATS:
        raise ValueError(f"Unrecognized format={format}. Supported formats are: {list(_FORMATS)}.")
    if format == "onnx":
        _export_onnx(model, filepath, verbose is None or verbose, input_signature, **kwargs)
        return
    if format != "tf_saved_model":
        raise UnimplementedError(None, None, f"Model.export(format={format!r}) is not part of leat; write "
                                 'format="tf_saved_model" or "onnx", which converters of others read')
    archive = ExportArchive()
    archive.track_and_add_endpoint(ENDPOINT, model, input_signature_of(model) if input_signature is None
                                   else input_signature, **kwargs)
    archive.write_out(filepath, verbose=verbose is None or verbose)


def _export_onnx(model, filepath, verbose, input_signature, opset_version=None, **kwargs):
    if kwargs:
        raise ValueError(f"The arguments {sorted(kwargs)} belong to other backends.")
    given = input_signature_of(model) if input_signature is None else nest.map_structure(
        tensor_spec, list(input_signature))
    export(model, filepath, given, opset_version)
    if verbose:
        print(f"Saved artifact at '{filepath}'.")
