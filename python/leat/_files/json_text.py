"""JSON out of files of strangers: its length, its depth and its names are looked at before they cost anything."""

import json
import re

import numpy as np

from leat._files import limits

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"' if hasattr(re, "NOFLAG") else rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_PIECE = 1 << 20


def depth_of(text):
    """How deep brackets stand in each other, strings left out."""
    bare, depth, deepest = np.frombuffer(_STRINGS.sub(b"", text), np.uint8), 0, 0
    for start in range(0, len(bare), _PIECE):
        piece = bare[start:start + _PIECE]
        steps = np.isin(piece, list(b"[{")).astype(np.int32) - np.isin(piece, list(b"]}"))
        depths = depth + np.cumsum(steps)
        depth, deepest = int(depths[-1]), max(deepest, int(depths.max()))
    return deepest


def _unique(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice[:80]!r} stands twice in an object")
    return found


def parse(text, where, what):
    """The value of JSON in UTF-8; `where` and `what` name it in errors. ValueError, also where it is too long or deep,
    or an object has a name twice."""
    limits.check("json_bytes", len(text), where, f"the length of {what}")
    limits.check("depth", depth_of(text), where, f"the depth of {what}")
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: {what} is no JSON: {error}") from None
