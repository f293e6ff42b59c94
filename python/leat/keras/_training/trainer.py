"""``compile``, ``fit``, ``evaluate`` and ``predict`` of models: Keras' loop.

A batch goes through one traced function, under a strategy on all replicas at once. A subclass may override
`train_step`, `test_step` and `predict_step`, which are what is traced.
"""

import inspect
import sys
import warnings

from leat import debugging, errors, nest
from leat._core.tensor import Tensor
from leat._graph import ops, trace
from leat.keras import config, optimizers
from leat.keras._base import registry, tables
from leat.keras._training import feeding
from leat.keras._training.compiled import CompileLoss, CompileMetrics
from leat.keras.callbacks import CallbackList
from leat.keras.losses import replicas
from leat.keras.metrics import Mean, Metric


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
    jit_compile = False
    stop_evaluating = stop_predicting = False
    _functions = None
    _compile_loss = _compile_metrics = _loss_tracker = _compile_config = None
    _is_compared = False  # with what other workers have
    _initial_epoch = None  # where a callback says that epochs are done

    def compile(self, optimizer="rmsprop", loss=None, loss_weights=None, metrics=None, weighted_metrics=None,
                run_eagerly=False, steps_per_execution=1, jit_compile="auto", auto_scale_loss=True):
        """Says what training uses: an optimizer, a loss or losses of the outputs, metrics; by name or as objects.

        Where no loss is given, that of an earlier `compile` stays, and likewise its metrics.
        `steps_per_execution`: batches between two calls of callbacks. `auto_scale_loss`: where the model's policy is
        "mixed_float16" the loss is scaled, by LossScaleOptimizer. `jit_compile` changes nothing: steps are compiled.
        """
        self._distribute_strategy = _strategy() or getattr(self, "_distribute_strategy", None)
        self.optimizer = optimizers.get(optimizer)
        if (auto_scale_loss and self.dtype_policy.name == "mixed_float16" and self.optimizer
                and not isinstance(self.optimizer, optimizers.LossScaleOptimizer)):
            self.optimizer = optimizers.LossScaleOptimizer(self.optimizer, name="loss_scale_optimizer")
        if jit_compile is True and run_eagerly:
            warnings.warn("If `run_eagerly` is True, then `jit_compile` cannot also be True. Disabling `jit_compile`.",
                          stacklevel=2)
        self.run_eagerly, self.steps_per_execution = run_eagerly, steps_per_execution
        self.jit_compile = jit_compile is True and not run_eagerly
        self.stop_training, self.compiled, self._is_compared = False, True, False
        self._compile_config = {"optimizer": self.optimizer, "loss": loss, "loss_weights": loss_weights,
                                "metrics": metrics, "weighted_metrics": weighted_metrics, "run_eagerly": run_eagerly,
                                "steps_per_execution": steps_per_execution, "jit_compile": self.jit_compile}
        names = getattr(self, "output_names", None)
        if loss is not None:  # else that of the last `compile` stays, and its metrics likewise
            self.loss, self._compile_loss = loss, CompileLoss(loss, loss_weights, output_names=names)
        if metrics is not None or weighted_metrics is not None:
            self._compile_metrics = CompileMetrics(metrics, weighted_metrics, output_names=names)
        with self._scope():
            self._loss_tracker = Mean(name="loss")
        self._functions = {}

    def get_compile_config(self):
        """What `compile` was given, as a configuration; empty before."""
        return {name: registry.serialize_keras_object(value) for name, value in self._compile_config.items()} if (
            self.compiled and self._compile_config is not None) else {}

    def compile_from_config(self, config):
        """Compiles the model as a configuration says. A subclass with a `compile` of its own overrides this, too."""
        if type(self).compile is not Trainer.compile:
            warnings.warn("`compile()` was not called as part of model loading because the model's `compile()` method "
                          "is custom. All subclassed Models that have `compile()` overridden should also override "
                          "`get_compile_config()` and `compile_from_config(config)`. Alternatively, you can call "
                          "`compile()` manually after loading.", stacklevel=2)
            return
        known = inspect.signature(Trainer.compile).parameters
        self.compile(**{name: registry.deserialize_keras_object(value) for name, value in config.items()
                        if name in known})
        if self.optimizer is not None and self.built:
            self.optimizer.build(self.trainable_variables)

    def _scope(self):
        import contextlib
        strategy = getattr(self, "_distribute_strategy", None)
        return contextlib.nullcontext() if strategy is None or trace.strategy() is strategy else strategy.scope()

    @property
    def metrics(self):
        """The loss's mean, the metrics of `compile` as one, the outputs' losses' means, then those among the
        attributes of the model and of its layers."""
        found = [one for one in (self._loss_tracker, self._compile_metrics) if one is not None]
        if self._compile_loss is not None:
            found += self._compile_loss.metrics
        found += _metrics_among(self)
        for layer in self._flatten_layers():
            if not isinstance(layer, Trainer):  # a model's metrics are its own
                found += _metrics_below(layer)
        return found

    @property
    def metrics_names(self):
        """Their names; those that `compile` was given are one, "compile_metrics"."""
        return [metric.name for metric in self.metrics]

    @property
    def metrics_variables(self):
        """Their states."""
        return [variable for metric in self.metrics for variable in metric.variables]

    def reset_metrics(self):
        """Resets all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self):
        """{name: result} of all metrics."""
        results = {}
        for metric in self.metrics:
            if isinstance(metric, CompileMetrics) and not metric.built:
                continue
            result = metric.result()
            results.update(result if isinstance(result, dict) else {metric.name: result})
        return results

    # what programs of Keras 2 call

    @property
    def compiled_metrics(self):
        """Something with `update_state` of all metrics; deprecated, as in Keras."""
        return _CompiledMetrics(self)

    def compiled_loss(self, y, y_pred, sample_weight=None, regularization_losses=None):
        """The loss of `compile`; deprecated, as in Keras."""
        warnings.warn("`model.compiled_loss()` is deprecated. Instead, use `model.compute_loss(x, y, y_pred, "
                      "sample_weight, training)`.", stacklevel=2)
        return self.compute_loss(None, y, y_pred, sample_weight)

    # ---- steps, which programs may override ----

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of one batch with what layers and regularizers add. ValueError where there is none."""
        found = []
        if self._compile_loss is not None:
            loss = self._compile_loss(y, y_pred, sample_weight)
            found += [] if loss is None else [loss]
        for loss in self.losses:
            total = ops.FUNCTIONS["reduce_sum"](loss)
            found.append(total if replicas() == 1 else total * (1.0 / replicas()))
        if not found:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        total = found[0]
        for loss in found[1:]:
            total = total + loss
        return total

    def _compute_loss(self, x, y, y_pred, sample_weight, training):
        """The same; a program's own may lack `training`."""
        if "training" in inspect.signature(self.compute_loss).parameters:
            return self.compute_loss(x, y, y_pred, sample_weight, training=training)
        return self.compute_loss(x, y, y_pred, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Updates the metrics of `compile`; {name: result} of all."""
        if self._compile_metrics is not None and y is not None:
            self._compile_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def _note_loss(self, loss, x):
        """The mean of the loss weighs batches by their rows; of a replica's loss the share was taken."""
        first = next(leaf for leaf in nest.flatten(x) if leaf is not None)
        if hasattr(first, "with_flat_values"):
            count = first.nrows()
        else:
            count = (first.dense_shape if hasattr(first, "dense_shape") else ops.FUNCTIONS["shape"](first))[0]
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
        from leat._graph.tape import GradientTape
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        with GradientTape() as tape:
            self._watch_data(x, y, sample_weight)
            y_pred = self(x, training=True)
            loss = self._compute_loss(x, y, y_pred, sample_weight, True)
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
        loss = self._compute_loss(x, y, y_pred, sample_weight, False)
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
        from leat._graph.traced import function
        if self._functions is None or self._functions.get("checked") != debugging.checks_numerics():
            self._functions = {"checked": debugging.checks_numerics()}
        found = self._functions.get(kind)
        if found is not None:
            return found
        step = {"train": self.train_step, "test": self.test_step, "predict": self.predict_step}[kind]
        step = step if self.run_eagerly else function(step)
        strategy, run = getattr(self, "_distribute_strategy", None), step
        if self._schedules():
            run = strategy._scheduled(step, kind == "predict")
        elif strategy is not None:
            def run(data):
                return strategy.run(step, args=(data,))
        self._functions[kind] = run
        return run

    def make_train_function(self, force=False):
        """Makes what `fit` calls for a batch anew where `force`, as after layers were frozen."""
        if force and self._functions is not None:
            self._functions.pop("train", None)
        return self._function("train")

    def make_test_function(self, force=False):
        """The same for `evaluate`."""
        if force and self._functions is not None:
            self._functions.pop("test", None)
        return self._function("test")

    def make_predict_function(self, force=False):
        """The same for `predict`."""
        if force and self._functions is not None:
            self._functions.pop("predict", None)
        return self._function("predict")

    def _train_graph(self):
        """The graph of the step of training that ran last, for TensorBoard; None where there is none."""
        from leat._graph.introspection import FuncGraph
        from leat._graph.traced import Function
        run, strategy = self._functions.get("train"), getattr(self, "_distribute_strategy", None)
        if self._schedules():
            return None
        traces = strategy._steps.latest() if strategy is not None else (
            list(run._traces.values()) if isinstance(run, Function) else [])
        return FuncGraph(traces[-1].native, "train_step") if traces else None

    def _require_compiled(self, name):
        if not self.compiled:
            raise ValueError(f"You must call `compile()` before calling `{name}()`.")

    def _prepare(self, example, with_loss=True, trains=False):
        """Makes weights, metrics and, where it `trains`, slots before the first step is traced, in the strategy's
        scope; `example` gives a batch where one is needed."""
        losses = [one for one in (self._compile_metrics, self._compile_loss) if one is not None and not one.built]
        if type(self).compute_loss is not Trainer.compute_loss and getattr(self, "_distribute_strategy", None) is None:
            losses = [one for one in losses if one is not self._compile_loss]  # which it may call with something else
        waits = with_loss and losses or not self.built or not all(layer.built for layer in self._flatten_layers())
        with self._scope(), tables.uncounted("keras_tensor"):
            if waits and not getattr(type(self).call, "_is_missing", False):  # else its steps call what they like
                x, y, _ = unpack_x_y_sample_weight(example())
                try:
                    y_pred = feeding.symbolic(self, x)
                    for one in losses if with_loss and y is not None else ():
                        one.build(one.labels(y, y_pred) if one is self._compile_loss else y, y_pred)
                except Exception:
                    if not self._has_own_steps():  # which may call the model with something else
                        raise
            if trains and self.optimizer is not None and not self.optimizer.built:
                self.optimizer.build(self.trainable_variables)
        if not self._is_compared:
            self._compare_workers()

    def _compare_workers(self):
        """FailedPreconditionError where another worker's model is another one; once for each `compile`."""
        strategy = getattr(self, "_distribute_strategy", None)
        if strategy is None:
            return
        from leat.distribute import agreement
        if agreement.is_needed(strategy):
            layers = [layer for layer in self._flatten_layers() if not isinstance(layer, Trainer)]
            names = [(f"layer {number} of the model", f'{type(layer).__name__} "{layer.name}"')
                     for number, layer in enumerate(layers)]
            agreement.compare(strategy, [("number of layers of the model", str(len(layers))), *names])
            agreement.compare_configuration(strategy, [(f'layer "{layer.name}"', layer) for layer in layers] + [
                ("compile", self._compile_config)])
        self._is_compared = True

    def _compare_arguments(self, arguments):
        """The same where `fit` was given other arguments, before a worker waits for what another does not do."""
        strategy = getattr(self, "_distribute_strategy", None)
        if strategy is not None:
            from leat.distribute import agreement
            agreement.compare_configuration(strategy, [("fit", arguments)])

    def _compare_values(self, when):
        """FailedPreconditionError where a variable has another value on another worker: one was assigned there alone,
        or read from another file."""
        strategy = getattr(self, "_distribute_strategy", None)
        if strategy is not None:
            from leat.distribute import agreement
            # What a slot differs in the weights differ in after the next step, so slots are not read as well.
            found = [one for one in (self.optimizer.variables if self.optimizer is not None else ()) if not one.ndim]
            agreement.compare_values(strategy, self.trainable_variables + found, when)

    def _has_own_steps(self):
        return type(self).train_step is not Trainer.train_step or type(self).test_step is not Trainer.test_step

    def _logs(self, results):
        """Results of a step as numbers; of several replicas their mean."""
        strategy = getattr(self, "_distribute_strategy", None)
        if results is None:
            return {}
        if self._schedules():
            results = strategy._joined(results)
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
        self._require_compiled("fit")
        if config.max_epochs() and config.max_epochs() < epochs:
            warnings.warn(f"Limiting epochs to {config.max_epochs()}", stacklevel=2)
            epochs = config.max_epochs()
        self._compare_arguments({"epochs": epochs, "batch_size": batch_size, "initial_epoch": initial_epoch,
                                 "steps_per_epoch": steps_per_epoch, "validation_split": validation_split,
                                 "has validation data": validation_data is not None,
                                 "validation_steps": validation_steps, "validation_freq": validation_freq,
                                 "validation_batch_size": validation_batch_size, "class_weight": class_weight})
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = feeding.split((x, y, sample_weight), validation_split)
        source = self._source(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
        checked = None
        if validation_data is not None:
            checked = self._source(*unpack_x_y_sample_weight(validation_data), validation_batch_size or batch_size,
                                   validation_steps)
        self._prepare(source.example, trains=True)
        callbacks = self._callbacks(callbacks, verbose, epochs, source, add_history=True)
        self.stop_training = False
        step = self.make_train_function()
        self._initial_epoch = None
        callbacks.on_train_begin()  # where BackupAndRestore may say that epochs are done
        self._compare_values("before training")
        epoch_logs = None
        for epoch in range(self._initial_epoch or initial_epoch, epochs):
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            logs = self._run_epoch(source, step, callbacks, "train", lambda: self.stop_training)
            epoch_logs = dict(self._final_logs(logs))
            if checked is not None and _is_due(epoch, validation_freq):
                found = self._evaluate(checked, callbacks)
                epoch_logs.update({f"val_{name}": value for name, value in found.items()})
            self._compare_values(f"after epoch {epoch + 1}")
            callbacks.on_epoch_end(epoch, epoch_logs)
            if self.stop_training:
                break
        if self.optimizer is not None and hasattr(self.optimizer, "finalize_variable_values") and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_variables)
        callbacks.on_train_end(epoch_logs)
        return self.history

    def _schedules(self):
        """Do workers run steps, while this process goes on?"""
        return hasattr(getattr(self, "_distribute_strategy", None), "_scheduled")

    def _source(self, x, y, sample_weight, batch_size, steps, shuffle=False, class_weight=None):
        return feeding.Source(x, y, sample_weight, batch_size, steps, shuffle, class_weight,
                              getattr(self, "_distribute_strategy", None))

    def _callbacks(self, callbacks, verbose, epochs, source, add_history=False):
        if isinstance(callbacks, CallbackList):
            return callbacks
        return CallbackList(callbacks, add_history=add_history, add_progbar=verbose != 0, model=self, verbose=verbose,
                            epochs=epochs, steps=source.steps)

    def _run_step(self, step, batch, number):
        """A step; where numerics are checked its error names the batch and the optimizer's step."""
        if not debugging.checks_numerics():
            return step(batch)
        try:
            return step(batch)
        except errors.InvalidArgumentError as error:
            taken = f", after {int(self.optimizer._iterations)} steps of training" if self.optimizer is not None else ""
            raise errors.InvalidArgumentError(None, None, f"batch {number}{taken}: {error.message}") from error

    def _run_epoch(self, source, step, callbacks, kind, has_stopped):
        begin, end = getattr(callbacks, f"on_{kind}_batch_begin"), getattr(callbacks, f"on_{kind}_batch_end")
        results, together, hears = None, self.steps_per_execution, callbacks._hears_batches(kind)
        for number, batches in source.epoch(together):
            if hears:
                begin(number)
            for place, batch in enumerate(batches):
                results = self._run_step(step, batch, number + place)
            if hears:
                end(number + together - 1, {} if self._schedules() else self._logs(results))
            if has_stopped():
                break
        return self._logs(results)

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None, callbacks=None,
                 return_dict=False, **kwargs):
        """Loss and metrics over the data: a number, a list of the loss, the metrics of `compile` and others, or a
        dictionary."""
        self._require_compiled("evaluate")
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        source = self._source(x, y, sample_weight, batch_size, steps)
        self._prepare(source.example)
        logs = self._evaluate(source, self._callbacks(callbacks, verbose, 1, source))
        return logs if return_dict else self._in_order(logs)

    def _evaluate(self, source, callbacks):
        step = self.make_test_function()
        self.stop_evaluating = False
        callbacks.on_test_begin()
        self.reset_metrics()
        logs = self._run_epoch(source, step, callbacks, "test", lambda: self.stop_evaluating)
        logs = self._final_logs(logs)
        callbacks.on_test_end(logs)
        return logs

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """The outputs for all rows, as numpy arrays in the structure of the outputs."""
        strategy = getattr(self, "_distribute_strategy", None)
        source = self._source(x, None, None, batch_size, steps)
        self._prepare(source.example, with_loss=False)
        callbacks = self._callbacks(callbacks, verbose, 1, source)
        step, parts, structure, hears = self.make_predict_function(), [], None, callbacks._hears_batches("predict")
        self.stop_predicting = False
        callbacks.on_predict_begin()
        for number, batches in source.epoch(self.steps_per_execution):
            if hears:
                callbacks.on_predict_batch_begin(number)
            first = len(parts)
            for batch in batches:
                structure = step(batch)
                parts.append([feeding.rows_of(strategy, leaf) for leaf in nest.flatten(structure)])
            if hears:
                callbacks.on_predict_batch_end(number + self.steps_per_execution - 1,
                                               {"outputs": feeding.joined(structure, parts[first:])})
            if self.stop_predicting:
                break
        callbacks.on_predict_end()
        if structure is None:
            raise ValueError("`predict` was given no data")
        return feeding.joined(structure, parts)

    # ---- single batches ----

    def _on_batch(self, kind, data, return_dict):
        self._require_compiled(f"{kind}_on_batch")
        data = feeding.tensors(data)
        self._prepare(lambda: data, trains=kind == "train")
        self.reset_metrics()
        logs = self._logs(self._function(kind)(data))
        return logs if return_dict else self._in_order(logs)

    def _in_order(self, logs):
        """Results in the order of the metrics, others behind them; one alone as a number."""
        names = []
        for metric in self.metrics:
            names += [one.name for one in metric.metrics] if isinstance(metric, CompileMetrics) else [metric.name]
        values = [logs[name] for name in names if name in logs]
        values += [logs[name] for name in sorted(logs) if name not in names]
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
        data = feeding.tensors((x,))
        self._prepare(lambda: data, with_loss=False)
        return nest.map_structure(lambda leaf: leaf.numpy() if isinstance(leaf, Tensor) else leaf,
                                  self._function("predict")(data))


