"""``tf.experimental.numpy``: numpy's functions on tensors, with numpy's dtypes.

    import leat.experimental.numpy as tnp
    tnp.experimental_enable_numpy_behavior()
    x = tnp.arange(6).reshape(2, 3) + 0.5
"""

from numpy import (complex64, complex128, float16, float32, float64, inexact, int8, int16, int32, int64,  # noqa: F401
                   object_, uint8, uint16, uint32, uint64)
from numpy import bool_, bytes_ as string_, complex128 as complex_, float64 as float_, int64 as int_  # noqa: F401
from numpy import str_ as unicode_  # noqa: F401

from leat.experimental.numpy import arrays as _arrays
from leat.experimental.numpy import functions as _functions
from leat.experimental.numpy import random
from leat.experimental.numpy.behaviour import experimental_enable_numpy_behavior
from leat.experimental.numpy.types import asarray, promote_types, result_type

for _module in (_functions, _arrays):
    globals().update({_name: getattr(_module, _name) for _name in _module.__all__})

__all__ = sorted({*_functions.__all__, *_arrays.__all__, "asarray", "experimental_enable_numpy_behavior",
                  "promote_types", "random", "result_type"})
