"""``Strategy.run`` outside of functions that are traced: Python runs the function once for each replica here.

As in TensorFlow each replica has a thread, of which one runs at a time: in its turn until the function ends or comes to
a meeting, which is `merge_call` and what is made of it (`all_reduce`, `all_gather`, assignments that combine). The
thread that called `run` then puts together what all of them brought. A replica alone runs on that thread. The first
failure ends all of them.
"""

import logging
import threading

from leat import dtypes, nest
from leat._core import threads
from leat._core.tensor import constant
from leat._graph import trace
from leat._graph.tape import custom_gradient
from leat._structures.variables import VariableAggregation, VariableSynchronization
from leat.distribute import agreement
from leat.distribute.communication import CommunicationOptions
from leat.distribute.context import ReplicaContext, no_numbers
from leat.distribute.scope import ReduceOp, entered, no_sum
from leat.distribute.values import DistributedValues, DistributedVariable, PerReplica, grouped, select
from leat.errors import OpError

_announced = []


def run(strategy, function, args, kwargs):
    """The structure of what ``function(*args, **kwargs)`` gives on the replicas of this process."""
    if strategy._local > 1 and not _announced:
        _announced.append(True)
        logging.getLogger("leat").warning(
            "Strategy.run outside of a tf.function runs Python for each replica, one after the other; put the function "
            "or the call of run into a tf.function to have replicas compute at the same time")
    if agreement.checks_every_step():
        agreement.compare_values(strategy, agreement.updated_together(strategy._assigned.values()), "before a step")
    run_here = _Alone if strategy._local == 1 else _Turns
    try:
        return run_here(strategy).run(function, args, kwargs)
    finally:
        for tape in trace._state.tapes:
            tape._recording.forget_all_reads()


class RunningContext(ReplicaContext):
    """What a replica knows while Python runs its function."""

    is_running = True

    def __init__(self, strategy, local, meet=None, made=None):
        super().__init__(strategy, None, strategy._first + local, (), made)
        self.local = local  # its number among those of this process
        self._meet = meet
        self.given = None  # what the user gave to the assignment that is made now

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls ``merge_fn(strategy, *args, **kwargs)`` once, when all replicas are here; this one's part of the
        result."""
        if trace.is_tracing():
            raise trace.NeedsPython("replicas meet in a function that one of them traces")
        return self._meet(merge_fn, tuple(args), kwargs or {})

    def together(self, function, *args, **kwargs):
        """What the function gives when it is traced and runs on all replicas at once, which meet for it."""
        return self.merge_call(lambda strategy, args, kwargs: strategy._run_traced(function, args, kwargs),
                               (args, kwargs))

    # ---- what replicas exchange ----

    def _combine(self, operation, tensors):
        if self.num_replicas_in_sync == 1 and self._strategy._cross_device_ops is None:
            return list(tensors)

        @custom_gradient
        def combined(*given):
            found = self.merge_call(lambda strategy, values: [
                _on_each(strategy, one) for one in _combined(strategy, operation, values)], (list(given),))
            return found, lambda *gradients: self._combine(operation, gradients)
        return list(combined(*tensors))

    def _rows_of_all(self, tensor, axis):
        @custom_gradient
        def gathered(given):
            return self._gathered(given, axis), lambda gradient: self._own_rows(gradient, axis, given.shape[axis])
        return gathered(tensor)

    def _gathered(self, tensor, axis):
        return self.merge_call(lambda strategy, value: _on_each(strategy, strategy._gather(PerReplica(
            _each(strategy, value)), axis)), (tensor,))

    def _own_rows(self, gradient, axis, size):
        """The sum of the replicas' gradients of a gathered value, cut to the rows that this one gave."""
        (total,) = self._combine(ReduceOp.SUM, [gradient])
        begin = sum(self._gathered(constant([size]), 0).numpy().tolist()[:self._replica])
        return total[(slice(None),) * axis + (slice(begin, begin + size),)]

    def _sizes_of(self, shape, axis):
        return ()  # found out when rows are exchanged

    # ---- variables ----

    def assign(self, variable, value, add):
        """Assigns a variable of the strategy: its copy here, or together what all replicas give."""
        given, self.given = self.given, None
        if agreement.checks_every_step():
            self._strategy._assigned[id(variable)] = variable
        aggregation, copies = variable._aggregation, variable._native.num_copies()
        apart = (variable._synchronization is VariableSynchronization.ON_READ
                 and isinstance(variable, DistributedVariable))
        if apart or self.updates or aggregation is VariableAggregation.NONE:
            with trace.unrecorded():
                value = variable._read_now() + value if add else value
            variable._native.assign_copy(self.local if copies > 1 else 0, value)
        else:
            self.merge_call(_assign_combined, (variable, value, value if given is None else given, add))
        for tape in trace._state.tapes:
            tape._recording.forget_reads(variable)


