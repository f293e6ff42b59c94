"""Keras' files of models: weights in HDF5 (`.weights.h5`) and whole models (`.keras`).

They need the package h5py. A file is written beside its place and then moved there, so a failure leaves what was there.
Weights are looked at before any of them is set.
"""

import datetime
import io
import json
import os
import zipfile

import numpy as np

from leat.keras import tables
from leat.keras.layer import Layer
from leat.keras.random import SeedGenerator


def _h5py():
    try:
        import h5py
    except ImportError:
        raise ImportError("files of Keras need the package h5py; install it, or save with "
                          "leat.train.Checkpoint") from None
    return h5py


# ---- what is saved, under which path ----

def _is_saved(value):
    from leat.keras.metrics import Metric
    from leat.keras.optimizers import Optimizer
    return isinstance(value, (Layer, SeedGenerator, Metric, Optimizer))


def _children(thing):
    """(name, object or container) in Keras' order: layers first, then attributes, private ones last."""
    if not isinstance(thing, Layer):
        return []
    names = sorted((name for name in thing.__dict__ if not name.startswith("_")))
    found = [(name, thing.__dict__[name]) for name in names]
    if hasattr(thing, "layers"):
        found.append(("layers", thing.layers))
        is_listed = type(thing).__name__ in ("Sequential", "Functional")
        found.sort(key=lambda pair: (is_listed and pair[0] != "layers", pair[0]))
    return found


def _own(thing):
    """The variables that a thing itself saves."""
    if isinstance(thing, SeedGenerator):
        return [thing.state]
    if isinstance(thing, Layer):
        return sorted(thing._own_variables, key=lambda v: not getattr(v, "_is_weight_trainable", v.trainable))
    return list(thing.variables)


def _walk(thing, path, seen):
    """(path, object) of everything that saves variables, parents first."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    yield path, thing
    for name, child in _children(thing):
        yield from _walk_child(child, f"{path}/{name}" if path else name, seen)


def _walk_child(child, path, seen):
    if _is_saved(child):
        yield from _walk(child, path, seen)
    elif isinstance(child, (list, tuple, dict)):
        counts = {}
        for item in child.values() if isinstance(child, dict) else child:
            if _is_saved(item):
                name = tables.snake_case(type(item).__name__)
            elif isinstance(item, (list, tuple, dict)):
                name = "container"
            else:
                continue
            number = counts.get(name, 0)
            counts[name] = number + 1
            yield from _walk_child(item, f"{path}/{name}_{number}" if number else f"{path}/{name}", seen)


# ---- writing ----

def _write(model, file):
    """All variables into an open HDF5 file."""
    for path, thing in _walk(model, "", set()):
        group = (file.create_group(path) if path else file).create_group("vars")
        if isinstance(getattr(thing, "name", None), str):
            group.attrs["name"] = thing.name
        for number, variable in enumerate(_own(thing)):
            group.create_dataset(str(number), data=np.asarray(variable.numpy()))


def _replace(path, write):
    """Writes a file beside its place and moves it there."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def _check_place(path, ending, overwrite):
    if not path.endswith(ending):
        raise ValueError(f"The filename must end in `{ending}`. Received: filepath={path}")
    if os.path.exists(path) and not overwrite:
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")


def _weights_bytes(model):
    memory = io.BytesIO()
    with _h5py().File(memory, "w") as file:
        _write(model, file)
    return memory.getvalue()


def save_weights(model, filepath, overwrite=True):
    """Writes weights, states of generators and, where there is one, the optimizer's variables."""
    path = os.fspath(filepath)
    _check_place(path, ".weights.h5", overwrite)
    if not model.built:
        raise ValueError("You are saving a model that has not yet been built. Try building the model first by calling "
                         "it on some data or by using `build()`.")
    content = _weights_bytes(model)
    _replace(path, lambda file: file.write(content))


