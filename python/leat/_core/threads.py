"""What one thread takes over from another that lets it run a part of its program."""

_inherited = []


def inherit(state):
    """Makes a ``threading.local`` one whose values a replica's thread begins with; itself."""
    _inherited.append(state)
    return state


def snapshot():
    """What this thread has in them now."""
    return [{name: list(value) if type(value) is list else value for name, value in vars(state).items()}
            for state in _inherited]


def take_over(values):
    """Puts another thread's `snapshot` into this one's."""
    for state, found in zip(_inherited, values):
        vars(state).update(found)
