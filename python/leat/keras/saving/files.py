"""Files of models: weights (`.weights.h5`) and whole models (`.keras`) as Keras has them, weights as safetensors.

Keras' need the package h5py. A file is written beside its place and moved there, so a failure leaves what was there.
Weights are looked at before any of them is set.
"""

import contextlib
import datetime
import functools
import io
import json
import os
import tempfile
import warnings
import zipfile

import numpy as np

from leat import errors
from leat._core.paths import anywhere
from leat._files import json_text, limits, places
from leat._files.replacing import replace, replace_together
from leat.keras._base import loading, registry, tables
from leat.keras._base.layer import Layer
from leat.keras.metrics import Metric
from leat.keras.optimizers import Optimizer
from leat.keras.random import SeedGenerator
from leat.keras.saving import hdf5, legacy, safetensors, shards
from leat.keras.saving.archive import Archive, Folder
from leat.keras.saving.fitting import assign, fits, fitted

_NOTE = "leat "  # how the names of notes begin among the attributes of an HDF5 file


# ---- what is saved, under which path ----

def _is_saved(value):
    return isinstance(value, (Layer, SeedGenerator, Metric, Optimizer))


# What lists of a layer's own have, and what `compile` and calls note: nothing of it is saved under these names.
_NOTES = frozenset(("_tracked", "_generators", "_inbound_nodes", "_losses", "_weights", "_given", "_auto_config",
                    "_build_shapes", "_sequence", "_layers", "_graph", "_functions", "_compile_config", "_compile_loss",
                    "_compile_metrics", "_loss_tracker", "_distribute_strategy"))


def _is_own(class_):
    return class_.__module__.split(".")[0] == "leat"


def _names(thing):
    """The attributes of a layer that may hold what is saved: public ones, and of a program's class private ones and
    what its properties give, too, as Keras has it."""
    names = {name for name in vars(thing) if not name.startswith("_")}
    classes = type(thing).__mro__
    if _is_own(type(thing)):
        return names
    own = {name for class_ in classes if _is_own(class_) for name in vars(class_)}
    names |= {name for name in vars(thing) if name not in _NOTES}
    for class_ in classes:
        if not _is_own(class_):
            names |= {name for name, value in vars(class_).items() if name not in own and not name.startswith("__") and
                      isinstance(value, (property, functools.cached_property))}
    return names


def _children(thing):
    """(name, object or container) in Keras' order: layers first where they are listed, private attributes last."""
    if not isinstance(thing, Layer):
        return []
    found = []
    for name in _names(thing):
        try:
            found.append((name, getattr(thing, name)))
        except Exception:  # a property that does not work as yet has nothing to save
            continue
    if hasattr(thing, "_parts_in_files"):
        found += thing._parts_in_files()
    if hasattr(thing, "layers"):
        found = [pair for pair in found if pair[0] != "layers"] + [("layers", thing.layers)]
    is_listed = hasattr(thing, "_sequence") or hasattr(thing, "_graph")
    return sorted(found, key=lambda pair: (is_listed and pair[0] != "layers", pair[0].startswith("_"), pair[0]))


def own_variables(thing):
    """The variables that a thing itself saves."""
    if isinstance(thing, SeedGenerator):
        return [thing.state]
    if isinstance(thing, Layer):
        return thing._variables_in_files()
    return list(thing.variables)


def own_values(thing):
    """{number: value} of these, as files have them."""
    value = thing._value_in_files if isinstance(thing, Layer) else lambda variable: variable
    return {str(number): value(variable).numpy() for number, variable in enumerate(own_variables(thing))}


def _walk(model, skipped=(), is_there=None):
    """(path, object) of everything in a model that saves variables, parents first, but for what is skipped. Of several
    names that a part has in its parent the first one; with `is_there` the first whose path is there, if one is."""
    return _walk_saved(model, "", {id(one): one for one in skipped}, is_there)


def _walk_saved(thing, path, seen, is_there):
    """`seen` holds what was seen: a property's list that is freed would leave its number to the next one."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    yield path, thing
    start, reached = f"{path}/" if path else "", list(_reached(thing))
    for name, child in reached:
        if is_there is not None and id(child) not in seen and not is_there(start + name):
            name = next((other for other, one in reached if one is child and is_there(start + other)), name)
        yield from _walk_saved(child, start + name, seen, is_there)


def _reached(thing):
    """(path below it, object) of what is saved among a thing's attributes and in their containers."""
    for name, child in _children(thing):
        yield from _in_containers(child, name, ())


