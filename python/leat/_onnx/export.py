"""Functions and models as ONNX files."""

import json

from leat import _native, dtypes, nest
from leat._core import specs
from leat._core.paths import anywhere
from leat._files import replacing
from leat._graph.traced import ConcreteFunction, Function
from leat._onnx import table
from leat._onnx.graph import Graph, Model, names_in
from leat._onnx.writers import WRITERS
from leat._saved_model import save
from leat._saved_model.messages import Message, encode
from leat._saved_model.translate import Value
from leat.errors import UnimplementedError

_MOST_BYTES = (1 << 31) - 1  # of a protocol buffer


def export(function, filepath, input_signature=None, opset_version=None):
    """Writes a function, a Keras model or a layer as an ONNX model, which ONNX Runtime and others run.

    leat.onnx.export(model, "model.onnx")

    `function`: a ``tf.function``, one of its traced forms, or what can be called. `input_signature`: a list of what it
    takes (TensorSpecs, tensors, KerasTensors); without it what the function or the model was made of. A dimension that
    is None stays open. `opset_version`: of ONNX's operators, 18 (the default) to 23. Variables are written with the
    values that they have now. Inputs have the names of their specs, or are args_0, args_1 and so on; results are
    output_0, output_1 and so on, or have the keys of a dictionary. Assertions are left out.

    UnimplementedError, with its name, for an operation that ONNX has none for, and for models of 2 GiB and more.
    """
    opset = _checked_opset(opset_version)
    signature = save._Signature(_concrete(function, input_signature))
    data = encode(_model(signature, opset))
    if len(data) > _MOST_BYTES:
        raise UnimplementedError(None, None, f"the model has {len(data)} bytes, an ONNX file at most {_MOST_BYTES}; "
                                 "export a SavedModel (tf.saved_model.save)")
    replacing.replace(anywhere(filepath), data)


def _checked_opset(wanted):
    if wanted is None:
        return table.FIRST_OPSET
    if not isinstance(wanted, int) or not table.FIRST_OPSET <= wanted <= table.LAST_OPSET:
        raise UnimplementedError(None, None, f"opset_version={wanted!r}: models are written for the opsets "
                                 f"{table.FIRST_OPSET} to {table.LAST_OPSET}; leave it out for {table.FIRST_OPSET}")
    return wanted


def _spec(leaf):
    if isinstance(leaf, specs.TypeSpec):
        return leaf
    return specs.TensorSpec(leaf.shape, leaf.dtype, None if hasattr(leaf, "numpy") else getattr(leaf, "name", None))


def _concrete(function, input_signature):
    """The traced form that is written."""
    if isinstance(function, ConcreteFunction):
        return function
    if input_signature is not None:
        python = function.python_function if isinstance(function, Function) else function
        signature = nest.map_structure(_spec, list(input_signature))
        return Function(lambda *args: python(*args), signature).get_concrete_function()
    if isinstance(function, Function):
        return save._concrete("function", function)
    own = getattr(function, "_default_save_signature", None)
    found = own() if own is not None else None
    if found is None:
        raise ValueError(f"input_signature: what {function!r} takes is not known; expected a list of TensorSpecs, "
                         "found None. Give one, or call the model once before")
    return found


def _symbol(names):
    """What an unknown dimension of an input is called: the first one "batch", as all have the same."""
    return lambda place, axis: "batch" if axis == 0 else f"{names[place]}_{axis}"


def _model(signature, opset):
    """The message of a model."""
    made = signature.inner._made
    variables = list(made.graph_variables)
    description = json.loads(made.native.describe([one._native for one in variables]))
    model = Model(WRITERS, variables)
    graph = Graph(model)
    inputs = []
    for name, spec in signature.takes.items():
        inputs.append(Value(model.name_for(name), dtypes.as_dtype(spec.dtype), save._dims(spec)))
    ends = [model.name_for(name) for name in signature.gives]
    results = graph.write(description, inputs)
    message = graph.message("leat", inputs, results, ends, _symbol([one.ref for one in inputs]))
    used = names_in(message)
    message["initializer"] = model.initializers(used)
    operators = [Message("OnnxOperators", domain="", version=opset)]
    operators += [Message("OnnxOperators", domain=name, version=version) for name, version in model.domains.items()]
    return Message("OnnxModel", ir_version=table.IR_VERSIONS[opset], opset_import=operators, producer_name="leat",
                   producer_version=_native.version(), graph=message)
