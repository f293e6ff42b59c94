"""``tf.train``: examples (leat._files.example), and checkpoints of iterators, variables and what is made of them.

A checkpoint is two files, named as TensorFlow's: ``PREFIX.index`` says what was saved (JSON),
``PREFIX.data-00000-of-00001`` holds the bytes. The index is written last and put in place by a rename, so a checkpoint
that can be found is whole. The files are leat's own: TensorFlow does not read them, nor leat TensorFlow's.
"""

import json
import os
import time
import zlib

import numpy as np

from leat import dtypes
from leat._core.cluster import ClusterDef, ClusterSpec, JobDef
from leat._core.tensor import constant
from leat._files.example import (BytesList, DecodeError, Example, Feature, FeatureList, FeatureLists, Features,
                                 FloatList, Int64List, SequenceExample)
from leat._files.replacing import replace
from leat.errors import DataLossError, FailedPreconditionError, NotFoundError

__all__ = ["BytesList", "Checkpoint", "CheckpointManager", "CheckpointState", "ClusterDef", "ClusterSpec", "Counter",
           "DecodeError", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List",
           "JobDef", "LoadStatus", "SequenceExample", "get_checkpoint_state", "latest_checkpoint", "list_variables",
           "load_variable", "update_checkpoint_state"]

_FORMAT = "leat checkpoint 1"
_STATE = "checkpoint"


class Counter:
    """A whole number that is saved (``tf.train.Checkpoint.save_counter``)."""

    def __init__(self, value=0):
        self._count = int(value)

    def numpy(self):
        """The number as numpy's int64."""
        return np.int64(self._count)

    def _as_tensor(self):
        return constant(self._count, dtypes.int64)

    def assign_add(self, delta):
        """Adds `delta`; returns itself."""
        self._count += int(delta)
        return self

    def __int__(self):
        return self._count

    __index__ = __int__

    def __eq__(self, other):
        return self._count == other

    __hash__ = None

    def __repr__(self):
        return f"<save_counter {self._count}>"


# ---- what can be saved ----

def _is_variable(value):
    return hasattr(value, "assign") and hasattr(value, "numpy")


def _variables_of(value):
    """The variables of a module, layer, model, optimizer or generator; None of others."""
    found = getattr(value, "variables", None) if not isinstance(value, type) else None
    if hasattr(value, "_state_var"):
        found = [value._state_var]
    return list(found) if isinstance(found, (list, tuple)) and all(map(_is_variable, found)) else None


def _is_trackable(value):
    return (isinstance(value, (Counter, Checkpoint, dict, list, tuple)) or _is_variable(value)
            or hasattr(value, "_checkpoint_save") and hasattr(value, "_checkpoint_restore")
            or _variables_of(value) is not None)


def _parts(name, value):
    """(name, leaf) of all that is within a value."""
    if isinstance(value, Checkpoint):
        for inner, part in value._tracked.items():
            yield from _parts(f"{name}/{inner}" if name else inner, part)
    elif isinstance(value, dict):
        for key in value:
            yield from _parts(f"{name}/{key}", value[key])
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from _parts(f"{name}/{i}", part)
    elif _variables_of(value) is not None:
        yield from _parts(name, _variables_of(value))
    else:
        yield name, value


def _save(value):
    """({"kind": ...}, bytes) of a leaf."""
    if isinstance(value, Counter):
        return {"kind": "counter"}, int(value).to_bytes(8, "little", signed=True)
    if _is_variable(value):
        array = np.asarray(value.numpy())
        if array.dtype.kind in "OSU":
            items = [item if isinstance(item, bytes) else str(item).encode() for item in array.reshape(-1).tolist()]
            return ({"kind": "variable", "dtype": "string", "shape": list(array.shape), "lengths": [*map(len, items)]},
                    b"".join(items))
        return ({"kind": "variable", "dtype": dtypes.as_dtype(array.dtype).name, "shape": list(array.shape)},
                np.ascontiguousarray(array).tobytes())
    return {"kind": "state"}, bytes(value._checkpoint_save())


