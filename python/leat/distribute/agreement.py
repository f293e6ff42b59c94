"""What all workers of a job must have alike, and that they have it.

Compared where all workers are at the same place of the program anyway: when a variable is made, an optimizer or a model
is first used (configurations), and when `fit` begins and an epoch of it ends (values of variables). Where nothing
differs that costs one exchange of a few numbers each, and nothing per step.

An assignment that one worker alone makes is found by the values. An exchange at every assignment would wait for workers
that may rightly not make it, one at each checkpoint for those that write none, and a look at every step would read all
variables in each. LEAT_CHECK=variables does so before each step, which finds the step.
"""

import hashlib
import os
import zlib

import numpy as np

from leat.errors import FailedPreconditionError

_CHECK = "LEAT_CHECK"
_PLAIN = (bool, int, float, complex)


def _number(text):
    """A hash of a text, or of bytes, as an int64."""
    data = text.encode() if isinstance(text, str) else text
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little", signed=True)


def _number_of(array):
    """The same of an array's bytes: a checksum, since a large model is read twice as fast so."""
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def is_needed(strategy):
    """Are there other workers?"""
    return strategy is not None and getattr(strategy, "_workers", 1) > 1


def compare(strategy, things):
    """Is the list of (name, text) the same on all workers? FailedPreconditionError names the first that differs."""
    numbers = [_number(f"{name}\n{text}") for name, text in things]
    _compare_numbers(strategy, numbers, lambda place: things[place], "give all of them the same arguments")


def _compare_numbers(strategy, numbers, words, way):
    """The same of hashes; ``words(place)``: the name and the text of one of them; `way`: out of a difference."""
    native, workers = strategy._native, strategy._workers
    whole = native.exchange([_number(np.array(numbers, np.int64).tobytes()), len(numbers)])
    hashes, counts = whole[::2], whole[1::2]
    if len(set(hashes)) == 1:
        return
    most = max(counts)
    every = native.exchange(numbers + [0] * (most - len(numbers)))
    rows = [every[worker * most:(worker + 1) * most] for worker in range(workers)]
    first = next(place for row, count in zip(rows[1:], counts[1:]) for place in range(most)
                 if row[place] != rows[0][place] or (place < count) != (place < counts[0]))
    name, text = words(first) if first < len(numbers) else ("", "missing")
    others = native.exchange([_number(name) if name else 0])
    if len({other for other in others if other}) > 1:  # another layer than another argument of one
        name, text = f"number {first} of what is compared", f"{name} ({text})"
    _agree(strategy, name or "what is compared", text, way)


def _agree(strategy, name, text, way):
    """Raises the error of texts that differ; `way`: out of it."""
    try:
        strategy._native.agree(name, text)
    except FailedPreconditionError as error:
        raise FailedPreconditionError(None, None, f"{error.message}: {way}") from None


# ---- configurations ----

def configuration(name, value):
    """A list of (name, text) of a configuration: numbers and texts as they are, arrays by checksums, functions and
    other objects by their names, since their addresses differ from process to process."""
    if isinstance(value, dict):
        found = [(name, f"of {len(value)} entries")]  # where another worker has none
        for key in sorted(value, key=str):
            found += configuration(f"{name}{_joint(name)}{key}", value[key])
        return found
    if isinstance(value, (list, tuple)):
        parts = [(name, f"a list of {len(value)}")]
        return parts + [one for place, item in enumerate(value) for one in configuration(f"{name}[{place}]", item)]
    if value is None or isinstance(value, (str, bytes, *_PLAIN, np.generic)):
        return [(name, repr(value))]
    if isinstance(value, np.ndarray):
        return [(name, _shown(value))]
    if hasattr(value, "get_config"):
        try:
            return [(name, type(value).__name__), *configuration(name, value.get_config())]
        except (NotImplementedError, TypeError, AttributeError):  # a class that has none
            return [(name, type(value).__name__)]
    return [(name, getattr(value, "__qualname__", type(value).__name__))]


def _joint(name):
    return " " if name.endswith('"') else "."


def compare_configuration(strategy, things):
    """Have all workers objects of the same configurations? `things`: pairs of a name and an object."""
    if is_needed(strategy):
        found = []
        for name, thing in things:
            found += configuration(name, thing)
        compare(strategy, found)


# ---- values ----

def _shown(array):
    """An array of a few values as they are, a larger one by the first of them and a checksum."""
    flat = array.reshape(-1)
    few = ", ".join(map(str, flat[:4]))
    if flat.size <= 4:
        return few if array.ndim == 0 else f"[{few}]"
    return f"[{', '.join(map(str, flat[:2]))}, ...], checksum {_number_of(array):08x}"


def _is_literal(value):
    if isinstance(value, (list, tuple)):
        return all(map(_is_literal, value))
    return type(value) in _PLAIN


def compare_initial(strategy, name, given, value):
    """Is an initial value that the program writes down, a number or a list of numbers, the same on all workers?

    What initializers, callables, tensors and arrays give may be drawn at random: there worker 0's value serves all.
    """
    is_literal = _is_literal(given)
    array = value.numpy() if is_literal else None
    numbers = strategy._native.exchange([_number_of(array) or 1 if is_literal else 0])
    if 0 not in numbers and len(set(numbers)) > 1:
        _agree(strategy, f'the initial value of variable "{name}"', _shown(array),
               "write one value down, or give a function, whose value on worker 0 all workers take")


def _is_shared(variable, strategy):
    """Has it one value, and no part of it on each replica?"""
    return getattr(variable, "_strategy", None) is strategy and variable.synchronization.name != "ON_READ"


def updated_together(variables):
    """Those variables among them that all replicas change alike. Statistics of batches may be each replica's own."""
    return [variable for variable in variables if variable.trainable or variable.aggregation.name != "NONE"]


def compare_values(strategy, variables, when):
    """Have these variables the same values on all workers? FailedPreconditionError names the first that has not."""
    if not is_needed(strategy):
        return
    found = [variable for variable in variables if _is_shared(variable, strategy)]
    arrays = [variable._native.read_copy(0).numpy() for variable in found]  # its own, which exchanges nothing
    _compare_numbers(strategy, [_number_of(array) for array in arrays],
                     lambda place: (f'variable "{_path(found[place])}" {when}', _shown(arrays[place])),
                     "assign it on all workers or inside of Strategy.run, and let all read the same files")


def _path(variable):
    return getattr(variable, "path", variable.name)


def checks_every_step():
    """Does LEAT_CHECK ask for `variables`?"""
    return "variables" in os.environ.get(_CHECK, "").split(",")
