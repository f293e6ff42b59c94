"""Boundaries that cut data into parts of equal size, found batch by batch (``keras.layers.Discretization.adapt``).

A summary is a matrix [2, n]: rising values, and how many of the data's values each stands for. It is kept at about
1 / epsilon columns, so the memory does not grow with the data; what is lost is at most that part of it. The results are
Keras' for the same batches.
"""

import numpy as np


def summary_of(values, epsilon):
    """The summary of one batch."""
    ordered = np.sort(np.asarray(values, np.float32), axis=None)
    step = max(ordered.size * epsilon, 1)
    kept = ordered[int(step - 1)::int(step)]
    return np.stack([kept, np.full_like(kept, step)])


def merged(one, other, epsilon):
    """The summary of what two summaries stand for."""
    both = np.concatenate((one, other), axis=1)
    return compressed(both[:, np.argsort(both[0])], epsilon)


def compressed(summary, epsilon):
    """A summary of 1 / epsilon columns; itself where it has not as many."""
    if summary.shape[1] * epsilon < 1:
        return summary
    counts = np.cumsum(summary[1])
    parts, ends = counts / counts[-1], epsilon + np.arange(0, 1, epsilon)
    values, counts = np.interp(ends, parts, summary[0]), np.interp(ends, parts, counts)
    return np.stack([values, np.diff(counts, prepend=0)]).astype(np.float32)


def boundaries(summary, parts):
    """The values between `parts` parts of equal size, a list."""
    return compressed(summary, 1 / parts)[0, :-1].tolist()
