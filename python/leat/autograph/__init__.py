"""``tf.autograph``: Python's control flow over tensors, in functions that are traced.

Functions run as Python wrote them; what needs the value of a tensor makes them callbacks.
"""

from leat.autograph import experimental
from leat.autograph.experimental import do_not_convert

__all__ = ["do_not_convert", "experimental", "set_verbosity", "trace"]

_verbosity = 0


def set_verbosity(level, alsologtostdout=False):
    """How much conversion says; leat only says which functions are called in Python."""
    global _verbosity
    _verbosity = level


def trace(*args):
    """Prints while a function is traced, not when it runs."""
    print(*args)
