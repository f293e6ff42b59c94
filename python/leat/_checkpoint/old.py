"""Checkpoints as leat wrote them before it had TensorFlow's format: an index of JSON, and one data file.

Names are made of places ("model/0"), so they are restored by places as well. Nothing writes them any more.
"""

import json
import zlib

import numpy as np

from leat import dtypes
from leat._checkpoint.objects import Counter, is_container, is_state, is_trackable, is_variable
from leat._core.shapes import TensorShape
from leat._files import places
from leat.errors import DataLossError, FailedPreconditionError

FORMAT = "leat checkpoint 1"


class OldFile:
    """A checkpoint that was read: `found` is {name: (entry, bytes)}."""

    def __init__(self, prefix):
        self.prefix, self.found, at = prefix, {}, 0
        try:
            with places.opened(f"{prefix}.data-00000-of-00001") as file:
                data = file.read()
        except FileNotFoundError:
            raise DataLossError(None, None, f"{prefix}.data-00000-of-00001 is gone; {prefix}.index speaks of it"
                                ) from None
        try:
            for entry in self._index()["entries"]:
                name, size = entry["name"], int(entry["size"])
                if size < 0 or at + size > len(data):
                    raise DataLossError(None, None, f"{prefix}.data-00000-of-00001 has {len(data)} bytes; its index "
                                        "speaks of more")
                content = data[at:at + size]
                if "crc32" in entry and zlib.crc32(content) != entry["crc32"]:
                    raise DataLossError(None, None, f"{prefix}.data-00000-of-00001: the checksum of {name}, bytes {at} "
                                        f"to {at + size}, is {zlib.crc32(content)}; expected {entry['crc32']}")
                self.found[name] = entry, content
                at += size
            self.entries = {name: (None, tuple(entry.get("shape", ())), False)
                            for name, (entry, _) in self.found.items()}
        except (KeyError, TypeError, ValueError, AttributeError):
            raise DataLossError(None, None, f"{prefix}.index is damaged: its entries need a name and a size") from None

    def _index(self):
        try:
            with places.opened(self.prefix + ".index") as file:
                index = json.loads(file.read())
            if index["format"] == FORMAT:
                return index
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise DataLossError(None, None, f"{self.prefix}.index is not an index of leat's; expected {FORMAT!r}")

    def tensor(self, key):
        """The value of a name as a numpy array."""
        entry, data = self.found[key]
        if entry.get("kind") == "counter":
            return np.int64(int.from_bytes(data, "little", signed=True))
        if entry.get("kind") != "variable":
            return np.array(data, object)
        return _value(self.prefix, key, entry, data)

    def dtype(self, key):
        """The DType of a name."""
        kind = self.found[key][0].get("kind")
        try:
            return (dtypes.int64 if kind == "counter" else dtypes.string if kind != "variable" else
                    dtypes.as_dtype(self.found[key][0]["dtype"]))
        except (KeyError, TypeError):
            raise DataLossError(None, None, f"{self.prefix}.index is damaged: the dtype of {key}") from None

    def is_whole(self):
        """It is, once it was read."""
        return True


def _value(prefix, name, entry, data):
    try:
        if entry["dtype"] == "string":
            out, at = np.empty(len(entry["lengths"]), object), 0
            for i, length in enumerate(entry["lengths"]):
                out[i] = data[at:at + length]
                at += length
            return out.reshape(entry["shape"])
        return np.frombuffer(data, dtypes.as_dtype(entry["dtype"]).as_numpy_dtype).reshape(entry["shape"])
    except (KeyError, TypeError, ValueError):
        raise DataLossError(None, None, f"{prefix}.index is damaged: dtype and shape of {name}") from None


def _variables_of(value):
    """The variables of a module, layer, model, optimizer or generator; None of others."""
    found = getattr(value, "variables", None) if not isinstance(value, type) else None
    if hasattr(value, "_state_var"):
        found = [value._state_var]
    return list(found) if isinstance(found, (list, tuple)) and all(map(is_variable, found)) else None


def _parts(name, value):
    """(name, leaf) of all that is within a value."""
    if is_container(value) or hasattr(value, "_tracked_by_name"):
        items = (value._tracked_by_name.items() if hasattr(value, "_tracked_by_name") else
                 value.items() if isinstance(value, dict) else enumerate(value))
        for key, part in items:
            if is_trackable(part):
                yield from _parts(f"{name}/{key}" if name else str(key), part)
    elif is_variable(value) or is_state(value):
        yield name, value
    elif _variables_of(value) is not None:
        yield from _parts(name, _variables_of(value))


def _check_fits(value, name, entry):
    """ValueError where an entry cannot be the value of what has its name."""
    kind = "counter" if isinstance(value, Counter) else "variable" if is_variable(value) else "state"
    if entry.get("kind") != kind:
        raise ValueError(f"{name} is a {kind}; the checkpoint has a {entry.get('kind')} under that name")
    if kind == "variable" and not TensorShape(value.shape).is_compatible_with(
            entry.get("shape") or []):
        raise ValueError(f"Received incompatible tensor with shape {tuple(entry.get('shape') or ())} when attempting "
                         f"to restore variable with shape {value.shape} and name "
                         f"{getattr(value, 'name', name)}.")


def _restore(value, entry, data):
    if isinstance(value, Counter):
        value.assign(int.from_bytes(data, "little", signed=True))
    elif is_variable(value):
        value.assign(_value("the checkpoint", getattr(value, "name", ""), entry, data))
    else:
        value._checkpoint_restore(data)


def restore(checkpoint, file):
    """Sets what a Checkpoint has from such a file; (names that nothing was found for, names that were not used)."""
    found, missing, used = file.found, [], {"save_counter"}
    leaves = [*_parts("", checkpoint), ("save_counter", checkpoint.save_counter)]
    for name, value in leaves:  # all of them, before the first is set
        if name in found:
            _check_fits(value, name, found[name][0])
            if found[name][0].get("kind") == "variable":
                file.tensor(name)
    for name, value in leaves:
        if name in found:
            used.add(name)
            _restore(value, *found[name])
        elif name != "save_counter":
            missing.append(name)
    unused = [name for name in found if name not in used]
    for name, value in checkpoint._tracked_by_name.items():
        own = [other for other in unused if other.startswith(f"{name}/")]
        if not own or is_container(value) or _variables_of(value) is None:
            continue
        if not hasattr(value, "_restore_later"):
            raise FailedPreconditionError(None, None, (
                f"Checkpoint: {name} has {len(_variables_of(value))} variables so far, in the checkpoint "
                f"{len(own)} more; make them first: call the model, or build it"))
        value._restore_later({int(other.rpartition("/")[2]): found[other] for other in own}, _restore)
        unused = [other for other in unused if other not in own]
    return missing, unused
