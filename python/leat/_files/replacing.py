"""Files that appear whole or not at all, alone or together. The library writes them (``leat_files_replace``)."""

import os

from leat import _native


def _pieces(content):
    return list(content) if isinstance(content, (list, tuple)) else [content]


def replace(path, content):
    """Writes a file beside its place and moves it there: a failure leaves what was there. OSError names the path.

    `content`: bytes or what else is a buffer, or a list of them, which follow one another in the file.
    """
    replace_together([(path, content)])


def replace_together(files, outdated=()):
    """Writes [(path, content)] as `replace` does, all of them or none; the last one decides.

    The others get their names before the last and are to have names that the last file of before does not speak of.
    Then the files `outdated` are removed. Whoever reads the last file first finds all that is new or all that was
    there, wherever the process is killed.
    """
    _native.replace_files([(os.fsencode(path), _pieces(content)) for path, content in files],
                          [os.fsencode(path) for path in outdated])
