"""Functions and models as ONNX files: what ``leat.onnx`` is made of."""
