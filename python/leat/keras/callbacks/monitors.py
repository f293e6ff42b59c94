"""Callbacks that compare a value of the logs with the best so far."""

import os
import re
import warnings

import numpy as np

from leat._core.paths import anywhere
from leat._files import places
from leat._files.replacing import sweep_temporaries
from leat.keras import ops
from leat.keras._training.compiled import CompileMetrics
from leat.keras.callbacks.base import Callback, _rate, _rates, _say
from leat.keras.saving import files

_UP = ("Accuracy", "AUC", "Precision", "Recall", "Sensitivity", "Specificity", "IoU", "F1", "FBeta", "Cosine", "R2",
       "Positives", "Negatives")
_DOWN = ("Error", "Crossentropy", "Hinge", "Divergence", "Poisson", "LogCosh", "False")


def _direction(metric):
    """Is more or less better? None where the class does not say."""
    name = type(metric).__name__
    if getattr(metric, "_direction", None) in ("up", "down"):
        return metric._direction
    if any(word in name for word in _DOWN):
        return "down"
    return "up" if any(word in name for word in _UP) else None


class MonitorCallback(Callback):
    """The base of callbacks that compare a value of the logs with the best so far."""

    def __init__(self, monitor="val_loss", mode="auto", baseline=None, min_delta=0):
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__} mode '{mode}' is unknown, fallback to auto mode.", stacklevel=3)
            mode = "auto"
        self.monitor, self.mode, self.best, self.min_delta = monitor, mode, baseline, abs(min_delta)
        self.monitor_op = None  # ops.less or ops.greater, when it is known

    def _set_monitor_op(self):
        if self.monitor_op is not None:
            return
        name, direction = self.monitor.removeprefix("val_"), None
        if self.mode != "auto":
            direction = "down" if self.mode == "min" else "up"
        elif name == "loss":
            direction = "down"
        else:
            for metric in self.model.metrics:
                for one in metric.metrics if isinstance(metric, CompileMetrics) else [metric]:
                    direction = _direction(one) or direction if one.name == name else direction
        if direction is None:
            raise ValueError(f"{type(self).__name__} callback received monitor={self.monitor}, but Keras isn't able to "
                             "automatically determine whether that metric should be maximized or minimized. Pass "
                             "`mode='max'` in order to monitor based on the highest metric value, or pass `mode='min'` "
                             "in order to use the lowest value.")
        self.monitor_op = ops.less if direction == "down" else ops.greater

    def _is_improvement(self, value, reference):
        if reference is None:
            return True
        value, reference, least = np.float32(value), np.float32(reference), np.float32(self.min_delta)
        return bool(self.monitor_op(value + least if self.monitor_op is ops.less else value - least, reference))


