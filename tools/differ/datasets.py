"""Programs about tf.data: a source, a chain of operators, and what is seen of it; group "datasets", counted by the operator drawn last."""
from programs import call, method, py, ref

DATASET = "tf.data.Dataset"


def lambda_(body, names="x"):
    return ["lambda", names, body]


def plus(a, b):
    return ["binary", "+", a, b]


X = ref("x")


class Chain:
    """A dataset as an expression, and what its elements are: `kind` is "tensor", "pair", "dict", "ragged" or "dataset"."""

    def __init__(self, draw):
        self.draw, self.kind, self.dtype, self.shape = draw, "tensor", "int64", []
        self.expr, self.endless, self.known = None, False, True
        self.source()

    def name(self):
        return ["name", DATASET]

    def source(self):
        draw = self.draw
        pick = draw.choice(["range", "range", "tensors", "slices", "slices", "slices", "pair", "dict", "strings", "ragged", "random", "sparse",
            "generator"])
        count = draw.choice([0, 1, 2, 3, 5, 7])
        if pick == "range":
            args = draw.choice([[count], [2, 2 + count], [0, 2 * count, 2], [count, 0, -1]])
            self.expr = call(DATASET + ".range", *map(py, args))
            return
        self.dtype = "string" if pick == "strings" else draw.choice(["int64", "float32", "float32", "int32", "float64", "bool", "uint8",
            "float16", "bfloat16", "complex64"])
        self.shape = draw.choice([[], [], [2], [2, 1]])
        draw.dtype = self.dtype
        x = draw.tensor("data", self.dtype, [count] + self.shape)
        if pick in ("slices", "strings"):
            self.expr = call(DATASET + ".from_tensor_slices", x)
        elif pick == "tensors":
            self.expr, self.shape = call(DATASET + ".from_tensors", x), [count] + self.shape
        elif pick == "pair":
            self.kind, self.expr = "pair", call(DATASET + ".from_tensor_slices", ["tuple", [x, draw.tensor("label", "int32", [count])]])
        elif pick == "dict":
            self.kind, self.expr = "dict", call(DATASET + ".from_tensor_slices", ["dict", [[py("b"), x], [py("a"), draw.tensor("label", "int32",
                [count])]]])
        elif pick == "ragged":
            self.kind, self.shape, self.expr = "ragged", [None], call(DATASET + ".from_tensor_slices", draw.keep("rt", draw.ragged("int32")))
        elif pick == "sparse":
            self.kind, self.expr = "sparse", call(DATASET + ".from_tensor_slices", draw.keep("sp", draw.sparse("int32")))
        elif pick == "random":
            self.dtype, self.shape = "int64", []
            self.expr = method(call(DATASET + ".random", seed=py(draw.rng.randint(0, 9))), "take", py(count))
        else:
            self.dtype, self.shape = "int32", []
            self.expr = call(DATASET + ".from_generator", lambda_(["list", [py(one) for one in range(count)]], ""), output_signature=call(
                "tf.TensorSpec", py([]), ["name", "tf.int32"]))

    def to(self, word, *args, **more):
        self.expr = method(self.expr, word, *args, **more)

    def plain(self):
        return self.kind == "tensor"

    def numeric(self):
        return self.plain() and self.dtype not in ("string", "bool")


def op_map(chain):
    draw, more = chain.draw, {}
    if draw.chance(0.3):
        more = {"num_parallel_calls": draw.choice([py(2), ["name", "tf.data.AUTOTUNE"]])}
        if draw.chance(0.3):
            more["deterministic"] = py(True)
    if chain.kind == "pair":
        chain.to("map", lambda_(["tuple", [ref("b"), ref("a")]], "a, b"), **more)
        return
    if not chain.numeric():
        chain.to("map", lambda_(X), **more)
        return
    body = draw.choice([plus(X, X), ["binary", "*", X, X], ["tuple", [X, X]], ["dict", [[py("b"), X], [py("a"), X]]], call("tf.shape", X),
        call("tf.cast", X, ["name", "tf.float32"]),
                        call("tf.reduce_sum", X), call("tf.stack", ["list", [X, X]])])
    chain.to("map", lambda_(body), **more)
    chain.kind, chain.known = {"tuple": "pair", "dict": "dict"}.get(body[0], "tensor"), False
    if body[0] == "call":
        name = body[1][1]
        chain.dtype = {"tf.shape": "int32", "tf.cast": "float32"}.get(name, chain.dtype)
        chain.shape = {"tf.shape": [len(chain.shape)], "tf.reduce_sum": [], "tf.stack": [2] + chain.shape}.get(name, chain.shape)


def op_batch(chain):
    draw = chain.draw
    more = {"drop_remainder": py(True)} if draw.chance(0.4) else {}
    if draw.chance(0.1):
        more["num_parallel_calls"] = py(2)
    size = draw.rng.randint(1, 4)
    chain.to("batch", py(size) if draw.chance(0.96) else py(0), **more)
    chain.shape = [size] + chain.shape


