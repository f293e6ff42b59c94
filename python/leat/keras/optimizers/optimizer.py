"""The base of optimizers, and what those of the library's table have in common."""

import functools
import json
import re
import sys
import warnings

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._core.tracking import grown, moved
from leat._graph import ops, trace
from leat._graph.tape import of_slices, slices_of
from leat._graph.traced import Function
from leat._structures import variables as _variables
from leat.keras import config
from leat.keras._base import policies, tables
from leat.keras._base.named import op as _op
from leat.keras._base.variables import Variable, found_in, name_scope
from leat.keras.initializers import Constant
from leat.keras.optimizers import schedules
from leat.keras.optimizers.schedules import LearningRateSchedule


def _name_of(variable):
    """How a variable is called in the names of its slots."""
    name = variable.path if hasattr(variable, "path") else variable.name
    return name.replace("/", "_").replace(":", "_")


_OWN = {**tables.entry_of("optimizer", "SGD"), "name": None}  # its lines of the arguments that all optimizers have


def _restored(restore, entry, data, variable):
    restore(variable, entry, data)


class Optimizer:
    """The base of optimizers (``keras.optimizers.Optimizer``): `apply_gradients`, `apply`, `learning_rate`.

    A subclass makes its slots in `build(variables)` with `add_variable_from_reference` and changes a variable in
    `update_step(gradient, variable, learning_rate)`. Gradients are summed over replicas before they are clipped.
    """

    def __init__(self, learning_rate, weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None,
                 use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None,
                 gradient_accumulation_steps=None, name=None, **kwargs):
        self.__dict__["_slots"] = []
        if kwargs.pop("decay", None) is not None:
            warnings.warn("Argument `decay` is no longer supported and will be ignored.", stacklevel=3)
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        if sum(limit is not None for limit in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError("Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                             f"clipnorm={clipnorm}, clipvalue={clipvalue}, global_clipnorm={global_clipnorm}")
        if gradient_accumulation_steps and not gradient_accumulation_steps >= 2:
            raise ValueError("`gradient_accumulation_steps` must be an integer >= 2. Received: "
                             f"gradient_accumulation_steps={gradient_accumulation_steps}")
        if use_ema and not 0 <= ema_momentum <= 1:
            raise ValueError(f"`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={ema_momentum}")
        if use_ema and ema_overwrite_frequency and (not isinstance(ema_overwrite_frequency, int)
                                                    or ema_overwrite_frequency < 1):
            raise ValueError("`ema_overwrite_frequency` must be an integer >= 1 or None. Received: "
                             f"ema_overwrite_frequency={ema_overwrite_frequency}")
        self.name = name or tables.auto_name(tables.snake_case(type(self).__name__))
        self.weight_decay, self.clipnorm, self.clipvalue = weight_decay, clipnorm, clipvalue
        self.global_clipnorm, self.use_ema, self.ema_momentum = global_clipnorm, use_ema, ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.loss_scale_factor = loss_scale_factor
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._is_exact = config.exact_slices()
        self.built = False
        self._trainable_variables = []
        self._steps = {}  # numbers of variables -> the function that applies to them
        self._model_variables_moving_average, self._accumulated_gradients = [], []  # where they are in use
        self._undecayed = (frozenset(), None)  # variables that weight decay leaves alone: ids, and words in names
        self._later = {}  # places among the variables that are to come -> what restores them
        self._make_own(learning_rate)

    def __setattr__(self, name, value):
        if "_slots" not in self.__dict__:
            raise RuntimeError(f"In optimizer '{type(self).__name__}', you forgot to call `super().__init__()` as the "
                               "first statement in the `__init__()` method. Go add it!")
        super().__setattr__(name, value)

    def __reduce__(self):
        return _made_again, (type(self), self.get_config(), [variable.numpy() for variable in self.variables])

    def _make_own(self, learning_rate):
        with name_scope(self.name):
            self._iterations = Variable(0, dtype="int64", trainable=False, aggregation="only_first_replica",
                                        name="iteration")
            if isinstance(learning_rate, (LearningRateSchedule, Variable)) or callable(learning_rate):
                self._learning_rate = learning_rate
            elif isinstance(learning_rate, (float, int)) or hasattr(learning_rate, "__float__"):
                self._learning_rate = Variable(float(learning_rate), dtype=policies.floatx(), trainable=False,
                                               aggregation="only_first_replica", name="learning_rate")
            else:
                raise ValueError("Argument `learning_rate` should be float, or an instance of LearningRateSchedule, or "
                                 "a callable (that takes in the current iteration value and returns the corresponding "
                                 f"learning rate value). Received instead: learning_rate={learning_rate}")

    # ---- its variables ----

    @property
    def iterations(self):
        """The number of steps taken, an int64 variable; where gradients are accumulated that of updates, a tensor."""
        if self.gradient_accumulation_steps:
            return ops.FUNCTIONS["math.floordiv"](self._iterations._as_tensor(), convert_to_tensor(
                self.gradient_accumulation_steps, dtypes.int64))
        return self._iterations

    @property
    def learning_rate(self):
        """The rate: a variable, or what a schedule or function gives for the present step. Settable if a variable."""
        if isinstance(self._learning_rate, Variable):
            return self._learning_rate
        if isinstance(self._learning_rate, LearningRateSchedule):
            return self._learning_rate(self._iterations)
        return self._learning_rate()

    @learning_rate.setter
    def learning_rate(self, value):
        if isinstance(value, LearningRateSchedule) or callable(value) and not hasattr(value, "_as_tensor"):
            self._learning_rate = value
            self._steps = {}
        elif isinstance(self._learning_rate, Variable):
            self._learning_rate.assign(value)
        else:
            raise TypeError("This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
                            "constructor argument, hence its learning rate is not settable. If you need the learning "
                            "rate to be settable, you should instantiate the optimizer with a float `learning_rate` "
                            "argument.")

    @property
    def variables(self):
        """The optimizer's variables: the number of steps, the rate, the slots, those that are its attributes."""
        rate = [self._learning_rate] if isinstance(self._learning_rate, Variable) else []
        own = [self._iterations, *rate, *self._slots]
        return [*own, *found_in({name: value for name, value in self.__dict__.items() if name not in self._not_own},
                                Variable, own)]

    _not_own = ("_trainable_variables", "_learning_rate", "_later", "_steps")

    def add_variable(self, shape, initializer="zeros", dtype=None, aggregation="none", layout=None, name=None):
        """A variable of the optimizer's own."""
        with trace.eagerly(), name_scope(self.name):
            made = Variable(initializer, shape=tuple(shape), dtype=dtype or policies.floatx(), trainable=False,
                            aggregation=aggregation, name=name)
        self._slots.append(made)
        return made

    def add_variable_from_reference(self, reference_variable, name=None, initializer="zeros"):
        """A slot: a variable of the shape and dtype of another one, which lies where that lies."""
        return self._add_slot(reference_variable, name or "var", initializer, reference_variable.shape,
                              reference_variable.dtype)

    def _add_slot(self, variable, name, initializer, shape, dtype):
        with trace.eagerly(), name_scope(self.name), _variables.beside(variable):
            made = Variable(initializer, shape=tuple(shape), dtype=dtype, trainable=False,
                            name=f"{_name_of(variable)}_{name}")
        self._slots.append(made)
        return made

    def add_optimizer_variables(self, trainable_variables, name, initializer="zeros"):
        """A list of slots of a name for all variables, or of several names a tuple of such lists."""
        names = [name] if isinstance(name, str) else list(name)
        several = isinstance(initializer, (list, tuple))
        initializers = list(initializer) if several else [initializer] * len(names)
        if len(names) != len(initializers):
            raise ValueError("The number of provided names must match the number of provided initializers.  Received "
                             f"name='{name}', initializer='{initializer}'")
        made = tuple([] for _ in names)
        for variable in trainable_variables:
            for slots, one, start in zip(made, names, initializers):
                slots.append(self.add_variable_from_reference(variable, one, start))
        return made[0] if isinstance(name, str) else made

    def build(self, variables):
        """Makes the slots of these variables."""
        self._trainable_variables = list(variables)
        self._index = {id(variable): place for place, variable in enumerate(self._trainable_variables)}
        if self._trainable_variables and "leat.distribute" in sys.modules:
            from leat.distribute import agreement
            agreement.compare_configuration(self._trainable_variables[0]._strategy,
                                            [(f'optimizer "{self.name}"', self)])
            self._move_beside(self._trainable_variables[0])
        self._make_shared(self._trainable_variables)
        self.built = True

    def _make_shared(self, variables):
        """Makes what averages and accumulation keep of the variables."""
        if self.use_ema:
            self._model_variables_moving_average = self.add_optimizer_variables(variables, "average")
        if self.gradient_accumulation_steps:
            self._accumulated_gradients = self.add_optimizer_variables(variables, "gradient_accumulator")

    def _get_variable_index(self, variable):
        return self._index[id(variable)]

    def _restore_later(self, values, restore):
        """Restores variables, which the optimizer does not have yet, when they are made."""
        self._later = {place: functools.partial(_restored, restore, *value) for place, value in values.items()}

    def _checkpoint_children(self):
        """TensorFlow's names: all variables by their places, and the variables that it was built with."""
        own = [("_variables", list(self.variables))]
        if self._trainable_variables:
            own.append(("_trainable_variables", list(self._trainable_variables)))
        return [*own, ("_iterations", self._iterations), ("_learning_rate", self._learning_rate)]

    def _restore_waiting(self):
        waiting, self._later = self._later, {}
        with trace.eagerly():
            for place, variable in enumerate(self.variables):
                if place in waiting:
                    waiting[place](variable)
        grown(self)

    def _move_beside(self, variable):
        """The steps and the rate lie where the variables lie, which is known now."""
        steps, rate = self._iterations, self._learning_rate
        with trace.eagerly(), _variables.beside(variable), name_scope(self.name):
            self._iterations = Variable(self._iterations.numpy(), dtype="int64", trainable=False, name="iteration")
            if isinstance(self._learning_rate, Variable):
                self._learning_rate = Variable(self._learning_rate.numpy(), trainable=False, name="learning_rate")
        moved(self, steps, self._iterations)
        moved(self, rate, self._learning_rate)

    # ---- steps ----

    def apply_gradients(self, grads_and_vars):
        """One step with pairs of gradients and variables; the number of steps so far."""
        grads, trainable_variables = zip(*grads_and_vars)
        self.apply(list(grads), list(trainable_variables))
        return self._iterations

    def apply(self, grads, trainable_variables=None):
        """One step with gradients of these variables, or of those that the optimizer was built with."""
        grads = list(grads)
        if not grads:
            return
        if trainable_variables is None:
            if not self.built:
                raise ValueError("When passing `grads` without `variables`, the optimizer must already be built on a "
                                 "list of variables. Call `optimizer.build(trainable_variables)` first.")
            if len(grads) != len(self._trainable_variables):
                raise ValueError("When passing `grads` as a list of gradient tensors, the gradients must match "
                                 f"`optimizer.variables` one-to-on. Received a list of {len(grads)} gradients, but the "
                                 f"optimizer is tracking {len(self._trainable_variables)} trainable variables.")
            trainable_variables = self._trainable_variables
        variables = list(trainable_variables)
        if not self.built:
            self.build(variables)
            grown(self)
            trace.note_state(bool(self._slots))
        if self._later:
            self._restore_waiting()
        for variable in variables:
            if id(variable) not in self._index:
                raise ValueError(f"Unknown variable: {variable!r}. This optimizer can only be called for the variables "
                                 "it was originally built with. When working with a new set of variables, you should "
                                 "recreate a new optimizer instance.")
        pairs = self._known(grads, variables)
        overwritten = [pair for pair in pairs if getattr(pair[1], "overwrite_with_gradient", False)]
        pairs = [pair for pair in pairs if not getattr(pair[1], "overwrite_with_gradient", False)]
        for gradient, variable in overwritten:
            self._overwrite(gradient, variable)
        if pairs:
            self._apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        elif overwritten:
            self._iterations.assign_add(1)

    def _overwrite(self, gradient, variable):
        """Sets a variable to its gradient; where gradients accumulate, every so many steps to the largest of them."""
        steps = self.gradient_accumulation_steps
        if not steps:
            variable.assign(gradient)
            return
        kept = self._accumulated_gradients[self._get_variable_index(variable)]
        due = (self._iterations._as_tensor() + 1) % steps == 0
        largest = _op("maximum", gradient, kept._as_tensor())
        variable.assign(_op("where", due, largest, variable._as_tensor()))
        kept.assign(_op("where", due, _op("zeros_like", largest), largest))

    def _known(self, grads, variables):
        """Pairs without those that have no gradient, which are named in a warning."""
        pairs = [(_gradient_of(g, v), v) for g, v in zip(grads, variables) if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        if len(pairs) < len(grads):
            missing = [getattr(v, "path", v.name) for g, v in zip(grads, variables) if g is None]
            warnings.warn(f"Gradients do not exist for variables {missing} when minimizing the loss. If using "
                          "`model.compile()`, did you forget to provide a `loss` argument?", stacklevel=4)
        return pairs

    def _apply(self, grads, variables):
        if trace.is_tracing():
            self._take_step(grads, variables)
            return
        strategy, replica = variables[0]._strategy, trace.running_replica()
        is_running = replica is not None and replica.strategy is strategy
        strategy = strategy if strategy is not None and strategy.num_replicas_in_sync > 1 else None
        slices = [slices_of(gradient) if strategy is None and not is_running else [] for gradient in grads]
        key = tuple((id(variable), len(parts)) for variable, parts in zip(variables, slices))
        step = self._steps.get(key)
        if step is None:
            def run(given):
                self._take_step([_of_slices(variable, parts) for variable, parts in zip(variables, given)], variables)
                return []
            step = self._steps[key] = Function(run, autograph=False, reduce_retracing=any(slices))
        with trace.unrecorded():
            if is_running:
                replica.together(step, [[gradient] for gradient in grads])
            elif strategy is None:
                step([parts or [gradient] for gradient, parts in zip(grads, slices)])
            else:
                self._apply_everywhere(strategy, step, grads)

    @staticmethod
    def _apply_everywhere(strategy, step, grads):
        """One step outside of replicas, on all copies of the variables. `step` is given each gradient by one replica
        and zeros by the others, because it adds them."""
        from leat.distribute.values import PerReplica
        zeros = [ops.FUNCTIONS["zeros_like"](gradient) for gradient in grads]
        givers = [strategy._first + replica == 0 for replica in range(strategy._local)]
        strategy.run(step, ([[PerReplica([g if gives else zero for gives in givers])]
                             for g, zero in zip(grads, zeros)],))

    def _rate(self):
        """The rate of this step, a tensor."""
        rate = self.learning_rate
        rate = rate._as_tensor() if hasattr(rate, "_as_tensor") else convert_to_tensor(rate)
        return rate if rate.dtype in (dtypes.float32, dtypes.float64) else ops.FUNCTIONS["cast"](rate, dtypes.float32)

    def _unscaled(self, grads):
        """Gradients of the loss, where it was multiplied by loss_scale_factor."""
        scale = self.loss_scale_factor
        return grads if scale is None else [gradient / float(scale) for gradient in grads]

    def scale_loss(self, loss):
        """The loss times `loss_scale_factor`, of which gradients are taken; steps divide them by it."""
        return loss if self.loss_scale_factor is None else loss * float(self.loss_scale_factor)

    def _take_step(self, grads, variables):
        """Adds a step to the graph that is traced; the library's frame calls `update_step` for each variable."""
        given = {id(variable) for variable in variables}
        idle = [variable for variable in self._trainable_variables if self.use_ema and id(variable) not in given]
        kept = [listed for listed in (self._model_variables_moving_average, self._accumulated_gradients) if listed]
        apart = {id(slot) for listed in kept for slot in listed}
        slots = [listed[self._get_variable_index(variable)] for variable in (*variables, *idle) for listed in kept]
        part = tables.part("optimizer", _OWN, {"exact_slices": self._is_exact, **{
            name: getattr(self, name) for name in self._shared}})
        self._add_step(part, grads, variables, slots, idle,
                       lambda place, gradient, rate: self.update_step(gradient, variables[place], rate),
                       [slot for slot in self._slots if id(slot) not in apart])

    def _add_step(self, part, grads, variables, slots, idle=(), update=None, others=()):
        graph = trace.current_graph() or trace.Graph(eager=True)  # of a step that cannot be traced
        graph.apply_part(part, [trace.reach(graph, gradient) for gradient in self._unscaled(grads)],
                         [*variables, *idle], slots, self._iterations, trace.reach(graph, self._rate()),
                         [not self._decays(variable) for variable in variables], update=update, others=others)
        if graph.is_eager:
            graph.is_open = False
            graph.release()
        for variable in variables:
            if getattr(variable, "constraint", None) is not None:
                variable.assign(variable.constraint(variable._as_tensor()))

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Says which variables weight decay leaves alone: a list of them, or of expressions that their names match."""
        self._undecayed = (frozenset(id(variable) for variable in var_list or ()),
                           re.compile("|".join(sorted(set(var_names)))) if var_names else None)
        self._steps = {}

    def _decays(self, variable):
        listed, words = self._undecayed
        return id(variable) not in listed and (words is None or words.search(variable.name) is None)

    def update_step(self, gradient, variable, learning_rate):
        """Changes one variable; a subclass overrides it."""
        raise NotImplementedError

    def assign(self, variable, value):
        """Sets a variable (for update_step)."""
        variable.assign(value)

    def assign_add(self, variable, value):
        """Adds to a variable (for update_step)."""
        variable.assign_add(value)

    def assign_sub(self, variable, value):
        """Subtracts from a variable (for update_step)."""
        variable.assign_sub(value)

    def finalize_variable_values(self, var_list):
        """Sets variables to their averages, where there are some: at the end of training."""
        for variable in var_list if self.use_ema and self.built else ():
            variable.assign(self._model_variables_moving_average[self._get_variable_index(variable)].read_value())

    def set_weights(self, weights):
        """Sets the optimizer's variables to arrays in their order. ValueError where one does not fit."""
        if not self.built:
            raise ValueError("You are calling `set_weights()` on an optimizer that has not yet been built. Please call "
                             "`optimizer.build(trainable_variables)` to create the optimizer weights before calling "
                             "`set_weights()`.")
        for variable, weight in zip(self.variables, weights):
            if tuple(variable.shape) != tuple(weight.shape):
                raise ValueError(f"Optimizer variable {variable.path} has shape {tuple(variable.shape)} not compatible "
                                 f"with provided weight shape {tuple(weight.shape)}.")
            variable.assign(weight)

    def save_own_variables(self, store):
        """Puts the values of the variables into `store`, a dictionary, under "0", "1" and so on."""
        for place, variable in enumerate(self.variables):
            store[str(place)] = variable.numpy()

    def load_own_variables(self, store):
        """Takes the values of the variables out of such a dictionary; another number of them is warned of and left."""
        variables = self.variables
        if len(store) != len(variables):
            warnings.warn(f"Skipping variable loading for optimizer '{self.name}', because it has {len(variables)} "
                          f"variables whereas the saved optimizer has {len(store)} variables. Build it with the "
                          "model's variables first", stacklevel=2)
            return
        for place, variable in enumerate(variables):
            variable.assign(store[str(place)])

    def stateless_apply(self, optimizer_variables, grads, trainable_variables):
        """The values of (variables, optimizer's variables) after a step from these ones, which stay."""
        if not self.built:
            raise ValueError(f"To call `stateless_apply`, {type(self).__name__} must be built (i.e. its variables must "
                             "have been created). You can build it via `optimizer.build(trainable_variables)`.")
        own, model = self.variables, self._trainable_variables
        for given, wanted, name in ((optimizer_variables, own, "optimizer_variables"),
                                    (trainable_variables, model, "trainable_variables")):
            if len(given) != len(wanted):
                raise ValueError(f"Argument `{name}` must be a list of tensors corresponding 1:1 to the variables of "
                                 f"{type(self).__name__}. Received list with length {len(given)}, but expected "
                                 f"{len(wanted)} variables.")
        kept = [variable.read_value() for variable in (*model, *own)]
        try:
            for variable, value in zip((*model, *own), (*trainable_variables, *optimizer_variables)):
                variable.assign(value)
            self.apply(grads)
            return [one.read_value() for one in model], [one.read_value() for one in own]
        finally:
            for variable, value in zip((*model, *own), kept):
                variable.assign(value)

    # ---- configuration ----

    _shared = ("weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "ema_momentum",
               "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps")

    def get_config(self):
        """The arguments that make another one like it."""
        rate = self._learning_rate
        if isinstance(rate, Variable):
            rate = float(rate.numpy())
        elif isinstance(rate, LearningRateSchedule) or callable(rate):
            rate = schedules.serialize(rate)
        return {"name": self.name, "learning_rate": rate, **{name: getattr(self, name) for name in self._shared}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these arguments."""
        if isinstance(config.get("learning_rate"), dict):
            config = {**config, "learning_rate": schedules.deserialize(config["learning_rate"], custom_objects)}
        return cls(**config)


def _of_dtype(gradient, dtype):
    """A gradient in the dtype of its variable."""
    gradient = convert_to_tensor(gradient, dtype_hint=dtype)
    return gradient if gradient.dtype == dtype else ops.FUNCTIONS["cast"](gradient, dtype)


def _gradient_of(gradient, variable):
    """A gradient in the dtype of its variable; IndexedSlices as those of a table's rows."""
    if not isinstance(gradient, _variables.IndexedSlices):
        return _of_dtype(gradient, variable.dtype)
    return _of_slices(variable, [_of_dtype(gradient.values, variable.dtype), gradient.indices])


def _of_slices(variable, parts):
    """A gradient, or that of slices of a table and their rows, two by two, as a function that is traced has it."""
    return parts[0] if len(parts) == 1 else of_slices(variable._as_tensor(), parts, lambda slices: slices)


def _made_again(class_, config, values):
    """The optimizer that was pickled; values of slots wait for its variables."""
    made = class_.from_config(config)
    for variable, value in zip(made.variables, values):
        variable.assign(value)
    made._restore_later({place: (value, None) for place, value in enumerate(values)},
                        lambda variable, value, _: variable.assign(value))
    return made


class TableOptimizer(Optimizer):
    """An optimizer of the library's table."""

    def _setup(self, given, others):
        shared = {name: given.get(name) for name in Optimizer._shared}
        if given.get("weight_decay", 0) is None and self._entry["name"] == "AdamW":
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")
        Optimizer.__init__(self, given["learning_rate"], name=given.get("name"), **shared, **others)
        given = tables.with_lists(self._entry, given)
        self._given = {name: value for name, value in given.items()
                       if name not in Optimizer._shared and name not in ("learning_rate", "name")}
        for name, value in self._given.items():
            setattr(self, name, value)
        arguments = {name: value for name, value in {**self._given, **shared}.items() if name != "loss_scale_factor"}
        self._part = tables.part("optimizer", self._entry, {**arguments, "exact_slices": self._is_exact})
        self._own, self._common = {}, []  # slots by variable, and what all variables share

    def _make_shared(self, variables):
        """The library's own slots have averages and sums among them."""

    def build(self, variables):
        """Makes the slots of these variables."""
        if self.built:
            return
        super().build(variables)
        listed = [json.loads(self._part.slots(variable._shadow())) for variable in self._trainable_variables]
        self._own = {id(variable): [None] * len(slots) for variable, slots in zip(self._trainable_variables, listed)}
        names = list(dict.fromkeys(slot["name"] for slots in listed for slot in slots))
        for group in _groups(names, self._entry["by_variable"]):
            for variable, slots in zip(self._trainable_variables, listed):
                for place, slot in enumerate(slots):
                    if slot["name"] in group:
                        self._own[id(variable)][place] = self._make_slot(variable, slot)
        if self.use_ema:
            self._model_variables_moving_average = [self._own[id(variable)][0]
                                                    for variable in self._trainable_variables]
        if self.gradient_accumulation_steps:
            self._accumulated_gradients = [self._own[id(variable)][int(self.use_ema)]
                                           for variable in self._trainable_variables]
        if self._entry["shares"]:
            self._common = [self._make_common()]
        self._restore_waiting()

    def _make_common(self):
        first = self._trainable_variables[0] if self._trainable_variables else self._iterations
        with trace.eagerly(), name_scope(self.name), _variables.beside(first):
            made = Variable(1.0, dtype=first.dtype if self._trainable_variables else "float32", trainable=False)
        self._slots.append(made)
        return made

    def _make_slot(self, variable, slot):
        with trace.eagerly():
            start = variable.read_value() if slot["copies"] else Constant(slot["start"])
        return self._add_slot(variable, slot["name"], start, slot["shape"], slot["dtype"])

    def update_step(self, gradient, variable, learning_rate):
        """The library's update of one variable, for a subclass that changes what goes into it."""
        if not trace.is_tracing():
            Function(lambda *given: self.update_step(given[0], variable, given[1]) or [], autograph=False)(
                convert_to_tensor(gradient), convert_to_tensor(learning_rate))
            return
        if self._common:
            raise NotImplementedError(f"{type(self).__name__} updates all variables together; override `apply` of a "
                                      "subclass, not `update_step`")
        graph = trace.current_graph()
        given = [trace.reach(graph, _of_dtype(value._as_tensor() if hasattr(value, "_as_tensor") else value, dtype))
                 for value, dtype in ((gradient, variable.dtype), (learning_rate, dtypes.float32))]
        graph.apply_part(self._part, given[:1], [variable], self._own[id(variable)], self._iterations, given[1],
                         alone=True)

    def _take_step(self, grads, variables):
        if type(self).update_step is not TableOptimizer.update_step:
            super()._take_step(grads, variables)
            return
        self._add_step(self._part, grads, variables,
                       [slot for variable in variables for slot in self._own[id(variable)]] + self._common)

    def get_config(self):
        """The arguments that make another one like it."""
        return tables.ordered(self._entry, {**super().get_config(), **self._given})


_PAIRS = {("momentum", "velocity"), ("momentum", "norm"), ("accumulator", "linear"),
          ("accumulated_grad", "accumulated_delta_var")}


def _groups(names, by_variable):
    """The order in which Keras makes slots: most for all variables, these pairs variable by variable, and for some
    optimizers all of their own."""
    if by_variable:
        shared = [name for name in names if name in ("average", "gradient_accumulator")]
        return [[name] for name in shared] + [[name for name in names if name not in shared]]
    out = []
    for name in names:
        if out and (out[-1][-1], name) in _PAIRS:
            out[-1].append(name)
        else:
            out.append([name])
    return out
