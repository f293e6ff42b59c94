/* Operations that are put together of others. */
#ifndef LEATI_EXEC_PJRT_EMIT_COMPOSE_H
#define LEATI_EXEC_PJRT_EMIT_COMPOSE_H

#include "exec/pjrt/emit.h"
#include "graph/support/support.h"
#include <leat/ops.h>

/* Adds what gives the node's outputs for the values `in` of its inputs to their graph, where errors
 * are kept. The node's attributes are there. */
typedef void leati_emit_builder(const leati_emit *emit, const leat_value *in, leat_value *out);

/* Prints what the builder makes in place of the node, which has inputs. */
LEAT_WARN_UNUSED leat_status leati_emit_compose(leati_emit *emit, leati_emit_builder *build,
                                                leat_error *err);

/* The emitter NAME of a builder build_NAME. */
#define LEATI_EMIT_COMPOSED(NAME)                                                                  \
    leat_status leati_emit_##NAME(leati_emit *emit, leat_error *err) {                             \
        return leati_emit_compose(emit, build_##NAME, err);                                        \
    }

/* ---- for builders: `number` in the dtype of `like` ---- */
leat_value leati_emit_number_like(leat_value like, double number);
/* A constant of the graph, copied. */
leat_value leati_emit_constant(leat_graph *graph, leat_dtype dtype, leat_shape shape,
                               const void *values);
/* Values [first, first + count) along a dimension, which may count from the end. */
leat_value leati_emit_part_along(leat_value x, int32_t axis, int64_t first, int64_t count);

/* As convert_image_dtype. */
leat_value leati_emit_image_as(leat_value x, leat_dtype dtype, bool saturate);

/* ---- pictures: what is done to them by a number, of x's dtype or float32 ---- */
typedef leat_value leati_emit_adjuster(leat_value x, leat_value amount);
leati_emit_adjuster leati_emit_brighter, leati_emit_contrasted, leati_emit_turned,
    leati_emit_saturated;

#endif
