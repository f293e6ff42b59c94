"""Devices by their kind: the processor, and what PJRT plug-ins of the running Python bring."""
import functools
import os
import sys

from leat import _native
from leat.errors import OpError

KINDS = ("CPU", "GPU", "TPU", "XLA_CPU")
_visible = {}  # kind: names, of kinds of which some are hidden


@functools.cache
def _search():
    """Tells the library once where packages with plug-ins lie."""
    for folder in sys.path:
        if os.path.basename(folder) in ("site-packages", "dist-packages"):
            _native.search_devices(folder)


def find(kind):
    """(count, platform, version, path) of a kind; the error that says why there is none."""
    if kind != "CPU":
        _search()
    return _native.describe_devices(kind)


def number(kind):
    """How many devices of a kind there are; 0 where none can be used."""
    try:
        return find(kind)[0]
    except OpError:
        return 0


def names(kind):
    """The names of those that are there: "GPU:0"..."""
    return [f"{kind}:{i}" for i in range(number(kind))]


def show(kind, names):
    """From now on these devices of a kind are seen."""
    _visible[kind] = list(names)


def visible(kind):
    """The names of those that programs see."""
    return [name for name in names(kind) if name in _visible.get(kind, (name,))]


def by_default(one_cpu=False):
    """What strategies use that name no devices: LEAT_DEVICES ("xla_cpu:2", "gpu"), else all GPUs, else the CPUs, or
    the first of them."""
    wanted = os.environ.get("LEAT_DEVICES", "")
    if wanted:
        kind, _, count = wanted.upper().partition(":")
        if kind not in KINDS or count and not count.isdigit():
            raise ValueError(f"LEAT_DEVICES is {wanted!r}; expected a kind ({', '.join(KINDS)}) and a number: "
                             "xla_cpu:2")
        if count and kind in ("CPU", "XLA_CPU"):
            _native.set_logical_cpus(int(count))
        find(kind)
        there = visible(kind)
        if count and int(count) > len(there):
            raise ValueError(f"LEAT_DEVICES is {wanted!r}; there {'is' if len(there) == 1 else 'are'} {len(there)}")
        return there[:int(count or len(there))]
    return visible("GPU") or visible("CPU")[:1 if one_cpu else None]
