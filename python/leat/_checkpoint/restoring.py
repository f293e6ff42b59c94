"""Restoring: edges of a checkpoint's graph are followed from object to object; those that lead to nothing yet wait.

Everything is read and checked before the first value is set. An object with edges that lead to nothing keeps the
Restoring as its attribute (`leat._core.tracking`), and asks it again when it has grown.
"""

from leat import dtypes
from leat._api.modules import Module
from leat._checkpoint import graph
from leat._checkpoint.objects import STATE, VALUE, children, is_container, is_state, is_variable, nodes_of
from leat._core.shapes import TensorShape
from leat._core.tracking import WAITING, grown, kept
from leat._files.wire import DecodeError
from leat._graph import trace
from leat.errors import DataLossError, InvalidArgumentError


class _TrackedList(list):
    """A list in an object that a checkpoint is restored to: what it gets later is restored then."""

    def append(self, value):
        """Adds a value at the end."""
        super().append(kept(self, value))
        grown(self)

    def extend(self, values):
        """Adds values at the end."""
        super().extend(kept(self, value) for value in values)
        grown(self)

    def insert(self, index, value):
        """Puts a value before the one at `index`."""
        super().insert(index, kept(self, value))
        grown(self)

    def __setitem__(self, index, value):
        super().__setitem__(index, [kept(self, one) for one in value] if isinstance(index, slice) else
                            kept(self, value))
        grown(self)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __reduce__(self):
        return list, (list(self),)

    def __repr__(self):
        return f"ListWrapper({super().__repr__()})"


class _TrackedDict(dict):
    """The same of a dictionary."""

    def __setitem__(self, key, value):
        super().__setitem__(key, kept(self, value))
        grown(self)

    def update(self, *others, **named):
        """Takes over what other dictionaries have."""
        super().update({key: kept(self, value) for key, value in dict(*others, **named).items()})
        grown(self)

    def __ior__(self, other):
        self.update(other)
        return self

    def setdefault(self, key, default=None):
        """The value of a key, which it gets where it has none."""
        if key not in self:
            self[key] = default
        return self[key]

    def __reduce__(self):
        return dict, (dict(self),)


def tracked(value):
    """A list or dictionary that tells when it grows, in the place of a plain one; anything else as it is."""
    if type(value) is list:
        return _TrackedList(map(tracked, value))
    if type(value) is dict:
        return _TrackedDict({key: tracked(one) for key, one in value.items()})
    return value


