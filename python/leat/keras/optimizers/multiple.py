"""Optimizers made of others: one for each variable, and the scaling of losses for half precision."""

import collections.abc
import re
import sys

from leat._graph import ops
from leat._graph.tape import of_slices, slices_of
from leat.keras._base import registry
from leat.keras.initializers import Constant
from leat.keras.optimizers.optimizer import Optimizer


class OptimizerMap(collections.abc.MutableMapping):
    """Optimizers by the paths of variables (``keras.optimizers.OptimizerMap``).

    A key is a path, or an expression that matches whole paths; `default_optimizer` is for all others. Called with a
    variable it gives its optimizer. ValueError where several keys match.
    """

    def __init__(self, default_optimizer, optimizer_map=None):
        if not isinstance(default_optimizer, Optimizer):
            raise TypeError(f"default_optimizer must be a Keras Optimizer instance. Received: {default_optimizer}")
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            raise TypeError(f"optimizer_map must be a dictionary. Received: {optimizer_map}")
        self._default_optimizer = default_optimizer
        self._optimizer_map = optimizer_map or {}

    default_optimizer = property(lambda self: self._default_optimizer)

    def __getitem__(self, key):
        if key in self._optimizer_map:
            return self._optimizer_map[key]
        matching = [pattern for pattern in self._optimizer_map if re.fullmatch(pattern, key)]
        if len(matching) > 1:
            raise ValueError(f"Multiple optimizers assigned to variable {key}.")
        return self._optimizer_map[matching[0]] if matching else self._default_optimizer

    def __setitem__(self, key, optimizer):
        if key in self._optimizer_map:
            raise ValueError(f"'{key}' already exists in the OptimizerMap with value {self._optimizer_map[key]}. "
                             "Please make sure to not use duplicated keys.")
        if not isinstance(key, str):
            raise ValueError(f"key must be a string. Received: {key}")
        if not isinstance(optimizer, Optimizer):
            raise ValueError(f"optimizer must be a Keras Optimizer instance. Received: {optimizer}")
        if isinstance(optimizer, (MultiOptimizer, LossScaleOptimizer)):
            raise ValueError(f"optimizer cannot be {type(optimizer).__name__}.")
        self._optimizer_map[key] = optimizer

    def __delitem__(self, key):
        del self._optimizer_map[key]

    def __len__(self):
        return len(self._optimizer_map)

    def __iter__(self):
        return iter(self._optimizer_map)

    def __call__(self, variable):
        return self[variable.path]

    def get_config(self):
        """The optimizers' configurations."""
        return {"default_optimizer": registry.serialize_keras_object(self._default_optimizer),
                "optimizer_map": registry.serialize_keras_object(self._optimizer_map)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these configurations."""
        return cls(registry.deserialize_keras_object(config["default_optimizer"], custom_objects),
                   registry.deserialize_keras_object(config["optimizer_map"], custom_objects))


class MultiOptimizer(Optimizer):
    """Hands each variable to an optimizer of its own (``keras.optimizers.MultiOptimizer``).

    `optimizer_map`: an OptimizerMap, or a function that gives the optimizer of a variable. The optimizers are in
    `optimizers`; there is no learning rate of all.
    """

    def __init__(self, optimizer_map, loss_scale_factor=None, name=None):
        self.__dict__.update(_inner=[], _loss_scale_factor=None)
        super().__init__(0.0, loss_scale_factor=loss_scale_factor, name=name)
        self._optimizer_map = optimizer_map
        given = list(optimizer_map.values()) if hasattr(optimizer_map, "values") else []
        for optimizer in (*given, getattr(optimizer_map, "default_optimizer", None)):
            if optimizer is not None:
                self._place_of(optimizer)

    def _place_of(self, optimizer):
        for place, known in enumerate(self._inner):
            if known is optimizer:
                return place
        optimizer.loss_scale_factor = self.loss_scale_factor
        self._inner.append(optimizer)
        return len(self._inner) - 1

    @property
    def optimizers(self):
        """The optimizers of the variables."""
        return self._inner

    @property
    def variables(self):
        """The number of steps, and the variables of all optimizers."""
        own = [self._iterations, self._learning_rate] if self._learning_rate is not None else [self._iterations]
        return [*own, *(variable for optimizer in self._inner for variable in optimizer.variables)]

    @property
    def learning_rate(self):
        """AttributeError: each optimizer has its own."""
        raise AttributeError("Learning rate cannot be accessed on a MultiOptimizer. Access the learning rate on the "
                             "individual sub-optimizers instead.")

    @learning_rate.setter
    def learning_rate(self, value):
        raise AttributeError("Learning rate cannot be set on a MultiOptimizer. Set the learning rate on the individual "
                             "sub-optimizers instead.")

    @property
    def loss_scale_factor(self):
        """What the loss is multiplied by, for all optimizers."""
        return self._loss_scale_factor

    @loss_scale_factor.setter
    def loss_scale_factor(self, value):
        self._loss_scale_factor = value
        for optimizer in self._inner:
            optimizer.loss_scale_factor = value

    def build(self, variables):
        """Builds each optimizer with its variables."""
        if self.built:
            return
        self._places = {}
        for variable in variables:
            optimizer = self._optimizer_map(variable)
            if not isinstance(optimizer, Optimizer):
                raise ValueError(f"Optimizer for variable {variable} is not an Optimizer instance.")
            if isinstance(optimizer, (MultiOptimizer, LossScaleOptimizer)):
                raise ValueError(f"{type(optimizer).__name__} cannot be used inside an MultiOptimizer.")
            self._places[id(variable)] = self._place_of(optimizer)
        for place, optimizer in enumerate(self._inner):
            own = [variable for variable in variables if self._places[id(variable)] == place]
            if own:
                optimizer.build(own)
        super().build(variables)
        self._restore_waiting()

    def _apply(self, grads, variables):
        for place, optimizer in enumerate(self._inner):
            own = [(g, v) for g, v in zip(grads, variables) if self._places[id(v)] == place]
            if own:
                optimizer.apply([gradient for gradient, _ in own], [variable for _, variable in own])
        self._iterations.assign_add(1)

    def finalize_variable_values(self, var_list):
        """Sets variables to their averages, where their optimizers keep some."""
        for place, optimizer in enumerate(self._inner):
            own = [variable for variable in var_list if self._places[id(variable)] == place]
            if own:
                optimizer.finalize_variable_values(own)

    def get_config(self):
        """The configurations of the map and its optimizers."""
        return {"optimizer_map": registry.serialize_keras_object(self._optimizer_map),
                "loss_scale_factor": self.loss_scale_factor, "name": self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these configurations."""
        made = registry.deserialize_keras_object(config["optimizer_map"], custom_objects)
        return cls(**{**config, "optimizer_map": made})


class LossScaleOptimizer(Optimizer):
    """Scales losses so that small gradients do not become 0 (``keras.optimizers.LossScaleOptimizer``).

    `inner_optimizer` takes the steps; those whose gradients are not finite are left out, and the scale is halved. After
    `dynamic_growth_steps` steps with finite gradients it is doubled; at first it is `initial_scale`.
    """

    def __init__(self, inner_optimizer, initial_scale=32768.0, dynamic_growth_steps=2000, name=None, **kwargs):
        if not kwargs.pop("dynamic", True):
            raise ValueError("LossScaleOptimizer no longer supports `dynamic=False`. Instead, simply set "
                             "`loss_scale_factor` directly on the `inner_optimizer`.")
        standard = dict.fromkeys(Optimizer._shared) | {"use_ema": False, "ema_momentum": 0.99}
        for argument, value in standard.items():
            if kwargs.pop(argument, value) != value:
                raise ValueError(f"LossScaleOptimizer does not support `{argument}`. Instead, set `{argument}` on the "
                                 "`inner_optimizer`.")
        if kwargs:
            raise ValueError(f"LossScaleOptimizer does not support arguments: `{'`, `'.join(kwargs)}`.")
        super().__init__(0.0, name=name)
        self.inner_optimizer, self.initial_scale = inner_optimizer, initial_scale
        self.dynamic_growth_steps = dynamic_growth_steps
        inner_optimizer.loss_scale_factor = None

    def build(self, variables):
        """Makes the scale and the number of steps since it changed, and what the inner optimizer keeps."""
        if self.built:
            return
        self.step_counter = self.add_variable((), dtype="int64", name="step_counter")
        self.dynamic_scale = self.add_variable((), Constant(self.initial_scale), "float32", name="dynamic_scale")
        self.inner_optimizer.build(variables)
        super().build(variables)
        self._restore_waiting()

    def _checkpoint_children(self):
        own = [(name, self.__dict__[name]) for name in ("step_counter", "dynamic_scale") if name in self.__dict__]
        inner = self.inner_optimizer._trainable_variables
        listed = [("_trainable_variables", list(inner))] if inner else []
        return [("_iterations", self._iterations), ("_learning_rate", self._learning_rate),
                ("inner_optimizer", self.inner_optimizer), *own, *listed]

    @property
    def variables(self):
        """The optimizer's own variables, then those of the inner one."""
        return [*super().variables, *self.inner_optimizer.variables]

    @property
    def learning_rate(self):
        """The inner optimizer's rate."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self.inner_optimizer.learning_rate = value

    @property
    def iterations(self):
        """The number of steps that the inner optimizer took."""
        return self.inner_optimizer.iterations

    def _take_step(self, grads, variables):
        """The inner optimizer's step with gradients of the loss; one that are not finite leaves all as it was."""
        op, scale, steps = ops.FUNCTIONS, self.dynamic_scale._as_tensor(), self.step_counter._as_tensor()
        is_finite = _all_finite(grads)
        inner = self.inner_optimizer
        touched = [*variables, *inner.variables]
        before = [one.read_value() for one in touched]

        def unscaled(gradient):
            return op["where"](is_finite, gradient / op["cast"](scale, gradient.dtype), op["zeros_like"](gradient))
        inner.apply([of_slices(one, parts, unscaled) if (parts := slices_of(one)) else unscaled(one) for one in grads],
                    variables)
        for one, old in zip(touched, before):
            one.assign(op["where"](is_finite, one.read_value(), old))
        grows = op["equal"](steps, op["cast"](self.dynamic_growth_steps - 1, steps.dtype))
        none = op["zeros_like"](steps)
        self.step_counter.assign(op["where"](is_finite, op["where"](grows, none, steps + 1), none))
        self.dynamic_scale.assign(op["where"](is_finite, op["where"](grows, scale * 2.0, scale), scale * 0.5))

    def scale_loss(self, loss):
        """The loss times the scale, of which gradients are taken."""
        if not self.built:
            return loss * float(self.initial_scale)
        scale = self.dynamic_scale._as_tensor()
        return loss * (ops.FUNCTIONS["cast"](scale, loss.dtype) if hasattr(loss, "dtype") else scale)

    def finalize_variable_values(self, var_list):
        """Sets variables to their averages, where the inner optimizer keeps some."""
        self.inner_optimizer.finalize_variable_values(var_list)

    def get_config(self):
        """The inner optimizer's configuration and the arguments."""
        return {"name": self.name, "inner_optimizer": registry.serialize_keras_object(self.inner_optimizer),
                "initial_scale": self.initial_scale, "dynamic_growth_steps": self.dynamic_growth_steps}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these configurations."""
        return cls(**{**config, "inner_optimizer": registry.deserialize_keras_object(config["inner_optimizer"],
                                                                                   custom_objects)})


def _all_finite(grads):
    """Are all gradients finite, on all replicas that take the step together?"""
    op = ops.FUNCTIONS
    finite = op["reduce_all"](op["stack"]([op["reduce_all"](op["math.is_finite"](g)) for g in grads]))
    module = sys.modules.get("leat.distribute")
    context = module.get_replica_context() if module is not None else None
    if context is None or context.num_replicas_in_sync == 1:
        return finite
    return context.all_reduce("SUM", op["cast"](op["math.logical_not"](finite), "float32")) < 0.5


for _class in (OptimizerMap, MultiOptimizer, LossScaleOptimizer):
    _class.__module__ = "leat.keras.optimizers"
