"""``keras.ops.numpy``: those functions of ``keras.ops`` that are numpy's."""

from leat.keras.ops import arrays, core, elementwise, linalg, making, reductions

_BUT = {  # names of a module that are not numpy's
    arrays: ("scatter", "scatter_update", "slice", "slice_update", "unstack"),
    elementwise: ("erf", "erfc", "erfinv", "polar", "positive", "rsqrt", "view_as_complex", "view_as_real"),
    making: ("multi_hot", "one_hot"),
    reductions: ("in_top_k", "logsumexp", "moments", "segment_max", "segment_min", "segment_prod", "segment_sum",
                 "top_k"),
}
_OF_OTHERS = {
    core: ("vectorize",),
    linalg: ("corrcoef", "correlate", "cross", "dot", "einsum", "inner", "kron", "matmul", "outer", "slogdet",
             "tensordot", "vdot"),
}
_ALL = {**{module: [name for name in module.__all__ if name not in others] for module, others in _BUT.items()},
        **_OF_OTHERS}
__all__ = [name for names in _ALL.values() for name in names]
globals().update({name: getattr(module, name) for module, names in _ALL.items() for name in names})
