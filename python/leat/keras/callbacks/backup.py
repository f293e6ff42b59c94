"""``keras.callbacks.BackupAndRestore``: training that goes on where it was interrupted."""

import contextlib
import json
import os

from leat._core.paths import anywhere
from leat._files import places
from leat._files.replacing import sweep_temporaries
from leat.keras.callbacks.base import Callback
from leat.keras.saving import files


class BackupAndRestore(Callback):
    """Saves weights, optimizer and epoch in `backup_dir` while `fit` runs, and goes on from there when `fit` is called
    anew (``keras.callbacks.BackupAndRestore``).

    `save_freq`: "epoch", or a number of batches. `double_checkpoint`: the state before is kept too, for the case that
    the newest cannot be read. `delete_checkpoint`: the state goes when training is done, and the folder where
    nothing else is in it. With a number of batches the interrupted epoch starts anew, with the weights that were saved.
    A state appears whole or not at all: the file of weights says its epoch too. training_metadata.json says it again,
    for Keras, and is asked where the file of weights does not (older states, and Keras'). ValueError for a model that
    is not built; OSError where a state cannot be read.
    """

    def __init__(self, backup_dir, save_freq="epoch", double_checkpoint=False, delete_checkpoint=True):
        super().__init__()
        if not backup_dir:
            raise ValueError("Empty `backup_dir` argument passed")
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Invalid value for argument `save_freq`. Received: save_freq={save_freq}. Expected "
                             "either 'epoch' or an integer value.")
        self.backup_dir, self.save_freq = anywhere(backup_dir), save_freq
        self.double_checkpoint, self.delete_checkpoint = double_checkpoint, delete_checkpoint
        self._weights = os.path.join(self.backup_dir, "latest.weights.h5")
        self._metadata = os.path.join(self.backup_dir, "training_metadata.json")
        self._epoch = self._last_batch = self._batches = 0

    # ---- going on ----

    def on_train_begin(self, logs=None):
        """Takes up the state that was saved, if there is one."""
        if not self.model.built:
            raise ValueError("To use the BackupAndRestore callback, your model must be built before you call `fit()`. "
                             f"Model {self.model} is unbuilt. You can build it beforehand by calling it on a batch of "
                             "data.")
        try:
            self._restore(self._weights, self._metadata)
        except (OSError, ValueError) as error:
            if not places.exists(self._weights + ".bkp"):
                raise OSError(f"{self.backup_dir}: the state that was saved cannot be read; remove the folder to start "
                              f"training anew: {error}") from error
            self._restore(self._weights + ".bkp", self._metadata + ".bkp")
        self._agree()

    def _agree(self):
        """OSError on all workers where they found different states."""
        strategy = getattr(self.model, "_distribute_strategy", None)
        if strategy is not None and strategy._workers > 1:
            epochs = strategy._native.exchange([self._epoch])
            if len(set(epochs)) > 1:
                raise OSError(f"{self.backup_dir}: the workers found states of different epochs, {list(epochs)}; "
                              "backup_dir must lie where all of them see what the chief writes")

    def _restore(self, weights, metadata):
        if not places.exists(weights):
            return  # epochs without their weights are what a removal that was interrupted left
        epoch = files.weights_notes(weights).get("epoch")
        if epoch is None and places.exists(metadata):
            epoch = self._told(metadata)
        optimizer = self.model.optimizer
        if optimizer is not None and not optimizer.built:
            optimizer.build(self.model.trainable_variables)
        files.load_weights_file(self.model, weights)
        if epoch is not None:
            self.model._initial_epoch = self._epoch = epoch

    @staticmethod
    def _told(metadata):
        state = json.loads(places.content(metadata))
        try:
            return int(state["epoch"])
        except (KeyError, TypeError):
            raise ValueError(f"{metadata} does not say which epoch it is") from None

    # ---- saving ----

    def on_epoch_end(self, epoch, logs=None):
        """Saves, unless batches are counted."""
        self._epoch, self._last_batch = epoch + 1, 0
        if self.save_freq == "epoch":
            self._save()

    def on_train_batch_end(self, batch, logs=None):
        """Saves after every `save_freq` batches."""
        if self.save_freq == "epoch" or not self.save_freq:
            return
        self._batches += batch + 1 if batch <= self._last_batch else batch - self._last_batch
        self._last_batch = batch
        if self._batches >= self.save_freq:
            self._batches = 0
            self._save()

    def _save(self):
        state = {"epoch": self._epoch, "batch": self._last_batch}
        content = files.weights_bytes(self.model, notes=state)  # of all workers: to read a variable may take all
        if not self._is_chief:
            return
        places.make_folders(self.backup_dir)
        if self.double_checkpoint:
            for path in (self._weights, self._metadata):
                if places.exists(path):
                    files.replace(path + ".bkp", places.content(path))
        files.replace(self._weights, content)
        files.replace(self._metadata, json.dumps(state).encode())

    def on_train_end(self, logs=None):
        """Removes the state if asked, and the folder unless others have files in it."""
        if not self.delete_checkpoint or not self._is_chief or not places.is_folder(self.backup_dir):
            return
        for path in (self._weights, self._metadata):
            for name in (path, path + ".bkp"):
                with contextlib.suppress(FileNotFoundError):
                    places.remove(name)
        sweep_temporaries(self.backup_dir, r"latest\.weights\.h5(\.bkp)?|training_metadata\.json(\.bkp)?")
        with contextlib.suppress(OSError):  # others have files in it, or it is a link or the working folder
            os.rmdir(self.backup_dir)
