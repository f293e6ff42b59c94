"""What of ``tf.distribute`` leat has not: classes by their names, each of which says so when it is made."""

from leat.errors import UnimplementedError


def absent(name, what, base=object):
    """A class that raises UnimplementedError: leat has no `what`."""
    def __init__(self, *args, **kwargs):
        raise UnimplementedError(None, None, f"{name}: leat has no {what}; use MirroredStrategy, or "
                                             "MultiWorkerMirroredStrategy for several processes")
    return type(name, (base,), {"__init__": __init__, "__module__": "leat.distribute",
                                "__doc__": f"``tf.distribute.{name}``: UnimplementedError, leat has no {what}."})


PreemptionWatcher = absent("PreemptionWatcher", "watcher of platforms: PreemptionCheckpointHandler serves")
