/* parse_sequence_example: the features and feature lists of serialised tf.train.SequenceExamples, a
 * scalar or a vector of strings (tf.io.parse_sequence_example).
 *
 * Outputs are those of the context's features (graph/support/parse/features.h) and then of the
 * sequence's: a tensor spec [-1, ...] is steps of one shape, filled up with 0 in a batch, and the
 * number of steps of each record behind it; a sparse one indices, values and dense shape of
 * (record,) step and value; a ragged one values, row splits of steps and of records. Strings are
 * views of the records. Happy path: one walk notes where the lists are and how long, a second
 * writes. Fails at the first record that is malformed, lacks a list that `allow_missing` does not
 * name, or has another dtype or number of values. No gradient, no locks. */
#include "base/minmax.h"
#include "core/spec.h"
#include "file/feature.h"
#include "graph/support/parse/features.h"

#include <string.h>

struct parse_sequence_example_args {
    leat_spec *context;
    leat_element defaults;
    leat_spec *sequence;
    leati_strings allow_missing;
};

#define ROW(field) .offset = offsetof(struct parse_sequence_example_args, field)

static const leati_row parse_sequence_example_rows[] = {
    {.name = "context",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     ROW(context),
     .doc = "A dict of specs for the context, as parse_example has them."},
    {.name = "sequence",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     ROW(sequence),
     .doc = "A dict of specs for the feature lists: tensors [-1, ...], sparse or ragged [-1, -1]."},
    {.name = "defaults",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(defaults),
     .doc = "A dict of values for features of the context that a record may lack."},
    {.name = "allow_missing",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_NONE,
     ROW(allow_missing),
     .doc = "The dense feature lists that a record may lack; they are empty then."},
    {0},
};

/* ---- inference ---- */

static leat_status infer_list(leati_infer_call *call, const char *key, const leat_spec *list,
                              const leat_shape *records, leat_error *err) {
    leat_shape shape = leat_spec_shape(list), all, scalar = LEAT_SCALAR;
    leat_shape vector = LEAT_SHAPE(LEAT_UNKNOWN_DIM), indices = vector, rest = shape;
    leat_dtype dtype = leat_spec_dtype(list);
    leat_spec_kind kind = leat_spec_get_kind(list);
    bool good = shape.rank > 0 && shape.dims[0] == LEAT_UNKNOWN_DIM &&
                (dtype == LEAT_STRING || dtype == LEAT_INT64 || dtype == LEAT_FLOAT32);
    if (good && kind == LEAT_SPEC_TENSOR) {
        /* The size of a step has to be known, as a step with another number of values is
         * refused. */
        rest.dims[0] = 1;
        good = leati_shape_count(&rest) >= 0;
    }
    if (!good || (kind != LEAT_SPEC_TENSOR && kind != LEAT_SPEC_SPARSE && kind != LEAT_SPEC_RAGGED))
        return leati_refuse(err, STRUCTURE,
                            "feature list \"%.100s\" is no tensor [-1, ...] of string, int64 or "
                            "float32, and neither sparse nor ragged",
                            key);
    if (kind == LEAT_SPEC_TENSOR) {
        LEATI_TRY(leati_features_shape(records, &shape, &all, err));
        LEATI_TRY(leati_op_infer_output(call, dtype, &all, NULL, err));
        /* Behind the values, the number of steps of each record. */
        LEATI_TRY(leati_features_shape(records, &scalar, &all, err));
        return leati_op_infer_output(call, LEAT_INT64, &all, NULL, err);
    }
    if (kind == LEAT_SPEC_SPARSE) {
        indices.rank = 2;
        /* Step and value, and the record in front where there are several. */
        indices.dims[1] = records->rank < 0 ? LEAT_UNKNOWN_DIM : records->rank + 2;
        LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err));
        LEATI_TRY(leati_op_infer_output(call, dtype, &vector, NULL, err));
        vector.dims[0] = indices.dims[1];
        return leati_op_infer_output(call, LEAT_INT64, &vector, NULL, err);
    }
    LEATI_TRY(leati_op_infer_output(call, dtype, &vector, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, leat_spec_row_splits_dtype(list), &vector, NULL, err));
    return leati_op_infer_output(call, leat_spec_row_splits_dtype(list), &vector, NULL, err);
}

