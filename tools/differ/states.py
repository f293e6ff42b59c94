"""Programs about checkpoints, and about strategies over two devices: groups "checkpoints" and "strategies"."""
import draw as drawing
from programs import call, method, py, ref


def trackable(draw, name, steps):
    """The expression of one object that a checkpoint keeps, and the expressions that change it and show it."""
    kind = draw.choice(["variable", "variable", "list", "dict", "optimizer", "dense", "metric", "module", "nested", "iterator"])
    if kind == "variable":
        draw.theme(drawing.REAL + ["int32", "int64", "bool", "string", "float16", "bfloat16"], (0, 2), style="plain")
        first = draw.tensor("x")
        return call("tf.Variable", first), method(name, "assign", call("tf.zeros_like", first)), call("tf.identity", ref(name))
    if kind in ("list", "dict"):
        parts = [call("tf.Variable", py(float(draw.rng.randint(1, 9)))) for _ in range(draw.rng.randint(1, 3))]
        made = ["list", parts] if kind == "list" else ["dict", [[py(word), part] for word, part in zip("bac", parts)]]
        at = py(0) if kind == "list" else py("b")
        return made, method(["index", ref(name), [at]], "assign", py(0.0)), call("tf.identity", ["index", ref(name), [at]])
    if kind == "optimizer":
        steps.append([None, method(name, "build", ["list", [call("tf.Variable", py([1.0, 2.0]))]])])
        return call("tf.keras.optimizers.%s" % draw.choice(["SGD", "Adam", "RMSprop"]), py(0.1)), method(["attr", ref(name), "iterations"],
            "assign", py(5)), ["attr", ref(name), "variables"]
    if kind == "dense":
        steps.append([None, call(ref(name), ["tensor", "float32", [1, 2], [1.0, 2.0]])])
        return call("tf.keras.layers.Dense", py(2)), method(["attr", ref(name), "bias"], "assign", py([7.0, 8.0])), ["attr", ref(name), "weights"]
    if kind == "metric":
        return call("tf.keras.metrics.Mean"), method(name, "update_state", py(3.0)), method(name, "result")
    if kind == "iterator":
        data = method(call("tf.data.Dataset.range", py(9)), draw.choice(["batch", "take", "prefetch"]), py(2))
        return call(["name", "iter"], method(data, "repeat")), call(["name", "next"], ref(name)), call(["name", "next"], ref(name))
    inner = call("tf.Variable", py(float(draw.rng.randint(1, 9))))
    made = call("tf.train.Checkpoint", inner=inner) if kind == "nested" else call("tf.train.Checkpoint", first=inner, second=call("tf.Variable",
        py([1, 2])))
    word = "inner" if kind == "nested" else "first"
    return made, method(["attr", ref(name), word], "assign", py(0.0)), call("tf.identity", ["attr", ref(name), word])


def checkpoint(draw, row):
    """Objects are saved, changed, restored and shown; and what the file has is listed."""
    made, changes, shows, steps, words = [], [], [], [], []
    for word in "abc"[:draw.rng.randint(1, 3)]:
        value, change, show = trackable(draw, word, steps)
        made.append([word, value])
        words.append(word)
        changes.append([None, change])
        shows.append(["y" + word, show])
    saved = ["checkpoint", ["call", ["name", "tf.train.Checkpoint"], [], [[word, ref(word)] for word in words]]]
    mode = draw.choice(["eager", "eager", "manager", "read"])
    if mode == "manager":
        body = [["manager", call("tf.train.CheckpointManager", ref("checkpoint"), py("kept"), py(2))], ["path", method("manager", "save")],
            [None, method("manager", "save")],
                ["path", method("manager", "save")], ["all", ["attr", ref("manager"), "checkpoints"]]]
    elif mode == "read":
        body = [["path", method("checkpoint", "write", py("ck"))]]
    else:
        body = [["path", method("checkpoint", "save", py("ck"))]]
    names = ["names", call("tf.train.list_variables", ref("path"))]
    restore = [None, method("checkpoint", "read" if mode == "read" else "restore", ref("path"))]
    body = [saved] + body + [names] + changes + [restore] + shows
    show = ["path", "names"] + [word for word, _ in shows] + (["all"] if mode == "manager" else [])
    # An iterator's state is the library's own, under a name of its own (docs/COMPATIBILITY.md).
    if draw.chance(0.5) or any(["name", "iter"] in value for _, value in made):
        show.remove("names")
        body.remove(names)
    return {"name": row["name"], "group": "checkpoints", "mode": mode, "values": draw.values + made + steps, "body": body, "show": show}


STRATEGIES = ["tf.distribute.get_strategy", "tf.distribute.MirroredStrategy", "tf.distribute.OneDeviceStrategy",
    "tf.distribute.experimental.CentralStorageStrategy"]


def local(value):
    """The values of all replicas, as a tuple."""
    return method("strategy", "experimental_local_results", value)


def strategy(draw, row):
    """What one strategy does with a function and with a dataset."""
    draw.theme(drawing.REAL + ["int32", "int64"], (0, 2), style="plain")
    devices = draw.choice([["/cpu:0"], ["/cpu:0", "/cpu:1"], ["/cpu:0", "/cpu:1"]])
    given = {"MirroredStrategy": [py(devices)], "OneDeviceStrategy": [py("/cpu:0")], "CentralStorageStrategy": [py(devices)]}
    draw.keep("strategy", call(row["name"], *given.get(row["name"].split(".")[-1], [])))
    x = draw.tensor("x")
    run = method("strategy", "run", ["lambda", "e", ["binary", draw.choice("+*"), ref("e"), ref("e")]], args=["tuple", [x]])
    reduce_op = draw.choice([["name", "tf.distribute.ReduceOp.SUM"], ["name", "tf.distribute.ReduceOp.MEAN"], py("sum"), py("MEAN")])
    count = py(draw.rng.randint(1, 7))
    data = method(call("tf.data.Dataset.range", count), "batch", py(draw.choice([2, 3, 4])), **draw.choice([{}, {"drop_remainder": py(True)}]))
    context = call("tf.distribute.get_replica_context")
    number = ["attr", context, "replica_id_in_sync_group"]
    summed = method(context, "all_reduce", reduce_op, call("tf.cast", number, ["name", "tf.float32"]))
    each = ["lambda", "d", local(ref("d"))]
    numbers = method("strategy", "experimental_distribute_values_from_function", ["lambda", "c", ["attr", ref("c"), "replica_id_in_sync_group"]])
    mode = draw.choice(["run", "reduce", "gather", "dataset", "count", "values", "context", "all_reduce"])
    body = {"run": local(run), "reduce": method("strategy", "reduce", reduce_op, run, axis=py(draw.choice([None, None, 0]))),
            "gather": method("strategy", "gather", run, axis=py(0)), "count": ["attr", ref("strategy"), "num_replicas_in_sync"],
            "dataset": call(["name", "list"], call(["name", "map"], each, method("strategy", "experimental_distribute_dataset", data))),
            "values": local(numbers), "context": local(method("strategy", "run", ["lambda", "", number])),
            "all_reduce": local(method("strategy", "run", ["lambda", "", summed]))}[mode]
    return {"name": row["name"], "group": "strategies", "mode": mode, "values": draw.values, "body": [["y", body]], "show": ["y"]}


def rows(table):
    found = [("checkpoints", {"name": "tf.train.Checkpoint"}, checkpoint)] * 6
    return found + [("strategies", {"name": name}, strategy) for name in STRATEGIES]
