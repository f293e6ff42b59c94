"""Whole models in HDF5 files (`.h5`, `.hdf5`), as Keras 2 wrote them and Keras 3 still does, and weights out of them.

The file's attributes have the configurations of the model and of `compile` as JSON, the group "model_weights" has a
group for each layer, whose attribute "weight_names" lists its arrays. Weights go to layers in their order, or by name.
Everything is compared before any variable is set.

Failures: ValueError names the file and what in it does not fit.
"""

import io
import json
import warnings

import numpy as np

from leat import errors
from leat._files import json_text, limits
from leat.keras import losses, metrics
from leat.keras._base import loading, old_configs, registry
from leat.keras._base.layer import Layer
from leat.keras.optimizers import Optimizer, deserialize as optimizer_of
from leat.keras.saving import hdf5
from leat.keras.saving.fitting import assign, fits, fitted

ENDINGS = (".h5", ".hdf5")
VERSION = "3.0.0"  # of the Keras whose files these are
_MOST = 64512  # bytes of an attribute
_TOP = "top_level_model_weights"
_AS_THEY_ARE = ("accuracy", "acc", "crossentropy", "ce")  # metrics that `compile` makes for the outputs' shapes


# ---- writing ----

def model_bytes(model, include_optimizer=True):
    """The content of an `.h5` file of a model, with its optimizer's variables if `include_optimizer`."""
    if not isinstance(model, Layer):
        raise ValueError(f"Expected a model to save; found {model!r} of type {type(model)}")
    with old_configs.written():
        config = {"class_name": registry.get_registered_name(type(model)),
                  "config": registry.serialize_keras_object(registry.plain(model.get_config()))}
    optimizer = getattr(model, "optimizer", None) if include_optimizer else None
    memory = io.BytesIO()
    with hdf5.interruptible(), hdf5.library().File(memory, "w") as file:
        _note_versions(file)
        file.attrs["model_config"] = json.dumps(config)
        if optimizer is not None and model.compiled:
            file.attrs["training_config"] = json.dumps(_training_config(model))
        _write_weights(file.create_group("model_weights"), model)
        if optimizer is not None and optimizer.variables:
            _write_group(file.create_group("optimizer_weights"), optimizer.variables, "the optimizer")
    return memory.getvalue()


def _note_versions(group):
    group.attrs["keras_version"] = VERSION
    group.attrs["backend"] = "tensorflow"


def _training_config(model):
    given = {name: value for name, value in model._compile_config.items() if name != "optimizer"}
    config = {name: _bare(registry.serialize_keras_object(value)) for name, value in given.items()}
    config["loss"] = _whole_names(config["loss"])
    optimizer = registry.serialize_keras_object(model.optimizer)
    return {**config, "optimizer_config": {"class_name": optimizer["registered_name"] or optimizer["class_name"],
                                           "config": optimizer["config"]}}


def _bare(config):
    """A structure of configurations with each as class and arguments, functions by their names."""
    if isinstance(config, (list, tuple)):
        return [_bare(item) for item in config]
    if not isinstance(config, dict):
        return config
    if "class_name" not in config:
        return {name: _bare(item) for name, item in config.items()}
    if config["class_name"] == "function":
        return config["config"]
    return {"class_name": config["registered_name"] or config["class_name"], "config": config["config"]}


def _whole_names(loss):
    """Losses by the names of their functions; Keras reads no short ones here."""
    if isinstance(loss, list):
        return [_whole_names(item) for item in loss]
    if isinstance(loss, dict):
        return loss if "class_name" in loss else {name: _whole_names(item) for name, item in loss.items()}
    return losses.full_name(loss) if isinstance(loss, str) else loss


def _write_weights(group, model):
    _write_names(group, "layer_names", [layer.name for layer in model.layers])
    _note_versions(group)
    for layer in sorted(model.layers, key=lambda layer: layer.name):
        _write_group(group.create_group(layer.name), _weights_of(layer), f"layer '{layer.name}'")
    _write_group(group.create_group(_TOP), _top_level(model), "the model")


def _weights_of(layer):
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def _top_level(model):
    return model._sorted_variables()


def _write_group(group, variables, whose):
    names = [variable.path for variable in variables]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{whose} has two variables with the path '{twice}', which an HDF5 file cannot hold; give its "
                         "layers names of their own, or save a `.keras` file")
    _write_names(group, "weight_names", names)
    for name, variable in zip(names, variables):
        with hdf5.outside():
            value = np.asarray(variable.numpy())
        hdf5.put(group, name, value)
        hdf5.look()


