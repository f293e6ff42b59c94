"""The slow model of pack: an addition to data_case_model.py's tables, and its cases.

It works token by token: each token is put where it belongs with the number of its sequence and its place in it, and what is
missing in a window is filled in at the end.
"""
from data_case_model import INVALID, OPERATORS, Error, Tensor, leaves, rebuild, run

ZERO = {"string": "", "bool": False}


def sequence_of(value, split, truncate, length):
    """The tokens of an element: tuples over its components. Raises what the element is refused with."""
    parts = leaves(value)
    if any(len(p.shape) != 1 for p in parts) or len({p.shape[0] for p in parts}) != 1:
        raise Error(INVALID)
    tokens = list(zip(*[p.data for p in parts]))
    if not split and len(tokens) > length:
        if not truncate:
            raise Error(INVALID)
        tokens = tokens[:length]
    return tokens


def window_of(example, rows, length, pad):
    """`rows`: (token, segment, position) of one window."""
    columns = []
    for c, part in enumerate(leaves(example)):
        data = [token[c] for token, _, _ in rows]
        fill = pad[c if len(pad) > 1 else 0] if pad else ZERO.get(part.dtype, 0)
        columns.append(Tensor(part.dtype, [length], data + [fill] * (length - len(rows))))
    shown = rebuild(example, iter(columns))
    out = dict(shown) if isinstance(shown, dict) else {"tokens": shown}
    for name, at in (("segment_ids", 1), ("positions", 2)):
        out[name] = Tensor("int32", [length], [row[at] for row in rows] + [0] * (length - len(rows)))
    return out


def run_pack(node):
    length, split = node.args["length"], node.arg("split", True)
    pad = [p.data[0] for p in leaves(node.args["pad_value"])] if "pad_value" in node.args else []
    rows, example, segment = [], None, 0
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Error):
            yield outcome
            continue
        try:
            tokens = sequence_of(outcome, split, node.arg("truncate", False), length)
        except Error as error:
            yield error
            continue
        example = outcome
        if not split and rows and len(rows) + len(tokens) > length:
            yield window_of(example, rows, length, pad)
            rows, segment = [], 0
        segment += 1 if tokens else 0
        for position, token in enumerate(tokens):
            rows.append((token, segment, position))
            if len(rows) == length:
                yield window_of(example, rows, length, pad)
                rows, segment = [], 1 if position + 1 < len(tokens) else 0
    if rows and not node.arg("drop_remainder", False):
        yield window_of(example, rows, length, pad)


OPERATORS["pack"] = (run_pack, ["length", "split", "truncate", "pad_value", "drop_remainder"])


def add(case, node, rng, mapped, faulty, literal):
    twice = (None, None)

    def packed(name, below, length, limits=(None,), **args):
        case(name, node("pack", below, length=length, **args), limits)

    def mod_4(n):
        return mapped("iota_mod_4", rng(n))

    def entries(**inputs):
        out = node("zip")
        out["inputs"] = {"dict": inputs}
        return out

    def scalar(value, dtype="int64"):
        return literal(dtype, [], [value])

    for name, args in (("", {}), ("_whole", {"split": False})):
        packed("zero" + name, mapped("iota", rng(0)), 4, **args)
        packed("one" + name, mapped("iota", rng(3, 4)), 4, **args)
        packed("one_window" + name, mapped("iota", rng(4, 5)), 4, **args)
        packed("many" + name, mapped("iota", rng(1, 8)), 7, twice, **args)
        for length in (3, 5, 8, 100):
            packed("length_%d%s" % (length, name), mod_4(23), length, **args)
            packed("length_%d_drop%s" % (length, name), mod_4(23), length, drop_remainder=True, **args)
        packed("empty_sequences" + name, mapped("iota", mapped("mod_2", rng(7))), 2, **args)
        packed("only_empty_sequences" + name, node("map", node("range", stop=4, start=0, step=4), map_func="iota"), 2, **args)
        packed("child_error" + name, mapped("iota", faulty(9)), 9, **args)
        packed("child_errors" + name, mapped("iota_mod_4", mapped("fail_on_mod_4_is_3", rng(20))), 10, twice, **args)
        packed("errors_alone" + name, mapped("fail_always", mapped("iota", rng(0))), 4, **args)
        packed("errors_at_the_end" + name, node("concatenate", mapped("iota", rng(3)), mapped("iota", mapped("fail_always", rng(3)))), 5, **args)
        packed("own_errors" + name, node("zip", mapped("iota_mod_4", rng(1, 14)), mapped("iota", rng(1, 14))), 5, **args)
        packed("pairs" + name, node("zip", mod_4(9), mod_4(9)), 4, twice, pad_value={"tuple": [scalar(-1), scalar(-2)]}, **args)
        packed("entries" + name, entries(x=mapped("iota", rng(6)), inputs=mapped("iota", rng(6))), 6, pad_value=scalar(9), **args)
        packed("texts" + name, node("batch", mapped("to_string", rng(95, 106)), batch_size=4), 5, pad_value=scalar("<pad>", "string"), **args)
        packed("of_shuffle" + name, node("shuffle", mod_4(17), buffer_size=5, seed=3), 6, twice, **args)
        packed("errors_of_shuffle" + name, node("map", node("shuffle", rng(1, 12), buffer_size=5, seed=3), map_func="iota_mod_4"), 6, twice, **args)
        packed("errors_below_shuffle" + name, node("shuffle", mapped("iota_mod_4", mapped("fail_on_mod_4_is_3", rng(20))), buffer_size=5, seed=3), 9, **args)
    packed("length_1", mod_4(9), 1)
    packed("too_long", mapped("iota", rng(9)), 5, split=False)
    packed("truncated", mapped("iota", rng(9)), 5, split=False, truncate=True)
    packed("split_often", mapped("iota", rng(10, 13)), 3, twice)
    packed("errors_between_texts", node("batch", mapped("to_string", mapped("fail_on_3", rng(9))), batch_size=2), 5)
    packed("pad_value", mod_4(9), 8, split=False, pad_value=scalar(-7))
    case("after_prefetch", node("prefetch", node("pack", mod_4(12), length=5), buffer_size=2), op="pack")
    case("in_batches", node("batch", node("pack", mod_4(30), length=5), batch_size=3), op="pack")
    case("skipped", node("skip", node("pack", mod_4(30), length=5), count=3), op="pack")
    case("repeated", node("repeat", node("pack", mapped("iota", faulty(6)), length=4), count=2), op="pack")
    refused = {"error": {"when": "build", "code": "INVALID_ARGUMENT", "python": "InvalidArgumentError"}}
    vectors = mod_4(3)
    for name, plan in (
        ("of_numbers", node("pack", rng(5), length=3)),
        ("no_length", node("pack", vectors, length=0)),
        ("truncate_and_split", node("pack", vectors, length=3, truncate=True)),
        ("pad_value_of_another_dtype", node("pack", vectors, length=3, pad_value=scalar(0, "int32"))),
        ("pad_value_of_another_structure", node("pack", vectors, length=3, pad_value={"tuple": [scalar(0), scalar(0)]})),
        ("name_that_is_added", node("pack", entries(positions=vectors), length=3)),
    ):
        case("refused_" + name, plan, expect=refused)
