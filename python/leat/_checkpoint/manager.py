"""``tf.train.CheckpointManager``."""

import contextlib
import os
import time
import warnings

from leat._checkpoint import files
from leat._checkpoint.state import whole_state, write_state
from leat._core.paths import anywhere
from leat._files import places


class CheckpointManager:
    """Keeps the latest checkpoints in a folder (``tf.train.CheckpointManager``).

    `keep_checkpoint_every_n_hours`: one that would be removed stays for ever where it is so much newer than the one
    that stayed before. Whenever the process is killed, the folder's latest checkpoint that was saved whole is found
    again.
    """

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt",
                 step_counter=None, checkpoint_interval=None, init_fn=None):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self.checkpoint = checkpoint
        self.directory = anywhere(directory)
        self.checkpoint_interval = checkpoint_interval
        self._keep, self._every_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self.directory, os.fsdecode(checkpoint_name))
        self._step_counter, self._init_fn, self._last_step = step_counter, init_fn, None
        self._stamps, self._latest = {}, None  # the active checkpoints, oldest first: when they were saved
        with contextlib.suppress(OSError):  # a folder that is not there yet, or may only be read
            files.remove_leftovers(self._prefix, least_age=60)
        now = time.time()
        self._preserved = now - 1.0  # when the one was saved that stays for ever
        state = whole_state(self.directory)
        if state is not None:
            self._take_over(state, now)

    def _take_over(self, state, now):
        """Goes on with the checkpoints of an earlier process."""
        self._latest, self._preserved = state.model_checkpoint_path, state.last_preserved_timestamp
        if now < self._preserved:
            warnings.warn("time seems to have reversed itself; the time of the last preserved checkpoint is taken as "
                          "now", stacklevel=3)
            self._preserved = now
        stamps = state.all_model_checkpoint_timestamps
        if len(stamps) != len(state.all_model_checkpoint_paths):
            # Without times, as older files are, all are active.
            stamps, self._preserved = [now] * len(state.all_model_checkpoint_paths), min(self._preserved, now - 1.0)
        for path, stamp in zip(state.all_model_checkpoint_paths, stamps):
            if min(stamp, now) > self._preserved and places.exists(path + ".index"):
                self._stamps[path] = min(stamp, now)

    @property
    def checkpoints(self):
        """The names of the checkpoints that are kept, oldest first."""
        return list(self._stamps)

    @property
    def latest_checkpoint(self):
        """The name of the newest checkpoint; None where there is none."""
        return self._latest

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Writes the next checkpoint, deletes those that are too many; its name, or None where it is not due."""
        if self.checkpoint_interval is not None and check_interval:
            step = int(self._step_counter.numpy())
            if self._last_step is not None and step < self._last_step + self.checkpoint_interval:
                return None
            self._last_step = step
        self.checkpoint.save_counter.assign_add(1)
        number = int(self.checkpoint.save_counter if checkpoint_number is None else checkpoint_number)
        path = self.checkpoint.write(f"{self._prefix}-{number}", options)
        self._stamps.pop(path, None)
        self._stamps[path] = time.time()
        self._latest = path
        self._write_state()  # before others go, so that it never names one that is gone
        if self._sweep():
            self._write_state()
        files.remove_leftovers(self._prefix)
        return path

    def _write_state(self):
        write_state(self.directory, self._latest, list(self._stamps), self._stamps.values(), self._preserved)

    def _sweep(self):
        """Removes those that are too many; were there any?"""
        changed = False
        while self._keep is not None and len(self._stamps) > self._keep:
            path = next(iter(self._stamps))
            stamp = self._stamps.pop(path)
            changed = True
            if self._every_hours and stamp - self._every_hours * 3600.0 >= self._preserved:
                self._preserved = stamp
            elif places.is_same(os.path.dirname(path) or ".", self.directory):
                files.remove(path)  # whatever a file says: nothing outside of the manager's own folder
        return changed

    def restore_or_initialize(self):
        """Restores the latest checkpoint and returns its name; else calls `init_fn` and returns None."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
            return self.latest_checkpoint
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self):
        """Waits for checkpoints that are being written."""
        self.checkpoint.sync()
