/* Writing strings; see texts.h. Fails without memory. No locks. */
#include "graph/ops/texts.h"

leat_status leati_write_texts(leati_kernel_call *call, leati_text_function function,
                              leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    size_t total = 0;
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < out->count; i++)
            if (!leati_add_size(total, function(call, row, i, NULL), &total))
                return leati_no_memory(err, SIZE_MAX);
    if (out->count == 0 || call->n == 0)
        return LEAT_OK;
    char *to = leati_kernel_text(call, 0, total, err);
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t row = 0; row < call->n; row++) {
        leat_string *strings = leati_strings_of(out, row);
        for (int64_t i = 0; i < out->count; i++) {
            size_t size = function(call, row, i, to);
            strings[i] = (leat_string){.data = to, .size = size};
            to += size;
        }
    }
    return LEAT_OK;
}