def _write_names(group, name, values):
    """A list of texts as an attribute, or as several where it is too long for one."""
    if not values:
        group.attrs[name] = np.zeros(0)
        return
    whole = np.asarray([value.encode() for value in values])
    if whole.itemsize > _MOST:
        raise ValueError(f"a name of {whole.itemsize} bytes is too long for an attribute of an HDF5 file ({_MOST})")
    parts = np.array_split(whole, -(-whole.nbytes // (_MOST - whole.itemsize)) if whole.nbytes > _MOST else 1)
    for number, part in enumerate(parts):
        group.attrs[f"{name}{number}" if len(parts) > 1 else name] = part


# ---- reading ----

_UNCLEAR = (KeyError, IndexError, AttributeError, ArithmeticError, AssertionError, MemoryError, RecursionError,
            errors.OpError)


def load_model(path, custom_objects=None, compile=True, safe_mode=True):
    """The model of an `.h5` file."""
    with hdf5.interruptible(), hdf5.File(path, path) as file:
        config, training = _json(file, "model_config"), _json(file, "training_config")
        if config is None:
            raise ValueError(f"No model config found in the file at {path}: it may have weights alone, which "
                             "`load_weights` loads into a model")
        room = limits.get_load_limits().unpacked_bytes + 4 * file.size
        try:
            with loading.allowance(path, room), loading.configuration(safe_mode):
                model = old_configs.to_layer(config, custom_objects)
                if not isinstance(model, Layer):
                    raise ValueError(f"{path}: its model_config is of {type(model).__name__}, which is no model")
                assign(_in_order(model, file, "model_weights", False))
                if compile:
                    _compile(model, training, custom_objects, file)
        except _UNCLEAR as error:
            raise ValueError(f"{path}: its configuration makes no model: {type(error).__name__}: {error}") from error
    return model


def _json(file, name):
    text = file.texts("", name)
    if text is None:
        return None
    if not isinstance(text, str):
        raise file.refused(f"the attribute {name!r}", "is a list")
    found = json_text.parse(text.encode(), file.where, f"its {name}")
    if not isinstance(found, dict):
        raise ValueError(f"{file.where}: its {name} is no configuration, but {type(found).__name__}")
    return found


def _compile(model, training, custom_objects, file):
    if training is None:
        warnings.warn("No training configuration found in the save file, so the model was *not* compiled. Compile it "
                      "manually.", stacklevel=5)
        return
    with registry.custom_object_scope(custom_objects):
        model.compile(optimizer=optimizer_of(training["optimizer_config"]),
                      loss=_each(training.get("loss"), losses.get),
                      metrics=_each(training.get("metrics"), _metric),
                      weighted_metrics=_each(training.get("weighted_metrics"), _metric),
                      loss_weights=training.get("loss_weights"))
    if file.group("optimizer_weights") is not None and isinstance(model.optimizer, Optimizer):
        model.optimizer.build(model.trainable_variables)
        arrays = _arrays(file, "optimizer_weights")
        pairs = list(zip(model.optimizer.variables, arrays))
        if len(arrays) > len(model.optimizer.variables) or not all(fits(array, one) for one, array in pairs):
            warnings.warn("Error in loading the saved optimizer state. As a result, your model is starting with a "
                          "freshly initialized optimizer.", stacklevel=5)
            return
        assign([(variable, fitted(array.read(), variable)) for variable, array in pairs])


def _each(config, make):
    """A structure of objects for one of configurations and names."""
    if config is None:
        return None
    if isinstance(config, str) or isinstance(config, dict) and "class_name" in config:
        known = registry.get_registered_object(config) if isinstance(config, str) else None
        return known or make(config)
    if isinstance(config, dict):
        return {name: _each(item, make) for name, item in config.items()}
    if isinstance(config, (list, tuple)):
        return [_each(item, make) for item in config]
    raise ValueError("Saved configuration not understood. Configuration should be a dictionary, string, tuple or list. "
                     f"Received: config={config}.")


def _metric(config):
    return config if isinstance(config, str) and config in _AS_THEY_ARE else metrics.get(config)


def load_weights(model, path, skip_mismatch=False, by_name=False):
    """Sets the weights from an `.h5` file of a model or of weights; all of them or, on an error, none."""
    with hdf5.interruptible(), hdf5.File(path, path) as file:
        place = "model_weights" if not _names(file, "", "layer_names") and file.group("model_weights") else ""
        assign((_by_name if by_name else _in_order)(model, file, place, skip_mismatch))


def _names(file, place, name):
    """A list of texts that is one attribute, or several."""
    found = file.texts(place, name)
    if found is None:
        found, number = [], 0
        while (part := file.texts(place, f"{name}{number}")) is not None:
            found, number = found + part, number + 1
    return found


def _arrays(file, place):
    """The arrays that "weight_names" of a group lists, not yet read."""
    found = []
    for name in _names(file, place, "weight_names"):
        *folders, last = name.split("/")
        group = file.group("/".join((place, *folders)))
        array = None if group is None else group.array(last)
        if array is None:
            raise ValueError(f"{file.where}: {place} in it has no array '{name}', which its weight_names lists")
        found.append(array)
    return found


def _below(place, name):
    return f"{place}/{name}" if place else name


def _in_order(model, file, place, skip_mismatch):
    """[(variable, value)]: the layers with weights in their order, those of the file likewise."""
    own = [layer for layer in model.layers if _weights_of(layer)]
    stored = [(name, arrays) for name in _names(file, place, "layer_names")
              if (arrays := _arrays(file, _below(place, name)))]
    if len(stored) != len(own):
        raise ValueError(f"{file.where}: Layer count mismatch when loading weights from file. Model expected "
                         f"{len(own)} layers, found {len(stored)} saved layers.")
    pairs = []
    for number, ((name, arrays), layer) in enumerate(zip(stored, own)):
        weights = _weights_of(layer)
        if len(arrays) != len(weights):
            raise ValueError(f"{file.where}: Weight count mismatch for layer #{number} (named {layer.name} in the "
                             f"current model, {name} in the save file). Layer expects {len(weights)} weight(s). "
                             f"Received {len(arrays)} saved weight(s)")
        pairs += _paired(file, weights, arrays, f"layer #{number} (named {layer.name})", skip_mismatch)
    return pairs + _top_pairs(model, file, place, skip_mismatch, False)


def _by_name(model, file, place, skip_mismatch):
    """[(variable, value)]: each layer of the file for those of the model with its name."""
    pairs = []
    for number, name in enumerate(_names(file, place, "layer_names")):
        for layer in [layer for layer in model.layers if layer.name == name]:
            weights, arrays = _weights_of(layer), _arrays(file, _below(place, name))
            if len(arrays) == len(weights):
                pairs += _paired(file, weights, arrays, f"layer #{number} (named {name})", skip_mismatch)
                continue
            text = (f"Layer expects {len(weights)} weight(s). Received {len(arrays)} saved weight(s)")
            if not skip_mismatch:
                raise ValueError(f"{file.where}: Weight count mismatch for layer #{number} (named {name}). {text}")
            warnings.warn(f"Skipping loading of weights for layer #{number} (named {name}) due to mismatch in number "
                          f"of weights. {text}", stacklevel=5)
    return pairs + _top_pairs(model, file, place, skip_mismatch, skip_mismatch)


def _top_pairs(model, file, place, skip_mismatch, may_differ):
    if file.group(_below(place, _TOP)) is None:
        return []
    weights, arrays = _top_level(model), _arrays(file, _below(place, _TOP))
    if len(arrays) == len(weights):
        return _paired(file, weights, arrays, "the model's own weights", skip_mismatch)
    text = (f"Weight count mismatch for top-level weights of the model. Model expects {len(weights)} top-level "
            f"weight(s). Received {len(arrays)} saved top-level weight(s)")
    if not may_differ:
        raise ValueError(f"{file.where}: {text}")
    warnings.warn(f"{text}; they are skipped", stacklevel=6)
    return []


def _paired(file, weights, arrays, whose, skip_mismatch):
    pairs = []
    for variable, array in zip(weights, arrays):
        if fits(array, variable):
            pairs.append((variable, fitted(array.read(), variable)))
            continue
        text = (f"weight {variable.path} of {whose}. Weight expects shape {tuple(variable.shape)}. Received saved "
                f"weight with shape {array.shape} of {array.dtype}")
        if not skip_mismatch:
            raise ValueError(f"{file.where}: Shape mismatch in {text}")
        warnings.warn(f"Skipping loading weights due to mismatch in shape for {text}", stacklevel=6)
    return pairs
