/* Elements as text: tuples and dicts as Python writes them, tensors as numpy does, for people and
 * the command line. Nothing is allocated and nothing fails. */
#include "core/tensor_print.h"

static const leat_tensor *put_value(leati_text_sink *sink, const leat_spec *spec,
                                    const leat_tensor *next);

static const leat_tensor *put_children(leati_text_sink *sink, const leat_spec *spec,
                                       const leat_tensor *next) {
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
        next = put_value(sink, leat_spec_child(spec, i), next);
    }
    /* Python's comma of a tuple of one. */
    if (!dict && count == 1)
        leati_sink_put(sink, ",");
    leati_sink_put(sink, dict ? "}" : ")");
    return next;
}

/* Named parts of a composite leaf: <ragged values=[0 1] row_splits=[0 2]>. */
static const leat_tensor *put_parts(leati_text_sink *sink, const char *kind,
                                    const char *const *names, int last_name, int count,
                                    const leat_tensor *next) {
    leati_sink_putf(sink, "<%s", kind);
    for (int i = 0; i < count; i++) {
        /* All levels of row splits have the one name. */
        leati_sink_putf(sink, " %s=", names[i < last_name ? i : last_name]);
        leati_tensor_print(sink, next++);
    }
    leati_sink_put(sink, ">");
    return next;
}

static const leat_tensor *put_value(leati_text_sink *sink, const leat_spec *spec,
                                    const leat_tensor *next) {
    static const char *const ragged[] = {"values", "row_splits"};
    static const char *const sparse[] = {"indices", "values", "dense_shape"};
    switch (leat_spec_get_kind(spec)) {
    case LEAT_SPEC_TUPLE:
    case LEAT_SPEC_DICT: return put_children(sink, spec, next);
    case LEAT_SPEC_NONE: leati_sink_put(sink, "None"); return next;
    case LEAT_SPEC_DATASET: leati_sink_put(sink, "<dataset>"); return next + 1;
    case LEAT_SPEC_OPTIONAL: leati_sink_put(sink, "<optional>"); return next + 1;
    case LEAT_SPEC_SPARSE: return put_parts(sink, "sparse", sparse, 2, 3, next);
    case LEAT_SPEC_RAGGED:
        if (leat_spec_ragged_rank(spec) <= 0)
            break; /* without row splits it is a tensor */
        return put_parts(sink, "ragged", ragged, 1, leat_spec_num_components(spec), next);
    default: break;
    }
    leati_tensor_print(sink, next);
    return next + 1;
}

size_t leat_element_print(const leat_element *element, char *text, size_t size) {
    leati_text_sink sink = leati_sink_over(text, size);
    if (element->spec != NULL)
        put_value(&sink, element->spec, element->tensors);
    return sink.at;
}
