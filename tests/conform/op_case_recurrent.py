"""Cases of the recurrent operations, for make_op_cases.py: a model in numpy, whose gradients are differences."""
import numpy as np

from op_case_model import *  # noqa: F403: as in make_op_cases.py


# ---- recurrent layers ----

def squash(x):
    return 1 / (1 + np.exp(-x))


RECURRENT = {"tanh": np.tanh, "sigmoid": squash, "linear": lambda x: x, "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6),
             "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6, "hard_tanh": lambda x: np.clip(x, -1, 1), "elu": lambda x: np.where(x < 0, np.expm1(x), x),
             "softplus": lambda x: np.log1p(np.exp(x)), "softsign": lambda x: x / (1 + np.abs(x)), "exponential": np.exp}


def lstm_step(parts, states, kernel, bias, a, g, after):
    i, f, k, o = np.split(parts + states[0] @ kernel, 4, axis=1)
    i, f, k, o = g(i), g(f), a(k), g(o)
    c = f * states[1] + i * k
    return [o * a(c), c], np.concatenate([i, f, k, o], 1)


def gru_step(parts, states, kernel, bias, a, g, after):
    h, units = states[0], kernel.shape[0]
    p = h @ kernel + bias
    z, r = g(parts[:, :units] + p[:, :units]), g(parts[:, units:2 * units] + p[:, units:2 * units])
    last = p[:, 2 * units:] if after else r * h
    k = a(parts[:, 2 * units:] + (r * last if after else last @ kernel[:, 2 * units:] + bias[2 * units:]))
    return [z * h + (1 - z) * k], np.concatenate([z, r, k, last], 1)


def simple_step(parts, states, kernel, bias, a, g, after):
    return [a(parts + states[0] @ kernel)], parts


def recur(step, x, kernel, bias, states, mask, a, g, after=True):
    """The states of all steps, and what the gates were."""
    made, gates, states = [], [], list(states)
    for t in range(x.shape[1]):
        new, gate = step(x[:, t], states, kernel, bias, RECURRENT[a], RECURRENT[g], after)
        kept = np.ones((x.shape[0], 1), bool) if mask is None else mask[:, t:t + 1]
        states = [np.where(kept, one, other) for one, other in zip(new, states)]
        made.append(states)
        gates.append(np.where(kept, gate, 0))
    return [np.stack(one, 1) for one in zip(*made)] + [np.stack(gates, 1)]


def slopes(f, values):
    """The gradients of a sum, by differences."""
    found = []
    for value in values:
        out = np.zeros_like(value)
        for at in np.ndindex(value.shape):
            kept = value[at]
            value[at] = kept + 1e-5
            more = f()
            value[at] = kept - 1e-5
            out[at] = (more - f()) / 2e-5
            value[at] = kept
        found.append(out)
    return found


def recurrent_case(op, name, a="tanh", g="sigmoid", mask=None, shape=(2, 3, 2), after=True, gradient=True):
    parts = {"lstm": 4, "gru": 3, "simple_rnn": 1}[op]
    step = {"lstm": lstm_step, "gru": gru_step, "simple_rnn": simple_step}[op]
    batch, steps, units = shape
    x, kernel, bias = floats(batch, steps, parts * units), floats(units, parts * units), floats(3 * units)
    states = [floats(batch, units) for _ in range(2 if op == "lstm" else 1)]
    attributes = {"activation": a}
    if op != "simple_rnn":
        attributes["recurrent_activation"] = g
    if op == "gru":
        attributes["reset_after"] = after
    masks = [] if mask is None else [np.array(mask)]
    wide = [v.astype(F64) for v in (x, kernel, bias, *states)]

    def run():
        return recur(step, wide[0], wide[1], wide[2], wide[3:], masks[0] if masks else None, a, g, after)
    outputs = [v.astype(F32) for v in run()]
    shown = outputs[:1] if op == "simple_rnn" else outputs
    middle = [bias] if op == "gru" else []
    kw = {"gradient": True, "gradient_outputs": len(states)} if gradient and not masks else {}
    case(op, name, [x, kernel, *middle, *states, *masks], tuple(shown) if len(shown) > 1 else shown[0], attributes, tolerance=2e-6, **kw)
    flows = [floats(batch, steps, units) for _ in states]
    found = slopes(lambda: sum((one * flow.astype(F64)).sum() for one, flow in zip(run(), flows)), [wide[0], *wide[3:]])
    if op == "lstm":
        inputs = [*flows, kernel, states[1], outputs[1], outputs[2]]
    elif op == "gru":
        inputs = [*flows, kernel, states[0], outputs[0], outputs[1]]
        product = found[0].copy()
        if after:
            product[..., 2 * units:] *= outputs[1][..., units:2 * units]
        found.insert(1, product)
    else:
        inputs = [*flows, kernel, outputs[0]]
    case(op + "_grad", name, [*inputs, *masks], tuple(v.astype(F32) for v in found), attributes, tolerance=5e-6)


def recurrent_cases():
    """Adds the cases of lstm, gru, simple_rnn and their gradients."""
    for op in ("lstm", "gru", "simple_rnn"):
        recurrent_case(op, "plain")
        recurrent_case(op, "masked", mask=[[True, False, True], [False, True, True]])
        recurrent_case(op, "one_step", shape=(1, 1, 1))
        recurrent_case(op, "no_rows", shape=(0, 2, 3), gradient=False)
        for a, g in (("relu", "hard_sigmoid"), ("hard_tanh", "relu6"), ("elu", "softsign"), ("softplus", "tanh"), ("linear", "linear"),
                     ("exponential", "sigmoid"), ("sigmoid", "softplus")):
            # exp(c) of an LSTM grows past float32.
            recurrent_case(op, a + "_" + g, a, g, shape=(2, 1 if a == "exponential" else 2, 2), gradient=a not in ("relu", "hard_tanh") and g not in ("relu6", "hard_sigmoid"))
    recurrent_case("gru", "reset_before", after=False, gradient=False)  # which takes a known number of units
    recurrent_case("gru", "reset_before_masked", after=False, mask=[[True, False, True], [False, True, True]])
    for op, parts, states in (("lstm", 4, 2), ("gru", 3, 1), ("simple_rnn", 1, 1)):
        middle = [floats(6)] if op == "gru" else []
        kernel, rest = floats(2, 2 * parts), [*middle, *(floats(2, 2) for _ in range(states))]
        for name, inputs, why, word in (
                ("columns", [floats(2, 3, 2 * parts), floats(2, 2 * parts + 1), *rest], SHAPE, "kernel"), ("rank", [floats(2, 2 * parts), kernel, *rest], SHAPE, "rank"),
                ("width", [floats(2, 3, 2 * parts + 1), kernel, *rest], SHAPE, "x"),
                ("batch", [floats(3, 3, 2 * parts), kernel, *rest], SHAPE, "first"),
                ("mask_steps", [floats(2, 3, 2 * parts), kernel, *rest, np.ones((2, 4), bool)], SHAPE, "mask"),
                ("mask_dtype", [floats(2, 3, 2 * parts), kernel, *rest, floats(2, 3)], DTYPE, "mask"),
                ("dtypes_differ", [floats(2, 3, 2 * parts).astype(F64), kernel, *rest], DTYPE, "x")):
            case(op, name, inputs, error=(INVALID, why, word))
        case(op, "activation", [floats(2, 3, 2 * parts), kernel, *rest], attributes={"activation": "gelu"}, error=(INVALID, VALUE, "gelu"))