def _check_fits(value, name, entry):
    """ValueError where an entry cannot be the value of what has its name."""
    kind = "counter" if isinstance(value, Counter) else "variable" if _is_variable(value) else "state"
    if entry.get("kind") != kind:
        raise ValueError(f"{name} is a {kind}; the checkpoint has a {entry.get('kind')} under that name")
    if kind == "variable" and list(value.shape) != list(entry["shape"]):
        raise ValueError(f"Received incompatible tensor with shape {tuple(entry['shape'])} when attempting to restore "
                         f"variable with shape {tuple(value.shape)} and name {getattr(value, 'name', name)}.")


def _restore(value, entry, data):
    if isinstance(value, Counter):
        value._count = int.from_bytes(data, "little", signed=True)
    elif _is_variable(value):
        value.assign(_variable_value(entry, data))
    else:
        value._checkpoint_restore(data)


def _variable_value(entry, data):
    if entry["dtype"] == "string":
        out, at = np.empty(len(entry["lengths"]), object), 0
        for i, length in enumerate(entry["lengths"]):
            out[i] = data[at:at + length]
            at += length
        return out.reshape(entry["shape"])
    return np.frombuffer(data, dtypes.as_dtype(entry["dtype"]).as_numpy_dtype).reshape(entry["shape"])


# ---- files ----

def _data_file(prefix):
    return prefix + ".data-00000-of-00001"


def _read_index(prefix):
    try:
        with open(prefix + ".index", "rb") as file:
            text = file.read()
    except FileNotFoundError:
        raise NotFoundError(None, None, f"Error when restoring from checkpoint at {prefix}: Failed to find any "
                            f"matching files for {prefix}. Please double-check that the path is correct; you may be "
                            "missing the checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1').") from None
    try:
        index = json.loads(text)
        if index["format"] == _FORMAT:
            return index
    except (ValueError, KeyError, TypeError):
        pass
    raise DataLossError(None, None, f"{prefix}.index is not an index of leat's; expected {_FORMAT!r}")


def _read_entries(prefix):
    """{name: (entry, bytes)} of a checkpoint."""
    index = _read_index(prefix)
    with open(_data_file(prefix), "rb") as file:
        data = file.read()
    found, at = {}, 0
    try:
        for entry in index["entries"]:
            name, size = entry["name"], int(entry["size"])
            if size < 0 or at + size > len(data):
                raise DataLossError(None, None, f"{_data_file(prefix)} has {len(data)} bytes; its index speaks of more")
            content = data[at:at + size]
            if "crc32" in entry and zlib.crc32(content) != entry["crc32"]:
                raise DataLossError(None, None, f"{_data_file(prefix)}: the checksum of {name}, bytes {at} to "
                                    f"{at + size}, is {zlib.crc32(content)}; expected {entry['crc32']}")
            found[name] = entry, content
            at += size
    except (KeyError, TypeError, ValueError):
        raise DataLossError(None, None, f"{prefix}.index is damaged: its entries need a name and a size") from None
    return found


