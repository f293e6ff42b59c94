"""The graph of objects as the message that TensorFlow keeps in a checkpoint (TrackableObjectGraph)."""

from leat._checkpoint.objects import STATE
from leat._files.wire import DecodeError, _BYTES, _VARINT, _fields, _put_bytes, _put_varint

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
OWN_KEY = "_LEAT_OBJECT_GRAPH"  # the same with what TensorFlow does not have, which would say that it is missing there


class Saved:
    """A node that was read: edges {name: number}, and what was saved of it, {name of the attribute: key}."""

    __slots__ = ("children", "attributes")

    def __init__(self):
        self.children, self.attributes = {}, {}


def _put_text(out, number, text):
    if text:
        _put_bytes(out, number, text.encode())


def _put_number(out, number, value):
    if value:
        _put_varint(out, number << 3 | _VARINT)
        _put_varint(out, value)


def _with_values(nodes):
    """The numbers of nodes at or below which something is saved."""
    above = [[] for _ in nodes]
    for number, node in enumerate(nodes):
        for _, child in node.children:
            above[child].append(number)
    found = {number for number, node in enumerate(nodes) if node.attribute is not None}
    waiting = list(found)
    while waiting:
        for number in above[waiting.pop()]:
            if number not in found:
                found.add(number)
                waiting.append(number)
    return found


def encode(nodes, is_own=False):
    """The message of Nodes as bytes, with leat's own states or without them."""
    out, with_values = bytearray(), _with_values(nodes)
    for number, node in enumerate(nodes):
        message = bytearray()
        for name, child in node.children:
            edge = bytearray()
            _put_number(edge, 1, child)
            _put_text(edge, 2, name)
            _put_bytes(message, 1, edge)
        if node.attribute is not None and (is_own or node.attribute != STATE):
            attribute = bytearray()
            _put_text(attribute, 1, node.attribute)
            _put_text(attribute, 2, str(getattr(node.value, "path", getattr(node.value, "name", ""))).split(":")[0])
            _put_text(attribute, 3, node.key)
            _put_bytes(message, 2, attribute)
        _put_bytes(message, 5, b"\x08\x01" if number in with_values else b"")
        _put_bytes(out, 1, message)
    return bytes(out)


def _reference(data, place):
    number, name = 0, ""
    for field, wire, value, *_ in _fields(data, *place):
        if (field, wire) == (1, _VARINT):
            number = value
        elif (field, wire) == (2, _BYTES):
            name = data[value[0]:value[1]].decode()
    return name, number


def _attribute(data, place):
    texts = {}
    for field, wire, value, *_ in _fields(data, *place):
        if wire == _BYTES:
            texts[field] = data[value[0]:value[1]].decode()
    return texts.get(1, ""), texts.get(3, "")


def decode(data):
    """The nodes of a message, [Saved]. DecodeError where it is none, or an edge leads nowhere."""
    nodes = []
    try:
        for field, wire, place, *_ in _fields(data, 0, len(data)):
            if (field, wire) != (1, _BYTES):
                continue
            node = Saved()
            for inner, kind, value, *_ in _fields(data, *place):
                if (inner, kind) == (1, _BYTES):
                    name, number = _reference(data, value)
                    node.children[name] = number
                elif (inner, kind) == (2, _BYTES):
                    name, key = _attribute(data, value)
                    node.attributes[name] = key
            nodes.append(node)
    except UnicodeDecodeError:
        raise DecodeError("a name is no text in UTF-8") from None
    if not nodes or any(number >= len(nodes) for node in nodes for number in node.children.values()):
        raise DecodeError("an edge leads to no object")
    return nodes


def names_of(nodes):
    """The path of each node from the root, as text for messages."""
    names, waiting = {0: "root"}, [0]
    for number in waiting:
        for name, child in nodes[number].children.items():
            if child not in names:
                names[child] = f"{names[number]}.{name}"
                waiting.append(child)
    return [names.get(number, f"node {number}") for number in range(len(nodes))]
