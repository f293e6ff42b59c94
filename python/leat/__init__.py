"""leat: input pipelines, distribution and training, under TensorFlow's names.

    import leat as tf
    dataset = tf.data.Dataset.range(10).map(lambda x: x * x).batch(4)
    for batch in dataset:
        print(batch.numpy())
"""

import atexit as _atexit

from leat import _native, dtypes, errors, nest
from leat import ops as _ops
from leat.dtypes import (DType, as_dtype, bfloat16, bool, double, float16, float32, float64, half, int8, int16, int32,
                         int64, string, uint8, uint16, uint32, uint64, variant)
from leat.shapes import TensorShape
from leat.specs import NoneTensorSpec, OptionalSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec, TypeSpec
from leat.tensor import Tensor, constant, convert_to_tensor, is_tensor
from leat.trace import executing_eagerly, init_scope, inside_function

__version__ = _native.version()
newaxis = None

# What is imported when it is first asked for: most programs use a part of it.
_HOMES = {
    "leat.arrays": "batch_to_space broadcast_dynamic_shape broadcast_static_shape clip_by_global_norm clip_by_norm "
                   "dynamic_stitch einsum histogram_fixed_width_bins identity_n meshgrid ones_like "
                   "space_to_batch space_to_batch_nd stack unravel_index zeros_like",
    "leat.control": "Assert case cond control_dependencies switch_case while_loop",
    "leat.creation": "get_logger get_static_value group is_symbolic_tensor linspace no_op numpy_function ones "
                     "py_function rank shape_n timestamp type_spec_from_value zeros",
    "leat.debugging": "assert_equal assert_greater assert_less assert_rank",
    "leat.folds": "foldl foldr map_fn scan vectorized_map",
    "leat.indexed_slices": "IndexedSlices IndexedSlicesSpec",
    "leat.initial": "constant_initializer ones_initializer random_normal_initializer random_uniform_initializer "
                    "zeros_initializer",
    "leat.indices": "gather_nd scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
                    "tensor_scatter_nd_sub",
    "leat.linalg": "matmul norm tensordot",
    "leat.math": "reduce_logsumexp scalar_mul",
    "leat.modules": "Module device get_current_name_scope name_scope",
    "leat.printing": "print",
    "leat.ragged": "RaggedTensor",
    "leat.sparse": "SparseTensor",
    "leat.tape": "GradientTape UnconnectedGradients custom_gradient grad_pass_through recompute_grad",
    "leat.tensor_array": "TensorArray TensorArraySpec",
    "leat.traced": "function",
    "leat.variables": "Variable VariableAggregation VariableSynchronization",
}
_MODULES = ["leat.audio", "leat.autograph", "leat.compat", "leat.config", "leat.data", "leat.debugging",
            "leat.distribute", "leat.dtypes", "leat.errors", "leat.experimental", "leat.image", "leat.io", "leat.keras",
            "leat.linalg", "leat.lookup", "leat.math", "leat.nest", "leat.nn", "leat.ragged", "leat.random",
            "leat.sparse", "leat.strings", "leat.summary", "leat.train", "leat.utils", "leat.version"]

_ops.join(__name__, homes=_HOMES, modules=_ops.make_modules(_MODULES), optional=["leat.jax", "leat.torch"])
_ops.join("leat.dtypes")
_atexit.register(_native.shutdown)
