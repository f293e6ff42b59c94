"""Programs that call one public function: group "ops", and those over Python's operators: group "operators"."""
import re

import draw as drawing
import hints
import programs
import rules
from programs import call, method, py, ref

# Functions that are not called: what waits, writes outside of the program's folder, changes the process, or is an affair of Python's.
NOT_CALLED = re.compile(
    r"\.(config|test|debugging|profiler|summary|autograph|saved_model|__|tpu|version|lookup|types|feature_column|estimator|distribute"
    r"|data|train|graph_util|sysconfig|errors|xla|applications|datasets|callbacks|models|preprocessing|export|wrappers|backend|tree|saving"
    r"|distribution|dtype_policies|mixed_precision|quantizers|visualization|load_library|load_op_library|py_function|numpy_function"
    r"|queue|nest|function|init_scope|device|name_scope|print|Assert|no_gradient|RegisterGradient|custom_gradient|recompute_grad|register\w*"
    r"|grad_pass_through|stop_recording|dispatch_\w+|timestamp|uniform_candidate_sampler|\w*candidate_sampler|set_\w*|get_\w+_generator|set_seed"
    r"|(de)?serialize(_keras_object)?|get_logger|clear_session|enable_\w+|disable_\w+|is_\w+enabled|get_file|plot_model|model_to_dot|pack_x_y"
    r"|unpack_x_y\w*|\w+_from_directory"
    r"|read_file|write_file|write_graph|matching_files|gfile|parallel_for|TFRecord\w*|async_\w*|dlpack|load_img|save_img"
    r"|print_tensor|while_loop_v1|get_session\w*|custom_objects\w*|prefer_static\w*|experimental_functions_run\w*|sampled_softmax_loss|nce_loss"
    r"|random_crop|categorical|gamma|shuffle|truncated_normal|set_random_seed|all_candidate\w*)(\.|$)")
# What the expression above leaves out and is called all the same.
CALLED = re.compile(r"^tf\.(debugging\.(assert_(?!proper)|is_|check_numerics)|nest\."
                    r"|random\.(stateless|fixed|experimental\.stateless|experimental\.index|split|fold)|math\.i?gamma)")


def is_called(row):
    name = row["name"]
    if row["what"] != "function" or row.get("parameters") is None or name.split(".")[-1][:1].isupper():
        return False
    if CALLED.match(name):
        return True
    if name.startswith("tf.random."):
        return False
    return not NOT_CALLED.search(name[2:]) and not name.startswith("tf.keras.random.")


def rule(name):
    """The rule with the longest name that fits."""
    fitting = [one for one in rules.RULES if name == one or name.startswith(one + ".") or one.endswith("*") and name.startswith(one[:-1])]
    return rules.RULES[max(fitting, key=len)] if fitting else {}


def guess(draw, word, default):
    """An argument for a parameter without a hint, by its default; None leaves it out."""
    value = default[1] if default[0] == "py" else None
    if isinstance(value, bool):
        return py(draw.chance(0.5))
    if isinstance(value, int):
        return py(value + draw.rng.randint(-1, 2))
    if isinstance(value, float):
        return py(draw.choice([value, value, 0.0, 0.5, 1.0, 2.0, -1.0]))
    return draw.either(word if word.isidentifier() else "x") if default[0] == "none" else None


def argument(draw, row, own, word, default):
    """The expression for one parameter, or None."""
    if default[0] != "none" and not draw.chance(0.4):
        return None
    hint = own.get(word, hints.HINTS.get(word, guess))
    if hint is None:
        return guess(draw, word, default) if default[0] == "none" else None
    if hint is guess:
        return guess(draw, word, default)
    if isinstance(default[-1], str) and default[0] == "py" and draw.chance(0.3):
        return py(default[1])
    return hint(draw)


def arguments(draw, row, own):
    """Positional and named arguments of a function."""
    positional, named, in_order = [], [], True
    for word, kind, default in row["parameters"]:
        if kind == "rest" or word in ("name", "self"):
            in_order = False
            continue
        value = argument(draw, row, own, word, default)
        if value is None:
            in_order = in_order and default[0] == "none"
            if default[0] == "none":
                value = py(None)
            else:
                in_order = False
                continue
        if in_order and kind == "plain" and (default[0] == "none" or draw.chance(0.4)):
            positional.append(value)
        else:
            in_order = False
            named.append([word, value])
    return positional, named


def function(draw, row):
    """A program of one call."""
    own = rule(row["name"])
    draw.theme(own.get("dtypes", drawing.NUMBER), own.get("ranks", (0, 3)), own.get("shapes"), own.get("style"))
    positional, named = arguments(draw, row, own.get("of", {}))
    values = draw.values
    mode = draw.choice(["eager"] * 9 + ["function"] * 4 + ["map"] * 3 + ["tape"] * 4)
    program = {"name": row["name"], "group": "ops", "mode": mode, "values": values, "show": ["y"],
               "body": [["y", ["call", ["name", draw.choice(row["names"]) if draw.chance(0.15) else row["name"]], positional, named]]]}
    if mode == "tape" and not programs.floating(program) or mode in ("map", "function") and not programs.tensors(program):
        program["mode"] = "eager"
    return program


BINARY = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "@"]
OPERATORS = ["operator " + sign for sign in BINARY] + ["operator unary", "operator index"]


def place(draw, size):
    """One place of an index."""
    pick = draw.rng.random()
    if pick < 0.35:
        return py(draw.rng.randint(-size, max(size - 1, 0)))
    if pick < 0.45:
        return ["name", draw.choice(["...", "tf.newaxis"])]
    ends = [draw.choice([None, draw.rng.randint(-size - 1, size + 1)]) for _ in range(2)]
    return ["slice", py(ends[0]), py(ends[1]), py(draw.choice([None, None, 1, 2, -1, -2]))]


