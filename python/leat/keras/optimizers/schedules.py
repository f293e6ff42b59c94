"""``keras.optimizers.schedules``: the learning rate as a function of the step."""

import math

from leat import dtypes, ops
from leat.keras import tables
from leat.tensor import convert_to_tensor


def _op(path, *args):
    return ops.FUNCTIONS[path](*args)


def _float(value):
    value = convert_to_tensor(value._as_tensor() if hasattr(value, "_as_tensor") else value)
    return value if value.dtype is dtypes.float32 else _op("cast", value, dtypes.float32)


class LearningRateSchedule:
    """The base of schedules: called with a step, it gives the rate."""

    def __call__(self, step):
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, "
                                  "step)`.")

    def get_config(self):
        """The arguments that make another one like it."""
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override `get_config()` in "
                                  "order to be serializable.")

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


class Schedule(LearningRateSchedule):
    """One that remembers its arguments."""

    def _keep(self, **arguments):
        self._arguments = arguments
        for name, value in arguments.items():
            setattr(self, name, value)

    def get_config(self):
        """The arguments that make another one like it."""
        return dict(self._arguments)


class ExponentialDecay(Schedule):
    """initial_learning_rate * decay_rate ** (step / decay_steps); `staircase`: of the whole quotient."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="ExponentialDecay"):
        self._keep(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps, decay_rate=decay_rate,
                   staircase=staircase, name=name)

    def __call__(self, step):
        power = _float(step) / float(self.decay_steps)
        power = _op("math.floor", power) if self.staircase else power
        return self.initial_learning_rate * _op("math.pow", _float(self.decay_rate), power)


class InverseTimeDecay(Schedule):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps); `staircase`: of the whole quotient."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="InverseTimeDecay"):
        self._keep(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps, decay_rate=decay_rate,
                   staircase=staircase, name=name)

    def __call__(self, step):
        part = _float(step) / float(self.decay_steps)
        part = _op("math.floor", part) if self.staircase else part
        return self.initial_learning_rate / (1.0 + self.decay_rate * part)


class PolynomialDecay(Schedule):
    """From initial_learning_rate to end_learning_rate in decay_steps; `cycle`: again and again, over longer spans."""

    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                 name="PolynomialDecay"):
        self._keep(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps,
                   end_learning_rate=end_learning_rate, power=power, cycle=cycle, name=name)

    def __call__(self, step):
        step, steps = _float(step), _float(self.decay_steps)
        if self.cycle:
            times = _op("math.ceil", step / steps)
            steps = steps * _op("math.maximum", times, 1.0)
        else:
            step = _op("math.minimum", step, steps)
        left = _op("math.pow", 1.0 - step / steps, _float(self.power))
        return (self.initial_learning_rate - self.end_learning_rate) * left + self.end_learning_rate


class PiecewiseConstantDecay(Schedule):
    """values[i] for steps up to boundaries[i], the last value behind them all."""

    def __init__(self, boundaries, values, name="PiecewiseConstant"):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values. Received: "
                             f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length "
                             f"{len(values)}.")
        self._keep(boundaries=boundaries, values=values, name=name)

    def __call__(self, step):
        step, rate = _float(step), _float(self.values[-1])
        for boundary, value in zip(reversed(list(self.boundaries)), reversed(list(self.values)[:-1])):
            rate = _op("where", step <= float(boundary), _float(value), rate)
        return rate


class CosineDecay(Schedule):
    """Half a cosine from the rate to alpha times it; with `warmup_target`, a straight rise before."""

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name="CosineDecay", warmup_target=None,
                 warmup_steps=0):
        self._keep(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps, alpha=alpha, name=name,
                   warmup_target=warmup_target, warmup_steps=warmup_steps)

    def _decay(self, step, rate):
        part = _op("math.minimum", step, float(self.decay_steps)) / float(self.decay_steps)
        half = 0.5 * (1.0 + _op("math.cos", math.pi * part))
        return ((1 - self.alpha) * half + self.alpha) * rate

    def __call__(self, step):
        step = _float(step)
        if self.warmup_target is None:
            return self._decay(step, self.initial_learning_rate)
        warm = float(self.warmup_steps)
        rise = (self.warmup_target - self.initial_learning_rate) * (step / warm) + self.initial_learning_rate
        return _op("where", step < warm, rise, self._decay(step - warm, self.warmup_target))


class CosineDecayRestarts(Schedule):
    """Half cosines one after the other, each t_mul times as long and m_mul times as high as the one before."""

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0,
                 name="SGDRDecay"):
        self._keep(initial_learning_rate=initial_learning_rate, first_decay_steps=first_decay_steps, t_mul=t_mul,
                   m_mul=m_mul, alpha=alpha, name=name)

    def __call__(self, step):
        part = _float(step) / float(self.first_decay_steps)
        if self.t_mul == 1.0:
            number = _op("math.floor", part)
            part = part - number
        else:
            inner = 1.0 - part * (1.0 - self.t_mul)
            number = _op("math.floor", _op("math.log", inner) / math.log(self.t_mul))
            power = _op("math.pow", _float(self.t_mul), number)
            part = (part - (1.0 - power) / (1.0 - self.t_mul)) / power
        height = _op("math.pow", _float(self.m_mul), number)
        half = 0.5 * height * (1.0 + _op("math.cos", math.pi * part))
        return ((1 - self.alpha) * half + self.alpha) * self.initial_learning_rate


_CLASSES = {cls.__name__: cls for cls in (ExponentialDecay, InverseTimeDecay, PolynomialDecay, PiecewiseConstantDecay,
                                          CosineDecay, CosineDecayRestarts)}


def serialize(schedule):
    """The configuration of a schedule."""
    return tables.configuration("optimizers.schedules", schedule)


def deserialize(config, custom_objects=None):
    """The schedule of a configuration."""
    return {**_CLASSES, **(custom_objects or {})}[config["class_name"]].from_config(config["config"])
