"""What checkpoints ask of other objects, and how these tell that they have grown.

An object says what is in it by ``_checkpoint_children()``, pairs of a name and a value: the names are the edges of
TensorFlow's graph of objects, by which a checkpoint is restored. One that was restored before all of it was there has
the rest of the checkpoint as its attribute ``_checkpoint_waiting``; who adds to such an object calls ``grown``.
"""

WAITING = "_checkpoint_waiting"


def grown(owner):
    """Restores what a checkpoint has for parts of `owner` that were not there before; usually there is nothing."""
    waiting = owner.__dict__.get(WAITING)
    if waiting is not None:
        waiting.visit_again(owner)


def moved(owner, old, new):
    """Another variable holds the value of one in `owner`: what was restored to the old one counts as restored."""
    waiting = owner.__dict__.get(WAITING)
    if waiting is not None:
        waiting.move(old, new)


def kept(owner, value):
    """A value that becomes an attribute of `owner`: while a checkpoint waits, a list or dictionary that tells when it
    grows takes the place of a plain one."""
    waiting = owner.__dict__.get(WAITING)
    return value if waiting is None else waiting.tracked(value)
