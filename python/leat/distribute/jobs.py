"""Jobs of several processes: how a process finds its place in one, joins it, and says why it ends."""

import json
import os
import sys
import weakref

from leat import _native
from leat._core.cluster import ClusterSpec
from leat.distribute import cluster_resolver
from leat.errors import OpError


def found_resolver():
    """The resolver of TF_CONFIG, or of the variables of another launcher where only these are there."""
    if "TF_CONFIG" not in os.environ:
        name, spec, task_type, task_id = _native.find_cluster()
        if name != "none":
            return cluster_resolver.SimpleClusterResolver(ClusterSpec(json.loads(spec)), task_type=task_type,
                                                          task_id=task_id)
    return cluster_resolver.TFConfigClusterResolver()


def program():
    """What tells this program from others: its file's name and a checksum of its text."""
    import zlib
    path = sys.argv[0] if sys.argv and os.path.isfile(sys.argv[0]) else None
    if path is None:
        return os.path.basename(sys.argv[0]) if sys.argv else "python"
    with open(path, "rb") as file:
        return f"{os.path.basename(path)}, checksum {zlib.crc32(file.read()):08x}"


_jobs = weakref.WeakSet()  # the strategies of several processes that live


def tell_what_ends(strategy):
    """From now on the other workers are told which exception ended this process, where nothing caught it."""
    _jobs.add(strategy)
    before = sys.excepthook
    if getattr(before, "_tells", False):
        return

    def hook(kind, error, traceback):
        for job in list(_jobs):
            job._native.abort(f"{kind.__name__}: {error}")
        before(kind, error, traceback)
    hook._tells = True
    sys.excepthook = hook


_meeting = []  # the job that this process met in last: its process, what it was made of, the library's strategy


def met(place):
    """The library's strategy of a job: that of before, where the same workers meet again, so that several strategies
    share one job; a new one after a job that failed."""
    if _meeting and _meeting[0] == (os.getpid(), place):
        try:
            _meeting[1].agree("a strategy that is made again", "")
            return _meeting[1]
        except OpError:
            pass  # that job has failed: its workers, or those in their place, meet anew
    _meeting.clear()
    native = _native.Strategy.multi_worker(*place)
    if native.place()[3] > 1:
        _meeting[:] = (os.getpid(), place), native
    return native
