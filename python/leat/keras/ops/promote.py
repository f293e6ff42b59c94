"""Which dtype operations of ``keras.ops`` compute in, and calls of them on KerasTensors.

Keras follows JAX: numbers of Python are weak (1.0 joins int32 as float32 and stays float16 beside float16), and two
dtypes meet at the smallest that holds both, though integers and floats meet at the float.
"""

import functools
import inspect
import operator

import numpy as np

import leat as tf
from leat import nest
from leat.keras._base import layer as _layer, registry
from leat.keras._base.symbolic import KerasTensor, OPERATIONS
from leat.keras._base.variables import Variable as KerasVariable
from leat.keras.backend import floatx, result_type, standardize_dtype as dtype_name


def tensor(value, dtype=None):
    """A value as a tensor: floats of Python are float32, integers int32."""
    if isinstance(value, KerasVariable):
        value = value._as_tensor()
    if hasattr(value, "dense_shape"):
        value = _layer.dense(value)
    if dtype is not None:
        dtype = dtype_name(dtype)
    if isinstance(value, (tf.Tensor, tf.RaggedTensor)):
        return value if dtype is None else tf.cast(value, dtype)
    if isinstance(value, (list, tuple)) and nest.flatten(value) and any(
            isinstance(leaf, (tf.Tensor, KerasVariable)) for leaf in nest.flatten(value)):
        parts = [tensor(part) for part in value]
        met = dtype or result_type(*[part.dtype for part in parts])
        return tf.stack([tf.cast(part, met) for part in parts])
    if isinstance(value, (list, tuple, bool, int, float, complex)) and dtype is not None:
        value = np.asarray(value)
    value = tf.convert_to_tensor(value)
    return value if dtype is None else tf.cast(value, dtype)


def _kind(value):
    if type(value) in (int, float):
        return type(value)
    return getattr(value, "dtype", None) or tensor(value).dtype


def together(*values, floating=False):
    """Operands as tensors of the dtype at which they meet; `floating`: a float."""
    kinds = [_kind(value) for value in values]
    met = result_type(*kinds, float) if floating else result_type(*kinds)
    return [tensor(value, met) for value in values]


def floats(value):
    """A tensor of floats or complex numbers: integers and truth values as float32."""
    value = tensor(value)
    return value if value.dtype.is_floating or value.dtype.is_complex else tf.cast(value, floatx())


# ---- dimensions ----

def place_of(axis, rank):
    """A dimension counted from 0. ValueError where there is none."""
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for an array with dimension {rank}.")
    return axis % rank


def places_of(axis, rank):
    """The dimensions that `axis`, a number, several or None for all, names, each counted from 0."""
    if axis is None:
        return list(range(rank))
    return [place_of(one, rank) for one in (axis if isinstance(axis, (tuple, list)) else [axis])]


# ---- on KerasTensors ----

# Parameters that are arguments of a call in Keras' configurations; the others belong to the operation.
_OPERANDS = frozenset("""abs_ angle
x x1 x2 xs a b y key inputs kernel depthwise_kernel pointwise_kernel condition condlist
choicelist default indices values updates start_indices target output query value bias mask mean variance offset scale
gamma beta images data segment_ids sorted_sequence targets predictions fill_value weights variable array tensor
volumes coordinates transform start_points end_points image1 image2 target_length output_length
sequence_lengths pred operands loop_vars init init_val elems elements""".split())
# In which module of Keras an operation's class is; elsewhere: numpy.
_HOMES = {
    "core": "cast saturate_cast scatter scatter_update slice slice_update stop_gradient unstack",
    "nn": """average_pool batch_normalization binary_crossentropy categorical_crossentropy celu conv conv_transpose
        depth_to_space depthwise_conv dot_product_attention elu gelu glu hard_shrink hard_sigmoid hard_silu hard_tanh
        leaky_relu log_sigmoid log_softmax max_pool moments multi_hot normalize one_hot relu relu6 selu separable_conv
        sigmoid silu soft_shrink softmax softplus softsign space_to_depth sparse_categorical_crossentropy sparse_plus
        sparse_sigmoid sparsemax squareplus tanh_shrink threshold layer_normalization rms_normalization psnr ctc_loss
        ctc_decode adaptive_average_pool adaptive_max_pool fold unfold polar""",
    "linalg": """cholesky cholesky_inverse det eigh inv lstsq lu_factor matrix_rank norm pinv qr solve solve_triangular
        svd""",
    "math": """erf erfc erfinv in_top_k logdet logsumexp rsqrt segment_max segment_min segment_prod segment_sum top_k
        extract_sequences fft fft2 ifft2 rfft irfft stft istft view_as_complex view_as_real""",
    "image": """resize rgb_to_grayscale rgb_to_hsv hsv_to_rgb pad_images crop_images affine_transform elastic_transform
        extract_patches extract_patches_3d gaussian_blur map_coordinates perspective_transform scale_and_translate
        sobel_edges ssim""",
    "einops": "rearrange",
}
_home_of = {name: home for home, names in _HOMES.items() for name in names.split()}


def _is_symbolic(values):
    return any(isinstance(leaf, KerasTensor) for leaf in nest.flatten(list(values)))


class _Kind(type):
    """Layers are operations, too, though they are no subclass here."""

    def __instancecheck__(cls, thing):
        return super().__instancecheck__(thing) or cls is Operation and isinstance(thing, _layer.Layer)

    def __subclasscheck__(cls, class_):
        return super().__subclasscheck__(class_) or cls is Operation and issubclass(class_, _layer.Layer)


