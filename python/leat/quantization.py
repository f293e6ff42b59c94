"""``tf.quantization``: numbers as few bits hold them. The library's operations join these functions."""

from leat._api.quantized import dequantize, quantize, quantize_and_dequantize, quantize_and_dequantize_v2
from leat._graph import ops as _ops

__all__ = ["dequantize", "quantize", "quantize_and_dequantize", "quantize_and_dequantize_v2"]

_ops.join(__name__)
