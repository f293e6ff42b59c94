"""``tf.train.ExponentialMovingAverage``: averages of variables that follow them."""

from leat._graph import trace
from leat._graph.ops import FUNCTIONS as F
from leat._structures.variables import Variable

__all__ = ["ExponentialMovingAverage"]


class ExponentialMovingAverage:
    """Averages of variables, in which what is older counts less (``tf.train.ExponentialMovingAverage``).

    `apply` moves each average: average = decay * average + (1 - decay) * value; it begins with the variable's value.
    With `num_updates` the decay is at most (1 + num_updates) / (10 + num_updates). `zero_debias` is for tensors of
    TensorFlow 1 and changes nothing.
    """

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates, self._name = decay, num_updates, name
        self._averages = {}  # id of a variable -> (variable, its average)

    @property
    def name(self):
        """The name."""
        return self._name

    def _made(self, variable):
        if not variable.dtype.is_floating:
            raise TypeError(f"The variables must be half, float, or double: {variable.name}")
        with trace.init_scope():
            return variable, Variable(variable._read_now(), trainable=False, name=self._name_of(variable))

    def _name_of(self, variable):
        return f"{variable.name.partition(':')[0]}/{self._name}"

    def apply(self, var_list=None):
        """Moves the averages of the variables; TypeError for variables of integers."""
        decay = self._decay
        if self._num_updates is not None:
            updates = F["cast"](self._num_updates, "float32")
            decay = F["minimum"](decay, (1. + updates) / (10. + updates))
        for variable in var_list or ():
            if id(variable) not in self._averages:
                self._averages[id(variable)] = self._made(variable)
            average, value = self._averages[id(variable)][1], variable._as_tensor()
            rate = F["cast"](1. - decay, value.dtype)
            with trace.unrecorded():
                average.assign_sub((average - value) * rate)

    def average(self, var):
        """The variable that holds the average of `var`; None where it has none."""
        return self._averages[id(var)][1] if id(var) in self._averages else None

    def average_name(self, var):
        """The name of the variable that holds the average of `var`."""
        return self._name_of(var)

    def _checkpoint_children(self):
        return [(average.name, average) for _, average in self._averages.values()]
