#!/usr/bin/env python3
"""Record cases of special functions, and of numbers that are drawn by parameters, from TensorFlow.

    special_cases.py tests/conform/ops

Writes one file for each operation. Needs TensorFlow 2.21.
"""
import sys

from op_recorder import DTYPE, F32, F64, I32, I64, np, record, tf, write

# ---- Bessel functions and integrals ----
ALL = [-25.0, -3.2, -0.7, -1e-3, 1e-3, 0.4, 0.99, 1.01, 1.49, 1.51, 2.5, 7.9, 8.1, 19.5, 29.5, 31.0]
POSITIVE = [x for x in ALL if x > 0]
for name in "i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e y0 y1 dawsn expint fresnel_cos fresnel_sin spence".split():
    op = name if len(name) > 3 else "bessel_" + name
    values = ALL if name in ("i0", "i0e", "i1", "i1e", "j0", "j1", "dawsn", "fresnel_cos", "fresnel_sin") else POSITIVE
    call = getattr(tf.math.special, op)
    record(op, "float64", call, [F64(values)], tolerance=2e-7 if name == "dawsn" else 1e-9)
    record(op, "float32", call, [F32(values)], tolerance=2e-6)
    record(op, "slopes", call, [F64([[0.3, 0.8, 1.7], [2.9, 4.4, 5.3]])], gradient=True, tolerance=1e-9)
    record(op, "empty", call, [np.zeros((0, 2), F32)])
    record(op, "integers", call, [I32([1])], fails=(DTYPE, "int32"))
    if op.startswith("bessel"):
        for dtype in (F32, F64):
            record(op, "edges_" + dtype.__name__, call, [dtype([-np.inf, -700.0, -2.5, np.inf, np.nan])], tolerance=1e-4 if dtype is F32 else 1e-9)

# ---- incomplete functions ----
a, x = F64([0.1, 0.5, 1.0, 2.5, 7.0, 30.0, 2.0, 4.0]), F64([0.05, 0.9, 1.0, 4.0, 6.0, 25.0, 20.0, 0.5])
for op in ("igamma", "igammac"):
    call = getattr(tf.math, op)
    record(op, "float64", call, [a, x], gradient=True, tolerance=1e-9)
    record(op, "float32", call, [a.astype(F32), x.astype(F32)], tolerance=5e-6)
    record(op, "broadcast", call, [F64([[1.5], [3.0]]), F64([0.4, 2.0, 5.0])], gradient=True, tolerance=1e-9)
    record(op, "edges", call, [F64([-1.0, 2.0, 2.0, np.nan]), F64([1.0, -1.0, 0.0, 1.0])])
    if op == "igamma":
        record(op, "of_zero", call, [F32([0.0, -1.0, np.nan, np.inf, 2.0]), np.zeros(5, F32)])
    record(op, "dtypes_differ", call, [F32(1), F64(1)], fails=(DTYPE, "dtype"))
record("igamma_grad_a", "float64", lambda a, x: tf.raw_ops.IgammaGradA(a=a, x=x), [a, x], tolerance=1e-7)
record("igamma_grad_a", "float32", lambda a, x: tf.raw_ops.IgammaGradA(a=a, x=x), [a.astype(F32), x.astype(F32)], tolerance=1e-4)
b, share = F64([0.2, 3.0, 1.0, 2.5, 0.5, 30.0, 9.0, 1.5]), F64([0.05, 0.9, 0.3, 0.4, 0.6, 0.5, 0.2, 0.99])
record("betainc", "float64", tf.math.betainc, [a, b, share], tolerance=1e-9)
record("betainc", "float32", tf.math.betainc, [a.astype(F32), b.astype(F32), share.astype(F32)], tolerance=2e-5)
record("betainc", "scalars", tf.math.betainc, [F64(2.0), F64(3.0), share], tolerance=1e-9)
record("betainc", "edges", tf.math.betainc, [F64([1.0, 2.0, 2.0]), F64([2.0, 2.0, 0.5]), F64([0.0, 1.0, 0.5])], tolerance=1e-9)

# ---- numbers by parameters ----
RATES, SHAPES = F64([0.5, 3.0, 9.9, 10.0, 250.0]), F64([0.1, 0.9, 1.0, 2.5, 40.0])
COUNTS, SHARES = F64([100.0, 50.0, 7.0, 7.0, 20.0, 0.0, 5.0, 1000.0]), F64([0.5, 0.9, 0.1, 0.9, 0.3, 0.5, 1.0, 0.97])
for k, seed in enumerate((I32([0, 0]), I64([1, 2]), I64([-5, 2**40]))):
    def poisson(seed, lam, num_samples):
        return tf.random.stateless_poisson([num_samples, len(lam)], seed, lam, dtype=tf.float64)

    def gamma(seed, alpha, num_samples):
        return tf.random.stateless_gamma([num_samples, len(alpha)], seed, alpha, dtype=tf.float64)

    def binomial(seed, counts, probs, num_samples):
        return tf.random.stateless_binomial([num_samples, len(counts)], seed, counts, probs, output_dtype=tf.float64)
    record("stateless_poisson", "seed_%d" % k, poisson, [seed, RATES], {"num_samples": 6})
    record("stateless_gamma", "seed_%d" % k, gamma, [seed, SHAPES], {"num_samples": 6}, tolerance=1e-12)
    record("stateless_binomial", "seed_%d" % k, binomial, [seed, COUNTS, SHARES], {"num_samples": 6})
record("stateless_poisson", "none", poisson, [I32([1, 2]), np.zeros(0)], {"num_samples": 3})
record("stateless_binomial", "none", binomial, [I32([1, 2]), F64([3.0]), F64([0.5])], {"num_samples": 0})
for op, call, value in (("random_poisson", tf.random.poisson, RATES), ("random_gamma", tf.random.gamma, SHAPES)):
    for k, seed in enumerate((4, 87, 2**31 - 2)):
        tf.random.set_seed(None)
        record(op, "seed_%d" % k, lambda value, num_samples, seed: call([num_samples], value, dtype=tf.float64, seed=seed), [value],
               {"num_samples": 6, "seed": seed}, tolerance=1e-12)
write(sys.argv[1])
