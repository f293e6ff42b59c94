"""The real Keras on PyTorch over leat's datasets."""

from real_keras_programs import *  # noqa: F401, F403
