"""Functions and models as programs for other compilers (``leat.export``).

    text = leat.export.to_stablehlo(model, leat.TensorSpec((8, 28, 28, 1)))
    with open("model.mlir", "w") as file:
        file.write(text)
"""

from leat._core.later import public
from leat._onnx import export as _export

__dir__ = public(globals())
__all__ = ["to_stablehlo"]


def to_stablehlo(function, *specs):
    """The text of a StableHLO module (openxla.org/stablehlo) that computes what a function, a model or a layer does.

    `function`: a ``tf.function``, one of its traced forms, or what can be called. `specs`: what it takes (TensorSpecs,
    tensors, KerasTensors); without them what the function or the model was made of. The module's function main takes
    the tensors of the arguments in their order and gives those of the result. Variables are constants of it, of the
    value that they have now. All dimensions must be known.

    UnimplementedError, with its name, for an operation that devices do not have, for random numbers without a seed,
    for a variable that is written, and for a dimension that is not known.
    """
    return _export._concrete(function, list(specs) or None)._made.native.to_stablehlo()