class Operation(_layer.Layer, metaclass=_Kind):
    """What is computed in a model without weights (``keras.Operation``): a subclass's `call`, whose operands stay as
    they are. `compute_output_spec` may say what it gives for KerasTensors."""

    def __init__(self, name=None):
        super().__init__(name=name)
        self.built = True

    def __call__(self, *args, **kwargs):
        self._require_init()
        if _is_symbolic(args) or _is_symbolic(kwargs.values()):
            return self.symbolic_call(*args, **kwargs)
        return self.call(*args, **kwargs)

    def symbolic_call(self, *args, **kwargs):
        """The call on KerasTensors, as part of a model."""
        return _layer.symbolic_call(self, args, kwargs)

    def __repr__(self):
        return f"<Operation name={self.name}>"

    def _base_config(self):
        return {"name": self.name}


class OperationLayer(Operation):
    """A call of an operation as a layer of a model; a subclass for each, with the name of Keras' class of it."""

    _function = None
    _names = None  # of all its arguments
    _leading = None  # names of the arguments before operands of any number; None: there are no such operands
    _spec = None  # says what it gives for KerasTensors; None: a trace does

    def __init__(self, name=None, **given):
        super().__init__(name=name)
        self._given = given

    def symbolic_call(self, *args, **kwargs):
        """The call on KerasTensors, as part of a model."""
        if self._spec is None:
            return super().symbolic_call(*args, **kwargs)
        outputs = self._call(type(self)._spec, args, kwargs)
        _layer.Node(self, args, kwargs, outputs)
        return outputs

    def call(self, *args, **kwargs):
        """The operation."""
        return self._call(type(self)._function, args, kwargs)

    def _call(self, function, args, kwargs):
        given = dict(self._given)
        if self._leading is not None:
            args = [given.pop(key) for key in self._leading] + list(args)
        elif self._names[0] in given:  # operands stand behind it
            kwargs = {**dict(zip([name for name in self._names if name not in given], args)), **kwargs}
            args = ()
        return function(*args, **kwargs, **given)

    def get_config(self):
        """The arguments that are no operands."""
        return {"name": self.name, **self._given}

    @classmethod
    def from_config(cls, config):
        """One of these arguments; those that only Keras has are left out."""
        known = inspect.signature(cls._function).parameters
        return cls(**{key: value for key, value in config.items() if key in known or key == "name"})


@registry.class_of_operation.provide
def class_of(module, name):
    """The layer of an operation that a configuration names by Keras' module and class; None: there is none."""
    if not module.startswith("keras.src.ops"):
        return None
    return next((function.layer for function in OPERATIONS.values() if function.layer.__name__ == name), None)


def _layer_of(function):
    name = function.__name__
    camel = "".join(word.capitalize() for word in name.split("_"))
    parameters = inspect.signature(function).parameters.values()
    leading = [one.name for one in parameters if one.kind == one.POSITIONAL_OR_KEYWORD]
    several = any(one.kind == one.VAR_POSITIONAL for one in parameters)
    return type(camel, (OperationLayer,), {"_function": staticmethod(function), "__doc__": function.__doc__,
                                           "_leading": leading if several else None, "_names": leading,
                                           "__module__": f"keras.src.ops.{_home_of.get(name, 'numpy')}"})


def _as_layer(function, args, kwargs):
    """The call of an operation as a layer of the model that is put together."""
    signature = inspect.signature(function)
    several = next((one.name for one in signature.parameters.values() if one.kind == one.VAR_POSITIONAL), None)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    named = dict(bound.arguments)
    for one in signature.parameters.values():
        if one.kind == one.VAR_KEYWORD:
            named.update(named.pop(one.name))
    if several is not None:
        passed = named.pop(several)
        return function.layer(**named)(*passed)
    operands = {key: value for key, value in named.items()
                if key in _OPERANDS and value is not None or _is_symbolic([value])}
    made = function.layer(**{key: value for key, value in named.items() if key not in operands and not (
        key in _OPERANDS)})
    order = list(signature.parameters)
    if list(operands) == order[:len(operands)]:
        return made(*[_list(value) for value in operands.values()])
    first, *rest = operands
    return made(operands[first], **{key: operands[key] for key in rest})


def _list(value):
    return list(value) if isinstance(value, tuple) and _is_symbolic([value]) else value


def named(space, name, function, text):
    """Gives a function that is made of others its name in the module of these globals, and its docstring."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = space["__name__"]
    function.__doc__ = text
    space[name] = function
    return function


def define(space, name, function, text):
    """The same for an operation."""
    space[name] = operation(named(space, name, function, text))


def specified(spec):
    """A decorator of operations: `spec`, with the operation's arguments, says what KerasTensors give; no trace does."""
    def decorate(function):
        function.layer._spec = staticmethod(spec)
        return function
    return decorate


def same_specs(values):
    """KerasTensors of the shapes and dtypes of some values."""
    return nest.map_structure(lambda one: KerasTensor(
        one.shape, dtype_name(one.dtype)) if hasattr(one, "shape") else KerasTensor(np.shape(one), tensor(one).dtype),
        values)


def spec_of_two(x, y):
    """What an operation of two tensors, which are broadcast, gives; of any dtypes."""
    shapes = [tf.TensorShape(one.shape if hasattr(one, "shape") else np.shape(one)) for one in (x, y)]
    return KerasTensor(tf.broadcast_static_shape(*shapes).as_list(), result_type(_kind(x), _kind(y)))


def operation(function):
    """A decorator: the function is known by its name, and on KerasTensors becomes a layer of the model."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        if _is_symbolic(args) or _is_symbolic(kwargs.values()):
            return _as_layer(call, args, kwargs)
        return function(*args, **kwargs)
    call.layer = _layer_of(call)
    OPERATIONS[function.__name__] = call
    return call