def _is_due(epoch, frequency):
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    if isinstance(frequency, list):
        return epoch + 1 in frequency
    raise ValueError("Expected `validation_freq` to be a list or int. Received: "
                     f"validation_freq={frequency} of the type {type(frequency)}.")


def _metrics_in(value):
    """The metrics in an attribute: itself, or those of a list, tuple or dictionary."""
    if isinstance(value, Metric):
        return [value]
    if isinstance(value, (list, tuple)):
        return [metric for item in value for metric in _metrics_in(item)]
    if isinstance(value, dict):
        return [metric for item in value.values() for metric in _metrics_in(item)]
    return []


def _metrics_among(layer):
    """The metrics among the attributes, each once, without those that `compile` makes."""
    found = {}
    for name, value in layer.__dict__.items():
        if name not in ("_loss_tracker", "_compile_metrics", "_compile_loss", "_compile_config"):
            found.update((id(metric), metric) for metric in _metrics_in(value))
    return list(found.values())


def _metrics_below(layer):
    """The metrics of a layer and of the layers in it."""
    return _metrics_among(layer) + [metric for inner in layer._flatten_layers() if not isinstance(inner, Trainer)
                                    for metric in _metrics_below(inner)]


class _CompiledMetrics:
    """What `Model.compiled_metrics` gives."""

    def __init__(self, model):
        self._model = model

    def update_state(self, y, y_pred, sample_weight=None):
        """Updates all metrics of the model."""
        warnings.warn("`model.compiled_metrics` is deprecated. Instead, call `update_state` of each of "
                      "`model.metrics`.", stacklevel=2)
        for metric in self._model.metrics:
            if isinstance(metric, Mean):
                metric.update_state(y_pred, sample_weight=sample_weight)
            else:
                metric.update_state(y, y_pred, sample_weight=sample_weight)
