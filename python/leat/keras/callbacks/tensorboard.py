"""``keras.callbacks.TensorBoard``: what training tells TensorBoard."""

import contextlib
import json
import logging
import os
import time

import numpy as np

from leat import dtypes, summary
from leat._core.paths import anywhere
from leat._files import places
from leat._core.tensor import constant
from leat._files.replacing import replace
from leat._graph import ops
from leat._structures.variables import Variable
from leat.keras.callbacks.base import Callback
from leat.summary.kinds import metadata


class _Phase:
    """Training or validation: its folder, its writer, made when it is first used, and its number of batches."""

    def __init__(self, folder, frequency):
        self.folder, self._frequency = folder, frequency
        self._writer = self._step = None
        self.batch = 0
        self._around = None

    @property
    def writer(self):
        """The writer of the folder."""
        if self._writer is None:
            self._writer = summary.create_file_writer(self.folder)
        return self._writer

    def begin(self):
        """Starts the block in which summaries of the model's own go to this writer, every so many batches.

        Step and condition depend on a variable, so that functions which are traced see them in each run.
        """
        if self._frequency == "epoch":
            return
        if self._step is None:
            self._step = Variable(0, dtype=dtypes.int64, trainable=False, name="tensorboard_step")
        self._step.assign(self.batch)
        self._around = contextlib.ExitStack()
        self._around.enter_context(self.writer.as_default(self._step))
        self._around.enter_context(summary.record_if(lambda: ops.FUNCTIONS["equal"](
            ops.FUNCTIONS["math.floormod"](self._step._as_tensor(), constant(self._frequency, dtypes.int64)),
            constant(0, dtypes.int64))))

    def move(self):
        """One batch further."""
        self.batch += 1
        if self._around is not None:
            self._step.assign(self.batch)

    def end(self):
        """Ends the block."""
        if self._around is not None:
            self._around.close()
            self._around = None

    def close(self):
        """Ends the file; is it one that traced functions write to?"""
        writer, self._writer = self._writer, None
        if writer is None:
            return False
        writer.close()
        return writer.is_traced


