/* Specs as text, such as `({'a': float32[2,?]}, string[])`. The text goes into the caller's memory
 * by snprintf's rule, so nothing is allocated and nothing can fail; depth is bounded by the
 * constructors. */
#include "core/sink.h"
#include "core/spec.h"

#include <inttypes.h>

static void put_typed_shape(leati_text_sink *sink, leat_dtype dtype, const leat_shape *shape) {
    leati_sink_putf(sink, "%s", leat_dtype_name(dtype));
    if (shape->rank < 0) {
        leati_sink_put(sink, "<unknown>");
        return;
    }
    leati_sink_put(sink, "[");
    for (int32_t i = 0; i < shape->rank; i++) {
        const char *comma = i > 0 ? "," : "";
        if (shape->dims[i] < 0)
            leati_sink_putf(sink, "%s?", comma);
        else
            leati_sink_putf(sink, "%s%" PRId64, comma, shape->dims[i]);
    }
    leati_sink_put(sink, "]");
}

static void put_spec(leati_text_sink *sink, const leat_spec *spec);

static void put_children(leati_text_sink *sink, const leat_spec *spec) {
    bool dict = leat_spec_get_kind(spec) == LEAT_SPEC_DICT;
    int count = leat_spec_num_children(spec);
    leati_sink_put(sink, dict ? "{" : "(");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            leati_sink_put(sink, ", ");
        if (dict) {
            leati_sink_put(sink, "'");
            leati_sink_put(sink, leat_spec_key(spec, i));
            leati_sink_put(sink, "': ");
        }
        put_spec(sink, leat_spec_child(spec, i));
    }
    /* A tuple of one keeps Python's comma. */
    if (!dict && count == 1)
        leati_sink_put(sink, ",");
    leati_sink_put(sink, dict ? "}" : ")");
}

static void put_spec(leati_text_sink *sink, const leat_spec *spec) {
    leat_dtype dtype = leat_spec_dtype(spec);
    leat_shape shape = leat_spec_shape(spec);
    switch (leat_spec_get_kind(spec)) {
    case LEAT_SPEC_TUPLE:
    case LEAT_SPEC_DICT: put_children(sink, spec); return;
    case LEAT_SPEC_NONE: leati_sink_put(sink, "none"); return;
    case LEAT_SPEC_DATASET:
    case LEAT_SPEC_OPTIONAL:
        leati_sink_put(sink,
                       leat_spec_get_kind(spec) == LEAT_SPEC_DATASET ? "dataset<" : "optional<");
        put_spec(sink, leat_spec_element(spec));
        break;
    case LEAT_SPEC_SPARSE:
        leati_sink_put(sink, "sparse<");
        put_typed_shape(sink, dtype, &shape);
        break;
    case LEAT_SPEC_RAGGED:
        leati_sink_put(sink, "ragged<");
        put_typed_shape(sink, dtype, &shape);
        leati_sink_putf(sink, ", %d, %s", leat_spec_ragged_rank(spec),
                        leat_dtype_name(leat_spec_row_splits_dtype(spec)));
        break;
    default: put_typed_shape(sink, dtype, &shape); return;
    }
    leati_sink_put(sink, ">");
}

size_t leat_spec_print(const leat_spec *spec, char *text, size_t size) {
    leati_text_sink sink = leati_sink_over(text, size);
    put_spec(&sink, spec);
    return sink.at;
}
