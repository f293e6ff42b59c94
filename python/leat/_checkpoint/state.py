"""The file "checkpoint" of a folder, which names its checkpoints, in TensorFlow's form."""

import json
import os
import re
import time
import warnings

from leat._checkpoint import files
from leat._core.paths import anywhere
from leat._files import places
from leat._files.replacing import replace_together
from leat.errors import DataLossError, OpError

NAME = "checkpoint"
_POLL = 1.0  # seconds from one look into a folder to the next
_LINE = re.compile(r"\s*(\w+)\s*:\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[-+.\w]+)\s*")
_BYTES = re.compile("[\udc80-\udcff]")  # which are no UTF-8, as os.fsdecode has them
_ESCAPES = {"n": 10, "r": 13, "t": 9, "\\": 92, '"': 34, "'": 39}


class CheckpointState:
    """Which checkpoints a folder has (``tf.train.get_checkpoint_state``'s result)."""

    def __init__(self, model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps=(),
                 last_preserved_timestamp=0.0):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.all_model_checkpoint_timestamps = list(all_model_checkpoint_timestamps)
        self.last_preserved_timestamp = last_preserved_timestamp


def write_state(directory, path, paths, timestamps=(), preserved=None, filename=NAME):
    """Writes the file; paths in it are those from the folder. Its text is UTF-8 whatever the names are."""
    def line(field, name):
        quoted = json.dumps(places.relative(name, directory), ensure_ascii=False)
        return f"{field}: {_BYTES.sub(lambda found: f'{chr(92)}{ord(found[0]) - 0xdc00:03o}', quoted)}\n"
    text = line("model_checkpoint_path", path)
    text += "".join(line("all_model_checkpoint_paths", name) for name in paths)
    text += "".join(f"all_model_checkpoint_timestamps: {stamp!r}\n" for stamp in timestamps)
    text += "" if preserved is None else f"last_preserved_timestamp: {preserved!r}\n"
    replace_together([(os.path.join(directory, filename), text.encode())])  # the names are those of this folder


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
                            all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """Writes the file that names a folder's latest checkpoint (``tf.train.update_checkpoint_state``)."""
    save_dir, model_checkpoint_path = anywhere(save_dir), anywhere(model_checkpoint_path)
    paths = [anywhere(path) for path in all_model_checkpoint_paths or []]
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    stamps = list(all_model_checkpoint_timestamps or [])
    if stamps and len(stamps) != len(paths):
        raise ValueError("`all_model_checkpoint_timestamps`, if provided, must match length of "
                         f"`all_model_checkpoint_paths`: found {len(stamps)} and {len(paths)}.")
    write_state(save_dir, model_checkpoint_path, paths, stamps, last_preserved_timestamp, latest_filename or NAME)


def _text(quoted):
    """A quoted text of protobuf's text form."""
    out, at = bytearray(), 1
    while at < len(quoted) - 1:
        if quoted[at] != "\\":
            out += quoted[at].encode("utf-8", "surrogateescape")
            at += 1
            continue
        number = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4}))").match(quoted, at)
        if number is None:
            out.append(_ESCAPES[quoted[at + 1]])
            at += 2
        else:
            octal, hexadecimal, wide = number.groups()
            out += (chr(int(wide, 16)).encode() if wide else
                    bytes([int(octal, 8) if octal else int(hexadecimal, 16)]))
            at = number.end()
    return out.decode("utf-8", "surrogateescape")


