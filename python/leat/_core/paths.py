"""Paths as Python's own functions take them."""

import os

from leat import _native


def local(path):
    """A path of text, bytes or os.PathLike as text; "file://" is taken off, as the library does. InvalidArgumentError
    for text that no bytes stand behind."""
    return os.fsdecode(_native.path_bytes(path)).removeprefix("file://")
