"""The base of callbacks, and those that need no file of their own."""

import csv
import math
import os

import numpy as np

from leat._core.paths import anywhere, remote
from leat._files import places
from leat.keras import config
from leat.utils import Progbar, _write


def _say(text):
    _write(text + "\n")


def _rate(optimizer):
    rate = optimizer.learning_rate
    return float(rate.numpy() if hasattr(rate, "numpy") else rate)


def _rates(optimizer):
    """The rate, or those of several optimizers, as the logs name them."""
    several = getattr(optimizer, "optimizers", None)
    if several is None:
        return {"learning_rate": _rate(optimizer)}
    return {f"learning_rate_{one.name}": _rate(one) for one in several}


class Callback:
    """The base of callbacks (``keras.callbacks.Callback``): methods that do nothing until a subclass overrides them.

    `params` has "verbose", "epochs" and "steps". Logs are dictionaries of numbers; those of an epoch may be added to.
    """

    def __init__(self):
        self.params = None
        self._model = None

    model = property(lambda self: self._model)

    @property
    def _is_chief(self):
        """Does this process write the files? Of several that train together one does."""
        strategy = getattr(self._model, "_distribute_strategy", None)
        return strategy is None or strategy.extended.should_checkpoint

    def set_params(self, params):
        """Tells what was asked for."""
        self.params = params

    def set_model(self, model):
        """Tells the model."""
        self._model = model

    def on_batch_begin(self, batch, logs=None):
        """Before a batch of training."""

    def on_batch_end(self, batch, logs=None):
        """After a batch of training."""

    def on_epoch_begin(self, epoch, logs=None):
        """Before an epoch."""

    def on_epoch_end(self, epoch, logs=None):
        """After an epoch and its validation."""

    def on_train_batch_begin(self, batch, logs=None):
        """The same as on_batch_begin."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        """The same as on_batch_end."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch, logs=None):
        """Before a batch of evaluation or validation."""

    def on_test_batch_end(self, batch, logs=None):
        """After it."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Before a batch of prediction."""

    def on_predict_batch_end(self, batch, logs=None):
        """After it; logs have the "outputs"."""

    def on_train_begin(self, logs=None):
        """Before training."""

    def on_train_end(self, logs=None):
        """After training; logs are the last epoch's."""

    def on_test_begin(self, logs=None):
        """Before evaluation or validation."""

    def on_test_end(self, logs=None):
        """After it."""

    def on_predict_begin(self, logs=None):
        """Before prediction."""

    def on_predict_end(self, logs=None):
        """After it."""


_WITH_NUMBER = ("batch_begin", "batch_end", "epoch_begin", "epoch_end", "train_batch_begin", "train_batch_end",
                "test_batch_begin", "test_batch_end", "predict_batch_begin", "predict_batch_end")
_WITHOUT = ("train_begin", "train_end", "test_begin", "test_end", "predict_begin", "predict_end")


class CallbackList(Callback):
    """Callbacks that are called one after the other (``keras.callbacks.CallbackList``)."""

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        super().__init__()
        given = callbacks if isinstance(callbacks, (list, tuple)) else [] if callbacks is None else [callbacks]
        self.callbacks = [one for item in given for one in (item if isinstance(item, (list, tuple)) else [item])]
        self._history = next((one for one in self.callbacks if isinstance(one, History)), None)
        if self._history is None and add_history:
            self._history = History()
            self.callbacks.append(self._history)
        if add_progbar and not any(isinstance(one, ProgbarLogger) for one in self.callbacks):
            self.callbacks.append(ProgbarLogger())
        if model is not None:
            self.set_model(model)
        if params:
            self.set_params(params)

    def append(self, callback):
        """Adds a callback."""
        self.callbacks.append(callback)

    def set_params(self, params):
        """Hands on what was asked for."""
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        """Hands on the model, which gets the history."""
        super().set_model(model)
        if self._history is not None:
            model.history = self._history
        for callback in self.callbacks:
            callback.set_model(model)


    def _hears_batches(self, kind):
        """Does anything happen at the batches of "train", "test" or "predict", if this is asked before an epoch?"""
        parts = ("train_", "") if kind == "train" else (f"{kind}_",)
        names = [f"on_{part}batch_{place}" for part in parts for place in ("begin", "end")]
        return _overrides(self, CallbackList, names) or any(_overrides(one, Callback, names) for one in self.callbacks)