def save_model(model, filepath, overwrite=True):
    """Writes configuration and weights (``keras.saving.save_model``)."""
    from leat.keras import saving
    path = os.fspath(filepath)
    _check_place(path, ".keras", overwrite)
    config = saving.serialize_keras_object(model)
    if model.compiled:
        config["compile_config"] = {name: saving.serialize_keras_object(value)
                                    for name, value in model._compile_config.items()}
    metadata = {"keras_version": "3.0.0", "date_saved": datetime.datetime.now().strftime("%Y-%m-%d@%H:%M:%S")}
    weights = _weights_bytes(model)

    def write(file):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("metadata.json", json.dumps(metadata))
            archive.writestr("config.json", json.dumps(config))
            archive.writestr("model.weights.h5", weights)
    _replace(path, write)


# ---- reading ----

def _values(model, file, where, skip_mismatch):
    """[(variable, value)] of a file, all of them checked. ValueError names the first that does not fit."""
    found = []
    for path, thing in _walk(model, "", set()):
        own = _own(thing)
        if not own:
            continue
        if path == "optimizer" or isinstance(thing, SeedGenerator):
            skip = True  # may be of another state: what is there is taken
        else:
            skip = skip_mismatch
        place = f"{path}/vars" if path else "vars"
        group = file[place] if place in file else {}
        if len(group) != len(own):
            if skip:
                continue
            raise ValueError(f"{where}: object '{getattr(thing, 'name', path)}' ({path}) expects {len(own)} variables; "
                             f"the file has {len(group)}. The model is not the one that was saved; skip_mismatch=True "
                             "leaves out what does not fit")
        for number, variable in enumerate(own):
            value = np.asarray(group[str(number)])
            if tuple(value.shape) == tuple(variable.shape):
                found.append((variable, value))
            elif not skip:
                raise ValueError(f"{where}: variable '{getattr(variable, 'path', variable.name)}' has shape "
                                 f"{tuple(variable.shape)}; the file has {tuple(value.shape)} at {place}/{number}")
    return found


def _load(model, source, where, skip_mismatch=False):
    try:
        with _h5py().File(source, "r") as file:
            pairs = _values(model, file, where, skip_mismatch)
    except OSError as error:
        if isinstance(source, str) and not os.path.exists(source):
            raise FileNotFoundError(f"File not found: filepath={source}") from None
        raise ValueError(f"{where} is not a file of weights that can be read: {error}") from None
    for variable, value in pairs:
        variable.assign(value)


def load_weights(model, filepath, skip_mismatch=False):
    """Sets weights from a `.weights.h5` or `.keras` file; ValueError where they do not fit, and nothing is set."""
    path = os.fspath(filepath)
    if not model.built:
        raise ValueError("The model must be built before its weights are loaded: call it on some data, or `build()`")
    if path.endswith(".keras"):
        with _archive(path) as archive:
            _load(model, io.BytesIO(archive.read("model.weights.h5")), path, skip_mismatch)
    elif path.endswith(".weights.h5"):
        _load(model, path, path, skip_mismatch)
    else:
        raise ValueError(f"File format not supported: filepath={path}. Keras 3 only supports V3 `.keras` and "
                         "`.weights.h5` files")


def _archive(path):
    if not os.path.exists(path):
        raise ValueError(f"File not found: filepath={path}. Please ensure the file is an accessible `.keras` zip file.")
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is not a `.keras` file: {error}") from None


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):
    """The model of a `.keras` file, compiled as it was if `compile` (``keras.saving.load_model``)."""
    from leat.keras import saving
    path = os.fspath(filepath)
    with _archive(path) as archive:
        config = json.loads(archive.read("config.json"))
        weights = archive.read("model.weights.h5")
    model = saving.deserialize_keras_object(config, custom_objects)
    compiled = config.get("compile_config") or {}
    if compile and compiled.get("optimizer") is not None:
        known = ("optimizer", "loss", "loss_weights", "metrics", "weighted_metrics")
        model.compile(**{name: saving.deserialize_keras_object(compiled.get(name), custom_objects) for name in known})
        model.optimizer.build(model.trainable_variables)
    _load(model, io.BytesIO(weights), path)
    return model