static leat_status parse_sequence_example_infer(leati_infer_call *call, leat_error *err) {
    const struct parse_sequence_example_args *args = call->args;
    const leat_shape *records = &call->inputs[0].shape;
    LEATI_TRY(
        leati_support_want_dtype(call, 0, LEAT_STRING, "the serialised SequenceExample", err));
    if (records->rank > 1)
        return leati_refuse(err, SHAPE,
                            "the serialised SequenceExamples have rank %d; expected a scalar or a "
                            "vector",
                            (int)records->rank);
    LEATI_TRY(leati_features_infer(call, args->context, records, "context", err));
    if (args->sequence == NULL || leat_spec_get_kind(args->sequence) != LEAT_SPEC_DICT)
        return leati_refuse(err, STRUCTURE, "sequence is no dict of specs");
    for (int i = 0; i < leat_spec_num_children(args->sequence); i++)
        LEATI_TRY(infer_list(call, leat_spec_key(args->sequence, i),
                             leat_spec_child(args->sequence, i), records, err));
    return LEAT_OK;
}

/* ---- finding ---- */

/* A feature list of one record. */
typedef struct list_span {
    leati_wire features; /* FeatureList's message */
    bool found;
    int64_t steps, values, longest; /* all of them, and those of the longest step */
} list_span;

/* One call. */
typedef struct parse {
    leati_kernel_call *call;
    const struct parse_sequence_example_args *args;
    leati_features context;
    list_span *lists; /* record r's list i at r * count + i */
    int count;
    int64_t row, n;
} parse;

static leat_status malformed(leat_string record, const uint8_t *at, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "byte %zu of a record of %zu bytes is no valid tf.train.SequenceExample",
                        (size_t)(at - (const uint8_t *)record.data), record.size);
}

/* The list of that name that is wanted, or NULL. */
static list_span *wanted(const parse *p, list_span *lists, leati_wire name) {
    size_t size = (size_t)(name.end - name.at);
    for (int i = 0; i < p->count; i++) {
        const char *key = leat_spec_key(p->args->sequence, i);
        if (strlen(key) == size && memcmp(key, name.at, size) == 0)
            return &lists[i];
    }
    return NULL;
}

/* Notes the lists of one FeatureLists message. */
static leat_status note_lists(const parse *p, leat_string record, leati_wire message,
                              list_span *lists, leat_error *err) {
    while (message.at < message.end) {
        const uint8_t *bad = message.at;
        leati_wire_field field;
        leati_feature_entry entry;
        if (!leati_wire_next(&message, &field))
            return malformed(record, bad, err);
        if (field.number != 1 || field.type != LEATI_WIRE_BYTES)
            continue;
        if (!leati_feature_split(field.bytes, &entry, &bad))
            return malformed(record, bad, err);
        list_span *list = wanted(p, lists, entry.name);
        if (list != NULL)
            /* A name that comes twice: the last one counts, as for protobuf's maps. */
            *list = (list_span){.features = entry.feature, .found = true};
    }
    return LEAT_OK;
}

/* Enters the next Feature of a list: its values' message and dtype. False at the end; *bad is not
 * NULL where the bytes are malformed. */
static bool next_step(leati_wire *features, leat_dtype *dtype, leati_wire *values,
                      const uint8_t **bad) {
    leati_wire_field field;
    *bad = NULL;
    while (features->at < features->end) {
        const uint8_t *at = features->at;
        if (!leati_wire_next(features, &field) ||
            (field.number == 1 && field.type == LEATI_WIRE_BYTES &&
             !leati_feature_list(field.bytes, dtype, values, &at))) {
            *bad = at;
            return false;
        }
        if (field.number == 1 && field.type == LEATI_WIRE_BYTES)
            return true;
    }
    return false;
}

