"""How much the files of models, weights and checkpoints may hold: one place for all of their readers.

Each limit is looked at before memory is taken. A refusal says that it is one, and how to raise it.
"""

import collections

LoadLimits = collections.namedtuple("LoadLimits", ["array_bytes", "total_bytes", "unpacked_bytes", "members", "depth",
                                                   "json_bytes"])
LoadLimits.__doc__ = "The limits that `leat.config.set_load_limits` sets, each a whole number."
DEFAULTS = LoadLimits(array_bytes=1 << 34, total_bytes=1 << 36, unpacked_bytes=1 << 26, members=100_000, depth=256,
                      json_bytes=1 << 27)
_RATIO = 100  # packed data that are read may unpack to so many times their size, whatever `unpacked_bytes` is
_in_force = [DEFAULTS]


def set_load_limits(array_bytes=None, total_bytes=None, unpacked_bytes=None, members=None, depth=None, json_bytes=None):
    """Sets what files of models, weights and checkpoints may hold, against files that are made to fill the memory.

    array_bytes: of one array; None: 2**34. total_bytes: of all arrays of a file; None: 2**36. unpacked_bytes: what
    packed data may become where that is more than 100 times their size, and what a model may take beyond four times
    its file; None: 2**26. members: of an archive, or of a group of an HDF5 file; None: 100,000. depth: of JSON and of
    configurations in each other; None: 256. json_bytes: of a configuration or header; None: 2**27. For the whole
    process, from now on, in place of what was set before. ValueError where a limit is no whole number above 0.
    """
    given = LoadLimits(array_bytes, total_bytes, unpacked_bytes, members, depth, json_bytes)
    for name, limit in given._asdict().items():
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise ValueError(f"set_load_limits: expected {name} to be a whole number above 0, or None for the default; "
                             f"found {limit!r}")
    _in_force[0] = LoadLimits(*(default if limit is None else limit for limit, default in zip(given, DEFAULTS)))


def get_load_limits():
    """The limits in force, by name (`set_load_limits`)."""
    return _in_force[0]


class LimitError(ValueError):
    """A file holds more than the limits let it."""


def check(name, found, where, what):
    """LimitError where `found` is above the limit `name`; `where` and `what` say of what."""
    limit = getattr(_in_force[0], name)
    if found > limit:
        raise LimitError(f"{where}: {what}: found {found}, above the limit {name}={limit}; if you trust the file, "
                         f"raise the limit: leat.config.set_load_limits({name}=...)")


def check_unpacked(found, packed, where, what, least=None):
    """LimitError where `packed` bytes become `found`, as those of a decompression bomb do. `least`: instead of the
    limit `unpacked_bytes`, if that is more."""
    limit = _in_force[0].unpacked_bytes if least is None else min(least, _in_force[0].unpacked_bytes)
    if found > max(limit, _RATIO * packed):
        raise LimitError(f"{where}: {what}: {found} bytes out of {packed}, as a decompression bomb has them; the limit "
                         f"is unpacked_bytes={limit}; if you trust the file, raise the limit: "
                         "leat.config.set_load_limits(unpacked_bytes=...)")