def op_padded_batch(chain):
    draw = chain.draw
    more = {}
    if chain.plain() and draw.chance(0.4):
        more["padded_shapes"] = py([draw.choice([None, 3])] + chain.shape[1:] if chain.shape else [])
    if chain.numeric() and draw.chance(0.3) and "complex" not in chain.dtype:
        more["padding_values"] = ["tensor", chain.dtype, [], [1]]
    chain.to("padded_batch", py(draw.rng.randint(1, 4)), **more)
    chain.shape = [2] + chain.shape


def op_filter(chain):
    scalar = call("tf.reduce_sum", call("tf.cast", X, ["name", "tf.float32"]))
    if chain.numeric():
        chain.to("filter", lambda_(["binary", chain.draw.choice([">", "<="]), scalar, py(1.0)]))
    else:
        chain.to("filter", lambda_(call("tf.constant", py(True)), "*x"))


def op_window(chain):
    draw = chain.draw
    more = {word: py(draw.rng.randint(1, 3)) for word in ("shift", "stride") if draw.chance(0.4)}
    if draw.chance(0.3):
        more["drop_remainder"] = py(True)
    size = draw.rng.randint(1, 3)
    chain.to("window", py(size), **more)
    if chain.plain():
        chain.to("flat_map", lambda_(method(X, "batch", py(size))))
        chain.shape = [size] + chain.shape
    else:
        chain.kind = "dataset"


def op_interleave(chain):
    draw = chain.draw
    more = {word: py(draw.rng.randint(1, 3)) for word in ("cycle_length", "block_length") if draw.chance(0.6)}
    if draw.chance(0.3):
        more["num_parallel_calls"] = py(2)
    inner = draw.choice([call(DATASET + ".from_tensors", X), method(call(DATASET + ".from_tensors", X), "repeat", py(2))])
    if chain.plain():
        chain.to(draw.choice(["interleave", "flat_map"]), lambda_(inner), **({} if draw.chance(0.3) else {}))
        if chain.expr[1][2] == "interleave":
            chain.expr[3].extend([word, value] for word, value in more.items())


def simple(word, *options, **more):
    """An operator whose arguments are one of these lists."""
    def make(chain):
        given = chain.draw.choice(options or [[]])
        chain.to(word, *map(py, given), **{name: py(chain.draw.choice(values)) for name, values in more.items() if chain.draw.chance(0.6)})
    return make


def op_enumerate(chain):
    chain.to("enumerate", *chain.draw.choice([[], [py(3)]]))
    chain.kind = "other"


def op_unbatch(chain):
    if chain.plain() and chain.shape:
        chain.shape = chain.shape[1:]
    chain.to("unbatch")


def op_scan(chain):
    if chain.numeric() and not chain.shape:
        chain.to("scan", ["tensor", chain.dtype, [], [[1.0, 0.0] if "complex" in chain.dtype else 1]], lambda_(["tuple", [plus(ref("s"), X),
            ref("s")]], "s, x"))


def op_take_while(chain):
    if chain.numeric() and not chain.shape and "complex" not in chain.dtype:
        chain.to("take_while", lambda_(["binary", "<", X, ["tensor", chain.dtype, [], [3]]]))


def op_zip(chain):
    chain.expr = call(DATASET + ".zip", chain.expr, call(DATASET + ".range", py(chain.draw.rng.randint(0, 6))))
    chain.kind = "other"


def op_concatenate(chain):
    chain.to("concatenate", method(chain.expr, "take", py(chain.draw.rng.randint(0, 2))))


def op_group_by_window(chain):
    if chain.numeric() and not chain.shape and "int" in chain.dtype:
        size = chain.draw.rng.randint(1, 3)
        key = call("tf.cast", ["binary", "%", X, ["tensor", chain.dtype, [], [2]]], ["name", "tf.int64"])
        chain.to("group_by_window", key_func=lambda_(key), reduce_func=lambda_(method(ref("d"), "batch", py(size)), "k, d"), window_size=py(size))
        chain.shape = [size]


def op_bucket(chain):
    if chain.kind == "ragged" or chain.plain() and len(chain.shape) == 1:
        chain.to("bucket_by_sequence_length", element_length_func=lambda_(["index", call("tf.shape", X), [py(0)]]), bucket_boundaries=py([2, 4]),
            bucket_batch_sizes=py([2, 2, 1]))
        chain.kind = "other"


def op_sample(chain):
    other = method(chain.expr, "repeat", py(2))
    draw = chain.draw
    more = {"weights": py(draw.choice([[0.5, 0.5], [0.9, 0.1]]))} if draw.chance(0.5) else {}
    chain.expr = call(DATASET + ".sample_from_datasets", ["list", [chain.expr, other]], seed=py(draw.rng.randint(0, 9)), **more)


