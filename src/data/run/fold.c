/* Functions of (state, element): see fold.h. No locks; failures are those of the checks and want of
 * memory. */
#include "data/run/fold.h"
#include "core/spec.h"
#include "data/run/apply.h"
#include "data/run/origins.h"

leat_spec *leati_fold_input(const leat_spec *state, const leat_spec *element, leat_error *err) {
    leat_spec *both[2] = {leat_spec_ref(state), leat_spec_ref(element)};
    return leat_spec_tuple(both, 2, err);
}

/* A tree like `structure` with the first components of `from`. Owned; NULL with an error. */
static leat_spec *with_components(const leat_spec *structure, const leat_spec *from,
                                  leat_error *err) {
    int count = leat_spec_num_components(structure);
    leat_spec *out = NULL;
    leat_dtype *dtypes = leati_alloc((size_t)count, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc((size_t)count, sizeof(*shapes));
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(err);
    } else {
        for (int i = 0; i < count; i++) {
            dtypes[i] = leat_spec_component_dtype(from, i);
            shapes[i] = leat_spec_component_shape(from, i);
        }
        out = leati_spec_like(structure, dtypes, shapes, err);
    }
    leati_free(dtypes);
    leati_free(shapes);
    return out;
}

static leat_status check_next(const char *op, const char *argument, const leat_spec *state,
                              const leat_spec *next, leat_error *err) {
    bool same = leat_spec_num_components(state) == leat_spec_num_components(next);
    if (same) {
        leat_spec *like = with_components(state, next, err);
        if (like == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        /* The trees are compared with the new shapes in both: shapes alone may differ. */
        same = leat_spec_equal(like, next);
        leat_spec_unref(like);
    }
    for (int i = 0; same && i < leat_spec_num_components(state); i++)
        same = leat_spec_component_dtype(state, i) == leat_spec_component_dtype(next, i);
    if (same)
        return LEAT_OK;
    char texts[2][128];
    leat_spec_print(state, texts[0], sizeof(texts[0]));
    leat_spec_print(next, texts[1], sizeof(texts[1]));
    return leati_refuse(
        err, STRUCTURE,
        "%s: Invalid `%s`. The element types for the new state must match the initial state. "
        "Expected %s, got %s",
        op, argument, texts[0], texts[1]);
}

leat_status leati_fold_check(const char *op, const char *argument, const leat_function *function,
                             const leat_spec *state, const leat_spec *element,
                             const leat_spec *next, leat_error *err) {
    leat_spec *input = leati_fold_input(state, element, err);
    leat_status status = input == NULL
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leati_apply_check_function(op, argument, function, input, err);
    leat_spec_unref(input);
    return status == LEAT_OK ? check_next(op, argument, state, next, err) : status;
}

leat_spec *leati_fold_relax(const leat_spec *input, const leat_spec *next, leat_error *err) {
    const leat_spec *state = leat_spec_child(input, 0);
    int count = leat_spec_num_components(state);
    bool changed = false;
    if (leat_spec_num_components(next) != count)
        return NULL;
    for (int i = 0; i < count; i++) {
        leat_shape before = leat_spec_component_shape(state, i);
        leat_shape after = leat_spec_component_shape(next, i);
        leat_shape both = leati_shape_join(&before, &after);
        if (leat_spec_component_dtype(state, i) != leat_spec_component_dtype(next, i))
            return NULL;
        changed = changed || !leati_shape_equal(&before, &both);
    }
    /* NULL without an error: the function will do as it is. */
    if (!changed)
        return NULL;
    leat_spec *like = with_components(state, next, err);
    leat_spec *joined = like == NULL ? NULL : leati_spec_join(state, like, err);
    leat_spec_unref(like);
    if (joined == NULL)
        return NULL;
    leat_spec *both[2] = {joined, leat_spec_ref(leat_spec_child(input, 1))};
    return leat_spec_tuple(both, 2, err);
}

leat_spec *leati_fold_state(const leat_spec *state, const leat_function *function,
                            leat_error *err) {
    return with_components(state, leat_function_input(function), err);
}

leat_status leati_fold_join(const leati_block *state, const leati_block *block, int64_t row,
                            leati_block *out, leat_error *err) {
    int count = state->num_columns;
    LEATI_TRY(leati_block_prepare(out, count + block->num_columns, err));
    for (int c = 0; c < count; c++)
        leati_column_copy(&state->columns[c], &out->columns[c]);
    for (int c = 0; c < block->num_columns; c++) {
        leati_column_copy(&block->columns[c], &out->columns[count + c]);
        /* A view that begins at the row, so nothing is copied. */
        leati_column_skip(&out->columns[count + c], row);
    }
    leati_origins_share(block, row, &out->origins);
    out->n = 1;
    return LEAT_OK;
}

/* Moves columns from `begin` on to `to`, which is prepared for them. */
static void move_columns(leati_block *from, int begin, leati_block *to) {
    for (int c = 0; c < to->num_columns; c++) {
        to->columns[c] = from->columns[begin + c];
        from->columns[begin + c] = (leati_column){0};
    }
    to->n = 1;
}

leat_status leati_fold_split(leati_block *result, const leat_spec *spec, leati_block *state,
                             leati_block *rest, leat_error *err) {
    int count = leat_spec_num_components(spec);
    leat_status status = LEAT_OK;
    for (int c = 0; c < count && status == LEAT_OK; c++) {
        leat_tensor tensor = leati_column_tensor(&result->columns[c], 0);
        status = leati_spec_check_tensor(spec, c, &tensor, err);
        leat_tensor_unref(&tensor);
        if (status != LEAT_OK)
            return leati_prefix(err, "the function's new state");
    }
    if (rest != NULL)
        /* Both are prepared before anything moves, so that a failure leaves the result whole. */
        status = leati_block_prepare(rest, result->num_columns - count, err);
    if (status == LEAT_OK)
        status = leati_block_prepare(state, count, err);
    if (status == LEAT_OK) {
        move_columns(result, 0, state);
        if (rest != NULL) {
            move_columns(result, count, rest);
            rest->origins = result->origins;
            result->origins = (leati_column){0};
        }
        leati_block_clear(result);
    }
    return status;
}

leat_status leati_fold_compact(leati_block *state, leat_error *err) {
    leat_status status = LEAT_OK;
    /* The state outlives the blocks that it was made of, and would keep them alive. */
    for (int c = 0; c < state->num_columns && status == LEAT_OK; c++)
        status = leati_column_compact(&state->columns[c], state->n, err);
    return status;
}
