"""The slow model of whole pipelines from files: an addition to data_case_model.py's tables.

Reads TFRecord files without looking at checksums, and tf.train.Examples byte by byte. `data_case_files.py FOLDER` compares the model
with the cases recorded from TensorFlow in FOLDER/tfdata.
"""
import csv
import glob
import math
import os
import struct
import sys

import data_case_mixes  # noqa: F401
import data_case_model as model
from data_case_model import DATASETS, OPERATORS, Error, Node, Tensor, Unknown, run, scalar
from data_case_ragged import Ragged, Row, Sparse

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "data")


def matching(patterns):
    """Sorted names below the folder of the recorded cases."""
    patterns = patterns if isinstance(patterns, list) else [patterns]
    found = sorted(os.path.relpath(p, FILES) for pattern in patterns for p in glob.glob(os.path.join(FILES, pattern)))
    if not found:
        raise Unknown("no match")
    return found


# ---- records and Examples ----


def run_records(node):
    with open(os.path.join(FILES, node.args["filename"]), "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        yield scalar(text_of(data[at + 12 : at + 12 + size]), "string")
        at += size + 16


def run_record_files(node):
    """Whether there is an index changes nothing."""
    names = node.args["filenames"]
    for name in names if isinstance(names, list) else [names]:
        yield from run_records(Node("records", {"filename": name}, []))


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise Error()
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Pairs of field number and bytes (or a number) of a message."""
    at, out = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            if at > len(data):
                raise Error()
        elif key & 7 == 5:
            value, at = data[at : at + 4], at + 4
        else:
            raise Error()
        out.append((key >> 3, value))
    return out


def values_of(kind, data):
    out = []
    for number, value in fields(data):
        if kind == "string":
            out.append(text_of(value))
        elif kind == "float32":
            out += struct.unpack("<%df" % (len(value) // 4), value)
        elif isinstance(value, int):
            out.append(value)
        else:
            at = 0
            while at < len(value):
                x, at = varint(value, at)
                out.append(x - 2**64 if x >= 2**63 else x)
    return out


def text_of(data):
    return data.decode() if all(32 <= b < 127 for b in data) else {"hex": data.hex()}


def bytes_of(text):
    return bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode()


def example_of(text):
    """Name -> (dtype, values), dtype None where no list is set."""
    kinds, out = {1: "string", 2: "float32", 3: "int64"}, {}
    for number, features in fields(bytes_of(text)):
        if number != 1 or isinstance(features, int):
            raise Error()
        for _, entry in fields(features):
            parts = dict(fields(entry))
            lists = fields(parts.get(2, b""))
            kind = kinds[lists[-1][0]] if lists else None
            out[parts.get(1, b"").decode()] = (kind, values_of(kind, lists[-1][1]) if lists else [])
    return out


def found(examples, key, dtype):
    """The values of a feature in each example; None where it has none."""
    out = []
    for example in examples:
        kind, values = example.get(key, (None, None))
        if kind not in (None, dtype):
            raise Error()
        out.append(values if kind is not None else None)
    return out


def dense(rows, spec, default):
    shape, count = spec["shape"], 1
    for n in shape[1:] if shape[:1] == [-1] else shape:
        count *= n
    fill = default.data if default is not None else None
    if shape[:1] == [-1]:
        rows = [row or [] for row in rows]
        if any(len(row) % count for row in rows):
            raise Error()
        most = max([len(row) for row in rows], default=0)
        zero = fill[0] if fill else "" if spec["dtype"] == "string" else 0
        rows = [row + [zero] * (most - len(row)) for row in rows]
        shape = [most // count] + shape[1:]
    else:
        whole = fill * count if fill is not None and len(fill) == 1 else fill
        rows = [whole if row is None else row for row in rows]
        if any(row is None or len(row) != count for row in rows):
            raise Error()
    return Tensor(spec["dtype"], [len(rows)] + shape, [x for row in rows for x in row])


def parsed(records, features, defaults):
    examples = [example_of(text) for text in records.data]
    out = {}
    for key, spec in features["dict"].items():
        kind = "sparse" if "sparse" in spec else "ragged" if "ragged" in spec else "dense"
        inner = spec if kind == "dense" else spec[kind]
        rows = found(examples, key, inner["dtype"])
        if kind == "dense":
            out[key] = dense(rows, inner, defaults.get(key))
        elif kind == "ragged":
            rows = [Row(inner["dtype"], [len(row or [])], row or []) for row in rows]
            out[key] = Ragged(inner["dtype"], 1, [], rows)
        else:
            values = [((r, i), x) for r, row in enumerate(rows) for i, x in enumerate(row or [])]
            longest = max([len(row or []) for row in rows], default=0)
            out[key] = Sparse(inner["dtype"], [len(rows), longest], values)
    return out


def run_parse(node):
    defaults = node.arg("defaults") or {}
    for outcome in run(node.inputs[0]):
        try:
            yield outcome if isinstance(outcome, Error) else parsed(outcome, node.args["features"], defaults)
        except Error as error:
            yield error


# ---- pipelines ----


def epochs_of(node, names, function, cycle):
    """The records of the files that match, as both pipelines shuffle and repeat them."""
    tensor = Tensor("string", [len(names)], names)
    plan = Node("from_tensor_slices", {"tensors": tensor}, [])
    shuffle, seed = node.arg("shuffle", True), node.arg("shuffle_seed")
    if shuffle:
        plan = Node("shuffle", {"buffer_size": len(names), "seed": seed}, [plan])
    plan = Node("parallel_interleave", {"map_func": function, "cycle_length": cycle}, [plan])
    if shuffle:
        plan = Node("shuffle", {"buffer_size": node.arg("shuffle_buffer_size", 10000), "seed": seed}, [plan])
    count = node.arg("num_epochs", -1)
    return plan if count == 1 else Node("repeat", {"count": count}, [plan])


def batches_of(node, records, drop):
    return Node("batch", {"batch_size": node.args["batch_size"], "drop_remainder": drop or "num_epochs" not in node.args}, [records])


def run_batched_features(node):
    if node.cached is None:  # the plan, whose shuffles go on from iterator to iterator
        if node.arg("reader_args"):
            raise Unknown("compressed records")
        records = epochs_of(node, matching(node.args["file_pattern"]), "records_of", node.arg("reader_num_threads", 1))
        batches = batches_of(node, records, node.arg("drop_final_batch", False))
        node.cached = Node("parse_example_dataset", {k: node.args[k] for k in ("features", "defaults") if k in node.args}, [batches])
    label = node.arg("label_key")
    for outcome in run(node.cached):
        if label and not isinstance(outcome, Error):
            outcome = ({k: v for k, v in outcome.items() if k != label}, outcome[label])
        yield outcome


# ---- tables ----


def rows_of_table(name, node):
    """The records of a CSV file, without its header."""
    with open(os.path.join(FILES, name), newline="") as file:
        rows = list(csv.reader(file, delimiter=node.arg("field_delim", ",")))
    return rows[0], rows[node.arg("header", True) :]


def fits(text, dtype):
    try:
        if dtype.startswith("int"):
            return -(2 ** (int(dtype[3:]) - 1)) <= int(text) < 2 ** (int(dtype[3:]) - 1)
        return dtype == "string" or float(text) < (3.4028235677973366e38 if dtype == "float32" else math.inf)
    except ValueError:
        return False


DTYPES = ["int32", "int64", "float32", "float64", "string"]


def inferred(texts, na):
    kind = 0
    told = [t for t in texts if t not in ("", na)]
    for text in told:
        kind = next(k for k in range(kind, len(DTYPES)) if fits(text, DTYPES[k]))
    return DTYPES[kind] if told else "string"


def value_of_text(text, dtype, na):
    if text in ("", na):
        return "" if dtype == "string" else 0
    if dtype == "string":
        return text_of(text.encode())
    if not fits(text, dtype):
        raise Error()
    value = int(text) if dtype.startswith("int") else float(text)
    return struct.unpack("<f", struct.pack("<f", value))[0] if dtype == "float32" else value


def run_table(node):
    """Records as tuples of the columns that `owner`, the node of the pipeline, has found out."""
    owner, na = node.args["owner"], node.args["owner"].arg("na_value", "")
    for row in rows_of_table(node.args["filename"], owner)[1]:
        try:
            if len(row) != len(owner.names):
                raise Error()
            yield tuple(scalar(value_of_text(row[c], d, na), d) for c, d in zip(owner.columns, owner.dtypes))
        except Error as error:
            if not owner.arg("ignore_errors", False):
                yield error


def run_make_csv(node):
    if node.cached is None:
        files = matching(node.args["file_pattern"])
        if node.arg("compression_type") or "column_defaults" in node.args:
            raise Unknown("compression, defaults")
        node.names = node.arg("column_names") or rows_of_table(files[0], node)[0]
        chosen = node.arg("select_columns", list(range(len(node.names))))
        node.columns = sorted(node.names.index(c) if isinstance(c, str) else c for c in chosen)
        rows = [row for name in files for row in rows_of_table(name, node)[1]][: node.arg("num_rows_for_inference", 100)]
        node.dtypes = [inferred([row[c] for row in rows], node.arg("na_value", "")) for c in node.columns]
        DATASETS["table_%d" % id(node)] = lambda name: Node("table", {"filename": name.data[0], "owner": node}, [])
        records = epochs_of(node, files, "table_%d" % id(node), node.arg("num_parallel_reads", 1))
        node.cached = batches_of(node, records, False)
    label, names = node.arg("label_name"), [node.names[c] for c in node.columns]
    for outcome in run(node.cached):
        if isinstance(outcome, Error):
            yield outcome
            continue
        columns = dict(zip(names, outcome))
        rest = {k: v for k, v in columns.items() if k != label}
        yield (rest, columns[label]) if label else rest


EPOCHS = ["num_epochs", "shuffle", "shuffle_buffer_size", "shuffle_seed", "prefetch_buffer_size"]
DATASETS["records_of"] = lambda name: Node("records", {"filename": name.data[0]}, [])
OPERATORS["records"] = (run_records, ["filename"])
OPERATORS["tf_record_dataset"] = (run_record_files, ["filenames", "index"])
OPERATORS["parse_example_dataset"] = (run_parse, ["features", "defaults", "num_parallel_calls", "deterministic"])
OPERATORS["make_batched_features_dataset"] = (
    run_batched_features,
    EPOCHS + ["file_pattern", "batch_size", "features", "defaults", "label_key", "reader_args", "reader_num_threads", "parser_num_threads",
              "sloppy_ordering", "drop_final_batch"],
)
OPERATORS["table"] = (run_table, ["filename", "owner"])
OPERATORS["make_csv_dataset"] = (
    run_make_csv,
    EPOCHS + ["file_pattern", "batch_size", "column_names", "column_defaults", "label_name", "select_columns", "field_delim", "na_value",
              "header", "num_parallel_reads", "sloppy", "num_rows_for_inference", "compression_type", "ignore_errors"],
)

if __name__ == "__main__":
    sys.exit(model.compare(sys.argv[1]) != 0)
