/* Writing strings; see texts.h. Fails without memory. No locks. */
#include "graph/support/text/texts.h"

#include <string.h>

leat_status leati_text_write(leati_kernel_call *call, leati_text_function function,
                             leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    size_t total = 0;
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < out->count && !leati_stop_look_after(LEATI_TEXT_WORK, &done); i++)
            if (!leati_add_size(total, function(call, row, i, NULL), &total))
                return leati_no_memory(err);
    if (out->count == 0 || call->n == 0)
        return LEAT_OK;
    LEATI_TRY(leati_stop_check(err)); /* else sizes are missing */
    /* One piece for all rows: a block of short strings costs one allocation. */
    char *to = leati_op_kernel_text(call, 0, total, err);
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t row = 0; row < call->n; row++) {
        leat_string *strings = leati_text_strings_of(out, row);
        for (int64_t i = 0; i < out->count && !leati_stop_look_after(LEATI_TEXT_WORK, &done); i++) {
            size_t size = function(call, row, i, to);
            strings[i] = (leat_string){.data = to, .size = size};
            to += size;
        }
    }
    return LEAT_OK;
}

/* Gives every value its bytes out of one piece, by the sizes that are written in the strings. */
static leat_status hand_out(leati_kernel_call *call, const leati_writer *all, leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    char *to = leati_op_kernel_text(call, 0, all->size, err);
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_stop_copy(to, all->data, all->size);
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < out->count; i++) {
            leat_string *s = leati_text_strings_of(out, row) + i;
            s->data = to;
            to += s->size;
        }
    }
    return LEAT_OK;
}

leat_status leati_text_collect(leati_kernel_call *call, leati_text_writer writer, void *context,
                               leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    leati_writer all = {0};
    leat_status status = LEAT_OK;
    int64_t done = 0;
    if (out->count == 0 || call->n == 0)
        return LEAT_OK;
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++) {
        for (int64_t i = 0; i < out->count && status == LEAT_OK; i++) {
            size_t before = all.size;
            call->failed_row = row;
            if (leati_stop_look_after(LEATI_TEXT_WORK, &done))
                break;
            status = writer(call, row, i, context, &all, err);
            if (status == LEAT_OK && all.failed)
                status = leati_no_memory(err);
            /* Only the size is right for now: the buffer moves while it grows. */
            leati_text_strings_of(out, row)[i] =
                (leat_string){.data = "", .size = all.size - before};
        }
    }
    if (status == LEAT_OK) {
        /* What fails from here on is no row's fault. */
        call->failed_row = 0;
        status = hand_out(call, &all, err);
    }
    leati_writer_fini(&all);
    return status;
}

size_t leati_text_utf8_next(const char *at, const char *end, int32_t *point) {
    const unsigned char *s = (const unsigned char *)at;
    size_t left = (size_t)(end - at), size, i = 1;
    unsigned char low = 0x80, high = 0xbf; /* of the second byte */
    *point = s[0];
    if (s[0] < 0x80)
        return 1;
    *point = -1;
    /* 0x80 to 0xbf begin nothing, 0xc0 and 0xc1 longer forms of ASCII, 0xf5 lies beyond Unicode. */
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 1;
    size = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] == 0xe0 || s[0] == 0xf0)
        low = s[0] == 0xe0 ? 0xa0 : 0x90; /* shorter forms exist */
    if (s[0] == 0xed || s[0] == 0xf4)
        high = s[0] == 0xed ? 0x9f : 0x8f; /* surrogates, beyond Unicode */
    /* The first byte has as many bits at the top as bytes, then a 0, then bits of the point. */
    int32_t found = s[0] & (0x7f >> size);
    for (; i < size; i++) {
        if (i >= left || s[i] < low || s[i] > high)
            return i;
        found = found << 6 | (s[i] & 0x3f);
        low = 0x80;
        high = 0xbf;
    }
    *point = found;
    return size;
}

size_t leati_text_utf8_put(int32_t point, char *to) {
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, point >>= 6)
        to[i] = (char)(0x80 | (point & 0x3f));
    /* 0xc0, 0xe0 and 0xf0 of 2, 3 and 4 bytes. */
    to[0] = (char)((0xf00 >> size & 0xff) | point);
    return size;
}

leat_status leati_text_infer_parts(leati_infer_call *call, leat_dtype dtype, leat_dtype splits,
                                   leat_error *err) {
    leat_shape values = LEAT_SHAPE(LEAT_UNKNOWN_DIM), ends = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    const leat_shape *in = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_rank(call, 0, 1, "the input", err));
    /* Row splits are one more than rows. */
    if (in->rank == 1 && in->dims[0] >= 0 && in->dims[0] < INT64_MAX)
        ends.dims[0] = in->dims[0] + 1;
    LEATI_TRY(leati_op_infer_output(call, dtype, &values, NULL, err));
    return leati_op_infer_output(call, splits, &ends, NULL, err);
}
