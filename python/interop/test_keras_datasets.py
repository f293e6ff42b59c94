"""The real Keras on jax over leat's datasets."""

from real_keras_programs import *  # noqa: F401, F403