/* The number of values of one step of a tensor; -1: any number. */
static int64_t step_size(const leat_spec *spec) {
    leat_shape shape = leat_spec_shape(spec);
    if (leat_spec_get_kind(spec) != LEAT_SPEC_TENSOR)
        return -1;
    shape.dims[0] = 1;
    return leati_shape_count(&shape);
}

/* The first walk over a list: checks every step and adds up what the outputs' shapes need. A list
 * that was not found has an empty message, and so no steps. */
static leat_status count_steps(const parse *p, leat_string record, int index, list_span *list,
                               leat_error *err) {
    const leat_spec *spec = leat_spec_child(p->args->sequence, index);
    const char *key = leat_spec_key(p->args->sequence, index);
    leat_dtype expected = leat_spec_dtype(spec), dtype = LEAT_INVALID;
    leati_wire left = list->features, values = {NULL, NULL};
    int64_t size = step_size(spec);
    const uint8_t *bad;
    for (; next_step(&left, &dtype, &values, &bad); list->steps++) {
        int64_t count = 0;
        /* A Feature without any list is a step without values, of any dtype. */
        if (dtype != LEAT_INVALID && dtype != expected)
            return leati_refuse(
                err, VALUE, "feature list \"%.100s\", step %lld holds %s values; expected %s", key,
                (long long)list->steps, leati_feature_word(dtype), leati_feature_word(expected));
        if (dtype != LEAT_INVALID)
            count = leati_feature_count(dtype, values, &bad);
        /* leati_feature_count said where in `bad`. */
        if (count < 0)
            break;
        if (size >= 0 && count != size)
            return leati_refuse(err, VALUE,
                                "feature list \"%.100s\", step %lld has %lld values; expected %lld",
                                key, (long long)list->steps, (long long)count, (long long)size);
        list->values += count;
        list->longest = LEATI_MAX(count, list->longest);
    }
    return bad == NULL ? LEAT_OK : malformed(record, bad, err);
}

static bool may_lack(const parse *p, int index) {
    const char *key = leat_spec_key(p->args->sequence, index);
    const leati_strings *names = &p->args->allow_missing;
    /* As in TensorFlow, VarLen and ragged lists may always be missing. */
    if (leat_spec_get_kind(leat_spec_child(p->args->sequence, index)) != LEAT_SPEC_TENSOR)
        return true;
    for (int32_t i = 0; i < names->count; i++)
        if (strlen(key) == names->values[i].size &&
            memcmp(key, names->values[i].data, names->values[i].size) == 0)
            return true;
    return false;
}

static leat_status find_lists(const parse *p, leat_string record, list_span *lists,
                              leat_error *err) {
    const uint8_t *start = (const uint8_t *)record.data;
    leati_wire message = {start, record.size > 0 ? start + record.size : start};
    for (int i = 0; i < p->count; i++)
        lists[i] = (list_span){.found = false};
    while (message.at < message.end) {
        const uint8_t *bad = message.at;
        leati_wire_field field;
        if (!leati_wire_next(&message, &field))
            return malformed(record, bad, err);
        /* SequenceExample: 1 is the context, which leati_example_parse reads, 2 the feature
         * lists. */
        if (field.number == 2 && field.type == LEATI_WIRE_BYTES)
            LEATI_TRY(note_lists(p, record, field.bytes, lists, err));
    }
    for (int i = 0; i < p->count; i++) {
        if (!lists[i].found && !may_lack(p, i))
            return leati_refuse(
                err, VALUE,
                "feature list \"%.100s\" is required but missing; allow_missing takes "
                "it as empty",
                leat_spec_key(p->args->sequence, i));
        LEATI_TRY(count_steps(p, record, i, &lists[i], err));
    }
    return LEAT_OK;
}

/* ---- writing ---- */

typedef struct totals {
    int64_t steps, values, most_steps, most_values;
} totals;

