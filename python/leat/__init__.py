"""leat: input pipelines, distribution and training, under TensorFlow's names.

    import leat as tf
    dataset = tf.data.Dataset.range(10).map(lambda x: x * x).batch(4)
    for batch in dataset:
        print(batch.numpy())
"""

import atexit as _atexit
import os as _os
import threading as _threading
import warnings as _warnings

from leat import _native, dtypes, errors, nest
from leat._core.shapes import TensorShape
from leat._core import element_specs as _element_specs
from leat._core import paths as _paths
from leat._core import tensor as _tensor
from leat._core.element_specs import OptionalSpec
from leat._core.specs import NoneTensorSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec, TypeSpec
from leat._core.tensor import Tensor, constant, convert_to_tensor, is_tensor
from leat._graph import ops as _ops
from leat._graph import trace as _trace
from leat._graph.trace import executing_eagerly, init_scope, inside_function
from leat.dtypes import (DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64,
                         half, int8, int16, int32, int64, qint8, qint16, qint32, quint8, quint16, string, uint8, uint16,
                         uint32, uint64, variant)

__version__ = _native.version()
newaxis = None

# What is imported when it is first asked for: most programs use a part of it.
_HOMES = {
    "leat._api.arrays": "batch_to_space broadcast_dynamic_shape broadcast_static_shape clip_by_global_norm "
                        "clip_by_norm dynamic_stitch histogram_fixed_width_bins identity_n meshgrid ones_like "
                        "repeat sequence_mask space_to_batch space_to_batch_nd stack unravel_index zeros_like",
    "leat._core.conversions": "register_tensor_conversion_function",
    "leat._graph.creation": "get_logger get_static_value group is_symbolic_tensor linspace no_op numpy_function ones "
                          "py_function rank shape_n timestamp type_spec_from_value zeros",
    "leat._api.devices": "DeviceSpec",
    "leat._api.distances": "edit_distance extract_volume_patches",
    "leat._api.folds": "foldl foldr map_fn scan vectorized_map",
    "leat._graph.gradients": "gradients hessians",
    "leat._graph.indices": "gather_nd scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
                         "tensor_scatter_nd_sub",
    "leat._api.initial": "constant_initializer ones_initializer random_normal_initializer random_uniform_initializer "
                         "zeros_initializer",
    "leat._api.modules": "Module device get_current_name_scope name_scope",
    "leat._api.printing": "print",
    "leat._api.rare": "approx_top_k conv fftnd ifftnd irfftnd parallel_stack rfftnd",
    "leat._api.small": "AggregationMethod CriticalSection guarantee_const no_gradient realdiv "
                       "required_space_to_batch_paddings tuple",
    "leat._api.tensor_protos": "make_ndarray make_tensor_proto",
    "leat._graph.control": "Assert case cond control_dependencies switch_case while_loop",
    "leat._graph.tape": "GradientTape UnconnectedGradients custom_gradient grad_pass_through recompute_grad",
    "leat._graph.traced": "function",
    "leat._structures.indexed_slices": "IndexedSlices IndexedSlicesSpec",
    "leat._structures.ragged": "RaggedTensor",
    "leat._structures.sparse": "SparseTensor",
    "leat._structures.tensor_array": "TensorArray TensorArraySpec",
    "leat._structures.variables": "Variable VariableAggregation VariableSynchronization "
                                  "variable_creator_scope",
    "leat.debugging": "assert_equal assert_greater assert_less assert_rank",
    "leat.linalg": "einsum matmul norm tensordot",
    "leat.math": "reduce_logsumexp scalar_mul",
}
_MODULES = ["leat." + name for name in (
    "audio autodiff autograph compat config data debugging distribute dtypes errors experimental image io keras "
    "keras.initializers keras.losses keras.metrics keras.optimizers linalg lookup math nest nn "
    "profiler quantization queue ragged random saved_model sets signal sparse strings summary sysconfig test tpu train "
    "types utils version").split()]

# What lower floors call of modules that are not imported yet.
_paths.find_filesystem.at("leat._files.filesystems", "find")
_tensor.parts_of.at("leat._graph.indexing", "getitem")
_tensor.matrix_product.at("leat.linalg", "matmul")
_tensor.composite_of_value.at("leat._structures.ragged", "composite_of_value")
_trace.graph_def.at("leat._files.protos", "graph_def")
_trace.convert_control_flow.at("leat.autograph.convert", "converted")
RaggedTensorSpec.value_class.at("leat._structures.ragged", "RaggedTensor")
SparseTensorSpec.value_class.at("leat._structures.sparse", "SparseTensor")
_element_specs.DatasetSpec.value_class.at("leat.data.dataset", "Dataset")
_element_specs.IteratorSpec.value_class.at("leat.data.traced", "TracedIterator")
OptionalSpec.value_class.at("leat.data.optional", "Optional")

# The index has another project by the name leat, whose files lie in the same folder.
if any(name.startswith("leat-") and name.endswith(".dist-info") for name in _os.listdir(__path__[0] + "/..")):
    _warnings.warn("another project, the distribution `leat` of the Python index, is installed in this folder, and one "
                   "overwrites the other's files; pip uninstall leat libleat, then pip install libleat", stacklevel=2)
_ops.join(__name__, homes=_HOMES, modules=_ops.make_modules(_MODULES),
          optional=["leat.export", "leat.jax", "leat.onnx", "leat.ray", "leat.torch"])
_ops.join("leat.dtypes")
_native.watch_interrupts(_threading.current_thread() is _threading.main_thread())
_os.register_at_fork(after_in_child=lambda: _native.watch_interrupts(True))
_atexit.register(_native.shutdown)
