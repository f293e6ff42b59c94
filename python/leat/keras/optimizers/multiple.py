"""Optimizers made of others: one for each variable, and the scaling of losses for half precision."""

import collections.abc
import re

from leat.keras.optimizers import Optimizer


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
        if isinstance(optimizer, MultiOptimizer):
            raise ValueError("optimizer cannot be MultiOptimizer.")
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
        from leat.keras import saving
        return {"default_optimizer": saving.serialize_keras_object(self._default_optimizer),
                "optimizer_map": saving.serialize_keras_object(self._optimizer_map)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these configurations."""
        from leat.keras import saving
        return cls(saving.deserialize_keras_object(config["default_optimizer"], custom_objects),
                   saving.deserialize_keras_object(config["optimizer_map"], custom_objects))


class MultiOptimizer(Optimizer):
    """Hands each variable to an optimizer of its own (``keras.optimizers.MultiOptimizer``).

    `optimizer_map`: an OptimizerMap, or a function that gives the optimizer of a variable. The optimizers are in
    `optimizers`; there is no learning rate of all.
    """

    def __init__(self, optimizer_map, loss_scale_factor=None, name=None):
        self._inner = []
        self._loss_scale_factor = None
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
            if isinstance(optimizer, MultiOptimizer):
                raise ValueError("MultiOptimizer cannot be used inside an MultiOptimizer.")
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
        from leat.keras import saving
        return {"optimizer_map": saving.serialize_keras_object(self._optimizer_map),
                "loss_scale_factor": self.loss_scale_factor, "name": self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these configurations."""
        from leat.keras import saving
        made = saving.deserialize_keras_object(config["optimizer_map"], custom_objects)
        return cls(**{**config, "optimizer_map": made})


class LossScaleOptimizer(Optimizer):
    """Scales losses for half precision (``keras.optimizers.LossScaleOptimizer``), which leat does not have yet.

    NotImplementedError: a fixed `loss_scale_factor` is an argument of every optimizer.
    """

    def __init__(self, inner_optimizer, initial_scale=32768.0, dynamic_growth_steps=2000, name=None, **kwargs):
        raise NotImplementedError("LossScaleOptimizer serves mixed precision, which is not supported; models compute "
                                  "in float32, whose gradients need no scaling: use the optimizer itself (a fixed "
                                  "factor is its argument loss_scale_factor)")
