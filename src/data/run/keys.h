/* An input whose elements have keys: what group_by_window and group_by_reducer share. */
#ifndef LEATI_DATA_RUN_KEYS_H
#define LEATI_DATA_RUN_KEYS_H

#include "data/run/apply.h"
#include "data/run/input.h"

/* Does `function`, argument `argument` of `op`, take `input` (given; NULL: no memory) and return an
 * int64 scalar? INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_keys_check_function(const char *op, const char *argument,
                                                       const leat_function *function,
                                                       leat_spec *input, leat_error *err);

/* `out` becomes one row: a key. */
LEAT_WARN_UNUSED leat_status leati_key_row(int64_t key, leati_block *out, leat_error *err);

/* Part of an operator's state; {0} is closed. Keys are computed for many elements at once where
 * nobody sees it. */
typedef struct leati_keys {
    leati_input input;
    int64_t calls; /* elements consumed, those included whose key failed */
    leati_called function;
    leati_block block; /* of the input's next rows, `known` of them from `at` on */
    int64_t at, known;
    bool one_by_one;
} leati_keys;

/* Opens input 0 of `node`; `function` gives the keys. */
LEAT_WARN_UNUSED leat_status leati_keys_open(leati_keys *keys, leati_node_state *node,
                                             const leat_object *function, leat_error *err);
/* MORE: row leati_input_begin(&keys->input) of the input's block has *key, and is to be consumed
 * with leati_keys_consume. ERROR: of the input or of the function, consumed. END. */
leati_tail leati_keys_next(leati_keys *keys, leati_node_state *node, int64_t *key, leat_error *err);
void leati_keys_consume(leati_keys *keys);
LEAT_WARN_UNUSED leat_status leati_keys_reset(leati_keys *keys, leat_error *err);
void leati_keys_close(leati_keys *keys);

#endif
