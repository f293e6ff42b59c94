"""What the tests of programs over tensors share: a list of functions with arguments and expected results as text."""

import leat as tf


class Programs(list):
    """(function, lists of arguments, the text of its result for each of them)."""

    def case(self, *arguments, gives):
        """A decorator: the function is called with each list of arguments, and gives these results."""
        def add(function):
            self.append((function, arguments or ([],), gives))
            return function
        return add

    def names(self):
        """The functions' names."""
        return [function.__name__ for function, _, _ in self]


def integer(value):
    """An int32 tensor."""
    return tf.constant(value, tf.int32)


def number(value):
    """A float32 tensor."""
    return tf.constant(value, tf.float32)


def shown(value):
    """A result as text: kinds of containers, dtypes and values."""
    if isinstance(value, (tuple, list)):
        return type(value).__name__[0] + "(" + ", ".join(map(shown, value)) + ")"
    if isinstance(value, dict):
        return str({key: shown(item) for key, item in value.items()})
    if hasattr(value, "numpy"):
        return value.dtype.name + str(value.numpy().tolist())
    return f"{type(value).__name__}:{value}"
