"""Paths as Python's own functions take them."""

import os
import re

from leat import _native
from leat.errors import UnimplementedError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
SCHEMES = ("http", "https", "s3", "gs", "az")  # of other machines


def remote(path):
    """The text of a path of another machine, which the library reads (docs/REMOTE.md); None for any other path."""
    text = os.fsdecode(_native.path_bytes(path))
    found = _SCHEME.match(text)
    return text if found is not None and found[1] in SCHEMES else None


def anywhere(path):
    """A path of this machine or another one as text: what `remote` and else `local` make of it."""
    return remote(path) or local(path)


def local(path):
    """A path of text, bytes or os.PathLike as text; "file://" is taken off, as the library does. InvalidArgumentError
    for text that no bytes stand behind, UnimplementedError for other schemes, which are no folders of that name."""
    text = os.fsdecode(_native.path_bytes(path))
    found = _SCHEME.match(text)
    if found is None:
        return text
    if found[1] in SCHEMES:
        raise UnimplementedError(None, None, f"{text}: this takes files of this machine alone; copy it to one first "
                                             "(tf.io.gfile.copy)")
    if found[1] != "file":
        raise UnimplementedError(None, None, f"{text}: no file system for {found[0]}; there are file://")
    return text[found.end():]