class Restoring:
    """A checkpoint that is being restored from, for as long as objects may come that it has values for."""

    tracked = staticmethod(tracked)

    def __init__(self, file):
        self._file = file
        try:
            key = graph.OWN_KEY if graph.OWN_KEY in file.entries else graph.KEY
            data = self._bytes(key) if key in file.entries else None
            self.nodes = None if data is None else graph.decode(data)
        except DecodeError as error:
            raise DataLossError(None, None, f"{file.prefix}: its graph of objects is damaged: {error}") from None
        if self.nodes is None:
            raise ValueError(f"{file.prefix} has no graph of objects: it was saved by name, by TensorFlow 1's Saver; "
                             "read its tensors by leat.train.load_checkpoint")
        self.objects = {}  # number of a node -> the object that it was restored to
        self.done = set()  # numbers of nodes whose values were set
        self.unused_attributes = {}  # number -> names
        self._valued = self._with_values()
        self._of = {}  # id of an object that waits -> (the object, the number of its node)
        self._instead = {}  # id of a plain container -> (it, what took its place)

    def _bytes(self, key):
        """The text of a key, a scalar."""
        if self._file.dtype(key) is not dtypes.string or self._file.entries[key][1]:
            raise ValueError(f"{self._file.prefix}: {key} is no text: its dtype is {self._file.dtype(key)}, its shape "
                             f"{self._file.entries[key][1]}")
        return bytes(self._file.tensor(key).numpy())

    def __reduce__(self):
        return type(None), ()  # a copy of an object, or what is pickled, waits for nothing

    def _with_values(self):
        """The numbers of nodes at or below which something was saved."""
        above = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes):
            for child in node.children.values():
                above[child].append(number)
        found = {number for number, node in enumerate(self.nodes) if node.attributes}
        waiting = list(found)
        while waiting:
            for number in above[waiting.pop()]:
                if number not in found:
                    found.add(number)
                    waiting.append(number)
        return found

    def _is_open(self, value, number, depth=0):
        """Is there something in the checkpoint that an object, or a plain container in it, has no place for yet?"""
        inside = dict(children(value))
        for name, child in self.nodes[number].children.items():
            if child not in self._valued:
                continue
            if name not in inside:
                return True
            below = inside[name]
            if is_container(below) and not hasattr(below, "__dict__") and depth < 50 and self._is_open(
                    below, child, depth + 1):
                return True
        return False

    def _watch(self, value, number):
        """Gives a module or a layer containers that tell when they grow, where plain ones lack what is saved. What
        layers hold under names with _ in front is leat's own, and stays as it is."""
        own = getattr(value, "__dict__", {})
        for name, child in self.nodes[number].children.items():
            plain = own.get(name)
            if type(plain) not in (list, dict) or name.startswith("_") and not isinstance(value, Module):
                continue
            if child in self._valued and self._is_open(plain, child):
                own[name] = self._instead.setdefault(id(plain), (plain, tracked(plain)))[1]

    def start(self, root):
        """Restores the root, and all below it that is there."""
        self._restore([(root, 0)])

    def visit_again(self, owner):
        """Restores what an object has got since."""
        place = self._of.get(id(owner))
        if place is not None:
            self._restore([place])

    def move(self, old, new):
        """One variable took the place of another, with its value."""
        for number, known in self.objects.items():
            if known is old:
                self.objects[number] = new

    def _restore(self, waiting):
        found, owners, seen = [], [], []
        places = set()
        for value, number in waiting:
            if (id(value), number) in places:
                continue
            places.add((id(value), number))
            seen.append(value)  # lists that were made on the way must not be freed: another may get their id
            node = self.nodes[number]
            if is_variable(value) or is_state(value):
                self._note(value, number, found)
                continue
            if not is_container(value):
                if self.objects.setdefault(number, value) is not value:
                    continue
            elif number not in self.objects or isinstance(value, (_TrackedList, _TrackedDict)):
                self.objects[number] = value
            self._watch(value, number)
            inside = dict(children(value))
            waiting.extend((inside[name], child) for name, child in node.children.items() if name in inside)
            if node.children:
                owners.append((value, number))
        values = [self._read(value, number, key) for value, number, key in found]
        for value, number in owners:
            if not hasattr(value, "__dict__"):  # plain lists, which cannot tell that they grow
                continue
            if self._is_open(value, number):
                value.__dict__[WAITING] = self
                self._of[id(value)] = value, number
            elif value.__dict__.get(WAITING) is not None:
                value.__dict__[WAITING] = None
        with trace.eagerly():
            for (value, number, _), read in zip(found, values):
                self.objects[number] = value
                self.done.add(number)
                if is_variable(value):
                    value.assign(read)
                else:
                    value._checkpoint_restore(read)

    def _note(self, value, number, found):
        """Adds (object, number, key) of what is to be set, unless it was."""
        known = self.objects.get(number, value)
        if known is not value or number in self.done:
            return
        wanted, attributes = VALUE if is_variable(value) else STATE, self.nodes[number].attributes
        others = [name for name in attributes if name != wanted]
        if others:
            self.unused_attributes[number] = others
        if wanted in attributes:
            if all(number != other for _, other, _ in found):
                found.append((value, number, attributes[wanted]))
        elif attributes:
            name = graph.names_of(self.nodes)[number]
            if "ITERATOR" not in attributes:
                raise ValueError(f"{name} is a {'variable' if wanted == VALUE else 'state'}; the checkpoint has "
                                 f"{', '.join(attributes)} for it")

    def _read(self, value, number, key):
        """The value for an object, once it is known to fit. ValueError or DataLossError."""
        if key not in self._file.entries:
            raise DataLossError(None, None, f"{self._file.prefix}.index has no {key}, which its graph of objects "
                                "speaks of")
        dtype, shape = self._file.dtype(key), self._file.entries[key][1]
        if not is_variable(value):
            return self._bytes(key)
        if not TensorShape(value.shape).is_compatible_with(tuple(shape)):
            raise ValueError(f"Received incompatible tensor with shape {tuple(shape)} when attempting to restore "
                             f"variable with shape {value.shape} and name {getattr(value, 'name', key)}.")
        own = dtypes.as_dtype(value.dtype)
        if dtype is not own:
            raise InvalidArgumentError(None, None, (
                f"Received incompatible tensor with dtype {getattr(dtype, 'name', dtype)} when attempting to restore "
                f"variable with dtype {own.name} and name {getattr(value, 'name', key)}."))
        return self._file.tensor(key)


