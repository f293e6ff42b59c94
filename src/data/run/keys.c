/* Elements and their keys: see keys.h. A failure of the function costs its element, with code
 * INTERNAL where it would mean the end. No locks. */
#include "data/run/keys.h"
#include "base/minmax.h"
#include "data/run/apply.h"

enum { MOST_AHEAD = 256 };

leat_status leati_keys_check_function(const char *op, const char *argument,
                                      const leat_function *function, leat_spec *input,
                                      leat_error *err) {
    leat_status status = input == NULL
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leati_apply_check_function(op, argument, function, input, err);
    leat_spec_unref(input);
    if (status != LEAT_OK)
        return status;
    const leat_spec *output = leat_function_output(function);
    if (leat_spec_get_kind(output) != LEAT_SPEC_TENSOR || leat_spec_dtype(output) != LEAT_INT64 ||
        leat_spec_shape(output).rank != 0) {
        char text[128];
        leat_spec_print(output, text, sizeof(text));
        return leati_refuse(err, STRUCTURE, "%s: %s returns %s; expected an int64 scalar", op,
                            argument, text);
    }
    return LEAT_OK;
}

leat_status leati_key_row(int64_t key, leati_block *out, leat_error *err) {
    leat_tensor tensor = {0};
    leat_status status = leati_block_prepare(out, 1, err);
    if (status == LEAT_OK)
        status = leat_tensor_copy_of(LEAT_INT64, LEAT_SCALAR, &key, &tensor, err);
    if (status == LEAT_OK) {
        leati_column_constant(&out->columns[0], &tensor);
        out->n = 1;
    }
    leat_tensor_unref(&tensor);
    return status;
}

leat_status leati_keys_open(leati_keys *keys, leati_node_state *node, const leat_object *function,
                            leat_error *err) {
    leat_status status = leati_apply_open(&keys->function, function, err);
    /* A function with effects must not be called for an element that is not wanted yet. */
    keys->one_by_one = !node->dataset->pure;
    if (status == LEAT_OK) {
        status = leati_input_open(&keys->input, node, 0, err);
        keys->input.ends_at_error = true;
    }
    return status;
}

/* Computes the keys of the next `n` rows, at least one. */
static leat_status look(leati_keys *keys, leati_node_state *node, int64_t n, leat_error *err) {
    leat_status status =
        leati_run_rows(node, keys->function.program, keys->function.scratch, &keys->input.block,
                       leati_input_begin(&keys->input), n, keys->calls, &keys->block, err);
    keys->at = 0;
    /* Rows before a failing one are given out first; the failure is met when its turn comes. */
    keys->known = keys->block.n;
    if (keys->known > 0)
        return LEAT_OK;
    leati_apply_as_internal("key_func", err);
    return status;
}

leati_tail leati_keys_next(leati_keys *keys, leati_node_state *node, int64_t *key,
                           leat_error *err) {
    int64_t most = keys->one_by_one ? 1 : MOST_AHEAD, available = 0;
    leati_tail tail = leati_input_peek(&keys->input, most, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&keys->input, tail == LEATI_ERROR);
        return tail;
    }
    leat_error error = {0};
    if (keys->known == 0 && look(keys, node, LEATI_MIN(available, most), &error) != LEAT_OK) {
        leati_input_consume(&keys->input, 1);
        keys->calls++;
        *err = error;
        return LEATI_ERROR;
    }
    *key = *(const int64_t *)leati_column_row(&keys->block.columns[0], keys->at);
    return LEATI_MORE;
}

void leati_keys_consume(leati_keys *keys) {
    leati_input_consume(&keys->input, 1);
    keys->calls++;
    keys->at++;
    keys->known--;
}

leat_status leati_keys_reset(leati_keys *keys, leat_error *err) {
    keys->known = 0;
    return leati_input_reset(&keys->input, err);
}

void leati_keys_close(leati_keys *keys) {
    leati_input_close(&keys->input);
    leati_block_fini(&keys->block);
    leati_apply_close(&keys->function);
}
