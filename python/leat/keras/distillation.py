"""``keras.distillation``: a model, the student, learns from labels and from what another one, the teacher, makes."""

from leat.keras import losses, metrics, ops, tree
from leat.keras._base import registry
from leat.keras.models.functional import Functional
from leat.keras.models.model import Model, Sequential

_LAST = "final_output"


def _functions(loss):
    """Losses of their names, in a structure."""
    found = tree.map_structure(lambda one: losses.get(one) if isinstance(one, str) else one, loss)
    if all(one is None for one in tree.flatten(found)):
        raise ValueError("The `loss` argument must contain at least one non-`None` value.")
    return found


def _summed(function, *structures):
    """The sum of what a function of a loss and its outputs gives; a loss of None adds nothing."""
    def apply(loss, *outputs):
        return 0.0 if loss is None else function(loss, *outputs)
    return ops.sum(ops.stack(tree.flatten(tree.map_structure(apply, *structures, none_is_leaf=True))))


class DistillationLoss:
    """The base (``keras.distillation.DistillationLoss``): a subclass's `compute_loss` compares what teacher and student
    give; the other two methods refuse outputs and models that it cannot compare."""

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """How far the student is from the teacher, a scalar."""
        raise NotImplementedError("Subclasses must implement compute_loss")

    def validate_outputs(self, teacher_outputs, student_outputs):
        """ValueError for outputs of other structures."""
        tree.assert_same_structure(teacher_outputs, student_outputs)

    def validate_model_compatibility(self, teacher, student):
        """ValueError for models that do not go together."""

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        given = {"loss": registry.deserialize_keras_object(config["loss"])} if "loss" in config else {}
        return cls(**{**config, **given})


class FeatureDistillation(DistillationLoss):
    """Compares what a layer of each model gives (``keras.distillation.FeatureDistillation``), by default the last.

    `loss`: a loss, its name, or a structure of them like the outputs; None leaves an output out.
    """

    def __init__(self, loss="mse", teacher_layer_name=None, student_layer_name=None):
        self.teacher_layer_name, self.student_layer_name = teacher_layer_name, student_layer_name
        self.loss = _functions(loss)

    def validate_model_compatibility(self, teacher, student):
        """ValueError for layers that are not there, and for models whose layers are not known."""
        named = {"teacher": (teacher, self.teacher_layer_name), "student": (student, self.student_layer_name)}
        if all(name is None for _, name in named.values()):
            return
        subclassed = [who for who, (model, _) in named.items() if getattr(model, "inputs", None) is None]
        if subclassed:
            raise ValueError("FeatureDistillation with specific layer names requires Functional or Sequential models; "
                             f"found subclassed ones: {' and '.join(subclassed)}. Leave the names out, or use "
                             "LogitsDistillation")
        for who, (model, name) in named.items():
            try:
                if name is not None:
                    model.get_layer(name=name)
            except ValueError as error:
                raise ValueError(f"In {who} model: {error}") from None

    def validate_outputs(self, teacher_outputs, student_outputs):
        """ValueError for outputs of other structures than each other's or the losses'."""
        super().validate_outputs(teacher_outputs, student_outputs)
        try:
            tree.map_structure(lambda *_: None, self.loss, teacher_outputs, none_is_leaf=True)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Loss structure mismatch. Loss structure: {self.loss}, output structure: "
                             f"{tree.map_structure(lambda one: tuple(one.shape), teacher_outputs)}. "
                             f"Error: {error}") from None

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """The losses' sum."""
        return _summed(lambda loss, *both: ops.mean(loss(*both)), self.loss, teacher_outputs, student_outputs)

    def get_config(self):
        """The arguments that make another one like it."""
        return {"loss": registry.serialize_keras_object(self.loss), "teacher_layer_name": self.teacher_layer_name,
                "student_layer_name": self.student_layer_name}