def _in_containers(child, path, around):
    if _is_saved(child):
        yield path, child
    elif isinstance(child, (list, tuple, dict)) and all(child is not one for one in around):
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
            yield from _in_containers(item, f"{path}/{name}_{number}" if number else f"{path}/{name}", (*around, child))


# ---- writing ----

def _has_own(thing, method):
    """Does a class override what layers do with their variables?"""
    return isinstance(thing, Layer) and getattr(type(thing), method) is not getattr(Layer, method)


def stored(model, skipped=()):
    """(path, name, arrays) of all objects that save variables, but of the skipped layers."""
    for path, thing in _walk(model, skipped):
        store = {}
        if _has_own(thing, "save_own_variables"):
            thing.save_own_variables(store)
        else:
            with hdf5.outside():
                store = own_values(thing)
        yield path, getattr(thing, "name", None), {
            name: np.asarray(value.numpy() if hasattr(value, "numpy") else value) for name, value in store.items()}


def _check_place(path, ending, overwrite):
    if not path.endswith(ending):
        raise ValueError(f"Invalid filepath extension for saving: the filename must end in `{ending}`. Received: "
                         f"filepath={path}")
    if not overwrite and places.exists(path):
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")


def weights_bytes(model, skipped=(), notes=None):
    """The content of a `.weights.h5` file of a model and its optimizer, without the layers that are skipped.

    `notes`: {name: number} that the file has beside the variables; Keras passes over them.
    """
    return hdf5.content(stored(model, skipped), {_NOTE + name: value for name, value in (notes or {}).items()})


def weights_notes(path):
    """{name: number} of the notes of a `.weights.h5` file; ValueError where it cannot be read."""
    with hdf5.File(path, path) as file:
        return file.notes(_NOTE)


def _named(model, skipped=()):
    """{name: variable} as safetensors files have them: the place in the model and the variable's own name."""
    found = {}
    for path, thing in _walk(model, skipped):
        own = thing._sorted_variables() if isinstance(thing, Layer) else own_variables(thing)
        for variable in [] if isinstance(thing, Optimizer) else own:
            name, number = f"{path}/{variable.name}" if path else variable.name, 0
            while (f"{name}_{number}" if number else name) in found:
                number += 1
            found[f"{name}_{number}" if number else name] = variable
    return found


def save_weights(model, filepath, overwrite=True, max_shard_size=None, objects_to_skip=None):
    """Writes weights and states of generators; into a `.weights.h5` file the optimizer's variables too.

    `max_shard_size`: into several files of so many GiB at most, and a `.weights.json` file that lists them.
    """
    path = anywhere(filepath)
    is_safetensors = path.endswith(".safetensors") and max_shard_size is None
    if max_shard_size is not None and path.endswith(".weights.h5"):
        path = path.removesuffix(".weights.h5") + shards.ENDING
        warnings.warn(f"Saving sharded weights requires `*.json` as the extension. The weights are saved as {path}.",
                      stacklevel=3)
    ending = ".safetensors" if is_safetensors else ".weights.h5" if max_shard_size is None else shards.ENDING
    _check_place(path, ending, overwrite)
    if not model.built:
        raise ValueError("You are saving a model that has not yet been built. Try building the model first by calling "
                         "it on some data or by using `build()`.")
    skipped = objects_to_skip or ()
    if is_safetensors:
        replace(path, safetensors.pieces({name: one.numpy() for name, one in _named(model, skipped).items()}))
    elif max_shard_size is not None:
        shards.write(path, stored(model, skipped), max_shard_size)
    else:
        replace(path, weights_bytes(model, skipped))