class LoadStatus:
    """What ``restore`` found (``tf.train.Checkpoint.restore``'s result)."""

    def __init__(self, root=None, restoring=None, counter=None):
        self._root, self._restoring, self._counter = root, restoring, counter

    def assert_consumed(self):
        """Fails with AssertionError unless everything in the checkpoint found its object, and the other way round."""
        restoring = self._restoring
        if restoring is not None:
            names = graph.names_of(restoring.nodes)
            for number, node in enumerate(restoring.nodes):
                if node.attributes and number not in restoring.objects:
                    raise AssertionError(f"Unresolved object in checkpoint {names[number]}: "
                                         f"{', '.join(node.attributes.values())}")
            if restoring.unused_attributes:
                listed = "\n".join(f"{names[number]}: {', '.join(unused)}"
                                   for number, unused in restoring.unused_attributes.items())
                raise AssertionError("Unused attributes in these objects (the attributes exist in the checkpoint but "
                                     f"were not restored):\n{listed}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self):
        """Fails with AssertionError where an object found nothing in the checkpoint."""
        if self._restoring is None:
            return self
        matched = {id(self._restoring.objects[number]) for number in self._restoring.done}
        missing = [node.path for node in nodes_of(self._root) if node.attribute is not None
                   and id(node.value) not in matched and node.value is not self._counter
                   and not getattr(node.value, "_checkpoint_is_optional", False)]
        if missing:
            listed = ", ".join("/".join(path) for path in missing[:10])
            raise AssertionError(f"Found {len(missing)} Python objects that were not bound to checkpointed values, "
                                 "likely due to changes in the Python program. Showing "
                                 f"{min(10, len(missing))} of {len(missing)} unmatched objects: {listed}")
        return self

    def assert_nontrivial_match(self):
        """Fails with AssertionError where nothing but the root was found in the checkpoint."""
        if self._restoring is not None and len(self._restoring.objects) <= 1:
            raise AssertionError("Nothing except the root object matched a checkpoint value. Typically this means that "
                                 "the checkpoint does not match the Python program.")
        return self

    def expect_partial(self):
        """Says that parts of the checkpoint need not be used."""
        return self

    def initialize_or_restore(self, session=None):
        """Does nothing: everything was restored at once (TensorFlow's graphs wait for this call)."""

    run_restore_ops = initialize_or_restore


class InitializationOnlyStatus(LoadStatus):
    """The same where no checkpoint was given."""

    def assert_consumed(self):
        """Fails with AssertionError: nothing was restored."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed


class OldLoadStatus(LoadStatus):
    """The same for a checkpoint of leat's former format, whose names are known alone."""

    def __init__(self, missing, unused):
        super().__init__()
        self._missing, self._unused = missing, unused

    def assert_consumed(self):
        """Fails with AssertionError where a name was not used, or nothing found for an object."""
        if self._unused:
            raise AssertionError(f"Unresolved object in checkpoint: {', '.join(self._unused)}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self):
        """Fails with AssertionError where nothing was found for an object."""
        if self._missing:
            raise AssertionError(f"No checkpointed value found for: {', '.join(self._missing)}")
        return self

    assert_nontrivial_match = assert_existing_objects_matched