class LogitsDistillation(DistillationLoss):
    """Compares outputs divided by a temperature (``keras.distillation.LogitsDistillation``): softer classes.

    `loss`: as in FeatureDistillation; an instance of KLDivergence is given probabilities, and multiplied by the
    temperature's square; its name, the default, means the function, which takes outputs as they are, as in Keras.
    """

    def __init__(self, temperature=3.0, loss="kl_divergence"):
        self.temperature, self.loss = temperature, _functions(loss)
        if not isinstance(temperature, (int, float)):
            raise ValueError(f"temperature must be a number, got {type(temperature)}")
        if temperature <= 0:
            raise ValueError("temperature must be positive.")

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """The losses' sum."""
        def compare(loss, *both):
            both = [ops.divide(one, self.temperature) for one in both]
            if not isinstance(loss, losses.KLDivergence):
                return ops.mean(loss(*both))
            return ops.mean(loss(*(ops.softmax(one, axis=-1) for one in both))) * self.temperature ** 2
        return _summed(compare, self.loss, teacher_outputs, student_outputs)

    def get_config(self):
        """The arguments that make another one like it."""
        return {"temperature": self.temperature, "loss": registry.serialize_keras_object(self.loss)}


def _refuse_others(teacher, student):
    """ValueError for what are no models, and for models of other inputs or outputs."""
    for who, model in (("Teacher", teacher), ("Student", student)):
        if not isinstance(model, Model):
            raise ValueError(f"{who} must be a keras.Model, got {type(model)}")
    for what in ("input", "output"):
        pair = [getattr(model, f"{what}s", None) for model in (teacher, student)]
        if None in pair:
            continue
        for one, other in zip(*map(tree.flatten, pair)):
            shapes = f"Teacher: {one.shape}, Student: {other.shape}."
            if len(one.shape) != len(other.shape):
                raise ValueError(f"Teacher and student {what} shapes have different dimensions. {shapes}")
            if any(None not in sizes and sizes[0] != sizes[1] for sizes in zip(one.shape, other.shape)):
                raise ValueError(f"Teacher and student {what} shapes are incompatible. {shapes} All dimensions must "
                                 "match.")
            if one.dtype != other.dtype:
                raise ValueError(f"Teacher and student {what} dtypes must match. Teacher: {one.dtype}, Student: "
                                 f"{other.dtype}.")


def _with_layers(model, names):
    """A model that also gives what layers give; None: no layer is asked for."""
    if not names:
        return None
    last = model.layers[-1].output if isinstance(model, Sequential) else model.output
    outputs = {_LAST: last, **{name: model.get_layer(name=name).output for name in names}}
    return Functional(model.inputs, outputs, name=f"{model.name}_multi_feature_extractor")


