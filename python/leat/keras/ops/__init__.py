"""``keras.ops``: numpy's functions, and those of networks, on tensors; on KerasTensors they become layers of a model.

    x = keras.ops.relu(keras.ops.matmul(inputs, kernel) + bias)

``keras.ops.image`` has those of pictures. What is computed in which dtype: :mod:`leat.keras.ops.promote`.
"""

from leat._core import later as _later
from leat.keras.ops import arrays, core, elementwise, image, linalg, making, nn, numpy, reductions, sequences, signal
from leat.keras.ops.promote import class_of  # noqa: F401

_MODULES = (elementwise, reductions, making, arrays, linalg, nn, core, signal, sequences)
for _module in _MODULES:
    globals().update({_name: getattr(_module, _name) for _name in _module.__all__})

__all__ = ["image", "linalg", "nn", "numpy", *(_name for _module in _MODULES for _name in _module.__all__)]
_later.module(nn.__name__, {}, homes={
    "leat.keras.ops.elementwise": "polar", "leat.keras.ops.linalg": "normalize",
    "leat.keras.ops.making": "multi_hot one_hot", "leat.keras.ops.reductions": "moments",
    "leat.keras.ops.sequences": "ctc_decode ctc_loss"})
