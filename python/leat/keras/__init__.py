"""``leat.keras``: layers, models, losses, metrics and optimizers under Keras 3's names.

    model = tf.keras.Sequential([tf.keras.Input((28, 28, 1)), tf.keras.layers.Conv2D(32, 3, activation="relu"),
                                 tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
    optimizer = tf.keras.optimizers.Adam(1e-3)
"""

from leat._api.modules import device  # noqa: F401
from leat._core import later as _later
from leat.keras import (activations, applications, backend, callbacks, config, constraints,  # noqa: F401
                        distillation, dtype_policies, export, initializers, layers, losses, metrics,
                        mixed_precision, models, ops,
                        optimizers, random, regularizers, saving, tree, utils)
from leat.keras._base import registry
from leat.keras._base.input_spec import InputSpec  # noqa: F401
from leat.keras._base.layer import Layer  # noqa: F401
from leat.keras._base.policies import DTypePolicy, FloatDTypePolicy  # noqa: F401
from leat.keras._base.rematerialised import RematScope, remat  # noqa: F401
from leat.keras._base.symbolic import KerasTensor  # noqa: F401
from leat.keras._base.variables import StatelessScope, Variable, name_scope  # noqa: F401
from leat.keras.initializers import Initializer  # noqa: F401
from leat.keras.layers import Input  # noqa: F401
from leat.keras.losses import Loss  # noqa: F401
from leat.keras.metrics import Metric  # noqa: F401
from leat.keras.models.functional import Function  # noqa: F401
from leat.keras.models.model import Model, Sequential  # noqa: F401
from leat.keras.ops.promote import Operation  # noqa: F401
from leat.keras.optimizers import Optimizer  # noqa: F401
from leat.keras.random import SeedGenerator  # noqa: F401
from leat.keras.regularizers import Regularizer  # noqa: F401

__version__ = "3.15.1"  # of the Keras whose names these are


def version():
    """The version of Keras whose names these are (``keras.version``)."""
    return __version__


registry.look_in(classes=(layers, models.model, models.functional, models.feature_space, optimizers,
                          optimizers.schedules, losses, metrics, initializers, regularizers, constraints, random,
                          distillation),
                 functions=(activations, losses, metrics))
_later.module(backend.__name__, {}, homes={
    "leat.keras._legacy.backend":
        "abs all any arange argmax argmin batch_dot batch_flatten batch_get_value batch_set_value cast cast_to_floatx "
        "clip concatenate constant cos count_params cumprod cumsum dot dropout dtype equal eval exp expand_dims eye "
        "flatten foldl foldr gather get_value gradients greater greater_equal int_shape is_sparse l2_normalize less "
        "less_equal log map_fn max maximum mean min minimum moving_average_update name_scope ndim not_equal one_hot "
        "ones ones_like permute_dimensions pow prod random_bernoulli random_normal random_normal_variable "
        "random_uniform random_uniform_variable repeat repeat_elements reshape resize_images resize_volumes reverse "
        "round set_value shape sigmoid sign sin softplus softsign spatial_2d_padding spatial_3d_padding sqrt square "
        "squeeze stack std stop_gradient sum switch tanh temporal_padding tile to_dense transpose truncated_normal "
        "update update_add update_sub var variable zeros zeros_like",
    "leat.keras._legacy.networks":
        "batch_normalization bias_add binary_crossentropy binary_focal_crossentropy categorical_crossentropy "
        "categorical_focal_crossentropy conv1d conv2d conv2d_transpose conv3d ctc_batch_cost ctc_decode "
        "ctc_label_dense_to_sparse depthwise_conv2d elu hard_sigmoid in_top_k pool2d pool3d relu rnn "
        "separable_conv2d softmax sparse_categorical_crossentropy"})
_later.module(__name__, {}, modules=["leat.keras." + name for name in (
    "activations applications backend callbacks config constraints datasets distillation dtype_policies initializers "
    "layers losses metrics mixed_precision models ops optimizers preprocessing random regularizers saving tree utils "
    "wrappers").split()])