def operator(draw, row):
    """A program of one of Python's operators on tensors."""
    sign = row["name"].split()[-1]
    if sign in "&|^":
        draw.theme(["bool"] + drawing.INT, (0, 3))
    else:
        draw.theme(drawing.ANY, (1, 3) if sign in ("index", "@") else (0, 3))
    x = draw.tensor("x")
    if sign == "unary":
        y = ["unary", draw.choice(["-", "~", "abs"]), x]
        y = call(["name", "abs"], x) if y[1] == "abs" else y
    elif sign == "index":
        y = ["index", x, [place(draw, size) for size in draw.shape[:draw.rng.randint(1, 3)]]]
    else:
        other = draw.tensor("w", draw.choice(drawing.NUMBER)) if draw.chance(0.08) else draw.either("w")
        pair = [x, other] if draw.chance(0.8) or other[0] in ("list", "array") else [other, x]
        y = ["binary", sign, *pair]
    mode = draw.choice(["eager", "eager", "function", "map", "tape"])
    program = {"name": row["name"], "group": "operators", "mode": mode, "values": draw.values, "body": [["y", y]], "show": ["y"]}
    if mode == "tape" and not programs.floating(program):
        program["mode"] = "eager"
    return program


# Methods of tensors' kin: the receiver, and for each method what it is given.
def one(*options):
    return lambda draw: [py(draw.choice(options))]


def none(draw):
    return []


def like(draw):
    return [draw.tensor("w")]


METHODS = {
    "tf.Tensor": {"get_shape": none, "numpy": none, "ndim": None, "shape": None, "dtype": None, "set_shape": lambda draw: [py(draw.shape)]},
    "tf.Variable": {"assign": like, "assign_add": like, "assign_sub": like, "read_value": none, "value": none, "numpy": none, "shape": None,
        "dtype": None,
                    "sparse_read": lambda draw: [draw.ints("at", draw.shape[0], [2])], "gather_nd": lambda draw: [draw.ints("at", draw.shape[0],
                        [2, 1])],
                    "scatter_nd_update": lambda draw: [draw.ints("at", draw.shape[0], [1, 1]), draw.tensor("u", None, [1] + draw.shape[1:])],
                    "scatter_nd_add": lambda draw: [draw.ints("at", draw.shape[0], [1, 1]), draw.tensor("u", None, [1] + draw.shape[1:])]},
    "tf.RaggedTensor": {"to_tensor": none, "to_list": none, "row_lengths": none, "bounding_shape": none, "nrows": none, "row_starts": none,
        "row_limits": none,
                        "row_splits": None, "flat_values": None, "to_sparse": none, "value_rowids": none, "nested_row_lengths": none,
                            "shape": None, "ragged_rank": None,
                        "merge_dims": lambda draw: [py(0), py(1)], "numpy": none, "consumers": none, "uniform_row_length": None},
    "tf.SparseTensor": {"indices": None, "values": None, "dense_shape": None, "shape": None, "dtype": None, "get_shape": none},
    "tf.random.Generator": {
        "normal": one([2, 3], [], [0]), "uniform": one([2, 3], [5], []), "truncated_normal": one([2, 3]),
            "uniform_full_int": lambda draw: [py([3]), py(draw.choice(["int32", "uint64", "int64"]))],
        "binomial": lambda draw: [py([3]), py(10.0), py(0.4)], "make_seeds": one(2), "skip": one(5), "state": None, "key": None, "algorithm": None,
        "reset_from_seed": one(3)},
    "tf.TensorShape": {"as_list": none, "is_fully_defined": none, "num_elements": none, "ndims": None, "rank": None, "concatenate": one([2], [None]),
                       "merge_with": one([2, 3], [None, None], None), "is_compatible_with": one([2, 3], [None, 3], [4]), "with_rank": one(2, 3),
                       "with_rank_at_least": one(1, 3), "most_specific_compatible_shape": one([2, None], [3, 3], [1])},
}


def receiver(draw, owner):
    if owner == "tf.RaggedTensor":
        return draw.keep("r", draw.ragged())
    if owner == "tf.SparseTensor":
        return draw.keep("r", draw.sparse())
    if owner == "tf.random.Generator":
        return draw.keep("r", call("tf.random.Generator.from_seed", py(draw.rng.randint(0, 99)), **draw.choice([{}, {"alg": py("philox")},
            {"alg": py("threefry")}])))
    if owner == "tf.TensorShape":
        return draw.keep("r", call("tf.TensorShape", py(draw.choice([[2, 3], [None, 3], [], [None], None]))))
    x = draw.tensor("x")
    return draw.keep("r", call("tf.Variable", x)) if owner == "tf.Variable" else x


def member(draw, row):
    """A program of one method or attribute of an object."""
    owner, _, word = row["name"].rpartition(".")
    draw.theme(drawing.ANY, (1, 3))
    taken = receiver(draw, owner)
    given = METHODS[owner][word]
    y = ["attr", taken, word] if given is None else method(taken, word, *given(draw))
    body = [["y", y]]
    if owner == "tf.Variable":
        body.append(["after", call("tf.identity", ref(taken[1]))])
    if owner == "tf.random.Generator":
        body.append(["after", method(taken, "normal", py([2]))])
    return {"name": row["name"], "group": "methods", "mode": "eager", "values": draw.values, "body": body, "show": [name for name, _ in body]}


def rows(table):
    """What these generators draw for: (group, row, generator)."""
    found = [("ops", row, function) for row in table if is_called(row)]
    found += [("operators", {"name": name}, operator) for name in OPERATORS]
    found += [("methods", {"name": "%s.%s" % (owner, word)}, member) for owner in sorted(METHODS) for word in sorted(METHODS[owner])]
    return found
