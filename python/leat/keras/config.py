"""``keras.config``: the settings that layers share. Those that leat does not have refuse every other value."""

from leat.keras.backend import epsilon, floatx, image_data_format  # noqa: F401

_settings = {"interactive_logging": True, "traceback_filtering": True}


def backend():
    """"tensorflow": what programs written for that backend find."""
    return "tensorflow"


def _only(name, value, wanted):
    if value != wanted:
        raise NotImplementedError(f"keras.config.{name}: {value!r} is not supported; leave it at {wanted!r}")


def set_floatx(value):
    """Refuses everything but "float32"."""
    if value not in ("float16", "bfloat16", "float32", "float64"):
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of "
                         "{'bfloat16', 'float16', 'float32', 'float64'}")
    _only("set_floatx", value, "float32")


def set_epsilon(value):
    """Refuses everything but 1e-7."""
    _only("set_epsilon", value, 1e-7)


def set_image_data_format(data_format):
    """Refuses everything but "channels_last"."""
    if str(data_format).lower() not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. Received: "
                         f"data_format={data_format}")
    _only("set_image_data_format", str(data_format).lower(), "channels_last")


def dtype_policy():
    """The policy of layers: float32."""
    from leat.keras.layer import DTypePolicy
    return DTypePolicy("float32")


def set_dtype_policy(policy):
    """Refuses everything but "float32"."""
    _only("set_dtype_policy", getattr(policy, "name", policy), "float32")


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


def enable_unsafe_deserialization():
    """Changes nothing: leat reads no code from files, a Lambda of Keras' files least of all."""
