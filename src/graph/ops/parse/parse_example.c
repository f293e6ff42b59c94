/* parse_example: the features of serialised tf.train.Examples, a scalar or a vector of strings
 * (tf.io.parse_example), as one or several outputs per feature in the order of sorted keys.
 *
 * Happy path: the features are planned once a call; every record is walked once and its values are
 * written straight to the outputs, where all features have a fixed length by the quick parser of
 * file/example.h, over rows of scalars and over vectors alike. Strings are views of the records,
 * which the outputs keep alive. Where a length is data, one row runs at a time, and the same parser
 * finds all spans of a batch before the outputs get their shapes. What it does not understand goes
 * to the thorough one. Fails as file/example.h says, at the first
 * record that does. No gradient, no locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/parse/features.h"

struct parse_example_args {
    leat_spec *features;
    leat_element defaults;
};

static const leati_row parse_example_rows[] = {
    {.name = "features",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct parse_example_args, features),
     .doc = "A dict of specs: tensors, whose first dimension of -1 takes any number of values, or "
            "sparse or ragged vectors."},
    {.name = "defaults",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct parse_example_args, defaults),
     .doc = "A dict of values for features that an Example may lack, or that fill up a batch."},
    {0},
};

static leat_status parse_example_infer(leati_infer_call *call, leat_error *err) {
    const struct parse_example_args *args = call->args;
    const leat_shape *records = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the serialised Example", err));
    if (records->rank > 1)
        return leati_refuse(err, SHAPE,
                            "the serialised Examples have rank %d; expected a scalar or a vector",
                            (int)records->rank);
    return leati_features_infer(call, args->features, records, "features", err);
}

/* Records that lie one behind the other: those of rows of scalars, or of one row that is a vector.
 */
typedef struct run {
    const leat_string *records;
    int64_t n;
    int64_t row;  /* of the first record */
    bool by_rows; /* each is a row */
} run;

/* Where the values of record `at` go, and those of the ones behind it. */
static void places_of(const leati_features *f, const run *r, int64_t at,
                      leati_example_column *places) {
    for (int i = 0; i < leat_spec_num_children(f->spec); i++) {
        const leati_operand *out = &f->call->outputs[f->first + i];
        int64_t values = leati_example_plan_request(f->plan, i)->length;
        int64_t step = r->by_rows ? out->row_stride : values * (int64_t)leat_dtype_size(out->dtype);
        char *first = leati_support_row_of(out, r->row);
        /* A feature without values may have no memory: NULL must not be moved. */
        places[i] =
            (leati_example_column){first == NULL || values == 0 ? first : first + at * step, step};
    }
}

static leat_status failed_at(leati_kernel_call *call, const run *r, int64_t record,
                             leat_status status, leat_error *err) {
    call->failed_row = r->by_rows ? r->row + record : r->row;
    if (call->inputs[0].rank > 0)
        leati_prefix(err, "record %lld", (long long)record);
    return status;
}

/* Records from one look at whether to stop to the next. */
enum { AT_ONCE = 256 };

/* All features have a fixed length: no shape is data. */
static leat_status parse_dense(const leati_features *f, const run *r, leati_example_order *order,
                               leat_error *err) {
    size_t count = (size_t)leat_spec_num_children(f->spec);
    leati_feature_span *spans = leati_arena_alloc(f->call->arena, count * sizeof(*spans));
    leati_example_column *places = leati_arena_alloc(f->call->arena, count * sizeof(*places));
    if (spans == NULL || places == NULL)
        return leati_no_memory(err);
    for (int64_t at = 0; at < r->n; at++) {
        places_of(f, r, at, places);
        /* The quick parser stops at a record that it does not understand. That one is read
         * thoroughly, which may fail or not, and the quick one goes on behind it. */
        int64_t most = LEATI_MIN(r->n - at, (int64_t)AT_ONCE);
        int64_t parsed = leati_example_parse_dense(f->plan, r->records + at, most, order, places);
        LEATI_TRY(leati_stop_check(err));
        at += parsed;
        if (parsed == most) {
            at--; /* the loop's step */
            continue;
        }
        places_of(f, r, at, places);
        leat_status status = leati_example_parse(f->plan, r->records[at], order, spans, err);
        if (status == LEAT_OK)
            status = leati_features_put(f, spans, places, err);
        if (status != LEAT_OK)
            return failed_at(f->call, r, at, status, err);
    }
    return LEAT_OK;
}

