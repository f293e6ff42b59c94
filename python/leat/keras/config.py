"""``keras.config``: the settings that layers share. Those that leat does not have refuse every other value."""

from leat.keras._base.loading import enable_unsafe_deserialization  # noqa: F401
from leat.keras._base.policies import dtype_policy, set_dtype_policy  # noqa: F401
from leat.keras.backend import (backend, epsilon, floatx, image_data_format, set_epsilon,  # noqa: F401
                                set_floatx, set_image_data_format)

_settings = {"interactive_logging": True, "traceback_filtering": True, "max_epochs": None, "max_steps_per_epoch": None,
             "exact_slices": False, "flash_attention": None}


def is_interactive_logging_enabled():
    """Do progress bars move (the default)?"""
    return _settings["interactive_logging"]


def enable_interactive_logging():
    """Progress bars move."""
    _settings["interactive_logging"] = True


def disable_interactive_logging():
    """Progress is printed in whole lines."""
    _settings["interactive_logging"] = False


def is_traceback_filtering_enabled():
    """What was set last; tracebacks are never filtered."""
    return _settings["traceback_filtering"]


def enable_traceback_filtering():
    """Tracebacks stay as they are."""
    _settings["traceback_filtering"] = True


def disable_traceback_filtering():
    """Tracebacks stay as they are."""
    _settings["traceback_filtering"] = False


def is_flash_attention_enabled():
    """False where it was disabled, else None. There is one way of attention, tile by tile; it serves both."""
    return _settings["flash_attention"]


def enable_flash_attention():
    """Layers of attention may leave out their weights again, as at first (``keras.config.enable_flash_attention``)."""
    _settings["flash_attention"] = None


def disable_flash_attention():
    """What ``is_flash_attention_enabled`` says from now on is False; results are the same."""
    _settings["flash_attention"] = False


def is_nnx_enabled():
    """False: that is JAX's."""
    return False


def max_epochs():
    """How many epochs `fit` runs at most (``keras.config.max_epochs``); None: as many as it is told."""
    return _settings["max_epochs"]


def set_max_epochs(max_epochs):
    """Bounds the epochs of every `fit`, for quick trials of a program; None: no bound."""
    _settings["max_epochs"] = max_epochs


def max_steps_per_epoch():
    """How many batches an epoch has at most (``keras.config.max_steps_per_epoch``); None: all."""
    return _settings["max_steps_per_epoch"]


def set_max_steps_per_epoch(max_steps_per_epoch):
    """Bounds the batches of an epoch of every `fit`, `evaluate` and `predict`; None: no bound."""
    _settings["max_steps_per_epoch"] = max_steps_per_epoch


def exact_slices():
    """Do optimizers add up the gradients of a table's row before they square them?"""
    return _settings["exact_slices"]


def set_exact_slices(value):
    """Says so for the optimizers that are made from then on; leat's own.

    A batch may take a row of a table, as of Embedding, several times. Keras on TensorFlow squares each of its
    gradients by itself in Adam, RMSprop, Adagrad and their like, and takes norms of them so, which is what leat does,
    too, unless this is True: then the row's gradient is what is squared, as of any other variable.
    """
    if not isinstance(value, bool):
        raise ValueError(f"Argument `value` must be a boolean. Received: value={value}")
    _settings["exact_slices"] = value
