"""leat: input pipelines, distribution and training, under TensorFlow's names.

    import leat as tf
    dataset = tf.data.Dataset.range(10).map(lambda x: x * x).batch(4)
    for batch in dataset:
        print(batch.numpy())
"""

import atexit as _atexit
import sys as _sys

from leat import _native, errors
from leat import dtypes
from leat.dtypes import (DType, as_dtype, bfloat16, bool, double, float16, float32, float64, half, int8, int16, int32,
                         int64, string, uint8, uint16, uint32, uint64, variant)
from leat.shapes import TensorShape
from leat.specs import NoneTensorSpec, OptionalSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec, TypeSpec
from leat.tensor import Tensor, constant, convert_to_tensor, is_tensor
from leat.trace import executing_eagerly, init_scope, inside_function
from leat import control as _control
from leat import ops as _ops
from leat.ragged import RaggedTensor
from leat.sparse import SparseTensor
from leat import audio, autograph
from leat import averages as _averages
from leat import data, debugging, io, linalg, math, nest, nn, random, strings
from leat.arrays import (batch_to_space, broadcast_dynamic_shape, broadcast_static_shape, clip_by_global_norm,
                         clip_by_norm, dynamic_stitch, einsum, histogram_fixed_width_bins, identity_n, meshgrid,
                         ones_like, space_to_batch, space_to_batch_nd, unravel_index,
                         zeros_like)
from leat.control import case, cond, control_dependencies, name_scope, switch_case, while_loop
from leat.creation import (group, linspace, no_op, numpy_function, ones, py_function, rank, shape_n, zeros)
from leat.folds import foldl, foldr, map_fn, scan, vectorized_map
from leat.function import function
from leat.indices import (gather_nd, scatter_nd, tensor_scatter_nd_add, tensor_scatter_nd_max, tensor_scatter_nd_min,
                          tensor_scatter_nd_sub)
from leat.linalg import matmul, norm, tensordot
from leat.math import reduce_logsumexp, scalar_mul
from leat.printing import print
from leat.tensor_array import TensorArray, TensorArraySpec
from leat.tape import GradientTape, UnconnectedGradients, custom_gradient
from leat.variables import Variable, VariableAggregation, VariableSynchronization

__version__ = _native.version()
newaxis = None

_ops.install(_sys.modules[__name__])
Assert = _control.Assert
_nn = _ops.submodule(_sys.modules[__name__], "nn")
_nn.compute_average_loss = _averages.compute_average_loss
_nn.scale_regularization_loss = _averages.scale_regularization_loss
for _name in ("Algorithm", "Generator", "create_rng_state", "get_global_generator", "set_global_generator"):
    setattr(random.experimental, _name, getattr(random, _name))
_dlpack = _ops.submodule(_ops.submodule(_sys.modules[__name__], "experimental"), "dlpack")
_dlpack.to_dlpack = lambda tf_tensor: _native.to_dlpack(tf_tensor, False)
_dlpack.from_dlpack = lambda dlcapsule: _native.from_dlpack(
    dlcapsule.__dlpack__() if hasattr(dlcapsule, "__dlpack__") else dlcapsule)
_ops.submodule(_sys.modules[__name__], "experimental").Optional = data.experimental.Optional
_atexit.register(_native.shutdown)


_LATER = frozenset(["config", "distribute", "keras", "lookup", "train", "utils", "torch", "jax"])  # most do without


def __getattr__(name):
    if name in _LATER:
        import importlib
        return importlib.import_module(f"leat.{name}")
    raise AttributeError(f"module 'leat' has no attribute {name!r}")
