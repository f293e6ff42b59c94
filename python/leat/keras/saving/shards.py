"""Weights in several HDF5 files, as Keras has them: `name.weights.json` says which of `name_00000.weights.h5` and so on
have the variables of an object.

The files get their names before the index, and these are none that the index of before has, so a reader finds all that
is new or all that was there: over `name_00000.weights.h5` come `name_00000-1.weights.h5` and so on, and over these the
first again. The index of a stranger names files of its own folder alone. Failures: ValueError, which names the index or
one of the files.
"""

import contextlib
import itertools
import json
import os
import re

from leat._files import json_text, limits
from leat._files import places as disk
from leat._files.replacing import replace_together
from leat.keras.saving import hdf5

ENDING = ".weights.json"


def write(path, items, max_shard_size):
    """Writes [(path, name, arrays)] of objects into files of `max_shard_size` GiB of values, and their index."""
    limit, size, total, shards, places = float(max_shard_size) * 1024 ** 3, 0, 0, [[]], {}
    base, used = path.removesuffix(ENDING), _used(path)
    ending = _free_ending(os.path.basename(base), used)
    for place, name, arrays in items:
        shards[-1].append((place, name, {}))
        for key, value in arrays.items():
            if value.nbytes > limit:
                raise ValueError(f"The size of {place}/{key} is {value.nbytes} bytes, which exceeds the maximum shard "
                                 f"size of {limit:.0f} bytes. You can increase the `max_shard_size` parameter to "
                                 "accommodate the size.")
            total, size = total + value.nbytes, size + value.nbytes
            if size > limit:
                shards.append([(place, name, {})])
                size = value.nbytes
            shards[-1][-1][2][key] = value
            of_place = places.setdefault(f"/{place}/vars" if place else "/vars", [])
            file = f"{os.path.basename(base)}_{len(shards) - 1:05}{ending}"
            if file not in of_place:
                of_place.append(file)
    index = json.dumps({"metadata": {"total_size": float(total)}, "weight_map": places}, indent=4)
    made = [(f"{base}_{number:05}{ending}", hdf5.content(shard)) for number, shard in enumerate(shards)]
    replace_together([*made, (path, index.encode())], _outdated(base, used, {name for name, _ in made}))


def _used(path):
    """The names of the files that an index speaks of; none where it is missing or no index."""
    with contextlib.suppress(FileNotFoundError, ValueError), Shards(path) as found:
        return {name for files in found.places.values() for name in files}
    return set()


def _free_ending(base, used):
    """An ending of files' names that no file of the index of before has."""
    for number in itertools.count():
        ending = f"-{number}.weights.h5" if number else ".weights.h5"
        if not any(re.fullmatch(re.escape(base) + r"_\d{5,}" + re.escape(ending), name) for name in used):
            return ending


def _outdated(base, used, made):
    """The files of the index of before, and what killed saves left under names that no others have."""
    folder, name = os.path.split(base)
    own, left = (re.compile(re.escape(name) + pattern) for pattern in (r"_\d{5,}(-\d+)?\.weights\.h5",
                                                                      r"_\d{5,}-\d+\.weights\.h5"))
    there = [found for found in disk.names(folder) if found in used and own.fullmatch(found) or
             left.fullmatch(found)]
    return [path for found in there if (path := os.path.join(folder, found)) not in made]


class Shards:
    """The files of an index, as one `hdf5.File`; `places`: {object: [name of a file]}."""

    def __init__(self, path):
        self.where, self._folder, self._open, self._taken = path, os.path.dirname(path), {}, [0]
        limits.check("json_bytes", disk.size(path), path, "bytes of the index")
        with disk.opened(path) as file:
            index = json_text.parse(file.read(), path, "the index")
        places = index.get("weight_map") if isinstance(index, dict) else None
        if not isinstance(places, dict):
            raise ValueError(f"{path}: the index has no weight_map of objects and their files")
        self.places = {place: files if isinstance(files, list) else [files] for place, files in places.items()}
        for place, files in self.places.items():
            if not all(isinstance(file, str) and file == os.path.basename(file) and file not in ("", ".", "..") and
                       "\0" not in file for file in files):
                raise ValueError(f"{path}: the index says that {place[:80]!r} is in {str(files)[:80]}; expected names "
                                 "of files beside it")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for file in self._open.values():
            file.__exit__(*error)

    def _files(self, place):
        """The open files with what is at a place or below it."""
        found = {}
        for known, files in self.places.items():
            if known == f"/{place}" or known.startswith(f"/{place}/"):
                found.update(dict.fromkeys(files))
        for name in found:
            if name not in self._open:
                path = os.path.join(self._folder, name)
                if not disk.exists(path):
                    raise FileNotFoundError(f"{self.where}: the file {name!r}, which the index names, is not beside it")
                self._open[name] = hdf5.File(path, path, self._taken).__enter__()
        return [self._open[name] for name in found]

    def group(self, place):
        """What the files have at "a/b/c", together; None where there is nothing."""
        groups = [group for group in (file.group(place) for file in self._files(place)) if group is not None]
        return _Together(groups) if groups else None


class _Together:
    """Groups of several files as one."""

    def __init__(self, groups):
        self._groups, self.count = groups, sum(group.count for group in groups)

    def names(self):
        """The names of the members of all."""
        return [name for group in self._groups for name in group.names()]

    def array(self, name):
        """The array of a name, of the first that has it; None where none has."""
        return next((array for array in (group.array(name) for group in self._groups) if array is not None), None)
