"""Paths as Python's own functions take them."""

import os
import re

from leat import _native
from leat._core.later import Hook
from leat.errors import UnimplementedError

find_filesystem = Hook()  # (path): registers the scheme of a path, if there is one; leat._files.filesystems
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(://|::)")
_native.set_filesystem_finder(find_filesystem)
SCHEMES = ("http", "https", "s3", "gs", "az")  # of other machines


def remote(path):
    """The text of a path of another machine, or of another file system, which the library reads (docs/REMOTE.md); None
    for any other path. UnimplementedError for a scheme that is not known."""
    text = os.fsdecode(_native.path_bytes(path))
    found = _SCHEME.match(text)
    if found is None or found[0] == "file://":
        return None
    return text if found[0][:-3] in SCHEMES or _native.path_is_remote(text) else None


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
    if remote(text):
        raise UnimplementedError(None, None, f"{text}: this takes files of this machine alone; copy it to one first "
                                             "(tf.io.gfile.copy)")
    return text[found.end():] if found[0] == "file://" else text
