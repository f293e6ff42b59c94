/* pad_to_cardinality: dictionaries with a mask, and elements of zeros behind them up to a number
 * (tf.data.experimental.pad_to_cardinality).
 *
 * Each element of the input gets a bool scalar that is true; then follow cardinality minus the
 * input's elements of zeros whose mask is false (unknown dimensions are 0). Views of the input's
 * blocks are handed on. As TensorFlow asserts the number of all elements, an input that loses some
 * to errors ends with FAILED_PRECONDITION, at every further call. No locks. */
#include "base/minmax.h"
#include "data/run/input.h"
#include <leat/data_ops.h>
#include <string.h>

struct pad_args {
    int64_t cardinality;
    char *mask_key;
};

static const leati_row pad_rows[] = {
    {.name = "cardinality",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct pad_args, cardinality),
     .doc = "How many elements there are with those of zeros; at least the input's."},
    {.name = "mask_key",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct pad_args, mask_key),
     .default_text = "valid",
     .doc = "Key of the mask: false for elements of zeros."},
    {0},
};

struct pad_state {
    leati_input input;
    leati_block taken;  /* of the input, empty between pulls */
    leat_tensor *zeros; /* one element's components, the mask's too */
    leat_tensor mask;   /* true */
    int mask_component;
    int64_t count;  /* elements given out */
    int64_t filled; /* of them of zeros */
};

/* ---- the plan side ---- */

static leat_status pad_check(leat_dataset *dataset, leat_error *err) {
    const struct pad_args *args = dataset->args;
    const leat_spec *spec = dataset->inputs[0]->spec;
    int64_t input = dataset->inputs[0]->cardinality;
    if (input < 0) {
        return leati_refuse(err, VALUE,
                            "The dataset passed into `pad_to_cardinality` must have a known "
                            "cardinalty, but has cardinality %lld; take or assert_cardinality make "
                            "it known",
                            (long long)input);
    }
    if (input > args->cardinality) {
        return leati_refuse(err, VALUE,
                            "The dataset passed into `pad_to_cardinality` must have a cardinalty "
                            "less than the target cardinality (%lld), but has cardinality %lld; "
                            "take makes it smaller",
                            (long long)args->cardinality, (long long)input);
    }
    if (leat_spec_get_kind(spec) != LEAT_SPEC_DICT) {
        return leati_refuse(err, VALUE,
                            "pad_to_cardinality: requires its input dataset to be a dictionary; "
                            "map the elements to some");
    }
    for (int i = 0; i < leat_spec_num_children(spec); i++) {
        if (strcmp(leat_spec_key(spec, i), args->mask_key) == 0) {
            return leati_refuse(err, STRUCTURE,
                                "pad_to_cardinality: the elements have a key \"%s\" already; give "
                                "another mask_key",
                                args->mask_key);
        }
    }
    for (int c = 0; c < leat_spec_num_components(spec); c++) {
        if (leat_spec_component_dtype(spec, c) == LEAT_OBJECT) {
            return leati_refuse(err, STRUCTURE,
                                "pad_to_cardinality: component %d is no tensor; there are no zeros "
                                "of it",
                                c);
        }
    }
    return LEAT_OK;
}

static leat_spec *pad_spec(const leat_dataset *dataset, leat_error *err) {
    const struct pad_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    int count = leat_spec_num_children(input), made = 0;
    const char **keys = leati_alloc_zero((size_t)count + 1, sizeof(*keys));
    leat_spec **children = leati_alloc_zero((size_t)count + 1, sizeof(*children));
    leat_spec *mask = leat_spec_tensor(LEAT_BOOL, LEAT_SCALAR, err), *spec = NULL;
    if (keys == NULL || children == NULL) {
        leati_no_memory(err);
        leat_spec_unref(mask);
    } else if (mask != NULL) {
        for (int i = 0; i <= count; i++) {
            const char *key = i < count ? leat_spec_key(input, i) : NULL;
            if (mask != NULL && (key == NULL || strcmp(args->mask_key, key) < 0)) {
                keys[made] = args->mask_key;
                children[made++] = mask;
                mask = NULL;
            }
            if (key != NULL) {
                keys[made] = key;
                children[made++] = leati_spec_made(leat_spec_child(input, i), err);
            }
        }
        spec = leat_spec_dict(keys, children, made, err);
    }
    leati_free(keys);
    leati_free(children);
    return spec;
}

static int64_t pad_cardinality(const leat_dataset *dataset) {
    return ((const struct pad_args *)dataset->args)->cardinality;
}

/* ---- the run side ---- */

static leat_status pad_open(leati_node_state *node, void *state, leat_error *err) {
    struct pad_state *s = state;
    const struct pad_args *args = node->dataset->args;
    const leat_spec *input = node->dataset->inputs[0]->spec, *spec = node->dataset->spec;
    int count = leat_spec_num_components(spec);
    for (int i = 0; i < leat_spec_num_children(input); i++)
        if (strcmp(leat_spec_key(input, i), args->mask_key) < 0)
            s->mask_component += leat_spec_num_components(leat_spec_child(input, i));
    s->zeros = leati_alloc_zero((size_t)count, sizeof(*s->zeros));
    if (s->zeros == NULL)
        return leati_no_memory(err);
    leat_status status = leat_tensor_copy_of(LEAT_BOOL, LEAT_SCALAR, &(bool){true}, &s->mask, err);
    for (int c = 0; c < count && status == LEAT_OK; c++) {
        leat_shape shape = leat_spec_component_shape(spec, c);
        /* An unknown rank is that of a vector without values. */
        shape = shape.rank == LEAT_UNKNOWN_RANK ? LEAT_SHAPE(0) : shape;
        for (int i = 0; i < shape.rank; i++)
            shape.dims[i] = LEATI_MAX(0, shape.dims[i]);
        status = leat_tensor_new(leat_spec_component_dtype(spec, c), shape, &s->zeros[c], err);
        if (status == LEAT_OK && leat_tensor_bytes(&s->zeros[c]) > 0)
            memset(s->zeros[c].data, 0, leat_tensor_bytes(&s->zeros[c]));
    }
    return status == LEAT_OK ? leati_input_open(&s->input, node, 0, err) : status;
}