def _overrides(callback, base, names):
    own = getattr(callback, "__dict__", {})
    return any(name in own or getattr(type(callback), name, None) is not getattr(base, name) for name in names)


def _to_all(name, has_number):
    if has_number:
        def call(self, number, logs=None):
            logs = logs if logs is not None else {}
            for callback in self.callbacks:
                getattr(callback, name)(number, logs=logs)
    else:
        def call(self, logs=None):
            logs = logs if logs is not None else {}
            for callback in self.callbacks:
                getattr(callback, name)(logs)
    call.__name__, call.__doc__ = name, "Calls it of all callbacks."
    return call


for _name in _WITH_NUMBER + _WITHOUT:
    setattr(CallbackList, f"on_{_name}", _to_all(f"on_{_name}", _name in _WITH_NUMBER))


class History(Callback):
    """What `fit` gives back: `history` {name: numbers of the epochs}, `epoch` their numbers."""

    def __init__(self):
        super().__init__()
        self.history = {}

    def on_train_begin(self, logs=None):
        """Starts the list of epochs."""
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        """Notes an epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        self.model.history = self


class ProgbarLogger(Callback):
    """Prints a progress bar, or a line per epoch (``keras.callbacks.ProgbarLogger``)."""

    def __init__(self):
        super().__init__()
        self.seen, self.progbar, self.target, self.verbose, self.epochs = 0, None, None, 1, 1
        self._in_fit = False

    def set_params(self, params):
        """Takes verbosity, epochs and steps."""
        self.verbose = int(params["verbose"]) if params["verbose"] != "auto" else (
            1 if config.is_interactive_logging_enabled() else 2)
        self.epochs, self.target = params["epochs"], params["steps"]

    def on_train_begin(self, logs=None):
        """From here on validation is silent."""
        self._in_fit = True

    def on_test_begin(self, logs=None):
        """A new bar, outside of `fit`."""
        if not self._in_fit:
            self._start()

    def on_predict_begin(self, logs=None):
        """A new bar."""
        self._start()

    def on_epoch_begin(self, epoch, logs=None):
        """A new bar below the number of the epoch."""
        self._start()
        if self.verbose and self.epochs > 1:
            _say(f"Epoch {epoch + 1}/{self.epochs}")

    def on_train_batch_end(self, batch, logs=None):
        """Moves the bar."""
        self._move(batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        """Moves the bar, outside of `fit`."""
        if not self._in_fit:
            self._move(batch, logs)

    def on_predict_batch_end(self, batch, logs=None):
        """Moves the bar."""
        self._move(batch, None)

    def on_epoch_end(self, epoch, logs=None):
        """Ends the bar with the epoch's results."""
        self._end(logs)

    def on_test_end(self, logs=None):
        """Ends the bar, outside of `fit`."""
        if not self._in_fit:
            self._end(logs)

    def on_predict_end(self, logs=None):
        """Ends the bar."""
        self._end(logs)

    def _start(self):
        self.seen = 0
        self.progbar = Progbar(self.target, verbose=self.verbose, unit_name="step", stateless_metrics=set())

    def _move(self, batch, logs):
        self.seen = batch + 1
        if self.verbose == 1:
            self.progbar.update(self.seen, list((logs or {}).items()), finalize=False)

    def _end(self, logs):
        if self.target is None:
            self.target = self.progbar.target = self.seen
        if self.target:
            self.progbar.update(self.target, list((logs or {}).items()), finalize=True)


