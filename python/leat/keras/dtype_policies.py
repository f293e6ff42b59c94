"""``keras.dtype_policies``: the dtypes of layers' weights and of what they compute."""

from leat.keras._base.policies import (DTypePolicy, DTypePolicyMap, FloatDTypePolicy, deserialize,  # noqa: F401
                                       get, serialize)