/* `out` becomes the n elements that were taken, with their mask. */
static leat_status with_mask(struct pad_state *s, leati_block *out, leat_error *err) {
    int count = s->taken.num_columns + 1;
    leat_status status = leati_block_prepare(out, count, err);
    for (int c = 0, from = 0; c < count && status == LEAT_OK; c++)
        if (c == s->mask_component)
            leati_column_constant(&out->columns[c], &s->mask);
        else
            leati_column_copy(&s->taken.columns[from++], &out->columns[c]);
    if (status == LEAT_OK)
        leati_column_copy(&s->taken.origins, &out->origins);
    out->n = status == LEAT_OK ? s->taken.n : 0;
    return status;
}

static leat_status of_zeros(const struct pad_state *s, int count, int64_t n, leati_block *out,
                            leat_error *err) {
    leat_status status = leati_block_prepare(out, count, err);
    for (int c = 0; c < count && status == LEAT_OK; c++)
        leati_column_constant(&out->columns[c], &s->zeros[c]);
    out->n = status == LEAT_OK ? n : 0;
    return status;
}

static leati_tail fail_count(const struct pad_args *args, const struct pad_state *s,
                             leat_error *err) {
    leati_fail(err, LEAT_FAILED_PRECONDITION,
               "%lld elements; expected %lld: some of the input's were lost to errors, or it had "
               "more than its cardinality",
               (long long)s->count, (long long)args->cardinality);
    return LEATI_ERROR;
}

static leati_tail pad_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                           leat_error *err) {
    struct pad_state *s = state;
    const struct pad_args *args = node->dataset->args;
    int64_t left = args->cardinality - s->count;
    /* Where nothing is left one element is asked for all the same: the input may have more than its
     * cardinality says. */
    int64_t most = left < 1 ? 1 : LEATI_MIN(want, left);
    leati_block_clear(out);
    leati_tail tail = leati_input_take(&s->input, most, &s->taken, err);
    if (s->taken.n > 0) {
        /* An element too many is not counted, so that each further call fails alike. */
        s->count += left < 1 ? 0 : s->taken.n;
        leat_status status = left < 1 ? LEAT_OUT_OF_RANGE : with_mask(s, out, err);
        leati_block_clear(&s->taken);
        if (left < 1)
            return fail_count(args, s, err);
        /* The input's end is none here: zeros may follow. */
        return status != LEAT_OK ? LEATI_ERROR : tail == LEATI_ERROR ? tail : LEATI_MORE;
    }
    if (tail != LEATI_END)
        return tail;
    /* By what the input was to have, not by what came: zeros do not make up for lost elements. */
    int64_t zeros = args->cardinality - node->dataset->inputs[0]->cardinality - s->filled;
    int64_t n = LEATI_MIN(zeros, most);
    if (n > 0 && left > 0) {
        if (of_zeros(s, leat_spec_num_components(node->dataset->spec), n, out, err) != LEAT_OK)
            return LEATI_ERROR;
        s->filled += n;
        s->count += n;
        return LEATI_MORE;
    }
    return left == 0 ? LEATI_END : fail_count(args, s, err);
}

static leat_status pad_restored(leati_node_state *node, void *state, leat_error *err) {
    const struct pad_args *args = node->dataset->args;
    struct pad_state *s = state;
    return s->filled >= 0 && s->filled <= s->count && s->count <= args->cardinality
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "pad_to_cardinality: a saved count of %lld",
                            (long long)s->count);
}

static void pad_close(leati_node_state *node, void *state) {
    struct pad_state *s = state;
    for (int c = 0; s->zeros != NULL && c < leat_spec_num_components(node->dataset->spec); c++)
        leat_tensor_unref(&s->zeros[c]);
    leati_free(s->zeros);
    leat_tensor_unref(&s->mask);
    leati_block_fini(&s->taken);
    leati_input_close(&s->input);
}

const leati_dataset_op leati_op_pad_to_cardinality = {
    .name = "pad_to_cardinality",
    .version = 1,
    .doc = "The input's dictionaries with a mask, then elements of zeros up to `cardinality`. "
           "Saved as counts and the input's position; restoring costs the input's.",
    .names = "Dataset.pad_to_cardinality experimental.pad_to_cardinality",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct pad_args),
    .rows = pad_rows,
    .check = pad_check,
    .spec = pad_spec,
    .cardinality = pad_cardinality,
    .state_size = sizeof(struct pad_state),
    .saved = {LEATI_SAVED(struct pad_state, count), LEATI_SAVED(struct pad_state, filled)},
    .restored = pad_restored,
    .open = pad_open,
    .pull = pad_pull,
    .close = pad_close,
};

leat_dataset *leat_dataset_pad_to_cardinality(leat_dataset *input, int64_t cardinality,
                                              const char *mask_key, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct pad_args args = {.cardinality = cardinality,
                            .mask_key = (char *)(uintptr_t)(mask_key != NULL ? mask_key : "valid")};
    return leati_dataset_new(&leati_op_pad_to_cardinality, &args, &input, 1, err);
}
