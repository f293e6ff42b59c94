"""``keras.utils.get_file``: downloads, which are kept, checked and taken apart.

A file or folder has its final name only when it is whole. Nothing of an archive lands outside of its folder.
"""

import contextlib
import hashlib
import mmap
import os
import shutil
import tempfile
import warnings

from leat import _native
from leat._files import replacing
from leat.errors import UnimplementedError
from leat.keras.config import is_interactive_logging_enabled
from leat.utils import Progbar

_CHUNK = 1 << 16
_PATIENCE = 60  # seconds that a server may say nothing


def get_file(fname=None, origin=None, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets",
             hash_algorithm="auto", extract=False, archive_format="auto", cache_dir=None, force_download=False):
    """The path of a file that is downloaded unless it is there (``keras.utils.get_file``): http, https or file.

    It is kept in `cache_dir`/`cache_subdir` (~/.keras, or what KERAS_HOME says) as `fname`, else the last part of
    `origin`. `file_hash`: its SHA-256 or MD5. `extract`: an archive, tar or zip, is taken apart, and the path is the
    folder's. ValueError for a file with another hash, OSError where it cannot be fetched.
    """
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    given = fname = os.fspath(fname) if fname is not None else None
    fname = fname or _name_in(origin)
    if os.sep in fname:
        raise ValueError("Paths are no longer accepted as the `fname` argument. To specify the file's parent "
                         f"directory, use the `cache_dir` argument. Received: fname={fname}")
    folder = _folder(cache_dir, cache_subdir)
    extract = extract or untar
    if extract and given and "." in fname:
        target, parts = os.path.join(folder, fname), os.path.join(folder, f"{fname[:fname.find('.')]}_extracted")
    elif extract:
        target, parts = os.path.join(folder, f"{fname}_archive"), os.path.join(folder, fname)
    else:
        target, parts = os.path.join(folder, fname), None
    is_new = force_download or not _is_there(target, file_hash, hash_algorithm)
    if is_new:
        _download(origin, target, file_hash, hash_algorithm)
    if parts is not None and (is_new or not os.path.isdir(parts)):
        _take_apart(target, parts, "tar" if untar else archive_format)
    return target if parts is None else parts


def _name_in(origin):
    from urllib.parse import urlsplit
    name = os.path.basename(urlsplit(origin).path)
    if not name:
        raise ValueError(f"Can't parse the file name from the origin provided: '{origin}'. Please specify the `fname` "
                         "argument.")
    return name


def _folder(cache_dir, cache_subdir):
    """Where files are kept; below /tmp where nothing can be written there."""
    base = os.path.expanduser(cache_dir or os.environ.get("KERAS_HOME") or os.path.join("~", ".keras"))
    with contextlib.suppress(OSError):
        os.makedirs(base, exist_ok=True)
    if not os.access(base, os.W_OK):
        base = os.path.join(tempfile.gettempdir(), ".keras")
    folder = os.path.join(base, cache_subdir)
    os.makedirs(folder, exist_ok=True)
    return folder


# ---- hashes ----

def _hash(file, wanted, algorithm):
    """The hash of an open file, of the sort that is wanted."""
    is_long = algorithm == "sha256" or algorithm == "auto" and len(wanted) == 64
    found = hashlib.sha256() if is_long else hashlib.md5(usedforsecurity=False)
    file.seek(0)
    for chunk in iter(lambda: file.read(_CHUNK), b""):
        found.update(chunk)
    return found.hexdigest()


def _is_there(path, file_hash, algorithm):
    if not os.path.exists(path):
        return False
    if file_hash is None:
        return True
    with open(path, "rb") as file:
        if _hash(file, file_hash, algorithm) == str(file_hash):
            return True
    _say(f"A local file was found, but it seems to be incomplete or outdated because the {algorithm} file hash does "
         f"not match the original value of {file_hash} so we will re-download the data.")
    return False


def _say(text):
    if is_interactive_logging_enabled():
        print(text)


# ---- fetching ----

def _download(origin, target, file_hash, algorithm):
    """Fetches a file: first without a name, then, whole and checked, under its own."""
    _say(f"Downloading data from {origin}")
    with tempfile.TemporaryFile(dir=os.path.dirname(target)) as file:
        _fetch(origin, file)
        if file_hash is not None and _hash(file, file_hash, algorithm) != str(file_hash):
            raise ValueError(f"Incomplete or corrupted file detected. The {algorithm} file hash does not match the "
                             f"provided value of {file_hash}.")
        file.flush()
        if os.fstat(file.fileno()).st_size == 0:
            replacing.replace(target, b"")
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            replacing.replace(target, content)