def save_model(model, filepath, overwrite=True, zipped=None, **kwargs):
    """Writes configuration and weights into a `.keras` file, or as old ones do into an `.h5` file
    (``keras.saving.save_model``)."""
    is_file = hasattr(filepath, "write")
    path = "" if is_file else anywhere(filepath)
    include_optimizer = _old_arguments(path, kwargs)
    if path.endswith(legacy.ENDINGS) and zipped is not False:
        warnings.warn("You are saving your model as an HDF5 file. This file format is considered legacy. We recommend "
                      "using instead the native Keras format, a path that ends in `.keras`.", stacklevel=3)
        _check_place(path, legacy.ENDINGS, overwrite)
        replace(path, legacy.model_bytes(model, include_optimizer))
        return
    if zipped is False and not is_file:
        _save_folder(model, path, overwrite)
        return
    if is_file:
        filepath.write(model_bytes(model))
        return
    _check_place(path, ".keras", overwrite)
    replace(path, model_bytes(model))


def _old_arguments(path, given):
    """Is the optimizer to be saved? ValueError for other arguments that there are no longer."""
    save_format, include_optimizer = given.pop("save_format", None), given.pop("include_optimizer", True)
    if save_format:
        text = ("The `save_format` argument is deprecated in Keras 3. Please remove this argument and pass a file path "
                f"with the `.keras` or `.h5` extension. Received: save_format={save_format}")
        if not path.endswith((".keras", *legacy.ENDINGS)):
            raise ValueError(text)
        warnings.warn(text, stacklevel=5)
    if given:
        raise ValueError(f"The following argument(s) are not supported: {list(given)}")
    return include_optimizer


def _members(model):
    """(name, content) of what a `.keras` file has in it."""
    if not isinstance(model, Layer):
        raise ValueError(f"Expected a model to save; found {model!r} of type {type(model)}")
    metadata = {"keras_version": legacy.VERSION, "date_saved": datetime.datetime.now().strftime("%Y-%m-%d@%H:%M:%S")}
    yield "metadata.json", json.dumps(metadata).encode()
    yield "config.json", json.dumps(registry.serialize_keras_object(model)).encode()
    yield "model.weights.h5", weights_bytes(model)
    yield from _assets_of(model)


