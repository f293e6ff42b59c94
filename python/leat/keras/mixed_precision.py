"""``keras.mixed_precision``: layers that compute in halves and have weights of float32."""

from leat.keras._base.policies import DTypePolicy, dtype_policy, set_dtype_policy  # noqa: F401
from leat.keras.optimizers import LossScaleOptimizer  # noqa: F401

Policy = DTypePolicy
global_policy = dtype_policy
set_global_policy = set_dtype_policy