class Distiller(Model):
    """Trains a student beside a teacher, which stays as it is (``keras.distillation.Distiller``).

    `distillation_losses`: one or several, with `distillation_loss_weights`; `student_loss_weight`, of 0 to 1, is what
    the labels' loss counts, the rest is the distillation's. Calls and predictions are the student's.
    """

    def __init__(self, teacher, student, distillation_losses, distillation_loss_weights=None, student_loss_weight=0.5,
                 name="distiller", **kwargs):
        super().__init__(name=name, **kwargs)
        _refuse_others(teacher, student)
        self.teacher, self.student = teacher, student
        if not isinstance(student_loss_weight, (int, float)):
            raise ValueError(f"student_loss_weight must be a number, got {type(student_loss_weight)}")
        if not 0 <= student_loss_weight <= 1:
            raise ValueError(f"student_loss_weight must be between 0.0 and 1.0, got {student_loss_weight}")
        self.student_loss_weight = student_loss_weight
        if distillation_losses is None:
            raise ValueError("'distillation_losses' cannot be `None`. Provide a LogitsDistillation, a "
                             "FeatureDistillation, or a list of them.")
        several = isinstance(distillation_losses, (list, tuple))
        self.distillation_losses = list(distillation_losses) if several else [distillation_losses]
        weights = distillation_loss_weights if several else None
        self.distillation_loss_weights = [1.0] * len(self.distillation_losses) if weights is None else list(weights)
        if len(self.distillation_loss_weights) != len(self.distillation_losses):
            raise ValueError(f"Number of distillation_loss_weights ({len(weights)}) must match number of "
                             f"distillation_losses ({len(self.distillation_losses)})")
        for loss in self.distillation_losses:
            loss.validate_model_compatibility(teacher, student)
        self._extractors = [_with_layers(model, list(dict.fromkeys(filter(None, (
            getattr(loss, f"{who}_layer_name", None) for loss in self.distillation_losses)))))
            for who, model in (("teacher", teacher), ("student", student))]
        teacher.trainable = False
        self.student_loss_tracker = metrics.Mean(name="student_loss")
        self.distillation_loss_tracker = metrics.Mean(name="distillation_loss")
        self.total_loss_tracker = metrics.Mean(name="total_loss")

    def compile(self, optimizer="adam", loss=None, metrics=None, **kwargs):
        """Says how the student is trained: `loss` is that of labels."""
        if loss is None:
            raise ValueError("'loss' cannot be `None`.")
        if metrics is not None and not isinstance(metrics, (list, tuple)):
            raise ValueError(f"metrics must be a list or tuple, got {type(metrics)}")
        self._student_loss = _functions(loss)
        super().compile(optimizer=optimizer, loss=None, metrics=metrics, **kwargs)

    def call(self, inputs, training=None, **kwargs):
        """What the student gives."""
        return self.student(inputs, training=training, **kwargs)

    def _of_labels(self, y, y_pred):
        if not self.student_loss_weight or y is None:
            return 0.0
        return _summed(lambda loss, *both: ops.mean(loss(*both)), self._student_loss, y, y_pred)

    def _of_teacher(self, x, y_pred):
        if self.student_loss_weight == 1:
            return 0.0
        of_teacher, of_student = self._extractors
        known = {_LAST: self.teacher(x, training=False)} if of_teacher is None else of_teacher(x, training=False)
        learnt = {_LAST: y_pred} if of_student is None else of_student(x, training=True)
        total = 0.0
        for loss, weight in zip(self.distillation_losses, self.distillation_loss_weights):
            if getattr(loss, "teacher_layer_name", None) is None:
                both = known[_LAST], y_pred
            else:
                both = known[loss.teacher_layer_name], learnt[loss.student_layer_name or _LAST]
            loss.validate_outputs(*both)
            found = ops.convert_to_tensor(loss.compute_loss(*both))
            if len(found.shape):
                raise ValueError(f"Distillation loss {type(loss).__name__} returned a non-scalar loss with shape "
                                 f"{tuple(found.shape)}. The compute_loss method must return a scalar tensor.")
            total = ops.add(total, ops.multiply(weight, found))
        return total

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The labels' loss and the distillation's, by their weights."""
        y_pred = self(x, training=training) if y_pred is None else y_pred
        student, distillation = self._of_labels(y, y_pred), self._of_teacher(x, y_pred)
        total = ops.add(ops.multiply(self.student_loss_weight, student),
                        ops.multiply(1.0 - self.student_loss_weight, distillation))
        for tracker, value in ((self.student_loss_tracker, student), (self.total_loss_tracker, total),
                               (self.distillation_loss_tracker, distillation)):
            tracker.update_state(value)
        return total

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "teacher": registry.serialize_keras_object(self.teacher),
                "student": registry.serialize_keras_object(self.student),
                "distillation_losses": [registry.serialize_keras_object(one) for one in self.distillation_losses],
                "distillation_loss_weights": self.distillation_loss_weights,
                "student_loss_weight": self.student_loss_weight}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these arguments."""
        made = {name: registry.deserialize_keras_object(config[name], custom_objects)
                for name in ("teacher", "student")}
        losses_ = [registry.deserialize_keras_object(one, custom_objects) for one in config["distillation_losses"]]
        return cls(**{**config, **made, "distillation_losses": losses_})


__all__ = ["DistillationLoss", "Distiller", "FeatureDistillation", "LogitsDistillation"]
