"""``compile``, ``fit``, ``evaluate`` and ``predict`` of models: Keras' loop.

A batch goes through one traced function, under a strategy on all replicas at once. A subclass may override
`train_step`, `test_step` and `predict_step`, which are what is traced.
"""

import sys
import warnings

import numpy as np

from leat import debugging, errors, nest, ops, trace
from leat.keras import feeding
from leat.keras.compiled import CompileLoss, CompileMetrics
from leat.tensor import Tensor


def _strategy():
    """The strategy of the caller's scope; None: one replica."""
    return trace.strategy() if "leat.distribute" in sys.modules else None


def unpack_x_y_sample_weight(data):
    """(x, y, sample weights) of what a dataset gives; None for what it does not (``keras.utils``)."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if len(data) > 3:
        raise ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: "
                         f"{data}")
    return (*data, *[None] * (3 - len(data)))


class Trainer:
    """What makes a model trainable (`keras.Model`)."""

    optimizer = None
    loss = None
    stop_training = False
    compiled = False
    run_eagerly = False
    steps_per_execution = 1
    history = None
    _compile_loss = _compile_metrics = _loss_tracker = None

    def compile(self, optimizer="rmsprop", loss=None, loss_weights=None, metrics=None, weighted_metrics=None,
                run_eagerly=False, steps_per_execution=1, jit_compile="auto", auto_scale_loss=True):
        """Says what training uses: an optimizer, a loss or losses of the outputs, metrics; by name or as objects.

        `steps_per_execution`: batches between two calls of callbacks. `jit_compile` and `auto_scale_loss` change
        nothing: steps are compiled, and losses are float32.
        """
        from leat.keras import metrics as metrics_module
        from leat.keras import optimizers
        self._distribute_strategy = _strategy() or getattr(self, "_distribute_strategy", None)
        self.optimizer = optimizers.get(optimizer)
        self.loss, self.loss_weights = loss, loss_weights
        self.run_eagerly, self.steps_per_execution = run_eagerly, steps_per_execution
        self.jit_compile, self.auto_scale_loss, self.stop_training, self.compiled = jit_compile, False, False, True
        self._compile_config = {"optimizer": optimizer, "loss": loss, "loss_weights": loss_weights,
                                "metrics": metrics, "weighted_metrics": weighted_metrics}
        names = getattr(self, "output_names", None)
        self._compile_loss = CompileLoss(loss, loss_weights, names) if loss is not None else None
        self._compile_metrics = CompileMetrics(metrics, weighted_metrics, names)
        with self._scope():
            self._loss_tracker = metrics_module.Mean(name="loss")
        self._functions = {}

    def _scope(self):
        import contextlib
        strategy = getattr(self, "_distribute_strategy", None)
        return contextlib.nullcontext() if strategy is None or trace.strategy() is strategy else strategy.scope()

    @property
    def metrics(self):
        """The loss's mean, the metrics among the attributes and those of `compile`."""
        from leat.keras.metrics import Metric
        found = [self._loss_tracker] if self._loss_tracker is not None else []
        found += [value for name, value in self.__dict__.items() if isinstance(value, Metric) and name[0] != "_"]
        for layer in self._flatten_layers():
            found += [value for value in layer.__dict__.values() if isinstance(value, Metric)]
        if self._compile_loss is not None:
            found += self._compile_loss.metrics
        return found + (self._compile_metrics.metrics if self._compile_metrics is not None else [])

    @property
    def metrics_names(self):
        """Their names."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self):
        """Resets all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self):
        """{name: result} of all metrics."""
        results = {}
        listed = self._compile_metrics.metrics if self._compile_metrics is not None else []
        for metric in self.metrics:
            if all(metric is not one for one in listed):
                result = metric.result()
                results.update(result if isinstance(result, dict) else {metric.name: result})
        results.update(self._compile_metrics.results() if self._compile_metrics is not None else {})
        return results

    # ---- steps, which programs may override ----

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of one batch with what layers and regularizers add. ValueError where there is none."""
        from leat.keras.losses import replicas
        found = []
        if self._compile_loss is not None:
            found.append(self._compile_loss(y, y_pred, sample_weight))
        for loss in self.losses:
            total = ops.FUNCTIONS["reduce_sum"](loss)
            found.append(total if replicas() == 1 else total * (1.0 / replicas()))
        if not found:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        total = found[0]
        for loss in found[1:]:
            total = total + loss
        return total

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Updates the metrics of `compile`; {name: result} of all."""
        if self._compile_metrics is not None and y is not None:
            self._compile_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def _note_loss(self, loss, x):
        """The mean of the loss weighs batches by their rows; of a replica's loss the share was taken."""
        from leat.keras.losses import replicas
        count = ops.FUNCTIONS["shape"](nest.flatten(x)[0])[0]
        self._loss_tracker.update_state(loss if replicas() == 1 else loss * float(replicas()),
                                        sample_weight=ops.FUNCTIONS["cast"](count, "float32"))

    @staticmethod
    def _watch_data(x, y, sample_weight):
        if debugging.checks_numerics():
            for data, name in ((x, "input"), (y, "label"), (sample_weight, "sample weight")):
                for number, leaf in enumerate(nest.flatten(data) if data is not None else ()):
                    debugging.watch_numerics(leaf, f"{name} {number} of the batch")

    def train_step(self, data):
        """One step of training; {name: result} of the metrics. A subclass may override it."""
        from leat.tape import GradientTape
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        with GradientTape() as tape:
            self._watch_data(x, y, sample_weight)
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=True)
            scaled = self.optimizer.scale_loss(loss) if self.optimizer is not None else loss
        debugging.watch_numerics(loss, "the loss")
        self._note_loss(loss, x)
        variables = self.trainable_variables
        if variables:
            gradients = tape.gradient(scaled, variables)
            if debugging.checks_numerics():
                for gradient, variable in zip(gradients, variables):
                    debugging.watch_numerics(gradient, f"the gradient of '{variable.path}'")
            self.optimizer.apply_gradients(zip(gradients, variables))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data):
        """One step of evaluation; {name: result} of the metrics. A subclass may override it."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        self._watch_data(x, y, sample_weight)
        y_pred = self(x, training=False)
        loss = self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=False)
        debugging.watch_numerics(loss, "the loss")
        self._note_loss(loss, x)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data):
        """The outputs of one batch. A subclass may override it."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self(x, training=False)

    # ---- running them ----

    def _function(self, kind):
        """A function of one batch that runs a step, traced once for each kind of batch."""
        from leat.traced import function
        if self._functions.get("checked") != debugging.checks_numerics():
            self._functions = {"checked": debugging.checks_numerics()}
        found = self._functions.get(kind)
        if found is not None:
            return found
        step = {"train": self.train_step, "test": self.test_step, "predict": self.predict_step}[kind]
        strategy = getattr(self, "_distribute_strategy", None)
        if strategy is not None:
            def run(data):
                return strategy.run(step, args=(data,))
        else:
            run = step if self.run_eagerly else function(step)
        self._functions[kind] = run
        return run

    def make_train_function(self, force=False):
        """Makes what `fit` calls for a batch anew where `force`, as after layers were frozen."""
        self._functions.pop("train", None) if force else None
        return self._function("train")

    def _train_graph(self):
        """The graph of the step of training that ran last, for TensorBoard; None where there is none."""
        from leat.traced import FuncGraph, Function
        run, strategy = self._functions.get("train"), getattr(self, "_distribute_strategy", None)
        traces = strategy._steps.latest() if strategy is not None else (
            list(run._traces.values()) if isinstance(run, Function) else [])
        return FuncGraph(traces[-1].native, "train_step") if traces else None

    def _require_compiled(self, name):
        if not self.compiled:
            raise ValueError(f"You must call `compile()` before calling `{name}()`.")

    def _prepare(self, batch, with_loss=True):
        """Makes weights, metrics and slots before the first step is traced, in the strategy's scope."""
        from leat.keras.model import Model
        x, y, _ = unpack_x_y_sample_weight(batch)
        with self._scope():
            metrics_wait = with_loss and self._compile_metrics is not None and not self._compile_metrics.built
            waits = metrics_wait or not self.built or not all(layer.built for layer in self._flatten_layers())
            if waits and type(self).call is not Model.call:  # its steps may call what they like
                y_pred = feeding.symbolic(self, x)
                if metrics_wait and y is not None:
                    self._compile_metrics.build(y, y_pred)
                    if self._compile_loss is not None:
                        self._compile_loss.build(y_pred)
            if with_loss and self.optimizer is not None and not self.optimizer.built:
                self.optimizer.build(self.trainable_variables)

    def _logs(self, results):
        """Results of a step as numbers; of several replicas their mean."""
        strategy = getattr(self, "_distribute_strategy", None)
        if strategy is not None and strategy.num_replicas_in_sync > 1:
            results = {name: strategy.reduce("MEAN", value, axis=None) for name, value in results.items()}
        return feeding.plain(results)

    def _final_logs(self, logs):
        """Results of an epoch: the metrics' own, which count all replicas, where a step gave the same names."""
        results = self.get_metrics_result()
        return feeding.plain(results) if results and set(results) == set(logs) else logs

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, validation_split=0.0,
            validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0,
            steps_per_epoch=None, validation_steps=None, validation_batch_size=None, validation_freq=1):
        """Trains for `epochs` passes over the data; a History.

        `x`: arrays, tensors, a dataset of (x, y) batches, or a generator of them. `verbose`: 0, 1 (a bar), 2 (a line
        per epoch). `class_weight`: {class: weight of its rows}.
        """
        from leat.keras.callbacks import CallbackList
        self._require_compiled("fit")
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = feeding.split((x, y, sample_weight), validation_split)
        source = feeding.Source(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight,
                                getattr(self, "_distribute_strategy", None))
        checked = None
        if validation_data is not None:
            val_x, val_y, val_weight = unpack_x_y_sample_weight(validation_data)
            checked = feeding.Source(val_x, val_y, val_weight, validation_batch_size or batch_size, validation_steps,
                                     False, None, getattr(self, "_distribute_strategy", None))
        self._prepare(source.example())
        if not isinstance(callbacks, CallbackList):
            callbacks = CallbackList(callbacks, add_history=True, add_progbar=verbose != 0, model=self,
                                     verbose=verbose, epochs=epochs, steps=source.steps)
        self.stop_training = False
        step = self.make_train_function()
        self._initial_epoch = 0
        callbacks.on_train_begin()  # where BackupAndRestore may say that epochs are done
        epoch_logs = None
        for epoch in range(self._initial_epoch or initial_epoch, epochs):
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            logs = self._run_epoch(source, step, callbacks.on_train_batch_begin, callbacks.on_train_batch_end)
            epoch_logs = dict(self._final_logs(logs))
            if checked is not None and _is_due(epoch, validation_freq):
                found = self._evaluate(checked, callbacks)
                epoch_logs.update({f"val_{name}": value for name, value in found.items()})
            callbacks.on_epoch_end(epoch, epoch_logs)
            if self.stop_training:
                break
        if self.optimizer is not None and hasattr(self.optimizer, "finalize_variable_values") and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_variables)
        callbacks.on_train_end(epoch_logs)
        return self.history

    def _run_step(self, step, batch, number):
        """A step; where numerics are checked its error names the batch and the optimizer's step."""
        if not debugging.checks_numerics():
            return step(batch)
        try:
            return step(batch)
        except errors.InvalidArgumentError as error:
            taken = f", after {int(self.optimizer._iterations)} steps of training" if self.optimizer is not None else ""
            raise errors.InvalidArgumentError(None, None, f"batch {number}{taken}: {error.message}") from error

    def _run_epoch(self, source, step, begin, end):
        logs, number = {}, 0
        for batches in source.epoch(self.steps_per_execution):
            begin(number)
            for place, batch in enumerate(batches):
                logs = self._run_step(step, batch, number + place)
            number += len(batches)
            logs = self._logs(logs)
            end(number - 1, logs)
            if self.stop_training:
                break
        return logs

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None, callbacks=None,
                 return_dict=False, **kwargs):
        """Loss and metrics over the data: a number, a list in the order of `metrics_names`, or a dictionary."""
        from leat.keras.callbacks import CallbackList
        self._require_compiled("evaluate")
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        source = feeding.Source(x, y, sample_weight, batch_size, steps, False, None,
                                getattr(self, "_distribute_strategy", None))
        self._prepare(source.example())
        if not isinstance(callbacks, CallbackList):
            callbacks = CallbackList(callbacks, add_progbar=verbose != 0, model=self, verbose=verbose, epochs=1,
                                     steps=source.steps)
        logs = self._evaluate(source, callbacks)
        return logs if return_dict else self._listed(logs)

    def _evaluate(self, source, callbacks):
        self.stop_evaluating = False
        callbacks.on_test_begin()
        self.reset_metrics()
        stopped, self.stop_training = self.stop_training, False
        logs = self._run_epoch(source, self._function("test"), callbacks.on_test_batch_begin,
                               callbacks.on_test_batch_end)
        self.stop_training = stopped or self.stop_training
        logs = self._final_logs(logs)
        callbacks.on_test_end(logs)
        return logs

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """The outputs for all rows, as numpy arrays in the structure of the outputs."""
        from leat.keras.callbacks import CallbackList
        strategy = getattr(self, "_distribute_strategy", None)
        if not hasattr(self, "_functions"):
            self._functions = {}
        source = feeding.Source(x, None, None, batch_size, steps, False, None, strategy)
        self._prepare(source.example(), with_loss=False)
        if not isinstance(callbacks, CallbackList):
            callbacks = CallbackList(callbacks, add_progbar=verbose != 0, model=self, verbose=verbose, epochs=1,
                                     steps=source.steps)
        callbacks.on_predict_begin()
        step, parts, structure, number = self._function("predict"), [], None, 0
        for batches in source.epoch(self.steps_per_execution):
            callbacks.on_predict_batch_begin(number)
            for batch in batches:
                structure = step(batch)
                parts.append([feeding.rows_of(strategy, leaf) for leaf in nest.flatten(structure)])
            number += len(batches)
            callbacks.on_predict_batch_end(number - 1, {"outputs": structure})
        callbacks.on_predict_end()
        if structure is None:
            raise ValueError("`predict` was given no data")
        return nest.pack_sequence_as(structure, [np.concatenate(rows) for rows in zip(*parts)])

    # ---- single batches ----

    def _on_batch(self, kind, data, return_dict):
        self._require_compiled(f"{kind}_on_batch")
        data = feeding.tensors(data)
        self._prepare(data)
        self.reset_metrics()
        logs = self._logs(self._function(kind)(data))
        return logs if return_dict else self._listed(logs)

    def _listed(self, logs):
        """Results in the order of the metrics, others behind them; one alone as a number."""
        names = [name for name in self.metrics_names if name in logs]
        values = [logs[name] for name in [*names, *(name for name in logs if name not in names)]]
        return values[0] if len(values) == 1 else values

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        """One step of training with one batch; its loss and metrics."""
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError("Arguments `sample_weight` and `class_weight` cannot be specified at the same time. "
                                 f"Received: sample_weight={sample_weight}, class_weight={class_weight}")
            sample_weight = feeding.class_weights(feeding.tensors(y), class_weight)
        return self._on_batch("train", (x, y, sample_weight), return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """Loss and metrics of one batch."""
        return self._on_batch("test", (x, y, sample_weight), return_dict)

    def predict_on_batch(self, x):
        """The outputs for one batch as numpy arrays."""
        if not hasattr(self, "_functions"):
            self._functions = {}
        data = feeding.tensors((x,))
        self._prepare(data, with_loss=False)
        return nest.map_structure(lambda leaf: leaf.numpy() if isinstance(leaf, Tensor) else leaf,
                                  self._function("predict")(data))


def _is_due(epoch, frequency):
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency
