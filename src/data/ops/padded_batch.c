/* padded_batch: stacks consecutive elements of unequal shapes (tf.data.Dataset.padded_batch).
 *
 * The rows of one batch are gathered as references, then each component is allocated at its padded
 * shape and the rows are copied into its corner. A dimension of padded_shapes that is -1 becomes
 * the longest of the batch. An input's error is delivered at once and the rows gathered so far are
 * lost; a row larger than a fixed dimension (DATA_LOSS) or of another rank (INVALID_ARGUMENT) costs
 * its batch, as in TensorFlow. Nothing is kept between pulls. No locks. */
#include "base/minmax.h"
#include "core/tensor.h"
#include "data/plan/argument_rows.h"
#include "data/run/origins.h"
#include "data/run/rows.h"
#include <leat/data_ops.h>
#include <string.h>

struct padded_args {
    int64_t batch_size;
    leat_element padded_shapes;
    leat_element padding_values;
    bool drop_remainder;
    int64_t length;
};

#define ROW(field) .offset = offsetof(struct padded_args, field)

static const leati_row padded_rows[] = {
    LEATI_ROW_BATCH_SIZE(struct padded_args, "Elements of a batch."),
    {.name = "padded_shapes",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(padded_shapes),
     .doc = "A vector of dimensions, or a structure of them; -1: the longest of the batch; none: "
            "the elements' shapes."},
    {.name = "padding_values",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(padding_values),
     .doc = "A scalar, or a structure of them; none: 0, false or \"\"."},
    LEATI_ROW_DROP_REMAINDER(struct padded_args),
    {.name = "length",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     ROW(length),
     .default_number = -1,
     .minimum = -1,
     .maximum = INT64_MAX,
     .doc = "What -1 in padded_shapes stands for; -1: the longest of the batch."},
    {0},
};

/* What a component is padded to and with. */
struct padding {
    leat_shape shape;
    const leat_tensor *value; /* a scalar that the arguments own; NULL: zeros */
};

struct padded_state {
    leati_input input;
    struct padding *paddings; /* one per component */
    leat_tensor *tensors;     /* component c of row i at tensors[i * components + c] */
    size_t count, capacity;   /* of tensors that are set, and of room */
    int components;
    leati_column origin; /* of the first row's element */
};

/* ---- the plan side ---- */

/* The walk over the input's spec and a structure of arguments beside it. */
struct walk {
    const char *argument;
    const leat_element *given;
    int tensor;    /* the next one of `given` */
    int component; /* the next one of the input */
    leat_status (*leaf)(const leat_spec *leaf, const leat_tensor *given, int component,
                        struct padding *padding, leat_error *err);
    struct padding *paddings;
};

static leat_status mismatch(const struct walk *walk, leat_error *err) {
    return leati_refuse(err, STRUCTURE,
                        "padded_batch: the structure of %s is not that of the elements; give one "
                        "value for each component",
                        walk->argument);
}

/* TensorFlow's name for the spec of a leaf that is no tensor. */
static const char *class_of(leat_spec_kind kind) {
    switch (kind) {
    case LEAT_SPEC_SPARSE: return "SparseTensorSpec";
    case LEAT_SPEC_RAGGED: return "RaggedTensorSpec";
    case LEAT_SPEC_DATASET: return "DatasetSpec";
    default: return "OptionalSpec";
    }
}

/* A shape as Python writes a tuple of numbers, -1 for what is not known: (2, -1). */
static const char *print_dims(const leat_shape *shape, char text[128]) {
    size_t at = (size_t)snprintf(text, 128, shape->rank < 0 ? "<unknown>" : "(");
    for (int32_t i = 0; i < shape->rank; i++) {
        const char *behind = i + 1 < shape->rank ? ", " : shape->rank == 1 ? "," : "";
        if (shape->dims[i] == LEAT_UNKNOWN_DIM)
            at += (size_t)snprintf(text + at, 128 - at, "None%s", behind);
        else
            at +=
                (size_t)snprintf(text + at, 128 - at, "%lld%s", (long long)shape->dims[i], behind);
        /* snprintf returns what there would have been: behind a text that was cut `at` is too
         * large. */
        at = LEATI_MIN(at, 127);
    }
    if (shape->rank >= 0)
        snprintf(text + at, 128 - at, ")");
    return text;
}

static leat_status walk_specs(struct walk *walk, const leat_spec *input, const leat_spec *given,
                              leat_error *err) {
    leat_spec_kind kind = leat_spec_get_kind(input);
    bool none = given == NULL || leat_spec_get_kind(given) == LEAT_SPEC_NONE;
    if (kind == LEAT_SPEC_TUPLE || kind == LEAT_SPEC_DICT) {
        int count = leat_spec_num_children(input);
        if (!none && (leat_spec_get_kind(given) != kind || leat_spec_num_children(given) != count))
            return mismatch(walk, err);
        leat_status status = LEAT_OK;
        for (int i = 0; i < count && status == LEAT_OK; i++) {
            if (!none && kind == LEAT_SPEC_DICT &&
                strcmp(leat_spec_key(input, i), leat_spec_key(given, i)) != 0)
                return mismatch(walk, err);
            status = walk_specs(walk, leat_spec_child(input, i),
                                none ? NULL : leat_spec_child(given, i), err);
        }
        return status;
    }
    if (kind == LEAT_SPEC_NONE)
        return LEAT_OK;
    if (kind != LEAT_SPEC_TENSOR) {
        return leati_refuse(err, STRUCTURE,
                            "padded_batch: only supported for datasets that produce tensor "
                            "elements but type spec of component %d is not a subclass of "
                            "TensorSpec: `%s`",
                            walk->component, class_of(kind));
    }
    if (!none && leat_spec_get_kind(given) != LEAT_SPEC_TENSOR)
        return mismatch(walk, err);
    /* The tensors of a structure stand in the order of its leaves. */
    const leat_tensor *tensor = none ? NULL : &walk->given->tensors[walk->tensor++];
    int component = walk->component++;
    return walk->leaf(input, tensor, component,
                      walk->paddings == NULL ? NULL : &walk->paddings[component], err);
}

static leat_status shape_leaf(const leat_spec *leaf, const leat_tensor *given, int component,
                              struct padding *padding, leat_error *err) {
    leat_shape input = leat_spec_shape(leaf);
    if (given == NULL) {
        padding->shape = input;
        return input.rank != LEAT_UNKNOWN_RANK
                   ? LEAT_OK
                   : leati_refuse(err, SHAPE,
                                  "padded_batch: You must provide `padded_shapes` argument because "
                                  "component %d has unknown rank",
                                  component);
    }
    int64_t rank = leat_tensor_count(given);
    if (rank > 0 && !leati_dtype_is_integer(given->dtype)) {
        return leati_refuse(err, DTYPE,
                            "padded_batch: Padded shape of component %d must be a `tf.int64` "
                            "vector tensor, but its element type was %s",
                            component, leat_dtype_name(given->dtype));
    }
    /* The batch has one dimension more, which must fit, too. */
    if (given->rank != 1 || rank >= LEAT_MAX_RANK) {
        leat_shape own = leat_tensor_shape(given);
        char text[128];
        return leati_refuse(err, SHAPE,
                            "padded_batch: Padded shape of component %d must be a `tf.int64` "
                            "vector tensor, but its shape was %s",
                            component, print_dims(&own, text));
    }
    padding->shape = (leat_shape){.rank = (int32_t)rank};
    bool fits = input.rank == LEAT_UNKNOWN_RANK || input.rank == rank, valid = true;
    for (int32_t i = 0; i < rank; i++) {
        int64_t size = leati_tensor_int_at(given, i);
        valid = valid && size >= LEAT_UNKNOWN_DIM;
        /* An unknown dimension of the input is -1, which no size is below. */
        fits = fits && (size < 0 || input.rank != rank || size >= input.dims[i]);
        padding->shape.dims[i] = size;
    }
    if (fits && valid)
        return LEAT_OK;
    char texts[2][128];
    return leati_refuse(err, SHAPE,
                        "padded_batch: The padded shape %s is not compatible with the shape %s of "
                        "the corresponding input component %d: expected its rank, and in each "
                        "dimension at least its size, or -1",
                        print_dims(&padding->shape, texts[0]), print_dims(&input, texts[1]),
                        component);
}

static leat_status value_leaf(const leat_spec *leaf, const leat_tensor *given, int component,
                              struct padding *padding, leat_error *err) {
    padding->value = given;
    if (given != NULL && (given->rank != 0 || given->dtype != leat_spec_dtype(leaf))) {
        return leati_refuse(
            err, SHAPE,
            "padded_batch: padding_values of component %d is %s of rank %d; expected "
            "a scalar of %s",
            component, leat_dtype_name(given->dtype), given->rank,
            leat_dtype_name(leat_spec_dtype(leaf)));
    }
    return LEAT_OK;
}

/* Fills one padding per component from the arguments, which it checks. */
static leat_status find_paddings(const leat_dataset *dataset, struct padding *paddings,
                                 leat_error *err) {
    const struct padded_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    struct walk shapes = {.argument = "padded_shapes",
                          .given = &args->padded_shapes,
                          .leaf = shape_leaf,
                          .paddings = paddings};
    struct walk values = {.argument = "padding_values",
                          .given = &args->padding_values,
                          .leaf = value_leaf,
                          .paddings = paddings};
    leat_status status = walk_specs(&shapes, input, args->padded_shapes.spec, err);
    if (status != LEAT_OK)
        return status;
    /* Only now: the checks above tell -1 from a size. */
    for (int c = 0; c < shapes.component; c++) {
        for (int d = 0; d < paddings[c].shape.rank; d++)
            if (paddings[c].shape.dims[d] < 0)
                paddings[c].shape.dims[d] = args->length;
    }
    const leat_spec *given = args->padding_values.spec;
    if (given == NULL || leat_spec_get_kind(given) != LEAT_SPEC_TENSOR)
        return walk_specs(&values, input, given, err);
    /* One scalar for all components. */
    for (int c = 0; c < shapes.component && status == LEAT_OK; c++) {
        leat_spec *leaf = leat_spec_tensor(leat_spec_component_dtype(input, c), LEAT_SCALAR, err);
        status = leaf == NULL
                     ? LEAT_RESOURCE_EXHAUSTED
                     : value_leaf(leaf, &args->padding_values.tensors[0], c, &paddings[c], err);
        leat_spec_unref(leaf);
    }
    return status;
}

static leat_spec *padded_spec(const leat_dataset *dataset, leat_error *err) {
    const struct padded_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    int64_t outer = args->drop_remainder ? args->batch_size : LEAT_UNKNOWN_DIM;
    size_t count = (size_t)leat_spec_num_components(input);
    struct padding *paddings = leati_alloc_zero(count, sizeof(*paddings));
    leat_dtype *dtypes = leati_alloc(count, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc(count, sizeof(*shapes));
    leat_spec *spec = NULL;
    leat_status status = paddings == NULL || dtypes == NULL || shapes == NULL
                             ? leati_no_memory(err)
                             : find_paddings(dataset, paddings, err);
    for (size_t c = 0; c < count && status == LEAT_OK; c++) {
        dtypes[c] = leat_spec_component_dtype(input, (int)c);
        status = leati_shape_prepend(&paddings[c].shape, outer, &shapes[c], err);
    }
    if (status == LEAT_OK)
        spec = leati_spec_like(input, dtypes, shapes, err);
    leati_free(paddings);
    leati_free(dtypes);
    leati_free(shapes);
    return spec;
}

static int64_t padded_cardinality(const leat_dataset *dataset) {
    const struct padded_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality;
    if (input < 0)
        return input;
    return input / args->batch_size + (!args->drop_remainder && input % args->batch_size != 0);
}

/* ---- the run side ---- */

static leat_status padded_open(leati_node_state *node, void *state, leat_error *err) {
    struct padded_state *s = state;
    s->components = leat_spec_num_components(node->dataset->spec);
    s->paddings = leati_alloc_zero((size_t)s->components, sizeof(*s->paddings));
    if (s->paddings == NULL)
        return leati_no_memory(err);
    leat_status status = find_paddings(node->dataset, s->paddings, err);
    return status == LEAT_OK ? leati_input_open(&s->input, node, 0, err) : status;
}

static void drop_rows(struct padded_state *s) {
    leati_column_fini(&s->origin);
    for (size_t i = 0; i < s->count; i++)
        leat_tensor_unref(&s->tensors[i]);
    s->count = 0;
}

/* Takes `n` elements of the input's block into the batch. */
static leat_status take_rows(struct padded_state *s, int64_t n, leat_error *err) {
    size_t more = (size_t)n * (size_t)s->components;
    if (!leati_grow((void **)&s->tensors, &s->capacity, s->count + more, sizeof(*s->tensors)))
        return leati_no_memory(err);
    int64_t begin = leati_input_begin(&s->input);
    if (s->count == 0) {
        leati_column_fini(&s->origin);
        leati_origins_share(&s->input.block, begin, &s->origin);
    }
    for (int64_t i = begin; i < begin + n; i++)
        for (int c = 0; c < s->components; c++)
            s->tensors[s->count++] = leati_column_tensor(&s->input.block.columns[c], i);
    leati_input_consume(&s->input, n);
    return LEAT_OK;
}

/* The shape to which component c of the gathered rows is padded. */
static leat_status target_shape(const struct padded_state *s, int c, int64_t rows, leat_shape *out,
                                leat_error *err) {
    const leat_shape *wanted = &s->paddings[c].shape;
    *out = *wanted;
    for (int d = 0; d < wanted->rank; d++)
        out->dims[d] = LEATI_MAX(0, wanted->dims[d]);
    for (int64_t i = 0; i < rows; i++) {
        const leat_tensor *row = &s->tensors[(size_t)i * (size_t)s->components + (size_t)c];
        if (row->rank != wanted->rank) {
            return leati_refuse(err, SHAPE,
                                "component %d of row %lld of the batch has rank %d; padded_shapes "
                                "has rank %d",
                                c, (long long)i, row->rank, wanted->rank);
        }
        for (int d = 0; d < wanted->rank; d++) {
            if (wanted->dims[d] >= 0 && row->dims[d] > wanted->dims[d]) {
                return leati_fail(err, LEAT_DATA_LOSS,
                                  "Attempted to pad to a smaller size than the input element: "
                                  "component %d of row %lld of the batch has %lld in dimension %d, "
                                  "padded_shapes %lld; make it larger, or -1",
                                  c, (long long)i, (long long)row->dims[d], d,
                                  (long long)wanted->dims[d]);
            }
            out->dims[d] = LEATI_MAX(row->dims[d], out->dims[d]);
        }
    }
    return LEAT_OK;
}

/* Copies a tensor into the corner of a larger one of the same rank, dimension `d` and those behind
 * it; `from` and `to` move to what was copied. */
static void copy_corner(const leat_tensor *row, const leat_shape *target, int d, size_t size,
                        const char **from, char *to) {
    /* The innermost dimension lies together; a scalar is its one value. */
    if (d + 1 >= row->rank) {
        size_t bytes = (row->rank == 0 ? 1 : (size_t)row->dims[d]) * size;
        if (bytes > 0)
            memcpy(to, *from, bytes);
        *from += bytes;
        return;
    }
    /* Bytes from one index of this dimension to the next, in the larger tensor. */
    size_t step = size;
    for (int i = d + 1; i < target->rank; i++)
        step *= (size_t)target->dims[i];
    for (int64_t i = 0; i < row->dims[d]; i++)
        copy_corner(row, target, d + 1, size, from, to + (size_t)i * step);
}

/* Component c of the gathered rows as one tensor. */
static leat_status pad_component(const struct padded_state *s, int c, int64_t rows,
                                 leat_tensor *out, leat_error *err) {
    leat_shape target, whole;
    const leat_tensor *value = s->paddings[c].value;
    leat_dtype dtype = s->tensors[c].dtype;
    leat_status status = target_shape(s, c, rows, &target, err);
    if (status == LEAT_OK)
        status = leati_shape_prepend(&target, rows, &whole, err);
    if (status == LEAT_OK)
        status = leat_tensor_new(dtype, whole, out, err);
    if (status != LEAT_OK)
        return status;
    size_t size = leat_dtype_size(dtype);
    int64_t count = leati_shape_count(&target);
    for (int64_t i = 0; i < rows && status == LEAT_OK; i++) {
        const leat_tensor *row = &s->tensors[(size_t)i * (size_t)s->components + (size_t)c];
        char *to = (char *)out->data + (size_t)(i * count) * size;
        const char *from = row->data;
        /* A row of the target's size leaves nothing to pad. */
        if (leat_tensor_count(row) != count)
            leati_rows_fill_values(to, count, size, value);
        if (leat_tensor_count(row) > 0)
            copy_corner(row, &target, 0, size, &from, to);
        /* Headers were copied, not bytes: the batch keeps the memory that they point into. */
        if (dtype == LEAT_STRING) {
            leati_column column = {0};
            leati_column_constant(&column, row);
            status = leati_column_hold(&column, 0, 1, out->owner, err);
            leati_column_fini(&column);
        }
    }
    if (dtype == LEAT_STRING && value != NULL && value->owner != NULL && status == LEAT_OK)
        status = leati_buffer_hold(out->owner, value->owner, err);
    return status;
}

/* The gathered rows become one element. */
static leati_tail finish(struct padded_state *s, int64_t rows, leati_block *out, leat_error *err) {
    leat_status status = leati_block_prepare(out, s->components, err);
    for (int c = 0; c < s->components && status == LEAT_OK; c++) {
        leat_tensor tensor = {0};
        status = pad_component(s, c, rows, &tensor, err);
        if (status == LEAT_OK)
            leati_column_constant(&out->columns[c], &tensor);
        leat_tensor_unref(&tensor);
    }
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    /* The reference moves on, so that drop_rows finds none. */
    out->origins = s->origin;
    s->origin = (leati_column){0};
    out->n = 1;
    return LEATI_MORE;
}

static leati_tail padded_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    (void)want;
    struct padded_state *s = state;
    const struct padded_args *args = node->dataset->args;
    int64_t rows = 0;
    leati_tail tail = LEATI_MORE;
    leati_block_clear(out);
    while (rows < args->batch_size) {
        int64_t available = 0, left = args->batch_size - rows;
        tail = leati_input_peek(&s->input, left, NULL, &available, err);
        if (available == 0) {
            leati_input_consume(&s->input, tail == LEATI_ERROR);
            break;
        }
        int64_t n = LEATI_MIN(available, left);
        /* Without memory these rows stay in front, but those gathered before are lost. */
        if (take_rows(s, n, err) != LEAT_OK) {
            tail = LEATI_ERROR;
            break;
        }
        rows += n;
    }
    bool whole = rows == args->batch_size || (rows > 0 && !args->drop_remainder);
    if (tail != LEATI_ERROR && whole)
        tail = finish(s, rows, out, err);
    /* Here is lost what made no batch: behind an error, or a remainder that is dropped. */
    drop_rows(s);
    return tail;
}