# ---- what is done for all of them ----

def _each(strategy, value):
    """The value on each replica of this process."""
    return value.values if isinstance(value, DistributedValues) else (value,) * strategy._local


def _on_each(strategy, value):
    """A result that is the same on all replicas, as a tensor of each one's own."""
    from leat._graph import ops
    first, *others = _each(strategy, value)
    return PerReplica([first, *map(ops.FUNCTIONS["identity"], others)])


def _combined(strategy, operation, values):
    """Sums or means over the replicas of all processes."""
    for value in values:
        no_numbers(_each(strategy, value)[0])
    if strategy._cross_device_ops is not None:
        pairs = [(PerReplica(_each(strategy, value)),) * 2 for value in values]
        return strategy._cross_device_ops.batch_reduce(operation, pairs, CommunicationOptions())
    columns = [_each(strategy, value) for value in values]
    out = [None] * len(values)
    for is_mean in (True, False):
        places = [i for i, column in enumerate(columns)
                  if (operation is ReduceOp.MEAN and column[0].dtype.is_floating) is is_mean]
        if places:
            rows = [[columns[i][r] for i in places] for r in range(strategy._local)]
            for i, found in zip(places, strategy._native.reduce(is_mean, rows, None)):
                out[i] = found
    return [_mean_of_integers(found, strategy) if operation is ReduceOp.MEAN and not found.dtype.is_floating else found
            for found in out]


def _mean_of_integers(total, strategy):
    from leat._graph import ops
    return ops.FUNCTIONS["cast"](total, dtypes.float64) / strategy.num_replicas_in_sync


def _assign_combined(strategy, variable, value, given, add):
    """What the replicas assign, as the variable's aggregation says."""
    with trace.unrecorded():
        if variable._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            found = _of_first(strategy, value)
        elif strategy._local > 1 and not isinstance(given, DistributedValues):
            if variable._aggregation is VariableAggregation.SUM:
                raise no_sum(given, ReduceOp.SUM)
            found = _each(strategy, value)[0]
        else:
            is_mean = variable._aggregation is VariableAggregation.MEAN
            found = strategy._native.reduce(is_mean, [[one] for one in _each(strategy, value)], None)[0]
        variable._native.assign(variable._native.read() + found if add else found)


def _of_first(strategy, value):
    """What replica 0 of all has."""
    from leat._graph import ops
    own = _each(strategy, value)[0]
    if strategy._workers == 1:
        return own
    rows = [[ops.FUNCTIONS["expand_dims"](one, 0)] for one in _each(strategy, value)]
    return strategy._native.gather(rows, 0)[0][0]


# ---- whose turn it is ----

