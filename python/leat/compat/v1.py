"""``tf.compat.v1``: what programs of TensorFlow 2 still use of it.

Names that are the same in both versions are those of ``leat``; what needs graphs and sessions is not here.
"""

import logging as _logging
import types

import leat as tf
from leat._core.later import new_module

# Of the same parameters and meaning in both versions.
_SAME = frozenset(
    "AggregationMethod Assert DType GradientTape IndexedSlices Module RaggedTensor SparseTensor Tensor "
    "TensorArray TensorShape TensorSpec UnconnectedGradients VariableAggregation VariableSynchronization abs acos "
    "acosh add add_n as_dtype as_string asin asinh atan atan2 atanh bfloat16 bool broadcast_to cast "
    "clip_by_global_norm clip_by_norm clip_by_value compat concat config constant control_dependencies "
    "convert_to_tensor cos cosh cumsum custom_gradient data device distribute divide double dtypes "
    "dynamic_partition dynamic_stitch einsum ensure_shape equal errors executing_eagerly exp eye fill float16 "
    "float32 float64 floor function get_logger get_static_value greater greater_equal grad_pass_through group "
    "guarantee_const half histogram_fixed_width identity identity_n init_scope int16 int32 int64 int8 is_tensor "
    "keras less less_equal linspace logical_and logical_not logical_or lookup map_fn matmul maximum meshgrid "
    "minimum multiply name_scope negative no_gradient no_op nest newaxis not_equal numpy_function one_hot ones "
    "pow py_function range rank realdiv recompute_grad reshape round saturate_cast scatter_nd searchsorted "
    "sequence_mask sigmoid sign sin sinh slice sort split sqrt square stack stop_gradient strided_slice string "
    "subtract switch_case tan tanh tensor_scatter_nd_add tensor_scatter_nd_update tensordot tile timestamp "
    "transpose truediv type_spec_from_value uint16 uint32 uint64 uint8 unstack variant version zeros".split())


def enable_v2_behavior():
    """Does nothing: this is version 2 (``tf.compat.v1.enable_v2_behavior``)."""


enable_eager_execution = enable_resource_variables = enable_v2_tensorshape = enable_tensor_equality = enable_v2_behavior
enable_control_flow_v2 = enable_v2_behavior


def disable_v2_behavior():
    """UnimplementedError: there are no graphs of TensorFlow 1 (``tf.compat.v1.disable_v2_behavior``)."""
    raise tf.errors.UnimplementedError(None, None, "compat.v1: graphs and sessions of TensorFlow 1 are not here; put "
                                       "the code into a leat.function and call it")


disable_eager_execution = disable_v2_behavior


def executing_eagerly_outside_functions():
    """True (``tf.compat.v1.executing_eagerly_outside_functions``)."""
    return True


def set_random_seed(seed):
    """Sets the global seed (``tf.compat.v1.set_random_seed``)."""
    tf.random.set_seed(seed)


def placeholder(dtype, shape=None, name=None):
    """RuntimeError, as in TensorFlow outside of its graphs (``tf.compat.v1.placeholder``)."""
    raise RuntimeError("tf.placeholder() is not compatible with eager execution.")


def global_variables_initializer():
    """Nothing: variables have their values from the beginning (``tf.compat.v1.global_variables_initializer``)."""


local_variables_initializer = tables_initializer = global_variables_initializer


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Sets a variable's values (``tf.compat.v1.assign``)."""
    return ref.assign(value)


def assign_add(ref, value, use_locking=None, name=None):
    """Adds to a variable's values (``tf.compat.v1.assign_add``)."""
    return ref.assign_add(value)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtracts from a variable's values (``tf.compat.v1.assign_sub``)."""
    return ref.assign_sub(value)


def to_float(x, name="ToFloat"):
    """The values as float32 (``tf.compat.v1.to_float``)."""
    return tf.cast(x, tf.float32)


def to_int32(x, name="ToInt32"):
    """The values as int32 (``tf.compat.v1.to_int32``)."""
    return tf.cast(x, tf.int32)


def to_int64(x, name="ToInt64"):
    """The values as int64 (``tf.compat.v1.to_int64``)."""
    return tf.cast(x, tf.int64)


logging = new_module(f"{__name__}.logging", "The logger of the package, by TensorFlow 1's names.")
logging.DEBUG, logging.INFO, logging.WARN, logging.ERROR, logging.FATAL = 10, 20, 30, 40, 50
_logger = tf.get_logger()
for _name in ("debug", "info", "warning", "error", "fatal", "log"):
    setattr(logging, _name, getattr(_logger, _name))
logging.warn = _logger.warning
logging.set_verbosity = lambda v: _logger.setLevel(v if isinstance(v, int) else _logging.getLevelName(v))
logging.get_verbosity = _logger.getEffectiveLevel
random = types.SimpleNamespace(set_random_seed=set_random_seed, normal=tf.random.normal, uniform=tf.random.uniform)


def __getattr__(name):
    if name in _SAME:
        return getattr(tf, name)
    if name.startswith("__"):
        raise AttributeError(name)
    way = f"use tf.{name}" if hasattr(tf, name) else "see the guide to TensorFlow 2 for what stands in its place"
    raise AttributeError(f"leat.compat.v1.{name} is UNIMPLEMENTED: TensorFlow 1's form of it is not here; {way}")


__all__ = ["assign", "assign_add", "assign_sub", "disable_eager_execution", "disable_v2_behavior",
           "enable_control_flow_v2", "enable_eager_execution", "enable_resource_variables", "enable_tensor_equality",
           "enable_v2_behavior", "enable_v2_tensorshape", "executing_eagerly_outside_functions",
           "global_variables_initializer", "local_variables_initializer", "logging", "placeholder", "set_random_seed",
           "tables_initializer", "to_float", "to_int32", "to_int64"]