static totals add_up(const parse *p, int index) {
    totals t = {0};
    for (int64_t r = 0; r < p->n; r++) {
        const list_span *list = &p->lists[r * p->count + index];
        t.steps += list->steps;
        t.values += list->values;
        t.most_steps = LEATI_MAX(list->steps, t.most_steps);
        t.most_values = LEATI_MAX(list->longest, t.most_values);
    }
    return t;
}

static void *output_of(const parse *p, int output) {
    return leati_support_row_of(&p->call->outputs[output], p->row);
}

/* Writes the values of a list to `to`; returns the place behind them. `counts` (may be NULL) gets
 * the number of values of each step. */
static char *put_steps(const parse *p, int index, const list_span *list, char *to,
                       int64_t *counts) {
    leat_dtype dtype = LEAT_INVALID, wanted_dtype;
    leati_wire left = list->features, values = {NULL, NULL};
    const uint8_t *bad;
    wanted_dtype = leat_spec_dtype(leat_spec_child(p->args->sequence, index));
    while (list->found && next_step(&left, &dtype, &values, &bad)) {
        int64_t count = dtype == LEAT_INVALID ? 0 : leati_feature_count(dtype, values, &bad);
        if (count > 0)
            /* The first walk has checked these bytes: it cannot fail. */
            (void)leati_feature_values(dtype, values, to, count);
        if (count > 0)
            to += (size_t)count * leat_dtype_size(wanted_dtype);
        if (counts != NULL)
            *counts++ = count;
    }
    return to;
}

static leat_status put_tensor(const parse *p, int index, int output, leat_error *err) {
    const leat_spec *spec = leat_spec_child(p->args->sequence, index);
    leat_shape shape = leat_spec_shape(spec),
               records = leati_support_operand_shape(&p->call->inputs[0]);
    leat_shape all, scalar = LEAT_SCALAR;
    /* Every record gets as many steps as the longest has; the rest is 0, and empty strings. */
    shape.dims[0] = add_up(p, index).most_steps;
    LEATI_TRY(leati_features_shape(&records, &shape, &all, err));
    LEATI_TRY(leati_support_output_like(p->call, output, &all, err));
    LEATI_TRY(leati_features_shape(&records, &scalar, &all, err));
    LEATI_TRY(leati_support_output_like(p->call, output + 1, &all, err));
    size_t bytes =
        (size_t)(shape.dims[0] * step_size(spec)) * leat_dtype_size(leat_spec_dtype(spec));
    int64_t *lengths = output_of(p, output + 1);
    char *to = output_of(p, output);
    for (int64_t r = 0; r < p->n; r++) {
        const list_span *list = &p->lists[r * p->count + index];
        lengths[r] = list->steps;
        /* The output has no memory then, but lengths are written all the same. */
        if (bytes == 0)
            continue;
        char *end = put_steps(p, index, list, to, NULL);
        memset(end, 0, bytes - (size_t)(end - to));
        to += bytes;
    }
    return LEAT_OK;
}

/* The number of values of each step of all records; in the arena. */
static leat_status count_all(const parse *p, int index, char *to, int64_t steps, int64_t **out,
                             leat_error *err) {
    size_t bytes = (size_t)(steps + 1) * sizeof(int64_t);
    int64_t *counts = leati_arena_alloc(p->call->arena, bytes);
    if (counts == NULL)
        return leati_no_memory(err);
    *out = counts;
    for (int64_t r = 0; r < p->n; r++) {
        const list_span *list = &p->lists[r * p->count + index];
        to = put_steps(p, index, list, to, counts);
        counts += list->steps;
    }
    return LEAT_OK;
}

