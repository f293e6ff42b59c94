"""``tf.distribute.experimental.PreemptionCheckpointHandler``: a checkpoint when a machine is about to be taken away."""

import contextlib
import logging
import os
import signal
import sys
import threading
import time

from leat import dtypes, gfile
from leat._checkpoint.objects import nodes_of
from leat._core.paths import anywhere
from leat._structures.variables import Variable
from leat.distribute import agreement
from leat.errors import InvalidArgumentError, OpError
from leat.train import Checkpoint, CheckpointManager

_RESTART = 42  # the exit status of a program that wants to be started again, TensorFlow's
_CALM, _TOLD, _LEAVING = range(3)


def _log(text, *args):
    logging.getLogger("leat").info(text, *args)


class TerminationConfig:
    """How a program learns that it has to end, and how it ends (``tf.distribute.experimental.TerminationConfig``).

    `termination_watcher_fn`: asked once a second, true when the end is near; without one it is the signal SIGTERM.
    `exit_fn`: called when the checkpoint is saved, ``sys.exit(42)`` by default. `grace_period`: seconds from being
    told to the end, in which training goes on. `save_fn`: saves in place of the checkpoint's manager.
    """

    def __init__(self, termination_watcher_fn=None, exit_fn=None, grace_period=None, save_fn=None):
        self.termination_watcher_fn, self.exit_fn = termination_watcher_fn, exit_fn
        self.grace_period, self.save_fn = grace_period, save_fn


class PreemptionCheckpointHandler:
    """Saves a checkpoint and ends the program when it is told to end (``PreemptionCheckpointHandler``).

    `cluster_resolver`: the strategy's, None for a strategy of one process. `checkpoint_or_checkpoint_manager`: what is
    saved, a Checkpoint with a `checkpoint_dir`, or a CheckpointManager. The latest checkpoint is restored at once.
    Steps of training go through `run`, or are followed by `save_checkpoint_if_preempted`; of several workers all save
    after the same step, whichever was told, and the chief's checkpoint stays. Make it in the main thread, which alone
    may wait for signals. InvalidArgumentError for a checkpoint without a folder.
    """

    def __init__(self, cluster_resolver, checkpoint_or_checkpoint_manager, checkpoint_dir=None,
                 termination_config=None):
        given = checkpoint_or_checkpoint_manager
        if isinstance(given, Checkpoint) and not checkpoint_dir:
            raise InvalidArgumentError(None, None, "When a checkpoint is passed, a checkpoint_dir must be passed as "
                                       "well.")
        config = termination_config or TerminationConfig()
        self._exit, self._save_fn = config.exit_fn or (lambda: sys.exit(_RESTART)), config.save_fn
        self._grace = config.grace_period or 0
        strategy = getattr(cluster_resolver, "_leat_strategy", None)
        strategy = strategy() if strategy is not None else None
        self._strategy = strategy if strategy is not None and strategy._workers > 1 else None
        self._is_chief = self._strategy is None or self._strategy.extended.should_checkpoint
        self._own_folder = None
        if isinstance(given, CheckpointManager):
            self._reader = self._writer = given
        else:
            self._reader = self._writer = CheckpointManager(given, checkpoint_dir, max_to_keep=1)
            if not self._is_chief:
                self._own_folder = os.path.join(anywhere(checkpoint_dir), f"workertemp_{cluster_resolver.task_id}")
                self._writer = CheckpointManager(given, self._own_folder, max_to_keep=1)
        self._runs = Variable(0, dtype=dtypes.int64, trainable=False, name="checkpointed_runs")
        self._reader.checkpoint.checkpointed_runs = self._runs
        self._reader.restore_or_initialize()
        self._count = int(self._runs.numpy())
        self._told = threading.Event()
        self._told_at = self._leaves_at = 0.0
        self._is_counting_down, self._seconds_of_run = False, 0.0
        self._done = threading.Event()
        if config.termination_watcher_fn is None:
            signal.signal(signal.SIGTERM, lambda number, frame: self._tell())
        else:
            threading.Thread(target=self._watch, args=(config.termination_watcher_fn,), daemon=True).start()

    def _tell(self):
        if not self._told.is_set():
            self._told_at = time.monotonic()
            self._told.set()

    def _watch(self, is_told):
        while not is_told():
            if self._done.wait(1):
                return
        self._tell()

    @property
    def total_run_calls(self):
        """How often `run` was called, earlier programs' calls that a checkpoint knows of included."""
        return self._count

    def run(self, distributed_train_function, *args, **kwargs):
        """What ``distributed_train_function(*args, **kwargs)`` gives, a step of training; before it, when the program
        was told to end, saves and ends."""
        self._check()
        begin = time.monotonic()
        result = distributed_train_function(*args, **kwargs)
        self._count += 1
        self._seconds_of_run += (time.monotonic() - begin - self._seconds_of_run) / self._count
        return result

    def save_checkpoint_if_preempted(self, *args, **kwargs):
        """Saves and ends when the program was told to; all workers call it after as many steps. The arguments are
        `save`'s."""
        self._check(*args, **kwargs)
        self._count += 1

    @contextlib.contextmanager
    def watch_preemption_scope(self):
        """A block for steps that are not given to `run`; what happens in it happens as outside."""
        yield

    # ---- when it is time ----

    def _state(self):
        """What this worker knows, and what all do: the utmost of it."""
        mine = _CALM if not self._told.is_set() else _TOLD
        if mine == _TOLD and self._is_counting_down and time.monotonic() >= self._leaves_at:
            mine = _LEAVING
        return mine if self._strategy is None else max(self._strategy._native.exchange([mine]))

    def _check(self, *args, **kwargs):
        state = self._state()
        if state == _CALM or state == _TOLD and self._is_counting_down:
            return
        self._save(*args, **kwargs)
        if state == _TOLD and self._grace > 0:
            _log("PreemptionCheckpointHandler: training goes on for the grace period")
            self._is_counting_down = True
            self._leaves_at = self._told_at + self._grace - 6 * self._seconds_of_run
            return
        self._done.set()
        if self._strategy is not None:
            self._strategy._native.exchange([0])  # nobody leaves before all have saved
        if self._own_folder is not None:
            with contextlib.suppress(OpError):
                gfile.rmtree(self._own_folder)
        _log("PreemptionCheckpointHandler: checkpoint saved. Exiting.")
        self._exit()

    def _save(self, *args, **kwargs):
        if self._strategy is not None:
            found = [node.value for node in nodes_of(self._reader.checkpoint) if isinstance(node.value, Variable)]
            agreement.compare_values(self._strategy, agreement.updated_together(found), "in the checkpoint")
        self._runs.assign(self._count)
        (self._save_fn or self._writer.save)(*args, **kwargs)
