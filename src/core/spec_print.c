/* Specs as text, such as `({'a': float32[2,?]}, string[])`. The text goes into the caller's memory
 * by snprintf's rule, so nothing is allocated and nothing can fail; depth is bounded by the
 * constructors. */
#include "core/spec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct sink {
    char *text;
    size_t size;
    size_t at; /* bytes that a large enough array would hold by now */
};

static void put(struct sink *sink, const char *format, ...) LEAT_PRINTF(2, 3);

static void put(struct sink *sink, const char *format, ...) {
    bool room = sink->at < sink->size;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(room ? sink->text + sink->at : NULL, room ? sink->size - sink->at : 0,
                           format, args);
    va_end(args);
    if (length > 0)
        sink->at += (size_t)length;
}

static void put_typed_shape(struct sink *sink, leat_dtype dtype, const leat_shape *shape) {
    put(sink, "%s", leat_dtype_name(dtype));
    if (shape->rank < 0) {
        put(sink, "<unknown>");
        return;
    }
    put(sink, "[");
    for (int32_t i = 0; i < shape->rank; i++) {
        const char *comma = i > 0 ? "," : "";
        if (shape->dims[i] < 0)
            put(sink, "%s?", comma);
        else
            put(sink, "%s%" PRId64, comma, shape->dims[i]);
    }
    put(sink, "]");
}

static void put_spec(struct sink *sink, const leat_spec *spec);

static void put_children(struct sink *sink, const leat_spec *spec) {
    bool dict = leat_spec_get_kind(spec) == LEAT_SPEC_DICT;
    int count = leat_spec_num_children(spec);
    put(sink, dict ? "{" : "(");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            put(sink, ", ");
        if (dict)
            put(sink, "'%s': ", leat_spec_key(spec, i));
        put_spec(sink, leat_spec_child(spec, i));
    }
    /* A tuple of one keeps Python's comma. */
    if (!dict && count == 1)
        put(sink, ",");
    put(sink, dict ? "}" : ")");
}

static void put_spec(struct sink *sink, const leat_spec *spec) {
    leat_dtype dtype = leat_spec_dtype(spec);
    leat_shape shape = leat_spec_shape(spec);
    switch (leat_spec_get_kind(spec)) {
    case LEAT_SPEC_TUPLE:
    case LEAT_SPEC_DICT: put_children(sink, spec); return;
    case LEAT_SPEC_NONE: put(sink, "none"); return;
    case LEAT_SPEC_DATASET:
    case LEAT_SPEC_OPTIONAL:
        put(sink, leat_spec_get_kind(spec) == LEAT_SPEC_DATASET ? "dataset<" : "optional<");
        put_spec(sink, leat_spec_element(spec));
        break;
    case LEAT_SPEC_SPARSE:
        put(sink, "sparse<");
        put_typed_shape(sink, dtype, &shape);
        break;
    case LEAT_SPEC_RAGGED:
        put(sink, "ragged<");
        put_typed_shape(sink, dtype, &shape);
        put(sink, ", %d, %s", leat_spec_ragged_rank(spec),
            leat_dtype_name(leat_spec_row_splits_dtype(spec)));
        break;
    default: put_typed_shape(sink, dtype, &shape); return;
    }
    put(sink, ">");
}

size_t leat_spec_print(const leat_spec *spec, char *text, size_t size) {
    struct sink sink = {.text = text, .size = size};
    if (size > 0)
        text[0] = '\0';
    put_spec(&sink, spec);
    return sink.at;
}
