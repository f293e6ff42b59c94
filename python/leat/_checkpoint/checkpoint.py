"""``tf.train.Checkpoint``."""

import os

from leat._checkpoint import files, graph, old
from leat._checkpoint.objects import STATE, Counter, children, is_state, is_trackable, is_variable, nodes_of
from leat._checkpoint.options import written
from leat._checkpoint.restoring import InitializationOnlyStatus, LoadStatus, OldLoadStatus, Restoring, tracked
from leat._checkpoint.state import update_checkpoint_state
from leat._core.paths import anywhere as _path
from leat._core.tracking import grown
from leat.errors import DataLossError


_TRIES = 20  # at a checkpoint that is written anew again and again


class Checkpoint:
    """Saves and restores the state of iterators, variables, modules, models, optimizers, and structures of them
    (``tf.train.Checkpoint``), in TensorFlow's format.

    Checkpoint(iterator=it, step=variable).save("/tmp/ckpt") writes "/tmp/ckpt-1" and names it in the file "checkpoint"
    beside it. The attributes of `root` are saved as if they were the checkpoint's own. What a value is saved as follows
    from the attributes that lead to it. Not for several threads at once.
    """

    def __init__(self, root=None, **kwargs):
        given = {} if root is None else {"root": root}
        for name, value in {**given, **kwargs}.items():
            if not is_trackable(value):
                raise ValueError(f"`Checkpoint` was expecting {name} to be a trackable object (an iterator, a "
                                 f"variable, a module, a checkpoint, or a list or dictionary of them), got {value!r}.")
        self.__dict__["_tracked_by_name"] = {**given, **{name: tracked(kwargs[name]) for name in sorted(kwargs)}}
        self.__dict__["_has_root"] = root is not None
        self.__dict__["_counter"] = None

    def __getattr__(self, name):
        known = self.__dict__.get("_tracked_by_name", {})
        if name in known:
            return known[name]
        raise AttributeError(f"'Checkpoint' object has no attribute {name!r}")

    def __setattr__(self, name, value):
        if is_trackable(value):
            self._tracked_by_name[name] = tracked(value)
            grown(self)
        else:
            self.__dict__[name] = value

    def __delattr__(self, name):
        if name in self._tracked_by_name:
            del self._tracked_by_name[name]
        else:
            super().__delattr__(name)

    def _checkpoint_children(self):
        own = dict(self._tracked_by_name)
        found = []
        if self._has_root and not is_variable(own["root"]) and not is_state(own["root"]):
            root = own.pop("root")
            found = [*children(root), ("root", self)]
        counter = [] if self._counter is None else [("save_counter", self._counter)]
        return [*found, *own.items(), *counter]

    @property
    def save_counter(self):
        """How many times `save` was called; saved too."""
        if self._counter is None:
            self.__dict__["_counter"] = Counter()
            grown(self)
        return self._counter

    def write(self, file_prefix, options=None):
        """Writes a checkpoint of exactly this name; returns the name. One of that name stays until the new is whole."""
        prefix = _path(file_prefix)
        nodes = nodes_of(self)
        tensors = [(node.key, node.tensor()) for node in nodes if node.attribute is not None]
        if any(node.attribute == STATE for node in nodes):
            tensors.append((graph.OWN_KEY, files.text_tensor(graph.encode(nodes, is_own=True))))
        files.write(prefix, [*tensors, (graph.KEY, files.text_tensor(graph.encode(nodes)))])
        written(options, prefix)
        return prefix

    def save(self, file_prefix, options=None):
        """Writes a checkpoint named `file_prefix` and a number that counts up; returns the name."""
        prefix = _path(file_prefix)
        self.save_counter.assign_add(1)
        path = self.write(f"{prefix}-{int(self.save_counter)}", options)
        update_checkpoint_state(os.path.dirname(path) or ".", path)
        files.remove_leftovers(prefix)
        return path

    def read(self, save_path, options=None):
        """Restores what `write` wrote; objects that are not in the checkpoint stay as they are, and those that become
        attributes later, of this object or of one below it, are restored then."""
        tries = _TRIES
        while True:
            file = files.open_checkpoint(_path(save_path))
            if isinstance(file, old.OldFile):
                return OldLoadStatus(*old.restore(self, file))
            tries -= 1
            try:
                restoring = Restoring(file)
                restoring.start(self)
                return LoadStatus(self, restoring, self._counter)
            except DataLossError:
                # One that another process writes anew, or removes, while it is read; nothing was set yet.
                if not file.is_replaced() or not tries:
                    raise

    def restore(self, save_path, options=None):
        """Restores what `save` or `write` wrote; NotFoundError where there is none. None: does nothing."""
        if isinstance(save_path, (list, tuple)) or save_path is None:
            return InitializationOnlyStatus()
        status = self.read(save_path, options)
        status._counter = self.save_counter
        return status

    def sync(self):
        """Waits for checkpoints that are being written; there are none."""
