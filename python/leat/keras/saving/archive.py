"""Reading the zip archives that `.keras` files are, and folders of the same members: into memory, none onto a disk.

Before a member is read the directory is looked at as a whole: its length, names that stand twice, members that lie over
each other, ways of packing that Keras does not use. A member is unpacked in pieces, as far as the directory says.
Failures: ValueError that names the file and the member. An archive belongs to one thread.
"""

import io
import os
import zipfile
import zlib

from leat._files import limits, places

_END, _LOCATOR, _END64 = b"PK\x05\x06", b"PK\x06\x07", b"PK\x06\x06"
_PER_MEMBER = 256  # bytes of the directory, with room for a name
_LOCAL_HEADER = 30  # bytes, its name left out
_ENCRYPTED = 1
_PIECE = 1 << 20
_UNREADABLE = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError, KeyError,
               zlib.error, MemoryError, UnicodeError)


def _directory_bytes(file):
    """How long the directory says that it is; 0 where none is found."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - (1 << 16) - 22))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0:
        return 0
    told = int.from_bytes(tail[at + 12:at + 16], "little")
    if at >= 20 and tail[at - 20:at - 16] == _LOCATOR:
        file.seek(min(int.from_bytes(tail[at - 12:at - 4], "little"), size))
        record = file.read(56)
        if record[:4] == _END64:
            return int.from_bytes(record[40:48], "little")
    return told


class Archive:
    """An open archive. `source`: a path, or what can be read and seeked; `where` names it in errors."""

    def __init__(self, source, where):
        self.where = where
        self._bytes = places.opened(source) if isinstance(source, (str, os.PathLike)) else source
        self._owns = self._bytes is not source
        try:
            limits.check("members", _directory_bytes(self._bytes) // _PER_MEMBER, where, "the directory's members")
            self._zip = zipfile.ZipFile(self._bytes)
            self._check_directory()
        except BaseException as error:
            self._close_bytes()
            if isinstance(error, _UNREADABLE) and not isinstance(error, limits.LimitError):
                raise ValueError(f"{where} is not a `.keras` file: {error}") from None
            raise

    def _close_bytes(self):
        if self._owns:
            self._bytes.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._zip.close()
        self._close_bytes()

    def _check_directory(self):
        members = sorted(self._zip.infolist(), key=lambda one: one.header_offset)
        limits.check("members", len(members), self.where, "members of the archive")
        names = set()
        for member, behind in zip(members, [*members[1:], None]):
            if member.filename in names:
                raise ValueError(f"{member.filename[:80]!r} is in it twice")
            names.add(member.filename)
            end = member.header_offset + _LOCAL_HEADER + len(member.orig_filename) + member.compress_size
            if end > (self._zip.start_dir if behind is None else behind.header_offset):
                raise ValueError(f"{member.filename[:80]!r} lies over what is behind it")

    def names(self):
        """The names of the members."""
        return self._zip.namelist()

    def read(self, name, is_text=False):
        """The bytes of a member. ValueError where it is missing or damaged, or would fill the memory out of little."""
        try:
            told = self._zip.getinfo(name)
            if told.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or told.flag_bits & _ENCRYPTED:
                raise ValueError(f"it is encrypted, or packed by the method {told.compress_type}; a `.keras` file has "
                                 "members as they are, or deflated")
            limits.check("json_bytes" if is_text else "total_bytes", told.file_size, self.where, f"bytes of {name}")
            # What text becomes takes some ten times its bytes.
            limits.check_unpacked(told.file_size, told.compress_size, self.where, name, 1 << 22 if is_text else None)
            out = io.BytesIO()
            with self._zip.open(told) as member:
                while piece := member.read(_PIECE):
                    out.write(piece)
            if out.tell() != told.file_size:
                raise ValueError(f"it has {out.tell()} bytes; the directory says {told.file_size}")
            return out.getvalue()
        except limits.LimitError:
            raise
        except _UNREADABLE as error:
            raise ValueError(f"{self.where}: {name} in it cannot be read: {error}") from None


class Folder:
    """The same of a folder with the members as files."""

    def __init__(self, path):
        self.where = path

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def names(self):
        """The names of the members."""
        return [name.replace(os.sep, "/") for name in places.below(self.where)]

    def read(self, name, is_text=False):
        """The bytes of a member. ValueError where it is missing, or would fill the memory."""
        path = os.path.join(self.where, *name.split("/"))
        try:
            limits.check("json_bytes" if is_text else "total_bytes", places.size(path), self.where,
                         f"bytes of {name}")
            return places.content(path)
        except OSError as error:
            raise ValueError(f"{self.where}: {name} in it cannot be read: {error}") from None
