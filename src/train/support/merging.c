/* What the merging layers share. Failures: INVALID_ARGUMENT for one input alone, and what the
 * operation reports. No state, no locks. */
#include "train/support/merging.h"
#include "graph/support/support.h"

const leati_row leati_merging_rows[] = {
    LEATI_LAYER_NAME,
    {0},
};

leat_value leati_merging_merge(const leati_pass *pass, leat_value (*join)(leat_value, leat_value)) {
    leat_value joined = pass->inputs[0];
    int32_t rank = 0;
    for (int i = 0; i < pass->num_inputs; i++) {
        int32_t own = leat_value_shape(pass->inputs[i]).rank;
        rank = own > rank ? own : rank;
    }
    for (int i = 0; i < pass->num_inputs; i++) {
        leat_value next = pass->inputs[i];
        for (int32_t own = leat_value_shape(next).rank; own < rank; own++)
            next = leat_op_expand_dims(next, 1);
        joined = i == 0 ? next : join(joined, next);
    }
    return joined;
}
