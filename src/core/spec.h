/* Helpers over specs and shapes that several rooms need. */
#ifndef LEATI_CORE_SPEC_H
#define LEATI_CORE_SPEC_H

#include <leat/core.h>

/* The deepest nesting of a spec that any constructor accepts: recursion over specs is bounded. */
#define LEATI_MAX_DEPTH 64

/* Rank within -1..LEAT_MAX_RANK, every dimension at least -1. */
bool leati_shape_is_valid(const leat_shape *shape);
/* Rank and all dimensions known. */
bool leati_shape_is_static(const leat_shape *shape);
/* Number of values of a static shape; -1 on overflow or if not static. */
int64_t leati_shape_count(const leat_shape *shape);
bool leati_shape_equal(const leat_shape *a, const leat_shape *b);
/* Could a value of shape `b` (static or not) be one of `a`? Unknown matches anything. */
bool leati_shape_compatible(const leat_shape *a, const leat_shape *b);
/* What both are: differing dimensions become unknown, differing ranks an unknown rank. */
leat_shape leati_shape_join(const leat_shape *a, const leat_shape *b);
/* `shape` with dimension `outer` put in front; fails beyond LEAT_MAX_RANK. */
LEAT_WARN_UNUSED leat_status leati_shape_prepend(const leat_shape *shape, int64_t outer,
                                                 leat_shape *out, leat_error *err);
/* Writes "[2, ?, 3]", "[]" or "<unknown>"; returns text. */
const char *leati_shape_text(const leat_shape *shape, char text[128]);

/* A tuple or dict with the kind, keys and tag of `like` over other children (given; `like`'s own
 * are shared). Owned. */
leat_spec *leati_spec_composite(const leat_spec *like, leat_spec *const *children, leat_error *err);

/* Makes the leaf that replaces `leaf`, whose first component is number `component`. Owned; NULL
 * with the error set. */
typedef leat_spec *(*leati_leaf_rule)(const leat_spec *leaf, int component, const void *context,
                                      leat_error *err);
/* A new spec of the same structure with the leaves that `rule` makes. Owned. */
leat_spec *leati_spec_rewrite(const leat_spec *spec, leati_leaf_rule rule, const void *context,
                              leat_error *err);

/* A new spec of the same structure whose tensor leaves have the dtypes and shapes given for their
 * components. Leaves of other kinds are kept as they are. Owned. */
leat_spec *leati_spec_like(const leat_spec *structure, const leat_dtype *dtypes,
                           const leat_shape *shapes, leat_error *err);
/* The spec inside a dataset or optional component; NULL for others. Borrowed. */
const leat_spec *leati_spec_component_element(const leat_spec *spec, int index);
/* The most specific spec that both fit (tf's common supertype), or NULL with INVALID_ARGUMENT.
 * Owned. */
leat_spec *leati_spec_join(const leat_spec *a, const leat_spec *b, leat_error *err);

/* How many outer dimensions of a ragged or sparse leaf are known to come from batching. TensorFlow
 * holds such a value as an array of that many dimensions, each entry an encoded row, so that values
 * whose sizes differ in one of them do not stack; what comes from elsewhere is one entry, and does.
 * Nobody else looks at it: specs that differ in it alone are the same. */
int leati_spec_stacked(const leat_spec *leaf);
/* Sets it on a leaf that was just made (NULL is handed on); returns the leaf. */
leat_spec *leati_spec_mark_stacked(leat_spec *leaf, int stacked);
/* Has the spec such a leaf? */
bool leati_spec_is_stacked(const leat_spec *spec);
/* The same spec for elements that a function made anew: none of its leaves is stacked. Owned. */
leat_spec *leati_spec_made(const leat_spec *spec, leat_error *err);

/* Every leaf's shape with `outer` (or LEAT_UNKNOWN_DIM) in front: the spec of a batch. A ragged
 * leaf becomes one rank more ragged, as in TensorFlow; datasets and optionals are INVALID_ARGUMENT.
 * Owned. */
leat_spec *leati_spec_batch(const leat_spec *spec, int64_t outer, leat_error *err);
/* Every leaf's shape without its first dimension. INVALID_ARGUMENT on a scalar leaf. Owned. */
leat_spec *leati_spec_unbatch(const leat_spec *spec, leat_error *err);
/* Every leaf's shape with the first dimension that `resize` says for it. INVALID_ARGUMENT on a
 * scalar leaf. Owned. */
leat_spec *leati_spec_resize(const leat_spec *spec,
                             int64_t (*resize)(const leat_shape *shape, const void *context),
                             const void *context, leat_error *err);

/* Does the tensor fit dtype and shape? INVALID_ARGUMENT with both in the text, prefixed by
 * "component i". */
LEAT_WARN_UNUSED leat_status leati_spec_check_tensor(const leat_spec *spec, int index,
                                                     const leat_tensor *tensor, leat_error *err);

#endif
