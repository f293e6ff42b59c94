"""Where a program stands: in a strategy's scope, in a replica, or outside of both; and how replicas' values combine.

Each thread has a stack of contexts (``leat._graph.trace``): `scope` and `run` push (strategy, None) and (strategy,
replica context).
"""

import enum

from leat._core.later import Hook
from leat._graph import trace

_default, _default_context = Hook(), Hook()  # the strategy of programs that name none; leat.distribute.strategy


class ReduceOp(enum.Enum):
    """How values of replicas combine (``tf.distribute.ReduceOp``)."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        """The operation of an aggregation of variables; ValueError for the others."""
        found = {"SUM": ReduceOp.SUM, "MEAN": ReduceOp.MEAN}.get(aggregation.name)
        if found is None:
            raise ValueError(f"Could not convert from `tf.VariableAggregation` {aggregation} to "
                             "`tf.distribute.ReduceOp` type")
        return found


def reduce_op(value):
    """The ReduceOp of itself or its name in any case; ValueError for others."""
    return ReduceOp(value.upper()) if isinstance(value, str) else ReduceOp(value)


_CROSS = "Method requires being in cross-replica context, use get_replica_context().merge_call()"


def check_mixing(strategy):
    """RuntimeError where another strategy than this one is in force."""
    around = trace.strategy()
    if around is not None and around is not strategy:
        raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {around!r} is not {strategy!r}; leave "
                           "the scope of the first one before the other is used")


def require_cross_replica():
    """RuntimeError inside of a replica."""
    if trace.replica_context() is not None:
        raise RuntimeError(_CROSS)


class entered:
    """A block in a context of this thread; inside of it variables are the strategy's."""

    def __init__(self, strategy, replica=None):
        self._context = (strategy, replica)

    def __enter__(self):
        strategy = self._context[0]
        if strategy._native is not None:
            strategy._native.enter()
        trace._state.contexts.append(self._context)
        return strategy

    def __exit__(self, *error):
        trace._state.contexts.pop()
        strategy = self._context[0]
        if strategy._native is not None:
            strategy._native.exit()


# ---- what a program asks ----

def get_strategy():
    """The strategy in whose scope or run the caller is, else the default one (``tf.distribute.get_strategy``)."""
    found = trace.strategy()
    return default_strategy() if found is None else found


def has_strategy():
    """Is there another strategy than the default one (``tf.distribute.has_strategy``)?"""
    return get_strategy() is not default_strategy()


def default_strategy():
    """The strategy of programs that name none: one replica, everything as it is."""
    return _default.value


def in_cross_replica_context():
    """Is the caller in a strategy's scope, but in no replica (``tf.distribute.in_cross_replica_context``)?"""
    return get_replica_context() is None


def get_replica_context():
    """What the replica knows that the caller is in; None in a scope (``tf.distribute.get_replica_context``)."""
    if trace.strategy() is not None:
        return trace.replica_context()
    return _default_context.value


def no_sum(value, operation):
    """The error of a value that is the same on all replicas and is to be added up."""
    return ValueError(f"A non-DistributedValues value {value!s} cannot be reduced with the given reduce op "
                      f"{operation}.")