class LoadStatus:
    """What ``restore`` found (``tf.train.Checkpoint.restore``'s result)."""

    def __init__(self, unused, missing):
        self._unused = unused
        self._missing = missing

    def assert_consumed(self):
        """Fails with AssertionError unless everything in the checkpoint found its object, and the other way round."""
        if self._unused:
            raise AssertionError(f"Unresolved object in checkpoint: {', '.join(self._unused)}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self):
        """Fails with AssertionError where an object found nothing in the checkpoint."""
        if self._missing:
            raise AssertionError(f"No checkpointed value found for: {', '.join(self._missing)}")
        return self

    assert_nontrivial_match = assert_existing_objects_matched

    def expect_partial(self):
        """Says that parts of the checkpoint need not be used."""
        return self

    def initialize_or_restore(self, session=None):
        """Does nothing: everything was restored at once (TensorFlow's graphs wait for this call)."""
        return self

    run_restore_ops = initialize_or_restore


class Checkpoint:
    """Saves and restores the state of iterators, variables, modules, models, optimizers, and structures of them
    (``tf.train.Checkpoint``).

    Checkpoint(iterator=it, step=variable).save("/tmp/ckpt") writes "/tmp/ckpt-1" and names it in the file "checkpoint"
    beside it. Not for several threads at once.
    """

    def __init__(self, root=None, **kwargs):
        tracked = {} if root is None else {"root": root}
        tracked.update(kwargs)
        for name, value in tracked.items():
            if not _is_trackable(value):
                raise ValueError(f"`Checkpoint` was expecting {name} to be a trackable object (an iterator, a "
                                 f"variable, a module, a checkpoint, or a list or dictionary of them), got {value!r}.")
        self.__dict__["_tracked"] = tracked
        self.__dict__.setdefault("_counter", Counter())

    def __getattr__(self, name):
        tracked = self.__dict__.get("_tracked", {})
        if name in tracked:
            return tracked[name]
        raise AttributeError(f"'Checkpoint' object has no attribute {name!r}")

    def __setattr__(self, name, value):
        if _is_trackable(value):
            self._tracked[name] = value
            self._restore_late(name)
        else:
            self.__dict__[name] = value

    def _restore_late(self, name):
        """What was read for an object of this name before there was one becomes its value."""
        late = self.__dict__.get("_late")
        if not late:
            return
        found = [(path, leaf) for path, leaf in self._leaves() if path in late and path.split("/")[0] == name]
        for path, leaf in found:
            _check_fits(leaf, path, late[path][0])
        for path, leaf in found:
            _restore(leaf, *late.pop(path))

    @property
    def save_counter(self):
        """How many times `save` was called; saved too."""
        return self._counter

    def _leaves(self):
        yield from _parts("", self)
        yield "save_counter", self._counter

    def write(self, file_prefix, options=None):
        """Writes a checkpoint of exactly this name; returns the name."""
        prefix = os.fspath(file_prefix)
        prefix = prefix.decode() if isinstance(prefix, bytes) else prefix
        entries, data = [], []
        for name, value in self._leaves():
            entry, content = _save(value)
            entries.append(dict(entry, name=name, size=len(content), crc32=zlib.crc32(content)))
            data.append(content)
        os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
        replace(_data_file(prefix), b"".join(data))
        replace(prefix + ".index", json.dumps({"format": _FORMAT, "entries": entries}).encode())
        return prefix

    def save(self, file_prefix, options=None):
        """Writes a checkpoint named `file_prefix` and a number that counts up; returns the name."""
        prefix = os.fspath(file_prefix)
        self._counter.assign_add(1)
        path = self.write(f"{prefix}-{int(self._counter)}")
        update_checkpoint_state(os.path.dirname(path) or ".", path)
        return path

    def read(self, save_path, options=None):
        """Restores what `write` wrote; objects that are not in the checkpoint stay as they are, and those that become
        attributes later are restored then.

        An optimizer takes the values of slots that it does not have yet when it makes them. FailedPreconditionError
        where a model or module lacks variables that the checkpoint has: it is built first.
        """
        found = _read_entries(os.fspath(save_path))
        missing, used = [], {"save_counter"}
        leaves = list(self._leaves())
        for name, value in leaves:  # all of them, before the first is set
            if name in found:
                _check_fits(value, name, found[name][0])
        for name, value in leaves:
            if name in found:
                used.add(name)
                _restore(value, *found[name])
            elif value is not self._counter:
                missing.append(name)
        unused = [name for name in found if name not in used]
        for name, value in self._tracked.items():
            own = [other for other in unused if other.startswith(f"{name}/")]
            if not own or _variables_of(value) is None:
                continue
            if not hasattr(value, "_restore_later"):
                raise FailedPreconditionError(None, None, (
                    f"Checkpoint: {name} has {len(_variables_of(value))} variables so far, in the checkpoint "
                    f"{len(own)} more; make them first: call the model, or build it"))
            value._restore_later({int(other.rpartition("/")[2]): found[other] for other in own}, _restore)
            unused = [other for other in unused if other not in own]
        self.__dict__["_late"] = {name: found[name] for name in unused}
        return LoadStatus(unused, missing)

    def restore(self, save_path, options=None):
        """Restores what `save` or `write` wrote; NotFoundError where there is none. None: does nothing."""
        if isinstance(save_path, (list, tuple)) or save_path is None:
            return LoadStatus([], [])
        return self.read(save_path, options)

    def sync(self):
        """Waits for checkpoints that are being written; there are none."""


class CheckpointState:
    """Which checkpoints a folder has (``tf.train.get_checkpoint_state``'s result)."""

    def __init__(self, model_checkpoint_path, all_model_checkpoint_paths):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = all_model_checkpoint_paths


def update_checkpoint_state(directory, path, all_paths=None, filename=_STATE):
    """Writes the file that names a folder's latest checkpoint."""
    def line(field, name):
        return f"{field}: {json.dumps(os.path.relpath(name, directory))}\n"
    text = line("model_checkpoint_path", path)
    text += "".join(line("all_model_checkpoint_paths", name) for name in (all_paths or [path]))
    replace(os.path.join(directory, filename), text.encode())


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a folder; None where there is none."""
    directory = os.fspath(checkpoint_dir)
    try:
        with open(os.path.join(directory, latest_filename or _STATE), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return None
    names = {"model_checkpoint_path": [], "all_model_checkpoint_paths": []}
    for line in lines:
        field, _, value = line.partition(": ")
        if field in names:
            names[field].append(os.path.join(directory, json.loads(value)))
    if not names["model_checkpoint_path"]:
        return None
    return CheckpointState(names["model_checkpoint_path"][0], names["all_model_checkpoint_paths"])


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The name of a folder's latest checkpoint; None where there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not os.path.exists(state.model_checkpoint_path + ".index"):
        return None
    return state.model_checkpoint_path


class CheckpointManager:
    """Keeps the latest checkpoints in a folder (``tf.train.CheckpointManager``)."""

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt",
                 step_counter=None, checkpoint_interval=None, init_fn=None):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self.checkpoint = checkpoint
        self.directory = os.fspath(directory)
        self.checkpoint_interval = checkpoint_interval
        self._keep, self._every_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self.directory, checkpoint_name)
        self._step_counter, self._init_fn, self._last_step = step_counter, init_fn, None
        state = get_checkpoint_state(self.directory)
        found = [] if state is None else state.all_model_checkpoint_paths
        self._paths = [path for path in found if os.path.exists(path + ".index")]
        self._kept_at = time.time()

    @property
    def checkpoints(self):
        """The names of the checkpoints that are kept, oldest first."""
        return list(self._paths)

    @property
    def latest_checkpoint(self):
        """The name of the newest checkpoint; None where there is none."""
        return self._paths[-1] if self._paths else None

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Writes the next checkpoint, deletes those that are too many; its name, or None where it is not due."""
        if self.checkpoint_interval is not None and check_interval:
            step = int(self._step_counter.numpy())
            if self._last_step is not None and step < self._last_step + self.checkpoint_interval:
                return None
            self._last_step = step
        self.checkpoint.save_counter.assign_add(1)
        number = int(self.checkpoint.save_counter if checkpoint_number is None else checkpoint_number)
        path = self.checkpoint.write(f"{self._prefix}-{number}")
        self._paths = [known for known in self._paths if known != path] + [path]
        while self._keep is not None and len(self._paths) > self._keep:
            self._drop(self._paths.pop(0))
        update_checkpoint_state(self.directory, path, self._paths)
        return path

    def _drop(self, path):
        if self._every_hours is not None:
            written = os.path.getmtime(path + ".index")
            if written - self._kept_at >= self._every_hours * 3600:
                self._kept_at = written
                return
        for name in (path + ".index", _data_file(path)):
            if os.path.exists(name):
                os.remove(name)

    def restore_or_initialize(self):
        """Restores the latest checkpoint and returns its name; else calls `init_fn` and returns None."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
            return self.latest_checkpoint
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self):
        """Waits for checkpoints that are being written."""
        self.checkpoint.sync()


def list_variables(ckpt_dir_or_file):
    """[(name, shape)] of a checkpoint's variables."""
    path = _of_file_or_folder(ckpt_dir_or_file)
    return [(entry["name"], entry.get("shape", [])) for entry in _read_index(path)["entries"]]


def load_variable(ckpt_dir_or_file, name):
    """The value of one variable of a checkpoint as a numpy array."""
    found = _read_entries(_of_file_or_folder(ckpt_dir_or_file))
    if name not in found or found[name][0]["kind"] != "variable":
        raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
    return _variable_value(*found[name])


def _of_file_or_folder(path):
    path = os.fspath(path)
    return latest_checkpoint(path) or path if os.path.isdir(path) else path