def model_bytes(model):
    """The content of a `.keras` file."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        for name, content in _members(model):
            archive.writestr(name, content)
    return memory.getvalue()


def _save_folder(model, path, overwrite):
    """The same members as files of a folder."""
    if path.endswith(".keras"):
        raise ValueError("When using `zipped=False`, the `filepath` argument should not end in `.keras`. Received: "
                         f"filepath={path}")
    if not overwrite and places.exists(path):
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")
    made = [(os.path.join(path, *name.split("/")), content) for name, content in _members(model)]
    for place, _ in made:
        places.make_folders(os.path.dirname(place))
    replace_together(made[::-1])


# ---- what layers keep in files of their own ----

_ASSETS = "assets"


def _files_below(folder):
    for around, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(around, name), folder)


def _assets_of(model):
    """(name in the archive, content) of the files that parts of a model write by `save_assets(folder)`."""
    for path, thing in _walk(model):
        if not hasattr(thing, "save_assets"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            thing.save_assets(folder)
            for name in sorted(_files_below(folder)):
                with open(os.path.join(folder, name), "rb") as file:
                    yield "/".join((_ASSETS, *([path] if path else ()), *name.split(os.sep))), file.read()


def _load_assets(model, archive):
    """Has the parts of a model read their files, `load_assets(folder)`. Names that leave the folder are refused."""
    for path, thing in _walk(model):
        if not hasattr(thing, "load_assets"):
            continue
        start = "/".join((_ASSETS, *([path] if path else ()), ""))
        found = [name for name in archive.names() if name.startswith(start) and not name.endswith("/")]
        if not found:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name in found:
                steps = name[len(start):].split("/")
                if any(step in ("", ".", "..") or os.sep in step or "\0" in step for step in steps):
                    raise ValueError(f"{archive.where}: {name[:80]!r} in it is no file of a layer")
                os.makedirs(os.path.join(folder, *steps[:-1]), exist_ok=True)
                with open(os.path.join(folder, *steps), "wb") as file:
                    file.write(archive.read(name))
            thing.load_assets(folder)


# ---- reading ----

def _values(model, file, skip_mismatch, skipped):
    """([(variable, value)] of a file, all of them checked, the layers that these are of, [(layer, values)] of layers
    that load by themselves). ValueError names the first that does not fit. Shapes and dtypes are compared before values
    are read."""
    found, layers, by_themselves = [], [], []
    for path, thing in _walk(model, skipped, lambda path: file.group(path) is not None):
        own, place = own_variables(thing), f"{path}/vars" if path else "vars"
        if _has_own(thing, "load_own_variables"):
            group = file.group(place)
            arrays = {} if group is None else {name: group.array(name) for name in group.names()}
            by_themselves.append((thing, {name: array.read(is_expected=False) for name, array in arrays.items()}))
            continue
        if not own:
            continue
        may_differ = path == "optimizer" or isinstance(thing, SeedGenerator)  # of another state: taken where it fits
        group = file.group(place)
        count = 0 if group is None else group.count
        pairs = [(variable, group.array(str(number)) if count else None) for number, variable in enumerate(own)]
        wrong = count != len(own) or not all(fits(array, variable) for variable, array in pairs)
        if wrong and path == "optimizer" and count:
            warnings.warn(f"Skipping variable loading for optimizer '{getattr(thing, 'name', '')}', because it has "
                          f"{len(own)} variables whereas the saved optimizer has {count} variables, or they have "
                          "other shapes.", stacklevel=5)
        elif wrong and not may_differ and not skip_mismatch:
            _refuse(file.where, thing, path, place, pairs, count)
        elif not wrong or not may_differ:
            found += [(variable, fitted(array.read(), variable)) for variable, array in pairs
                      if fits(array, variable)]
            layers += [thing] if isinstance(thing, Layer) else []
    return found, layers, by_themselves


def _refuse(where, thing, path, place, pairs, count):
    if count != len(pairs):
        raise ValueError(f"{where}: object '{getattr(thing, 'name', path)}' ({path}) expected {len(pairs)} variables, "
                         f"but received {count} variables from the file. The model is not the one that was saved; "
                         "skip_mismatch=True leaves out what does not fit")
    number, variable, array = next((number, variable, array) for number, (variable, array) in enumerate(pairs)
                                   if not fits(array, variable))
    raise ValueError(f"{where}: variable '{getattr(variable, 'path', variable.name)}' has shape "
                     f"{tuple(variable.shape)}; the file has "
                     f"{None if array is None else f'{array.shape} of {array.dtype}'} at {place}/{number}, and they "
                     "must match; skip_mismatch=True leaves out what does not fit")


def _require(path):
    if not places.exists(path):
        raise FileNotFoundError(f"File not found: filepath={path}")


def _load(model, source, where, skip_mismatch=False, skipped=()):
    """Sets the variables from an HDF5 file, a path or what can be read; all of them or, on an error, none."""
    if isinstance(source, str):
        _require(source)
    is_listed = isinstance(source, str) and source.endswith(shards.ENDING)
    with hdf5.interruptible(), shards.Shards(source) if is_listed else hdf5.File(source, where) as file:
        pairs, layers, by_themselves = _values(model, file, skip_mismatch, skipped)
    before = [(variable, variable.numpy()) for layer, _ in by_themselves for variable in own_variables(layer)]
    try:
        for layer, stored in by_themselves:
            layer.load_own_variables(stored)
    except BaseException:
        assign(before)
        raise
    assign(pairs)
    for layer in layers:
        layer._note_loaded()


def _load_safetensors(model, path, skip_mismatch, skipped):
    _require(path)
    stored, pairs = safetensors.load(path), []
    for name, variable in _named(model, skipped).items():
        value = stored.get(name)
        if value is not None and value.shape == tuple(variable.shape):
            pairs.append((variable, value.astype(np.dtype(variable.dtype.as_numpy_dtype))))
        elif not skip_mismatch:
            raise ValueError(f"{path}: variable '{name}' has shape {tuple(variable.shape)}; the file has "
                             + (f"{tuple(value.shape)} there" if value is not None else
                                f"no such tensor, but {_some(stored)}")
                             + ". The model is not the one that was saved; skip_mismatch=True leaves out what does not "
                             "fit")
    assign(pairs)


def _some(names):
    names = sorted(names)
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "") or "none at all"


def load_weights_file(model, path):
    """Sets the variables, the optimizer's too, from an HDF5 file of any name."""
    _load(model, path, path)