/* Finds everything first, because shapes follow from it. */
static leat_status parse_open(const leati_features *f, const run *r, leati_example_order *order,
                              leat_error *err) {
    size_t count = (size_t)leat_spec_num_children(f->spec), bytes = 0;
    if (!leati_mul_size(count * sizeof(leati_feature_span), (size_t)r->n, &bytes))
        return leati_no_memory(err);
    leati_feature_span *spans = leati_arena_alloc(f->call->arena, bytes);
    if (spans == NULL && bytes > 0)
        return leati_no_memory(err);
    for (int64_t at = 0; at < r->n; at++) {
        int64_t most = LEATI_MIN(r->n - at, (int64_t)AT_ONCE);
        int64_t found =
            leati_example_find(f->plan, r->records + at, most, order, spans + (size_t)at * count);
        LEATI_TRY(leati_stop_check(err));
        at += found;
        if (found == most) {
            at--; /* the loop's step */
            continue;
        }
        leat_status status =
            leati_example_parse(f->plan, r->records[at], order, spans + (size_t)at * count, err);
        if (status != LEAT_OK)
            return failed_at(f->call, r, at, status, err);
    }
    return leati_features_write(f, spans, r->row, r->n, err);
}

/* Outputs of known shapes need no record. */
static leat_status prepare(const leati_features *f, const leat_shape *records, leat_error *err) {
    for (int i = 0; i < leat_spec_num_children(f->spec) && f->dense; i++) {
        leat_shape shape = leat_spec_shape(leat_spec_child(f->spec, i)), all;
        LEATI_TRY(leati_features_shape(records, &shape, &all, err));
        LEATI_TRY(leati_support_output_like(f->call, f->first + i, &all, err));
    }
    return LEAT_OK;
}

static leat_status parse_rows(leati_features *f, leat_error *err) {
    const leati_operand *in = &f->call->inputs[0];
    leat_shape records = leati_support_operand_shape(in);
    leati_example_order order = {0};
    /* Records of scalars are one array only where rows lie side by side; a shared row (stride 0) or
     * one in a wider block is read by itself. */
    bool by_rows = in->rank == 0 && in->row_stride == sizeof(leat_string);
    LEATI_TRY(leati_features_open(f, err));
    LEATI_TRY(prepare(f, &records, err));
    /* Where a length is data there is one row a call anyway. */
    int64_t step = by_rows && f->dense && f->call->n > 0 ? f->call->n : 1;
    for (int64_t row = 0; row < f->call->n; row += step) {
        run r = {leati_text_strings_of(in, row), by_rows ? step : in->count, row, by_rows};
        LEATI_TRY(f->dense ? parse_dense(f, &r, &order, err) : parse_open(f, &r, &order, err));
    }
    return leati_features_hold(f, err);
}

static leat_status parse_example_kernel(leati_kernel_call *call, leat_error *err) {
    const struct parse_example_args *args = call->args;
    leati_features features = {.call = call, .spec = args->features, .defaults = &args->defaults};
    if (call->inputs[0].rank > 1)
        return leati_refuse(err, SHAPE,
                            "the serialised Examples have rank %d; expected a scalar or a vector",
                            (int)call->inputs[0].rank);
    return parse_rows(&features, err);
}

int leat_op_parse_example(leat_value serialized, const leat_spec *features,
                          const leat_element *defaults, leat_value *outputs, int capacity) {
    struct parse_example_args args = {.features = (leat_spec *)(uintptr_t)features};
    if (defaults != NULL)
        args.defaults = *defaults;
    leat_value first = leati_graph_build1(&leati_tensor_op_parse_example, &args, serialized);
    if (leati_support_value_failed(first))
        return -1;
    /* The number that there are, even if there was room for fewer: so the caller learns it. */
    int count = leati_features_outputs(features);
    for (int i = 0; i < count && i < capacity; i++)
        outputs[i] = (leat_value){.graph = first.graph, .id = first.id + i};
    return count;
}

const leati_tensor_op leati_tensor_op_parse_example = {
    .name = "parse_example",
    .version = 1,
    .doc = "The features of serialised tf.train.Examples (tf.io.parse_example).",
    .types = "string",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_NONE,
    .rows = parse_example_rows,
    .args_size = sizeof(struct parse_example_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = parse_example_infer,
    .kernel = parse_example_kernel,
};