static leat_status put_sparse(const parse *p, int index, int output, leat_error *err) {
    totals t = add_up(p, index);
    int64_t rank = p->call->inputs[0].rank + 2, *counts = NULL;
    leat_shape indices = LEAT_SHAPE(t.values, rank), values = LEAT_SHAPE(t.values),
               dense = LEAT_SHAPE(rank);
    LEATI_TRY(leati_support_output_like(p->call, output, &indices, err));
    LEATI_TRY(leati_support_output_like(p->call, output + 1, &values, err));
    LEATI_TRY(leati_support_output_like(p->call, output + 2, &dense, err));
    /* Values are written on the way, straight into their output. */
    LEATI_TRY(count_all(p, index, output_of(p, output + 1), t.steps, &counts, err));
    int64_t *to = output_of(p, output), *shape = output_of(p, output + 2);
    for (int64_t r = 0; r < p->n; r++) {
        for (int64_t s = 0; s < p->lists[r * p->count + index].steps; s++, counts++) {
            for (int64_t v = 0; v < *counts; v++, to += rank) {
                /* Of a single record the rank is 2, and the step overwrites the record's number. */
                to[0] = r;
                to[rank - 2] = s;
                to[rank - 1] = v;
            }
        }
    }
    shape[0] = p->n;
    shape[rank - 2] = t.most_steps;
    shape[rank - 1] = t.most_values;
    return LEAT_OK;
}

static void put_split(const parse *p, int output, int64_t place, int64_t value) {
    if (p->call->outputs[output].dtype == LEAT_INT32)
        ((int32_t *)output_of(p, output))[place] = (int32_t)value;
    else
        ((int64_t *)output_of(p, output))[place] = value;
}

static leat_status put_ragged(const parse *p, int index, int output, leat_error *err) {
    totals t = add_up(p, index);
    leat_shape values = LEAT_SHAPE(t.values), by_step = LEAT_SHAPE(t.steps + 1),
               by_record = LEAT_SHAPE(p->n + 1);
    int64_t *counts = NULL, end = 0;
    LEATI_TRY(leati_support_output_like(p->call, output, &values, err));
    LEATI_TRY(leati_support_output_like(p->call, output + 1, &by_step, err));
    LEATI_TRY(leati_support_output_like(p->call, output + 2, &by_record, err));
    if (p->call->outputs[output + 1].dtype == LEAT_INT32 &&
        (t.values > INT32_MAX || t.steps > INT32_MAX))
        return leati_refuse(err, VALUE, "%lld values do not fit row splits of int32; use int64",
                            (long long)t.values);
    LEATI_TRY(count_all(p, index, output_of(p, output), t.steps, &counts, err));
    for (int64_t s = 0; s <= t.steps; s++) {
        /* Row splits are the ends so far, with a 0 in front: one more than steps. */
        put_split(p, output + 1, s, end);
        end += s < t.steps ? counts[s] : 0;
    }
    end = 0;
    for (int64_t r = 0; r <= p->n; r++) {
        put_split(p, output + 2, r, end);
        end += r < p->n ? p->lists[r * p->count + index].steps : 0;
    }
    return LEAT_OK;
}

static leat_status put_lists(const parse *p, leat_error *err) {
    /* The lists' outputs follow those of the context. */
    int output = leati_features_outputs(p->args->context);
    for (int i = 0; i < p->count; i++) {
        switch (leat_spec_get_kind(leat_spec_child(p->args->sequence, i))) {
        case LEAT_SPEC_TENSOR:
            LEATI_TRY(put_tensor(p, i, output, err));
            output += 2;
            break;
        case LEAT_SPEC_SPARSE:
            LEATI_TRY(put_sparse(p, i, output, err));
            output += 3;
            break;
        default: LEATI_TRY(put_ragged(p, i, output, err)); output += 3;
        }
    }
    return LEAT_OK;
}

/* ---- the operation ---- */