class TensorBoard(Callback):
    """Writes event files that TensorBoard reads (``keras.callbacks.TensorBoard``), in `log_dir`/train and
    `log_dir`/validation.

    After each epoch "epoch_loss" and the like, with the learning rate; after each evaluation
    "evaluation_loss_vs_iterations" and the like. `update_freq`: "epoch"; "batch" or a number n of batches: every n
    batches "batch_loss" and the like, and the summaries of the model's own. `histogram_freq`: every so many epochs
    histograms of the weights, with `write_images` pictures of them too. `write_graph`: the model and the graph of its
    step of training. `write_steps_per_second`: how fast it trains. `embeddings_freq`: every so many epochs a file of
    weights for the projector, with `embeddings_metadata` by layer. There is no profiler: a `profile_batch` but 0 is
    warned of and ignored.
    """

    def __init__(self, log_dir="logs", histogram_freq=0, write_graph=True, write_images=False,
                 write_steps_per_second=False, update_freq="epoch", profile_batch=0, embeddings_freq=0,
                 embeddings_metadata=None):
        super().__init__()
        self.log_dir = anywhere(log_dir)
        self.histogram_freq, self.write_graph, self.write_images = histogram_freq, write_graph, write_images
        self.write_steps_per_second = write_steps_per_second
        self.update_freq = 1 if update_freq == "batch" else update_freq
        if self.update_freq != "epoch" and (not isinstance(self.update_freq, int) or self.update_freq < 1):
            raise ValueError(f'update_freq is "batch", "epoch" or a number of batches. Received: {update_freq!r}')
        self.embeddings_freq, self.embeddings_metadata = embeddings_freq, embeddings_metadata
        if profile_batch:
            logging.getLogger("leat").warning(
                "TensorBoard: profile_batch=%s is ignored, because leat writes no profiles; where a step's time goes "
                "is what `leat train` prints and dataset iterators explain", profile_batch)
        self._train = self._test = None
        self._epoch_start = self._batch_start = self._iterations = 0
        self._wants_graph = False

    @property
    def summary(self):
        """The module that it writes with, ``tf.summary``."""
        return summary

    # ---- the model ----

    def set_model(self, model):
        """Starts the folders and writes the model."""
        super().set_model(model)
        self._train = _Phase(os.path.join(self.log_dir, "train"), self.update_freq)
        self._test = _Phase(os.path.join(self.log_dir, "validation"), self.update_freq)
        if not self._is_chief:
            return
        self._wants_graph = bool(self.write_graph)
        if self.write_graph:
            self._write_model()
        if self.embeddings_freq:
            self._write_projector()

    def _write_model(self):
        """The model's layers, which TensorBoard draws as boxes."""
        if type(self.model).__name__ not in ("Functional", "Sequential"):
            return
        try:
            text = self.model.to_json()
        except Exception as error:  # a model that has no configuration trains all the same
            logging.getLogger("leat").warning("Model failed to serialize as JSON. Ignoring... %s", error)
            return
        with self._train.writer.as_default():
            summary.write("keras", constant(text, dtypes.string), step=0,
                          metadata=metadata("graph_keras_model", content=b"1"))

    def _write_step(self):
        """The graph of the step of training."""
        self._wants_graph = False
        graph = self.model._train_graph()
        if graph is not None:
            with self._train.writer.as_default(), summary.record_if(True):
                summary.graph(graph)

    # ---- training ----

    def on_train_begin(self, logs=None):
        """Starts counting batches."""
        self._train.batch = 0
        if self._is_chief:
            self._train.begin()

    def on_train_end(self, logs=None):
        """Ends the files."""
        self._train.end()
        is_traced = [phase.close() for phase in (self._train, self._test)]
        if any(is_traced):  # a later `fit` writes elsewhere
            self.model._functions = {}
            if self.model._distribute_strategy is not None:
                self.model._distribute_strategy._steps.forget()

    def on_train_batch_begin(self, batch, logs=None):
        """Counts it."""
        self._train.move()
        self._batch_start = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        """Writes the batch's results where it is their turn."""
        if not self._is_chief:
            return
        if self._wants_graph:
            self._write_step()
        if self.update_freq == "epoch" or not summary.should_record_summaries().numpy():
            return
        number = self._train.batch
        if self.write_steps_per_second:
            took = time.perf_counter() - self._batch_start
            summary.scalar("batch_steps_per_second", 1.0 / max(took, 1e-9), step=number)
        if isinstance(logs, dict):
            for name, value in logs.items():
                summary.scalar(f"batch_{name}", value, step=number)

    # ---- evaluation ----

    def on_test_begin(self, logs=None):
        """Summaries go to the folder of validation."""
        if self._is_chief:
            self._test.begin()

    def on_test_batch_begin(self, batch, logs=None):
        """Counts it."""
        self._test.move()

    def on_test_end(self, logs=None):
        """Writes the results over the number of steps of training."""
        optimizer = self.model.optimizer
        if self._is_chief and optimizer is not None and hasattr(optimizer, "iterations"):
            step = int(optimizer.iterations.numpy())
            with self._test.writer.as_default(), summary.record_if(True):
                for name, value in (logs or {}).items():
                    summary.scalar(f"evaluation_{name}_vs_iterations", value, step=step)
        self._test.end()

    # ---- epochs ----

    def on_epoch_begin(self, epoch, logs=None):
        """Notes the time."""
        if self.write_steps_per_second:
            self._iterations = int(self.model.optimizer.iterations.numpy())
            self._epoch_start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        """Writes the epoch's results, and weights where it is their turn."""
        is_due = self.histogram_freq and epoch % self.histogram_freq == 0
        with summary.record_if(True):
            if logs and self._is_chief:
                self._write_epoch(epoch, logs)
            if is_due:
                self._write_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0 and self._is_chief:
            self.model.save_weights(os.path.join(self._train.folder, f"keras_embedding.ckpt-{epoch}.weights.h5"))

    def _write_epoch(self, epoch, logs):
        train = {name: value for name, value in logs.items() if not name.startswith("val_")}
        test = {name[4:]: value for name, value in logs.items() if name.startswith("val_")}
        optimizer = self.model.optimizer
        if hasattr(optimizer, "learning_rate"):
            rate = optimizer.learning_rate
            train["learning_rate"] = float(rate.numpy() if hasattr(rate, "numpy") else rate)
        if self.write_steps_per_second:
            steps = int(optimizer.iterations.numpy()) - self._iterations
            train["steps_per_second"] = steps / max(time.perf_counter() - self._epoch_start, 1e-9)
        for phase, found in ((self._train, train), (self._test, test)):
            if found:
                with phase.writer.as_default():
                    for name, value in found.items():
                        summary.scalar(f"epoch_{name}", value, step=epoch)

    def _write_weights(self, epoch):
        values = [(weight.path.replace(":", "_"), weight.numpy())
                  for layer in self.model.layers for weight in layer.weights]
        if not self._is_chief:
            return
        with self._train.writer.as_default():
            for name, value in values:
                summary.histogram(f"{name}/histogram", value, step=epoch)
                pictures = _pictures(value) if self.write_images else None
                if pictures is not None:
                    summary.image(f"{name}/image", pictures, step=epoch)

    # ---- embeddings ----

    def _write_projector(self):
        """The file that tells TensorBoard's projector which weights are embeddings."""
        from leat.keras import layers
        given = self.embeddings_metadata
        waiting = dict(given) if isinstance(given, dict) else {}
        lines = []
        for layer in self.model.layers:
            if isinstance(layer, layers.Embedding):
                file = given if isinstance(given, str) else waiting.pop(layer.name, None)
                name = "layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"
                lines.append(f"embeddings {{\n  tensor_name: {json.dumps(name)}\n"
                             + (f"  metadata_path: {json.dumps(file)}\n" if file else "") + "}\n")
        if waiting:
            raise ValueError("Unrecognized `Embedding` layer names passed to `keras.callbacks.TensorBoard` "
                             f"`embeddings_metadata` argument: {waiting.keys()}")
        places.make_folders(self.log_dir)
        replace(os.path.join(self.log_dir, "projector_config.pbtxt"), "".join(lines).encode())


def _pictures(weight):
    """A weight as pictures [k, height, width, 1]: a vector as a column, a matrix lying, filters each on its own."""
    weight = np.squeeze(weight)
    if weight.ndim == 1:
        return weight.reshape(1, -1, 1, 1)
    if weight.ndim == 2:
        weight = weight.T if weight.shape[0] > weight.shape[1] else weight
        return weight.reshape(1, *weight.shape, 1)
    if weight.ndim == 3:
        return np.ascontiguousarray(weight.transpose(2, 0, 1))[..., None]
    return weight if weight.ndim == 4 and weight.shape[-1] in (1, 3, 4) else None