class EarlyStopping(MonitorCallback):
    """Stops training where a value has not improved for `patience` epochs (``keras.callbacks.EarlyStopping``)."""

    def __init__(self, monitor="val_loss", min_delta=0, patience=0, verbose=0, mode="auto", baseline=None,
                 restore_best_weights=False, start_from_epoch=0):
        super().__init__(monitor, mode, min_delta=min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best_weights = None

    def on_train_begin(self, logs=None):
        """Starts anew."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        """Compares the epoch with the best one."""
        self._set_monitor_op()
        current = self.get_monitor_value(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._is_improvement(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._is_improvement(current, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        """Restores the best weights if asked."""
        if self.stopped_epoch > 0 and self.verbose > 0:
            _say(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                _say(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)

    def get_monitor_value(self, logs):
        """The value that is watched; None and a warning where there is none."""
        logs = logs or {}
        value = logs.get(self.monitor)
        if value is None:
            warnings.warn(f"Early stopping conditioned on metric `{self.monitor}` which is not available. Available "
                          f"metrics are: {','.join(logs)}", stacklevel=2)
        return value


class ReduceLROnPlateau(MonitorCallback):
    """Lowers the learning rate where a value has not improved (``keras.callbacks.ReduceLROnPlateau``)."""

    def __init__(self, monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto", min_delta=1e-4, cooldown=0,
                 min_lr=0.0, **kwargs):
        super().__init__(monitor, mode, min_delta=min_delta)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}")
        self.factor, self.min_lr, self.patience, self.verbose = factor, min_lr, patience, verbose
        self.cooldown, self.cooldown_counter, self.wait = cooldown, 0, 0

    def on_train_begin(self, logs=None):
        """Starts anew."""
        self.best, self.cooldown_counter, self.wait = None, 0, 0

    def on_epoch_end(self, epoch, logs=None):
        """Compares the epoch with the best one, and adds the rate to the logs."""
        self._set_monitor_op()
        logs = logs if logs is not None else {}
        logs.update(_rates(self.model.optimizer))
        current = logs.get(self.monitor)
        if current is None:
            warnings.warn(f"Learning rate reduction is conditioned on metric `{self.monitor}` which is not available. "
                          f"Available metrics are: {','.join(logs)}.", stacklevel=2)
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_improvement(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            optimizer = self.model.optimizer
            reduced = [self._reduce(one, epoch) for one in getattr(optimizer, "optimizers", [optimizer])
                       if self.wait >= self.patience]
            if any(reduced):
                self.cooldown_counter, self.wait = self.cooldown, 0

    def _reduce(self, optimizer, epoch):
        rate = _rate(optimizer)
        if rate <= np.float32(self.min_lr):
            return False
        rate = max(rate * self.factor, self.min_lr)
        optimizer.learning_rate = rate
        if self.verbose > 0:
            _say(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate}.")
        return True

    def in_cooldown(self):
        """Is it too early after a change?"""
        return self.cooldown_counter > 0


class ModelCheckpoint(MonitorCallback):
    """Saves the model, or its weights, after epochs or batches (``keras.callbacks.ModelCheckpoint``).

    `filepath` may have places such as ``{epoch:02d}-{val_loss:.2f}``; it ends in ".weights.h5" for weights alone, in
    ".keras" for the model.
    """

    def __init__(self, filepath, monitor="val_loss", verbose=0, save_best_only=False, save_weights_only=False,
                 mode="auto", save_freq="epoch", initial_value_threshold=None):
        super().__init__(monitor, mode, initial_value_threshold)
        self.filepath, self.verbose, self.save_freq = anywhere(filepath), verbose, save_freq
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self._seen = self._epoch = 0
        self._last = None
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}. Expected save_freq are 'epoch' or integer values")
        if save_weights_only and not self.filepath.endswith((".weights.h5", ".safetensors")):
            raise ValueError("When using `save_weights_only=True` in `ModelCheckpoint`, the filepath provided must end "
                             f"in `.weights.h5` (Keras weights format). Received: filepath={self.filepath}")
        if not save_weights_only and not self.filepath.endswith(".keras"):
            raise ValueError("The filepath provided must end in `.keras` (Keras model format). Received: "
                             f"filepath={self.filepath}")

    def on_epoch_begin(self, epoch, logs=None):
        """Notes the epoch."""
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        """Saves after every `save_freq` batches."""
        if self.save_freq == "epoch":
            return
        self._seen += batch + 1 if self._last is None or batch <= self._last else batch - self._last
        self._last = batch
        if self._seen >= self.save_freq:
            self._seen = 0
            self._save(self._epoch, batch, logs or {})

    def on_epoch_end(self, epoch, logs=None):
        """Saves after an epoch."""
        if self.save_best_only:
            self._set_monitor_op()
        if self.save_freq == "epoch":
            self._save(epoch, None, logs or {})

    def on_train_begin(self, logs=None):
        """Removes what a killed training left of files whose names need not come again."""
        folder, name = os.path.split(self.filepath)
        if self._is_chief and "{" not in folder:
            sweep_temporaries(folder, "".join(".*" if at % 2 else re.escape(part)
                                              for at, part in enumerate(re.split(r"({[^{}]*})", name))))

    def _is_wanted(self, epoch, logs, path):
        if not self.save_best_only:
            if self.verbose > 0:
                _say(f"\nEpoch {epoch + 1}: saving model to {path}")
            return True
        self._set_monitor_op()
        current = logs.get(self.monitor)
        if current is None:
            warnings.warn(f"Can save best model only with {self.monitor} available.", stacklevel=4)
            return True
        if np.ndim(current) > 0:
            warnings.warn(f"Can save best model only when `monitor` is a scalar value. Received: {current}. Falling "
                          "back to `save_best_only=False`.", stacklevel=4)
            return True
        best = "None" if self.best is None else f"{self.best:.5f}"
        if not self._is_improvement(current, self.best):
            if self.verbose > 0:
                _say(f"\nEpoch {epoch + 1}: {self.monitor} did not improve from {best}")
            return False
        if self.verbose > 0:
            _say(f"\nEpoch {epoch + 1}: {self.monitor} improved from {best} to {current:.5f}, saving model to {path}")
        self.best = current
        return True

    def _save(self, epoch, batch, logs):
        values = {"epoch": epoch + 1, **({} if batch is None else {"batch": batch + 1}), **logs}
        try:
            path = self.filepath.format(**values)
        except KeyError as error:
            raise KeyError(f'Failed to format this callback filepath: "{self.filepath}". Reason: {error}') from None
        if not self._is_wanted(epoch, logs, path):
            return
        if not self._is_chief:
            files.weights_bytes(self.model)  # to read a variable may take all workers
            return
        places.make_folders(os.path.dirname(path))
        if places.is_folder(path):
            raise OSError("Please specify a non-directory filepath for ModelCheckpoint. Filepath used is an existing "
                          f"directory: {path}")
        (self.model.save_weights if self.save_weights_only else self.model.save)(path, overwrite=True)
        if self.verbose > 0:
            _say(f"\nEpoch {epoch + 1}: finished saving model to {path}")

    def _get_most_recently_modified_file_matching_pattern(self, pattern):
        """The newest file of a pattern with places."""
        folder, base = os.path.dirname(pattern), re.sub(r"{.*}", ".*", os.path.basename(pattern))
        found = [os.path.join(os.path.dirname(pattern), name) for name in places.names(folder)
                 if re.match(f"^{base}$", name)]
        return max(found, key=lambda path: (places.changed(path), path), default=None)
