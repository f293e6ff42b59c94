"""``tf.DeviceSpec``: names of devices taken apart and put together."""

_KEYS = ("job", "replica", "task", "device_type", "device_index")


def _parsed(text):
    """The parts that a device's name gives, by their keys; ValueError for what is none."""
    found = {}
    for part in text.split("/"):
        pieces = part.split(":")
        kind = pieces[0]
        if not part:
            continue
        if len(pieces) == 2 and kind == "job":
            found["job"] = pieces[1]
        elif len(pieces) == 2 and kind in ("replica", "task"):
            found[kind] = int(pieces[1])
        elif kind.upper() in ("CPU", "GPU", "TPU") and len(pieces) <= 2 or kind == "device" and len(pieces) == 3:
            if "device_type" in found:
                raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {text}.")
            *named, index = pieces if len(pieces) > 1 else (kind, "*")
            found["device_type"] = named[-1].upper()
            found["device_index"] = None if index == "*" else int(index)
        else:
            raise ValueError(f"Unknown attribute '{kind}' is encountered while parsing the device spec: '{text}'.")
    return found


class DeviceSpec:
    """The name of a device, by its parts, of which each may be left open (``tf.DeviceSpec``)."""

    __slots__ = tuple("_" + key for key in _KEYS)

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        kind = None if device_type is None else str(device_type)
        self._device_type = "CPU" if kind == "cpu" else "GPU" if kind == "gpu" else kind
        self._device_index = None if device_index is None else int(device_index)

    job = property(lambda self: self._job)
    replica = property(lambda self: self._replica)
    task = property(lambda self: self._task)
    device_type = property(lambda self: self._device_type)
    device_index = property(lambda self: self._device_index)

    @classmethod
    def from_string(cls, spec):
        """The spec of a name such as "/job:worker/task:1/device:CPU:0"; ValueError for what is none."""
        return cls(**_parsed(spec))

    def parse_from_string(self, spec):
        """`from_string`."""
        return type(self).from_string(spec)

    def to_string(self):
        """The name."""
        parts = [f"/{key}:{getattr(self, key)}" for key in _KEYS[:3] if getattr(self, key) is not None]
        if self._device_type is not None:
            index = "*" if self._device_index is None else self._device_index
            parts.append(f"/device:{self._device_type}:{index}")
        return "".join(parts)

    def replace(self, **kwargs):
        """A spec with other parts."""
        return type(self)(**{**dict(zip(_KEYS, self._parts())), **kwargs})

    def make_merged_spec(self, dev):
        """This spec, with the parts that `dev` gives in place of its own."""
        given = {key: value for key, value in zip(_KEYS, dev._parts()) if value is not None}
        if "device_type" in given and "device_index" not in given:
            given["device_index"] = self._device_index
        return self.replace(**given)

    def _parts(self):
        return tuple(getattr(self, key) for key in _KEYS)

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self._parts() == other._parts()

    def __hash__(self):
        return hash(self._parts())

    def __repr__(self):
        return f"<DeviceSpec({', '.join(f'{key}={getattr(self, key)}' for key in _KEYS)})>"

    __str__ = __repr__
