"""How make_data_cases.py writes plans, and random chains of operators."""
import json
import random

from data_case_model import Unknown, outcomes

TWICE = (None, None)
KEYS = ["elements", "elements_epoch2", "elements_epoch3"]


def node(op, *inputs, **args):
    out = {"op": op, "args": args}
    if len(inputs) == 1:
        out["input"] = inputs[0]
    elif inputs:
        out["inputs"] = list(inputs)
    return out


def rng(*args):
    names = {1: ["stop"], 2: ["start", "stop"], 3: ["start", "stop", "step"]}[len(args)]
    return node("range", **dict(zip(names, args)))


def mapped(function, below, **args):
    return node("map", below, map_func=function, **args)


def faulty(n=6):
    """0, 1, 2, an error, 4, ..."""
    return mapped("fail_on_3", rng(n))


def literal(dtype, shape, data):
    return {"dtype": dtype, "shape": shape, "data": data}


def expectation(plan, limits):
    return dict(zip(KEYS, outcomes(plan, limits)))


def compositions(seed, count):
    """Random chains over operators that the model knows; a plan whose outcome it does not know is drawn again."""
    random.seed(seed)
    made = []
    while len(made) < count:
        plan, kind = compose(random.randint(1, 6))
        limits = random.choice([(None,), (None,), TWICE, (random.randint(0, 6), None)])
        try:
            expect = expectation(plan, [40 if n is None else n for n in limits])
        except (Unknown, TypeError):
            continue
        if any(len(found) == 40 for found in expect.values()):
            continue  # longer than a test needs, or endless
        if list(limits) != [None] and may_show_ahead(plan, limits):
            limits, expect = (None,), {"elements": expect["elements"]} if limits[0] is None else expectation(plan, (None,))
        out = {"name": "c%d_%d" % (seed, len(made)), "op": "composed", "pipeline": plan}
        if list(limits) != [None]:
            out["iterate"] = list(limits)
        out["expect"] = expect
        made.append(out)
    return made


def operators(plan):
    inner = [plan["input"]] if "input" in plan else list(plan.get("inputs", []))
    return [plan["op"]] + [op for p in inner for op in operators(p)]


def may_show_ahead(plan, limits):
    """Where threads read ahead of the consumer, a later iterator sees how far a dropped one had come."""
    ops = operators(plan)
    dropped = any(n is not None for n in limits) or "take" in ops or "zip" in ops
    ahead = "prefetch" in ops or '"num_parallel_calls"' in json.dumps(plan)
    return ahead and ("shuffle" in ops or ("cache" in ops and dropped))


def leaf():
    return rng(random.randint(0, 4), random.randint(0, 16)), "number"


KEYS_OF = ["mod_3", "minus_mod_3", "half", "fail_on_3"]


def grouped(below, **args):
    return node("group_by_window", below, key_func=random.choice(KEYS_OF), **args)


def compose(depth):
    if depth == 0:
        return leaf()
    below, kind = compose(depth - 1)
    common = [
        lambda: (node("take", below, count=random.choice([0, 1, 4, 9, -1])), kind),
        lambda: (node("skip", below, count=random.choice([0, 1, 4, 9])), kind),
        lambda: (node("repeat", below, count=random.randint(0, 3)), kind),
        lambda: (node("shuffle", below, buffer_size=random.choice([1, 2, 5, 30]), seed=random.randint(0, 99)), kind),
        lambda: (node("prefetch", below, buffer_size=random.choice([0, 1, 3])), kind),
        lambda: (node("cache", below), kind),
        lambda: (node("concatenate", below, below), kind),
    ]
    numbers = [
        lambda: (mapped(random.choice(["add_one", "square", "half", "negate", "mod_3", "fail_on_3", "fail_on_odd"]), below), kind),
        lambda: (mapped(random.choice(["add_one", "double", "fail_on_mod_4_is_3"]), below, num_parallel_calls=random.randint(1, 3)), kind),
        lambda: (node("filter", below, predicate=random.choice(["is_even", "is_odd", "less_than_5", "even_fail_on_3"])), kind),
        lambda: (node("flat_map", below, map_func=random.choice(["repeat_3", "range_from_ten", "empty_if_odd"])), kind),
        lambda: (mapped("pair_with_square", below), "pair"),
        lambda: (node("batch", below, batch_size=random.randint(1, 5), drop_remainder=random.random() < 0.4), "batch"),
        lambda: (node("zip", below, compose_numbers(random.randint(0, 2))), "pair"),
        lambda: (node("enumerate", below), "pair"),
        lambda: (grouped(below, window_size=random.randint(1, 4), reduce_func=random.choice(["window_same", "window_first"])), kind),
        lambda: (grouped(below, window_size=random.randint(1, 4), reduce_func="window_batch_3"), "batch"),
        lambda: (node("group_by_reducer", below, key_func=random.choice(KEYS_OF), reducer=random.choice(["reducer_sum", "reducer_fails"])), kind),
        lambda: (node("bucket_by_sequence_length", below, element_length_func="to_int32", bucket_boundaries=[random.randint(0, 3), 9],
                      bucket_batch_sizes=[2, random.randint(1, 4), 3], no_padding=True), "batch"),
    ]
    pairs = [
        lambda: (mapped(random.choice(["first", "second", "add_pair"]), below), "number"),
        lambda: (mapped("swap", below), kind),
        lambda: (node("filter", below, predicate="first_is_even"), kind),
    ]
    batches = [lambda: (node("rebatch", below, batch_size=random.choice([1, 2, 3, [2, 1]])), kind)]
    own = {"number": numbers, "pair": pairs, "batch": batches}[kind]
    return random.choice(own if random.random() < 0.65 else common)()


def compose_numbers(depth):
    while True:
        plan, kind = compose(depth)
        if kind == "number":
            return plan