static void padded_close(leati_node_state *node, void *state) {
    (void)node;
    struct padded_state *s = state;
    drop_rows(s);
    leati_free(s->tensors);
    leati_free(s->paddings);
    leati_input_close(&s->input);
}

const leati_dataset_op leati_op_padded_batch = {
    .name = "padded_batch",
    .version = 1,
    .doc = "Stacks `batch_size` consecutive elements, each padded to the shape of `padded_shapes`. "
           "Saved as the input's position (never inside a batch); restoring costs the input's.",
    .names = "Dataset.padded_batch",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_ROWS,
    .batch_size = "batch_size",
    .args_size = sizeof(struct padded_args),
    .rows = padded_rows,
    .spec = padded_spec,
    .cardinality = padded_cardinality,
    .state_size = sizeof(struct padded_state),
    .open = padded_open,
    .pull = padded_pull,
    .close = padded_close,
};

leat_dataset *leat_dataset_padded_batch(leat_dataset *input, int64_t batch_size,
                                        const leat_dataset_padded_batch_options *options,
                                        leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_padded_batch_options o = {LEAT_DATASET_PADDED_BATCH_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_padded_batch_options, &o, options, &input, 1, err))
        return NULL;
    struct padded_args args = {
        .batch_size = batch_size, .drop_remainder = o.drop_remainder, .length = -1};
    if (o.padded_shapes != NULL)
        args.padded_shapes = *o.padded_shapes;
    if (o.padding_values != NULL)
        args.padding_values = *o.padding_values;
    return leati_dataset_new(&leati_op_padded_batch, &args, &input, 1, err);
}
