"""Texts among the attributes of HDF5 files of strangers, which say what old files of models hold.

Texts of any length lie in heaps of the file, and an attribute refers to them: many references may be to one large text,
so the library would take any memory before anybody sees how much. Here the references are found in the header of their
group, their lengths are counted against the limits, and each heap is read once.

Happy path: `texts` gives the list of an attribute. Failures: ValueError that names the file and the attribute.
"""

import struct

import numpy as np

from leat._files import limits

_ATTRIBUTE, _CONTINUED, _SHARED = 0x0C, 0x10, 2
_REFERENCE = struct.Struct("<IQI")  # length, address of the heap, number in it
_MOST_BLOCKS = 1 << 14  # parts of a header


def texts(file, group, place, name):
    """The list of an attribute of a group of `file`, an `hdf5.File`, or its text; None where there is none."""
    if name not in group.attrs:
        return None
    h5py, where = file.library, f"the attribute {name!r} of {place or '/'}"
    found = group.attrs.get_id(name)
    kind, shape = found.get_type(), found.shape
    if shape is not None and len(shape) > 1:
        raise file.refused(where, f"has the shape {shape}")
    count = 0 if shape is None else int(np.prod(shape))
    limits.check("members", count, file.where, where)
    if count == 0:
        return []
    if kind.committed() or kind.get_class() != h5py.h5t.STRING:
        raise file.refused(where, "is no text")
    if kind.is_variable_str():
        parts = _of_heaps(file, group, where, name, count)
    else:
        limits.check("json_bytes", count * kind.get_size(), file.where, f"bytes of {where}")
        parts = np.empty(shape, f"S{kind.get_size()}")
        found.read(parts)
        parts = parts.reshape(-1).tolist()
    try:
        made = [part.rstrip(b"\0").decode() for part in parts]
    except UnicodeDecodeError:
        raise file.refused(where, "is no text in UTF-8") from None
    return made if shape else made[0]


def _of_heaps(file, group, where, name, count):
    plist = file.root.id.get_create_plist()
    if plist.get_sizes() != (8, 8) or plist.get_userblock() != 0:
        raise file.refused(where, "is in a file with a block in front or short addresses")
    body = _attribute(file, file.library.h5o.get_info(group.id).addr, name.encode(), where)
    if len(body) < count * _REFERENCE.size:
        raise file.refused(where, f"has {len(body)} bytes for {count} texts")
    references = list(_REFERENCE.iter_unpack(body[:count * _REFERENCE.size]))
    limits.check("json_bytes", sum(length for length, _, _ in references), file.where, f"bytes of {where}")
    heaps, made = file.heaps, []
    for length, address, number in references:
        if address not in heaps and length:
            heaps[address] = _heap(file, address, where)
        text = heaps[address].get(number, b"") if length else b""
        if len(text) < length:
            raise file.refused(where, f"refers to {length} bytes where a heap has {len(text)}")
        made.append(bytes(text[:length]))
    return made


def _heap(file, address, where):
    """{number: bytes} of a heap."""
    head = file.bytes_at(address, 16)
    if head[:5] != b"GCOL\1":
        raise file.refused(where, f"refers to a heap at {address}, where there is none")
    size, at, found = int.from_bytes(head[8:16], "little"), 16, {}
    limits.check("json_bytes", size, file.where, f"bytes of the heap of {where}")
    data = memoryview(file.bytes_at(address, size))
    while at + 16 <= len(data):
        number, length = int.from_bytes(data[at:at + 2], "little"), int.from_bytes(data[at + 8:at + 16], "little")
        if number == 0:  # the rest is free
            break
        found[number] = data[at + 16:at + 16 + length]
        at += 16 + -(-length // 8) * 8
    return found


def _attribute(file, address, name, where):
    """The values of an attribute, as they lie in the header of a group at an address."""
    for kind, flags, body in _messages(file, address, where):
        if kind != _ATTRIBUTE or flags & _SHARED or len(body) < 8:
            continue
        version, lengths = body[0], struct.unpack_from("<3H", body, 2)
        steps = [-(-length // 8) * 8 for length in lengths] if version == 1 else lengths
        start = 9 if version == 3 else 8
        if body[start:start + lengths[0]].rstrip(b"\0") == name:
            return body[start + sum(steps):]
    raise file.refused(where, "does not lie in the header of its group")


def _messages(file, address, where):
    """(kind, flags, bytes) of what stands in a header."""
    head = file.bytes_at(address, 16)
    is_new = head[:4] == b"OHDR"
    if is_new:
        width, start = 1 << (head[5] & 3), address + 6 + 16 * bool(head[5] & 0x20) + 4 * bool(head[5] & 0x10)
        blocks = [(start + width, int.from_bytes(file.bytes_at(start, width), "little"))]
        front = 4 + 2 * bool(head[5] & 4)
    elif head[0] == 1:
        blocks, front = [(address + 16, int.from_bytes(head[8:12], "little"))], 8
    else:
        raise file.refused(where, "is in a header of another version")
    number = 0
    while number < len(blocks):
        data, at = file.bytes_at(*blocks[number]), 0
        end = len(data)
        if is_new and number:
            at, end = 4, end - 4  # a signature before it, a checksum behind it
        while at + front <= end:
            kind, size, flags = struct.unpack_from("<BHB" if is_new else "<HHB", data, at)
            body = data[at + front:at + front + size]
            if kind == _CONTINUED and len(body) >= 16:
                blocks.append(struct.unpack_from("<QQ", body))
            yield kind, flags, body
            at += front + size
        number += 1
        limits.check("members", len(blocks), file.where, f"parts of the header with {where}")
        if number > _MOST_BLOCKS:
            raise file.refused(where, "is in a header that goes on and on")
