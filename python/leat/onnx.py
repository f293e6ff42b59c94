"""Functions and models as ONNX files; the package onnx is not needed.

    leat.onnx.export(model, "model.onnx")
    onnxruntime.InferenceSession("model.onnx").run(None, {"inputs": batch})
"""

from leat._core.later import public
from leat._onnx.export import export

__dir__ = public(globals())
__all__ = ["export"]
