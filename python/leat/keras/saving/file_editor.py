"""Looking at files of weights, changing what is in them, and writing them anew (``keras.saving.KerasFileEditor``)."""

import io

import numpy as np

from leat._core.paths import anywhere
from leat._files import json_text, limits
from leat._files.replacing import replace
from leat.keras.saving import files, hdf5
from leat.keras.saving.archive import Archive


class KerasFileEditor:
    """The weights of a `.keras` or `.weights.h5` file as dictionaries in each other, to look at and to change.

    editor = KerasFileEditor("a.weights.h5"); editor.summary(); editor.delete_object("layers/dense_2");
    editor.save("b.weights.h5")

    `weights_dict` {name: arrays of an object by their names, and the objects in it}; `object_metadata` {path: what the
    file says of an object}; of a `.keras` file also `config` and `metadata`. A file of strangers is read within the
    limits of `leat.config.set_load_limits`. ValueError for other files.
    """

    def __init__(self, filepath):
        self.filepath = anywhere(filepath)
        self.metadata = self.config = self.model = None
        if self.filepath.endswith(".keras"):
            with Archive(self.filepath, self.filepath) as archive:
                self.config, self.metadata = (
                    json_text.parse(archive.read(name, is_text=True), self.filepath, f"{name} in it")
                    for name in ("config.json", "metadata.json"))
                source = io.BytesIO(archive.read("model.weights.h5"))
        elif self.filepath.endswith(".weights.h5"):
            source = self.filepath
        else:
            raise ValueError("Invalid filename: expected a `.keras` `.weights.h5` extension. Received: "
                             f"filepath={self.filepath}")
        self.object_metadata, self._count = {}, 0
        with hdf5.interruptible(), hdf5.File(source, self.filepath) as file:
            self.weights_dict = self._read(file, "", 0)
        print(f"Keras model file '{self.filepath}'")
        if isinstance(self.metadata, dict):
            print(f"Saved with Keras {self.metadata.get('keras_version')} - date: {self.metadata.get('date_saved')}")

    def _read(self, file, place, depth):
        """What a group of the file has: the arrays in its "vars", and its other groups."""
        limits.check("depth", depth, file.where, "groups in each other")
        found = {}
        for name, member in file.group(place).members():
            self._count += 1
            limits.check("members", self._count, file.where, "groups and arrays")
            path = f"{place}/{name}" if place else name
            if isinstance(member, hdf5.Array):
                found[name] = member.read(is_expected=False)
            elif name == "vars":
                said = file.texts(path, "name")
                if said is not None:
                    self.object_metadata[f"/{place}" if place else ""] = {"name": said}
                found.update(self._read(file, path, depth + 1))
            else:
                inner = self._read(file, path, depth + 1)
                if inner:
                    found[name] = inner
        return found

    # ---- looking ----

    def summary(self):
        """Prints the objects and their weights."""
        print("Weights structure")
        self._print(self.weights_dict, "  ", "")

    def _print(self, weights, prefix, path):
        for number, (name, value) in enumerate(weights.items()):
            is_last = number == len(weights) - 1
            connector = "> " if prefix == "  " and number == 0 else "└─ " if is_last else "├─ "
            if not isinstance(value, dict):
                value = np.asarray(value)
                print(f"{prefix}{connector}{name}: shape={value.shape}, dtype={value.dtype}")
                continue
            said = self.object_metadata.get(f"{path}/{name}")
            print(f"{prefix}{connector}{name}" + (f" ('{said['name']}')" if said else ""))
            self._print(value, prefix + ("    " if is_last else "│   "), f"{path}/{name}")

    def compare(self, reference_model):
        """Prints what a model and the file do not have in common.

        Returns {"status": "success" or "error", "error_count": mismatches, "match_count": weights that match}.
        """
        print("Running comparison")
        expected = {}
        for path, _, arrays in files.stored(reference_model):
            inner = expected
            for name in path.split("/") if path and arrays else ():
                inner = inner.setdefault(name, {})
            inner.update(arrays)
        errors, matches = _compared(self.weights_dict, expected, "")
        print("─────────────────────")
        if errors == 0:
            print("Comparison successful: saved file is compatible with the reference model")
            print(f"    Found {matches} matching weight{'' if matches == 1 else 's'}")
        else:
            print(f"Found {errors} error{'' if errors == 1 else 's'}: saved file is not compatible with the reference "
                  "model")
        return {"status": "error" if errors else "success", "error_count": errors, "match_count": matches}

    # ---- changing ----

    def _holder(self, name):
        """(dictionary, key) of an object by its name, or by its path. ValueError where there is none, or several."""
        if "/" in name:
            *folders, last = name.split("/")
            inner = self.weights_dict
            for folder in folders:
                inner = inner.get(folder) if isinstance(inner, dict) else None
            if not isinstance(inner, dict) or last not in inner:
                raise ValueError(f"Path '{name}' not found in model.")
            return inner, last
        found = [inner for inner in _dictionaries(self.weights_dict) if name in inner]
        if len(found) > 1:
            raise ValueError(f"Name '{name}' occurs more than once in the model; try passing a complete path")
        if not found:
            raise ValueError(f"Source name '{name}' does not appear in the model. Use `editor.summary()` to list all "
                             "objects.")
        return found[0], name

    def rename_object(self, object_name, new_name):
        """Gives an object, by its name or path, another name in its place."""
        if "/" in new_name:
            raise ValueError("Argument `new_name` should be a leaf name, not a full path name. Received: "
                             f"new_name='{new_name}'")
        inner, name = self._holder(object_name)
        inner[new_name] = inner.pop(name)

    def delete_object(self, object_name):
        """Takes an object, by its name or path, out."""
        inner, name = self._holder(object_name)
        del inner[name]

    def add_object(self, object_path, weights):
        """Puts an object at a path, whose parent is there. `weights`: {"0": array, "1": array}."""
        _require_dictionary(weights)
        *folders, last = object_path.split("/")
        inner = self.weights_dict
        for folder in folders:
            if not isinstance(inner.get(folder), dict):
                raise ValueError(f"Path '{'/'.join(folders)}' not found in model.")
            inner = inner[folder]
        inner[last] = weights

    def _weights_of(self, object_name):
        inner, name = self._holder(object_name)
        if not isinstance(inner[name], dict):
            raise ValueError(f"'{object_name}' is a weight; expected an object with weights")
        return inner[name]

    def delete_weight(self, object_name, weight_name):
        """Takes a weight out of an object."""
        weights = self._weights_of(object_name)
        if weight_name not in weights:
            raise ValueError(f"Weight {weight_name} not found in object {object_name}. Weights found: {list(weights)}")
        del weights[weight_name]

    def add_weights(self, object_name, weights):
        """Gives an object further weights, or others: {"0": array}."""
        _require_dictionary(weights)
        self._weights_of(object_name).update(weights)

    def save(self, filepath):
        """Writes what is there now into a `.weights.h5` file."""
        path = anywhere(filepath)
        if not path.endswith(".weights.h5"):
            raise ValueError(f"Invalid `filepath` argument: expected a `.weights.h5` extension. Received: "
                             f"filepath={path}")
        replace(path, hdf5.content(_objects(self.weights_dict, "")))

    def resave_weights(self, filepath):
        """The same as `save`."""
        self.save(filepath)


