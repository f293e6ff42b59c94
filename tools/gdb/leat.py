"""How gdb prints leat's data: tensors, columns, blocks, specs, elements, datasets and errors.

    (gdb) source tools/gdb/leat.py
    (gdb) print iterator->input.block

Needs debug information, and reads memory alone: it calls no function of the program, so that it works on core files.
Where memory cannot be read, what is shown ends there.
"""
import gdb
import gdb.printing

MOST_VALUES = 8
MOST_BYTES = 40
MOST_NODES = 20
TYPES = {"BOOL": "unsigned char", "INT8": "signed char", "INT16": "short", "INT32": "int", "INT64": "long", "UINT8": "unsigned char",
         "UINT16": "unsigned short", "UINT32": "unsigned int", "UINT64": "unsigned long", "FLOAT32": "float", "FLOAT64": "double",
         "STRING": "leat_string"}


def constant(value, prefix):
    """The enumerator of a value without its prefix, in capitals."""
    name = str(value)
    return name[len(prefix):] if name.startswith(prefix) else name


def dtype_name(value):
    return constant(value, "LEAT_").lower()


def dims_text(rank, dims):
    """[2, 3]; a dimension that is not known is ?, and so is an unknown rank."""
    if int(rank) < 0:
        return "[?]"
    return "[%s]" % ", ".join("?" if int(dims[i]) < 0 else str(int(dims[i])) for i in range(min(int(rank), 8)))


def string_text(value):
    """A leat_string in quotes, cut after MOST_BYTES."""
    size = int(value["size"])
    data = gdb.selected_inferior().read_memory(int(value["data"]), min(size, MOST_BYTES)).tobytes() if size > 0 else b""
    return repr(data)[1:] + ("..." if size > MOST_BYTES else "")


def values_text(dtype, data, count):
    """The first values, as {1, 2, ...}."""
    name = constant(dtype, "LEAT_")
    if name not in TYPES or int(data) == 0:
        return ""
    at = data.cast(gdb.lookup_type(TYPES[name]).pointer())
    texts = []
    for i in range(min(count, MOST_VALUES)):
        texts.append(string_text(at[i]) if name == "STRING" else str(float(at[i]) if "FLOAT" in name else int(at[i])))
    return " {%s%s}" % (", ".join(texts), ", ..." if count > MOST_VALUES else "")


class Tensor:
    """leat_tensor: float32[2, 3] {0.5, 1.0, ...}"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        v = self.value
        count = 1
        for i in range(int(v["rank"])):
            count *= int(v["dims"][i])
        text = dtype_name(v["dtype"]) + dims_text(v["rank"], v["dims"])
        try:
            return text + values_text(v["dtype"], v["data"], count)
        except gdb.MemoryError:
            return text + " {memory cannot be read}"


class Column:
    """leati_column: rows of float32[3], STRIDED by 12"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        v = self.value
        form = constant(v["form"], "LEATI_")
        if form == "TENSORS":
            return "TENSORS at %#x" % int(v["tensors"])
        return "rows of %s%s, %s by %d at %#x" % (dtype_name(v["dtype"]), dims_text(v["rank"], v["dims"]), form, int(v["stride"]),
                                                  int(v["data"]))


class Block:
    """leati_block: how many rows and columns; its children are the columns."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "block of %d rows, %d columns" % (int(self.value["n"]), int(self.value["num_columns"]))

    def children(self):
        for c in range(int(self.value["num_columns"])):
            yield "column %d" % c, self.value["columns"][c]


def spec_text(spec):
    """A spec as its constructors nest."""
    kind = constant(spec["kind"], "LEAT_SPEC_")
    children = [spec_text(spec["children"][i].dereference()) for i in range(int(spec["num_children"]))]
    if kind == "TENSOR":
        return dtype_name(spec["dtype"]) + dims_text(spec["shape"]["rank"], spec["shape"]["dims"])
    if kind == "TUPLE":
        return "(%s)" % ", ".join(children)
    if kind == "DICT":
        return "{%s}" % ", ".join("%s: %s" % (spec["keys"][i].string(), child) for i, child in enumerate(children))
    if kind in ("RAGGED", "SPARSE"):
        return "%s %s%s" % (kind.lower(), dtype_name(spec["dtype"]), dims_text(spec["shape"]["rank"], spec["shape"]["dims"]))
    return kind.lower() + ("(%s)" % ", ".join(children) if children else "")


class Spec:
    """leat_spec: (float32[?, 28, 28], int64[])"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return spec_text(self.value)


class Element:
    """leat_element: its spec; its children are the tensors."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        spec = self.value["spec"]
        return "element of " + spec_text(spec.dereference()) if int(spec) != 0 else "no element"

    def children(self):
        for i in range(int(self.value["num_tensors"])):
            yield "tensor %d" % i, self.value["tensors"][i]


def plan_text(dataset, room):
    """The operators from this one down: prefetch <- map "decode" <- zip(range, range)"""
    label = dataset["label"]
    text = dataset["op"]["name"].string() + (' "%s"' % label.string() if int(label) != 0 else "")
    count = int(dataset["num_inputs"])
    if room <= 0 and count > 0:
        return text + " <- ..."
    inputs = [plan_text(dataset["inputs"][i].dereference(), room - 1) for i in range(count)]
    return text + (" <- " + inputs[0] if count == 1 else "(%s)" % ", ".join(inputs) if inputs else "")


class Dataset:
    """leat_dataset: its operators, cardinality and spec"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        v = self.value
        return "%s; cardinality %d, %s" % (plan_text(v, MOST_NODES), int(v["cardinality"]), spec_text(v["spec"].dereference()))


class Error:
    """leat_error: INVALID_ARGUMENT "why" """

    def __init__(self, value):
        self.value = value

    def to_string(self):
        code = constant(self.value["code"], "LEAT_")
        return code if code == "OK" else '%s "%s"' % (code, self.value["text"].string(errors="replace"))


def build():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("leat")
    for name, printer in (("leat_tensor", Tensor), ("leati_column", Column), ("leati_block", Block), ("leat_spec", Spec),
                          ("leat_element", Element), ("leat_dataset", Dataset), ("leat_error", Error)):
        printers.add_printer(name, "^%s$" % name, printer)
    return printers


gdb.printing.register_pretty_printer(gdb.current_objfile(), build(), replace=True)