static leat_status parse_row(parse *p, leati_feature_span *spans, leati_example_order *order,
                             leat_error *err) {
    const leat_string *records = leati_text_strings_of(&p->call->inputs[0], p->row);
    size_t features = (size_t)leat_spec_num_children(p->args->context);
    p->call->failed_row = p->row;
    for (int64_t r = 0; r < p->n; r++) {
        /* A SequenceExample's context stands where an Example has its features. */
        leat_status status = leati_example_parse(p->context.plan, records[r], order,
                                                 spans + (size_t)r * features, err);
        if (status == LEAT_OK)
            status = find_lists(p, records[r], p->lists + r * p->count, err);
        if (status != LEAT_OK) {
            if (p->call->inputs[0].rank > 0)
                leati_prefix(err, "record %lld", (long long)r);
            return status;
        }
    }
    LEATI_TRY(leati_features_write(&p->context, spans, p->row, p->n, err));
    return put_lists(p, err);
}

static leat_status parse_rows(parse *p, leat_error *err) {
    leati_example_order order = {0};
    size_t features = (size_t)leat_spec_num_children(p->args->context), bytes = 0;
    /* One product bounds both arrays, so those below cannot overflow; all rows use the same
     * memory. */
    size_t each =
        (features + 1) * sizeof(leati_feature_span) + (size_t)p->count * sizeof(list_span);
    LEATI_TRY(leati_features_open(&p->context, err));
    if (!leati_mul_size(each, (size_t)p->n + 1, &bytes))
        return leati_no_memory(err);
    leati_feature_span *spans =
        leati_arena_alloc(p->call->arena, ((size_t)p->n * features + 1) * sizeof(*spans));
    p->lists = leati_arena_alloc(p->call->arena,
                                 ((size_t)p->n * (size_t)p->count + 1) * sizeof(*p->lists));
    if (spans == NULL || p->lists == NULL)
        return leati_no_memory(err);
    for (p->row = 0; p->row < p->call->n; p->row++)
        LEATI_TRY(parse_row(p, spans, &order, err));
    for (int i = 0; i < p->call->num_outputs && p->call->n > 0; i++)
        if (p->call->outputs[i].dtype == LEAT_STRING)
            LEATI_TRY(leati_op_kernel_hold(p->call, i, 0, err));
    return LEAT_OK;
}

static leat_status parse_sequence_example_kernel(leati_kernel_call *call, leat_error *err) {
    const struct parse_sequence_example_args *args = call->args;
    parse p = {.call = call,
               .args = args,
               .context = {.call = call, .spec = args->context, .defaults = &args->defaults},
               .count = leat_spec_num_children(args->sequence),
               .n = call->inputs[0].count};
    if (call->inputs[0].rank > 1)
        return leati_refuse(err, SHAPE,
                            "the serialised SequenceExamples have rank %d; expected a scalar or a "
                            "vector",
                            (int)call->inputs[0].rank);
    return parse_rows(&p, err);
}

int leat_op_parse_sequence_example(leat_value serialized, const leat_spec *context,
                                   const leat_spec *sequence, const leat_element *defaults,
                                   leat_value *outputs, int capacity) {
    struct parse_sequence_example_args args = {.context = (leat_spec *)(uintptr_t)context,
                                               .sequence = (leat_spec *)(uintptr_t)sequence};
    if (defaults != NULL)
        args.defaults = *defaults;
    leat_value first =
        leati_graph_build1(&leati_tensor_op_parse_sequence_example, &args, serialized);
    if (leati_support_value_failed(first))
        return -1;
    int count = leati_features_outputs(context);
    for (int i = 0; i < leat_spec_num_children(sequence); i++)
        count += leat_spec_get_kind(leat_spec_child(sequence, i)) == LEAT_SPEC_TENSOR ? 2 : 3;
    for (int i = 0; i < count && i < capacity; i++)
        outputs[i] = (leat_value){.graph = first.graph, .id = first.id + i};
    return count;
}

const leati_tensor_op leati_tensor_op_parse_sequence_example = {
    .name = "parse_sequence_example",
    .version = 1,
    .doc = "The features and feature lists of serialised tf.train.SequenceExamples "
           "(tf.io.parse_sequence_example).",
    .types = "string",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_NONE,
    .rows = parse_sequence_example_rows,
    .args_size = sizeof(struct parse_sequence_example_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = parse_sequence_example_infer,
    .kernel = parse_sequence_example_kernel,
};