def load_weights(model, filepath, skip_mismatch=False, objects_to_skip=None, by_name=None):
    """Sets weights from a `.weights.h5`, `.keras`, `.h5` or `.safetensors` file; ValueError where they do not fit, and
    nothing is set. `by_name`: an `.h5` file's layers go to those with their names, in place of those in their order."""
    path, skipped = anywhere(filepath), objects_to_skip or ()
    is_old = path.endswith(legacy.ENDINGS) and not path.endswith(".weights.h5")
    if by_name is not None and not is_old:
        raise ValueError(f"`by_name` only supports loading legacy '.h5' or '.hdf5' files. Received: {path}")
    if objects_to_skip is not None and is_old:
        raise ValueError(f"`objects_to_skip` only supports loading '.weights.h5' files. Received: {path}")
    if not model.built:
        raise ValueError("You are loading weights into a model that has not yet been built. Try building the model "
                         "first by calling it on some data or by using `build()`.")
    if path.endswith(".keras"):
        with _archive(path) as archive:
            _load(model, io.BytesIO(archive.read("model.weights.h5")), path, skip_mismatch, skipped)
    elif path.endswith((".weights.h5", shards.ENDING)):
        _load(model, path, path, skip_mismatch, skipped)
    elif path.endswith(".safetensors"):
        _load_safetensors(model, path, skip_mismatch, skipped)
    elif is_old:
        _require(path)
        legacy.load_weights(model, path, skip_mismatch, by_name)
    else:
        raise ValueError(f"File format not supported: filepath={path}. Keras 3 only supports V3 `.keras` files, "
                         "`.weights.h5` files and legacy H5 files (`.h5`); leat reads `.safetensors` too")


def _is_archive(path):
    with contextlib.suppress(FileNotFoundError), places.opened(path) as file:
        return zipfile.is_zipfile(file)
    return False


def _archive(path):
    if not places.exists(path):
        raise ValueError(f"File not found: filepath={path}. Please ensure the file is an accessible `.keras` zip file.")
    return Archive(path, path)


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):
    """The model of a `.keras` or `.h5` file, compiled as it was if `compile` (``keras.saving.load_model``).

    `safe_mode`: the configuration in it may name no other files. No code of it runs, in safe mode or not. ValueError
    where the file is damaged, asks for more than the limits let it (`leat.config.set_load_limits`), or does not fit
    together; TypeError for a class that is not known.
    """
    if hasattr(filepath, "read"):
        with Archive(filepath, "the file") as archive:
            return _loaded(archive, custom_objects, compile, safe_mode)
    path = anywhere(filepath)
    if path.endswith(legacy.ENDINGS):
        _require(path)
        return legacy.load_model(path, custom_objects, compile, safe_mode)
    if places.is_folder(path):
        with Folder(path) as folder:
            return _loaded(folder, custom_objects, compile, safe_mode)
    if not path.endswith(".keras") and not _is_archive(path):
        raise ValueError(f"File format not supported: filepath={path}. leat loads `.keras` and `.h5` files; weights "
                         "alone are loaded into a model by `load_weights`")
    with _archive(path) as archive:
        return _loaded(archive, custom_objects, compile, safe_mode)


def of_bytes(class_, content):
    """The model of the content of a `.keras` file, of a class that needs not be registered."""
    with Archive(io.BytesIO(content), "the pickled model") as archive:
        return _loaded(archive, {class_.__name__: class_}, True, True)


_UNCLEAR = (KeyError, IndexError, AttributeError, ArithmeticError, AssertionError, MemoryError, RecursionError,
            errors.OpError)


def _loaded(archive, custom_objects, compile, safe_mode):
    path, text, weights = archive.where, archive.read("config.json", is_text=True), archive.read("model.weights.h5")
    config = json_text.parse(text, path, "config.json in it")
    if not isinstance(config, dict):
        raise ValueError(f"{path}: config.json in it is no configuration of a model, but {type(config).__name__}")
    if not compile:
        config["compile_config"] = None
    room = limits.get_load_limits().unpacked_bytes + 4 * len(weights)
    try:
        with loading.allowance(path, room):
            model = registry.deserialize_keras_object(config, custom_objects, safe_mode)
    except _UNCLEAR as error:
        raise ValueError(f"{path}: config.json in it makes no model: {type(error).__name__}: {error}") from error
    if not isinstance(model, Layer):
        raise ValueError(f"{path}: config.json in it is no configuration of a model, but of {type(model).__name__}")
    _load(model, io.BytesIO(weights), path)
    _load_assets(model, archive)
    return model