def op_choose(chain):
    choices = call(DATASET + ".from_tensor_slices", ["tensor", "int64", [4], [chain.draw.rng.randint(0, 1) for _ in range(4)]])
    chain.expr = call(DATASET + ".choose_from_datasets", ["list", [chain.expr, method(chain.expr, "skip", py(1))]], choices)


def op_rejection(chain):
    if chain.numeric() and not chain.shape and "int" in chain.dtype:
        chain.to("rejection_resample", lambda_(call("tf.cast", ["binary", "%", X, ["tensor", chain.dtype, [], [2]]], ["name", "tf.int32"])),
            target_dist=py([0.5, 0.5]), seed=py(3))
        chain.kind = "other"


def op_save(chain):
    chain.draw.keep("saved", chain.expr)
    chain.draw.values.append([None, method("saved", "save", py("saved"))])
    chain.expr = call(DATASET + ".load", py("saved"))


OPERATORS = {
    "map": op_map, "batch": op_batch, "padded_batch": op_padded_batch, "filter": op_filter, "window": op_window, "interleave": op_interleave,
    "enumerate": op_enumerate, "unbatch": op_unbatch, "scan": op_scan, "take_while": op_take_while, "zip": op_zip, "concatenate": op_concatenate,
    "group_by_window": op_group_by_window, "bucket_by_sequence_length": op_bucket, "sample_from_datasets": op_sample,
        "choose_from_datasets": op_choose,
    "rejection_resample": op_rejection, "save": op_save, "shuffle": simple("shuffle", [1], [2], [10], seed=[0, 1, 7],
        reshuffle_each_iteration=[True, False]),
    "repeat": simple("repeat", [2], [0], [3], [1]), "take": simple("take", [0], [2], [5], [-1]), "skip": simple("skip", [0], [1], [4], [-1]),
    "prefetch": simple("prefetch", [1], [2], [-1]), "cache": simple("cache", [], ["cached"]), "shard": simple("shard", [2, 0], [3, 1], [1, 0],
        [2, 2]),
    "unique": simple("unique"), "ignore_errors": simple("ignore_errors", [], log_warning=[False]), "rebatch": simple("rebatch", [2], [3],
        drop_remainder=[True, False]),
    "ragged_batch": simple("ragged_batch", [2], [3], drop_remainder=[True]), "sparse_batch": simple("sparse_batch", [2, [4]], [3, [2, 2]]),
    "snapshot": simple("snapshot", ["snap"]), "apply": lambda chain: chain.to("apply", lambda_(method(ref("d"), "skip", py(1)), "d")),
    "fingerprint": None,
}


def seen(draw, chain, program):
    """What is looked at: elements, what the dataset says of itself, and now and then how else it is read."""
    draw.keep("dataset", chain.expr)
    value = ref("dataset")
    head = [["spec", ["attr", value, "element_spec"]], ["cardinality", method("dataset", "cardinality")]]
    mode = draw.choice(["eager"] * 6 + ["twice", "numpy", "reduce", "iterator", "len"])
    taken = method("dataset", "take", py(12))
    if chain.kind == "dataset":
        return {**program, "mode": "eager", "body": head + [["y", ["call", ["name", "list"], [["call", ["name", "map"], [["name", "list"],
            taken], []]], []]]], "show": ["spec", "cardinality", "y"]}
    body = {"eager": [["y", call(["name", "list"], taken)]],
            "twice": [[None, call(["name", "list"], taken)], ["y", call(["name", "list"], taken)]],
            "numpy": [["y", call(["name", "list"], method(taken, "as_numpy_iterator"))]],
            "reduce": [["y", method("dataset", "reduce", py(0), lambda_(plus(ref("n"), py(1)), "n, *x"))]],
            "iterator": [["it", call(["name", "iter"], value)], ["y", call(["name", "next"], ref("it"))], ["z", call(["name", "next"], ref("it"))]],
            "len": [["y", call(["name", "len"], value)]]}[mode]
    return {**program, "mode": mode, "body": head + body, "show": ["spec", "cardinality", "y"] + (["z"] if mode == "iterator" else [])}


def dataset(draw, row):
    draw.style = draw.choice(["plain", "plain", "whole", "special"])
    chain = Chain(draw)
    word = row["name"].rpartition(".")[2]
    words = draw.rng.choices([one for one in OPERATORS if OPERATORS[one]], k=draw.rng.randint(0, 3))
    if OPERATORS.get(word):
        words.insert(draw.rng.randint(0, len(words)), word)
    for one in words:
        OPERATORS[one](chain)
    program = {"name": row["name"], "group": "datasets", "values": draw.values}
    return seen(draw, chain, program)


def rows(table):
    words = [word for word in OPERATORS if OPERATORS[word]] + ["range", "from_tensor_slices"]
    return [("datasets", {"name": "%s.%s" % (DATASET, word)}, dataset) for word in sorted(words)]