class _Alone:
    """The only replica of this process."""

    def __init__(self, strategy):
        self._strategy = strategy
        self._around = list(trace._state.contexts)

    def run(self, function, args, kwargs):
        args, kwargs = select(0, (tuple(args), kwargs))
        state = trace._state
        tapes = state.tapes
        if self._strategy._wraps:
            state.tapes = []  # as where a replica has a thread
        try:
            with entered(self._strategy, RunningContext(self._strategy, 0, self._meet)):
                return function(*args, **kwargs)
        finally:
            state.tapes = tapes

    def _meet(self, merge_fn, args, kwargs):
        inside, trace._state.contexts = trace._state.contexts, list(self._around)
        try:
            with entered(self._strategy):
                return select(0, merge_fn(self._strategy, *args, **kwargs))
        finally:
            trace._state.contexts = inside


class _Ended(BaseException):
    """Ends a replica's function because another one has failed."""


class _Replica(threading.Thread):
    """The thread of one replica."""

    def __init__(self, turns, local, function, args, kwargs, made):
        super().__init__(name=f"leat-replica-{local}", daemon=True)
        self.context = RunningContext(turns.strategy, local, self._meet, made)
        self.may_run, self.has_paused = threading.Semaphore(0), threading.Semaphore(0)
        self.is_done, self.result, self.error, self.merge = False, None, None, None
        self._turns, self._call = turns, (function, args, kwargs)
        state = trace._state
        self._inherited = threads.snapshot(), list(state.contexts), state.stopped, state.cuts

    def run(self):
        self.may_run.acquire()
        try:
            if not self._turns.is_over:
                self.result = self._run_function()
                self.is_done = True
        except _Ended:
            pass
        except BaseException as error:  # of the thread that called run from here on
            self.error = error
        finally:
            self.has_paused.release()

    def _run_function(self):
        function, args, kwargs = self._call
        values, contexts, state = self._inherited[0], self._inherited[1], trace._state
        threads.take_over(values)
        state.contexts, state.stopped, state.cuts = contexts, *self._inherited[2:]
        with entered(self._turns.strategy, self.context):
            return function(*args, **kwargs)

    def _meet(self, merge_fn, args, kwargs):
        self.merge = merge_fn, args, kwargs
        self.has_paused.release()
        self.may_run.acquire()
        if self._turns.is_over:
            raise _Ended
        return self.result


class _Turns:
    """The replicas of this process, each in its turn."""

    def __init__(self, strategy):
        self.strategy = strategy
        self.is_over = False

    def run(self, function, args, kwargs):
        replicas = []
        for local in range(self.strategy._local):
            own_args, own_kwargs = select(local, (tuple(args), kwargs))
            made = replicas[0].context.made if replicas else None
            replicas.append(_Replica(self, local, function, own_args, own_kwargs, made))
        started = []
        try:
            for replica in replicas:
                replica.start()
                started.append(replica)
            while not self._turn(replicas):
                self._merge(replicas)
        finally:
            self.is_over = True
            for replica in started:
                replica.may_run.release()
            for replica in started:
                replica.join()
        return grouped([replica.result for replica in replicas])

    def _turn(self, replicas):
        """Lets each run until it ends or meets the others; have all ended?"""
        for replica in replicas:
            replica.may_run.release()
            replica.has_paused.acquire()
            if replica.error is not None:
                self._raise(replica)
        ended = [replica.is_done for replica in replicas]
        if any(ended) and not all(ended):
            raise RuntimeError("Some replicas made a different number of replica_context().merge_call() calls.")
        return all(ended)

    def _raise(self, replica):
        error, replica.error = replica.error, None
        if isinstance(error, OpError):
            error.add_note(f"leat: in replica {replica.context._replica} of {self.strategy._count}")
        try:
            raise error
        finally:
            del error, replica  # a circle with the traceback

    def _merge(self, replicas):
        merge_fn = replicas[0].merge[0]
        args = grouped([replica.merge[1] for replica in replicas])
        kwargs = grouped([replica.merge[2] for replica in replicas])
        with entered(self.strategy):
            result = merge_fn(self.strategy, *args, **kwargs)
        for local, replica in enumerate(replicas):
            replica.merge, replica.result = None, select(local, result)