class LambdaCallback(Callback):
    """A callback of functions (``keras.callbacks.LambdaCallback``)."""

    def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_train_begin=None, on_train_end=None,
                 on_train_batch_begin=None, on_train_batch_end=None, **kwargs):
        super().__init__()
        self.__dict__.update(kwargs)
        for name, function in (("on_epoch_begin", on_epoch_begin), ("on_epoch_end", on_epoch_end),
                               ("on_train_begin", on_train_begin), ("on_train_end", on_train_end),
                               ("on_train_batch_begin", on_train_batch_begin),
                               ("on_train_batch_end", on_train_batch_end)):
            if function is not None:
                setattr(self, name, function)


class TerminateOnNaN(Callback):
    """Stops training at a loss that is no number (``keras.callbacks.TerminateOnNaN``); `raise_error`: RuntimeError."""

    def __init__(self, raise_error=False):
        super().__init__()
        self.raise_error = raise_error

    def on_batch_end(self, batch, logs=None):
        """Looks at the loss."""
        loss = (logs or {}).get("loss")
        if loss is None or math.isfinite(loss):
            return
        if self.raise_error:
            raise RuntimeError(f"NaN or Inf loss encountered at batch {batch}. Loss value: {loss}. Terminating "
                               "training immediately.")
        _say(f"Batch {batch}: Invalid loss, terminating training")
        self.model.stop_training = True


class LearningRateScheduler(Callback):
    """Sets the rate before each epoch: ``schedule(epoch, rate)`` (``keras.callbacks.LearningRateScheduler``)."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        """Sets the rate, of each of several optimizers. ValueError where the schedule gives no float."""
        several = getattr(self.model.optimizer, "optimizers", None)
        for optimizer in several or [self.model.optimizer]:
            self._set(optimizer, epoch, f"{optimizer.name} " if several else "")

    def _set(self, optimizer, epoch, whose):
        if not hasattr(optimizer, "learning_rate"):
            raise ValueError('Optimizer must have a "learning_rate" attribute.')
        try:
            rate = self.schedule(epoch, _rate(optimizer))
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate}")
        optimizer.learning_rate = rate
        if self.verbose > 0:
            _say(f"\nEpoch {epoch + 1}: LearningRateScheduler setting {whose}learning rate to {rate}.")

    def on_epoch_end(self, epoch, logs=None):
        """Adds the rate to the logs, or those of several optimizers."""
        if logs is not None:
            logs.update(_rates(self.model.optimizer))


class CSVLogger(Callback):
    """Writes a line per epoch into a CSV file (``keras.callbacks.CSVLogger``)."""

    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.filename, self.sep, self.append = anywhere(filename), separator, append
        self.keys = self.writer = self.csv_file = None
        self.append_header = True

    def on_train_begin(self, logs=None):
        """Opens the file."""
        if not self._is_chief:
            return
        before = places.content(self.filename).decode() if self.append and places.exists(self.filename) else ""
        self.append_header = not before
        if self.csv_file is not None and not self.csv_file.closed:
            self.csv_file.close()
        self.csv_file = (places.rewritten(self.filename, before) if remote(self.filename) else
                         open(self.filename, "a" if self.append else "w", newline=""))
        self.keys = self.writer = None

    def on_epoch_end(self, epoch, logs=None):
        """Writes the epoch."""
        if not self._is_chief:
            return
        logs = logs or {}

        def shown(value):
            if isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim:
                return f'"[{", ".join(map(str, value))}]"'
            return value
        if self.keys is None:
            self.keys = sorted(logs)
            if self.keys and not any(key.startswith("val_") for key in self.keys):
                self.keys += [f"val_{key}" for key in self.keys]
        if self.writer is None:
            self.writer = csv.DictWriter(self.csv_file, ["epoch", *self.keys], delimiter=self.sep)
            if self.append_header:
                self.writer.writeheader()
        self.writer.writerow({"epoch": epoch, **{key: shown(logs.get(key, "NA")) for key in self.keys}})
        self.csv_file.flush()

    def on_train_end(self, logs=None):
        """Closes the file."""
        if self.csv_file is not None and not self.csv_file.closed:
            self.csv_file.close()
        self.writer = None