def _fetch(origin, file):
    import http.client
    import urllib.error
    import urllib.request
    scheme = origin.partition("://")[0].lower() if "://" in origin else None
    if scheme not in ("http", "https", "file"):
        raise UnimplementedError(None, None, f"get_file: {origin}: expected an address that begins with http://, "
                                 "https:// or file://; fetch it by yourself and give file://, or its path to what "
                                 "reads it")
    try:
        with urllib.request.urlopen(origin, timeout=_PATIENCE) as answer:
            length = answer.headers.get("Content-Length")
            length = int(length) if length is not None and length.isdigit() else None
            found = _copy(answer, file, length)
        if length is not None and found < length:
            raise OSError(f"URL fetch failure on {origin}: {found} bytes came, expected {length}")
    except urllib.error.HTTPError as error:
        raise OSError(f"URL fetch failure on {origin}: {error.code} -- {error.msg}") from None
    except urllib.error.URLError as error:
        raise OSError(f"URL fetch failure on {origin}: {error.errno} -- {error.reason}; without a net, put the file "
                      "into the folder of the cache by yourself") from None
    except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise OSError(f"URL fetch failure on {origin}: {type(error).__name__} -- {error}") from None


def _copy(answer, file, length):
    """Copies what comes, with a bar of progress; how many bytes."""
    bar = Progbar(length, unit_name="byte", verbose=1 if is_interactive_logging_enabled() else 0)
    count = 0
    for chunk in iter(lambda: answer.read(_CHUNK), b""):
        file.write(chunk)
        count += len(chunk)
        bar.update(count, finalize=count == length)
    return count


# ---- archives ----

def _take_apart(path, folder, archive_format):
    """The parts of an archive in a folder, which appears whole."""
    import tarfile
    import zipfile
    formats = ("tar", "zip") if archive_format == "auto" else archive_format or ()
    formats = (formats,) if isinstance(formats, str) else formats
    known = {"tar": (tarfile.is_tarfile, tarfile.open, _tar), "zip": (zipfile.is_zipfile, zipfile.ZipFile, _zip)}
    for name in formats:
        if name not in known:
            raise NotImplementedError(name)
        matches, opened, extract = known[name]
        if matches(path):
            beside = tempfile.mkdtemp(prefix=".leat-", dir=os.path.dirname(folder))
            try:
                with opened(path) as archive:
                    extract(archive, beside)
                _swap(beside, folder)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
            return
    warnings.warn("Could not extract archive.", stacklevel=4)


def _swap(new, folder):
    """Gives a folder its name; what had it before goes."""
    os.chmod(new, 0o777 & ~_umask())
    with contextlib.suppress(OSError):  # where two names cannot be exchanged
        _native.replace_folder(os.fsencode(new), os.fsencode(folder))
        return
    if os.path.lexists(folder):
        old = tempfile.mkdtemp(prefix=".leat-", dir=os.path.dirname(folder))
        os.rename(folder, os.path.join(old, "old"))
        os.rename(new, folder)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(new, folder)


def _umask():
    value = os.umask(0o077)
    os.umask(value)
    return value


def _lies_within(name, folder):
    folder = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(folder, name))
    return path == folder or path.startswith(folder + os.sep)


def _left_out(name):
    warnings.warn(f"Skipping invalid path during archive extraction: '{name}'.", stacklevel=6)


def _tar(archive, folder):
    import tarfile
    if not hasattr(tarfile, "data_filter"):
        raise UnimplementedError(None, None, "get_file: this Python has no filter of archives that lead out of their "
                                 "folder; expected 3.11.4 or later")

    def within(member, path):
        try:
            if _lies_within(member.name, path):
                return tarfile.data_filter(member, path)
        except tarfile.FilterError:
            pass
        _left_out(member.name)
        return None
    archive.extractall(folder, filter=within)


def _zip(archive, folder):
    for member in archive.infolist():
        if _lies_within(member.filename, folder):
            archive.extract(member, folder)
        else:
            _left_out(member.filename)