def _require_dictionary(weights):
    if not isinstance(weights, dict):
        raise ValueError("Argument `weights` should be a dict where keys are weight names (usually '0', '1', etc.) and "
                         f"values are NumPy arrays. Received: type(weights)={type(weights)}")


def _dictionaries(weights):
    yield weights
    for value in weights.values():
        if isinstance(value, dict):
            yield from _dictionaries(value)


def _objects(weights, path):
    """(path, None, arrays) of an object and those in it."""
    yield path, None, {name: np.asarray(value.numpy() if hasattr(value, "numpy") else value)
                       for name, value in weights.items() if not isinstance(value, dict)}
    for name, value in weights.items():
        if isinstance(value, dict):
            yield from _objects(value, f"{path}/{name}" if path else name)


def _compared(saved, expected, path):
    """(mismatches, matches) of what a file and a model have, with a line for each mismatch."""
    errors = matches = 0
    for name in [*expected, *(name for name in saved if name not in expected)]:
        here = f"{path}/{name}"
        if name not in saved or name not in expected:
            there, where, not_where = (expected, "reference model", "saved file") if name in expected else (
                saved, "saved file", "reference model")
            kind = "Object" if isinstance(there[name], dict) else "Weight"
            print(f"...{kind} {here} present in {where}, missing from {not_where}")
            if kind == "Object":
                print(f"    In {where}, {here} contains the following keys: {list(there[name])}")
            errors += 1
        elif isinstance(saved[name], dict) and isinstance(expected[name], dict):
            inner = _compared(saved[name], expected[name], here)
            errors, matches = errors + inner[0], matches + inner[1]
        elif np.shape(saved[name]) == np.shape(expected[name]) and not isinstance(saved[name], dict):
            matches += 1
        else:
            print(f"...Weight shape mismatch for {here}\n    In reference model: shape={np.shape(expected[name])}\n"
                  f"    In saved file: shape={np.shape(saved[name])}")
            errors += 1
    return errors, matches