def _fields(path, text):
    """[(field, value)] of the file's text; DataLossError where it is no such text."""
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _LINE.match(text, at)
        try:
            if match is None:
                raise ValueError
            value = match.group(2)
            found.append((match.group(1), _text(value) if value[0] in "\"'" else float(value)))
        except (ValueError, KeyError, OverflowError):
            raise DataLossError(None, None, f"{path} is damaged at byte {at}: expected lines such as "
                                'model_checkpoint_path: "ckpt-1"; remove it, or write it anew by '
                                "leat.train.update_checkpoint_state") from None
        at = match.end()
    return found


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a folder; None where there is none. DataLossError, with its name, for a damaged file."""
    directory = anywhere(checkpoint_dir)
    path = os.path.join(directory, latest_filename or NAME)
    try:
        text = places.content(path).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return None
    known = {"model_checkpoint_path": [], "all_model_checkpoint_paths": [], "all_model_checkpoint_timestamps": [],
             "last_preserved_timestamp": []}
    for field, value in _fields(path, text):
        if field in known:
            if isinstance(value, str) is not field.endswith(("path", "paths")):
                raise DataLossError(None, None, f"{path} is damaged: {field} is {value!r}")
            known[field].append(places.joined(directory, value) if isinstance(value, str) else value)
    if not known["model_checkpoint_path"]:
        raise DataLossError(None, None, f"{path} is damaged: it has no model_checkpoint_path")
    return CheckpointState(known["model_checkpoint_path"][0], known["all_model_checkpoint_paths"],
                           known["all_model_checkpoint_timestamps"], (known["last_preserved_timestamp"] or [0.0])[0])


def _is_whole(path):
    try:
        return files.open_checkpoint(path).is_whole()
    except (OpError, OSError):
        return False


def newest_whole(directory):
    """The newest checkpoint in a folder that is whole; None: there is none."""
    found = []
    for name in places.names(directory):
        if name.endswith(".index"):
            path = os.path.join(directory, name)
            number = re.search(r"-(\d+)\.index$", name)
            found.append((places.changed(path), int(number.group(1)) if number else -1, path[:-len(".index")]))
    return next((path for *_, path in sorted(found, reverse=True) if _is_whole(path)), None)


def whole_state(directory, latest_filename=None):
    """The CheckpointState of a folder, whose latest checkpoint is whole; None: it has none. Where the file is damaged,
    or names one that is gone or damaged, the newest whole one stands in, and a warning says so."""
    try:
        state = get_checkpoint_state(directory, latest_filename)
        if state is None:
            return None
        if _is_whole(state.model_checkpoint_path):
            return state
        reason = f"{state.model_checkpoint_path}, which the file names as the latest, is gone or damaged"
    except DataLossError as error:
        state, reason = None, str(error)
    found = newest_whole(directory)
    warnings.warn(f"{os.path.join(directory, latest_filename or NAME)}: {reason}. "
                  + (f"{found} is taken in its place." if found else "The folder has no other checkpoint."),
                  stacklevel=3)
    if found is None:
        return None
    if state is None:
        return CheckpointState(found, [found], [time.time()])
    pairs = list(zip(state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps
                     or [state.last_preserved_timestamp] * len(state.all_model_checkpoint_paths)))
    pairs = [pair for pair in pairs if pair[0] not in (found, state.model_checkpoint_path)]
    pairs.append((found, places.changed(found + ".index") / 1e9))
    return CheckpointState(found, [path for path, _ in pairs], [stamp for _, stamp in pairs],
                           state.last_preserved_timestamp)


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The name of a folder's latest checkpoint; None where there is none. Where the one that the file "checkpoint"
    names is gone or damaged, the newest whole one, with a warning."""
    state = whole_state(anywhere(checkpoint_dir), latest_filename)
    return None if state is None else state.model_checkpoint_path


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Gives the names of a folder's latest checkpoints as they come, each once (``tf.train.checkpoints_iterator``).

    `min_interval_secs`: the least time from one to the next. `timeout`: seconds to wait for the next one, None for
    ever; then `timeout_fn` says whether that is the end, without it it is.
    """
    known = None
    while True:
        latest = _next_checkpoint(checkpoint_dir, known, timeout)
        if latest is not None:
            begin, known = time.monotonic(), latest
            yield latest
            time.sleep(max(0.0, begin + min_interval_secs - time.monotonic()))
        elif timeout_fn is None or timeout_fn():
            return


def _next_checkpoint(folder, known, timeout):
    """The folder's latest checkpoint once it is another than `known`; None where the time is over before."""
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        latest = latest_checkpoint(folder)
        if latest is not None and latest != known:
            return latest
        if end is not None and time.monotonic() + _POLL > end:
            return None
        time.sleep(_POLL)
