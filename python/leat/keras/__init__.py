"""``leat.keras``: layers, models, losses, metrics and optimizers under Keras 3's names.

    model = tf.keras.Sequential([tf.keras.Input((28, 28, 1)), tf.keras.layers.Conv2D(32, 3, activation="relu"),
                                 tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
    optimizer = tf.keras.optimizers.Adam(1e-3)
"""

from leat.keras import (activations, applications, backend, callbacks, config, constraints,  # noqa: F401
                        dtype_policies, initializers, layers, losses, metrics, mixed_precision, models, ops,
                        optimizers, random, regularizers, saving, tree, utils)
from leat.keras._base import registry
from leat.keras._base.input_spec import InputSpec  # noqa: F401
from leat.keras._base.layer import Layer  # noqa: F401
from leat.keras._base.policies import DTypePolicy, FloatDTypePolicy  # noqa: F401
from leat.keras._base.symbolic import KerasTensor  # noqa: F401
from leat.keras._base.variables import StatelessScope, Variable, name_scope  # noqa: F401
from leat.keras.initializers import Initializer  # noqa: F401
from leat.keras.layers import Input  # noqa: F401
from leat.keras.losses import Loss  # noqa: F401
from leat.keras.metrics import Metric  # noqa: F401
from leat.keras.models.model import Model, Sequential  # noqa: F401
from leat.keras.optimizers import Optimizer  # noqa: F401
from leat.keras.random import SeedGenerator  # noqa: F401
from leat.keras.regularizers import Regularizer  # noqa: F401

registry.look_in(classes=(layers, models.model, models.functional, optimizers, optimizers.schedules, losses, metrics,
                          initializers, regularizers, constraints, random),
                 functions=(activations, losses, metrics))
