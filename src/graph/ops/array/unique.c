/* unique, unique_with_counts: the values of a vector without repetitions, in the order of their
 * first places, for each value its number among them, and how often each occurs (tf.unique,
 * tf.unique_with_counts).
 *
 * How many there are is data, so rows run one at a time. Values are compared by their bytes,
 * float32 and float64 zeros of either sign alike; every NaN is a value of its own. A hash
 * table of twice as many slots as values lies in the call's arena. They fail where the input is no
 * vector. No gradient, no state, no locks. */
#include "base/hash.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "core/half.h"
#include "core/tensor.h"
#include "graph/support/text/texts.h"

#include <math.h>
#include <string.h>

struct unique_args {
    leat_dtype out_idx;
};

static const leati_row unique_rows[] = {
    {.name = "out_idx",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct unique_args, out_idx),
     .default_number = LEAT_INT32,
     .doc = "The dtype of the numbers: int32 or int64."},
    {0},
};

/* Outputs: the values, each place's number among them and, with `counts`, how often each occurs. */
static leat_status infer(leati_infer_call *call, bool counts, leat_error *err) {
    const struct unique_args *args = call->args;
    leat_shape values = LEAT_SHAPE(LEAT_UNKNOWN_DIM), numbers = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (leati_dtype_is_complex(call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "the input is %s; expected real numbers, bool or strings",
                            leat_dtype_name(call->inputs[0].dtype));
    LEATI_TRY(leati_support_want_rank(call, 0, 1, "the input", err));
    if (args->out_idx != LEAT_INT32 && args->out_idx != LEAT_INT64)
        return leati_refuse(err, DTYPE, "out_idx is %s; expected int32 or int64",
                            leat_dtype_name(args->out_idx));
    if (call->inputs[0].shape.rank == 1)
        numbers = call->inputs[0].shape;
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &values, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, args->out_idx, &numbers, NULL, err));
    return counts ? leati_op_infer_output(call, args->out_idx, &values, NULL, err) : LEAT_OK;
}

/* A value's bytes, equal for equal values; `own`: no other equals it. */
typedef struct key {
    const void *bytes;
    size_t size;
    bool own;
} key;

static key key_of(const leati_operand *in, int64_t i) {
    /* Zeros of either sign point here; a float32 reads half of the bytes. */
    static const double zero = 0;
    size_t size = leat_dtype_size(in->dtype);
    const char *at = in->data + (size_t)i * size;
    if (in->dtype == LEAT_STRING) {
        const leat_string *s = (const leat_string *)(const void *)at;
        /* An empty string may have no data. */
        return (key){.bytes = s->size > 0 ? s->data : "", .size = s->size};
    }
    /* 1 stands for integers and others, which are compared as they lie. */
    double x = 1;
    if (in->dtype == LEAT_FLOAT32)
        x = (double)*(const float *)(const void *)at;
    else if (in->dtype == LEAT_FLOAT64)
        x = *(const double *)(const void *)at;
    else if (in->dtype == LEAT_FLOAT16) /* zeros of 16 bits are told apart by their sign */
        x = isnan(leati_float_of_half(*(const uint16_t *)(const void *)at)) ? NAN : 1;
    else if (in->dtype == LEAT_BFLOAT16)
        x = isnan(leati_float_of_bfloat16(*(const uint16_t *)(const void *)at)) ? NAN : 1;
    return (key){.bytes = x == 0 ? (const void *)&zero : at, .size = size, .own = isnan(x)};
}

/* Fills `numbers` (of each place) and `places` (of each new value); how many values there are.
 * `slots` are numbers of values plus one, 0 where empty; `mask` is their count less one. */
static int64_t find_unique(const leati_operand *in, int64_t *numbers, int64_t *places,
                           int64_t *slots, uint64_t mask) {
    int64_t count = 0;
    int64_t done = 0;
    for (int64_t i = 0; i < in->count && !leati_stop_look_after(16, &done); i++) {
        key k = key_of(in, i);
        /* NaNs start at different slots: otherwise each would walk past all those before it. */
        uint64_t at = leati_hash(k.bytes, k.size, (uint64_t)(k.own ? i : 0)) & mask;
        /* Linear probing; at least half of the slots are empty, so this ends. */
        for (; slots[at] > 0; at = (at + 1) & mask) {
            key other = key_of(in, places[slots[at] - 1]);
            if (!k.own && !other.own && k.size == other.size &&
                memcmp(k.bytes, other.bytes, k.size) == 0)
                break;
        }
        if (slots[at] == 0) {
            places[count] = i;
            slots[at] = ++count;
        }
        numbers[i] = slots[at] - 1;
    }
    return count;
}

/* ---- numbers of up to 8 bytes ---- */

/* Value i as bits that are equal for equal values; false: it is a NaN, which equals nothing. */
static inline bool bits_of(const leati_operand *in, int64_t i, uint64_t *out) {
    const char *at = in->data;
    switch (in->dtype) {
    case LEAT_FLOAT32: {
        float x = ((const float *)(const void *)at)[i];
        uint32_t bits = 0; /* of zeros of either sign */
        if (x != 0)
            memcpy(&bits, &x, sizeof bits);
        *out = bits;
        return !isnan(x);
    }
    case LEAT_FLOAT64: {
        double x = ((const double *)(const void *)at)[i];
        *out = 0;
        if (x != 0)
            memcpy(out, &x, sizeof x);
        return !isnan(x);
    }
    case LEAT_INT32:
    case LEAT_UINT32: *out = ((const uint32_t *)(const void *)at)[i]; return true;
    default: *out = ((const uint64_t *)(const void *)at)[i]; return true;
    }
}

static bool has_bits(leat_dtype dtype) {
    return dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64 || dtype == LEAT_INT32 ||
           dtype == LEAT_UINT32 || dtype == LEAT_INT64 || dtype == LEAT_UINT64;
}

/* The same as find_unique. Of 4 bytes a slot has the value as well, so that it is compared where it
 * is found; there are less than 2^32 of them. NaNs need no slot. */
static int64_t find_unique_bits(const leati_operand *in, int64_t *numbers, int64_t *places,
                                int64_t *slots, uint64_t mask) {
    bool narrow = leat_dtype_size(in->dtype) == 4 && in->count < UINT32_MAX;
    uint64_t low = narrow ? UINT32_MAX : UINT64_MAX;
    int64_t count = 0, done = 0;
    for (int64_t i = 0; i < in->count && !leati_stop_look_after(8, &done); i++) {
        uint64_t bits = 0, other = 0;
        bool own = !bits_of(in, i, &bits);
        /* The upper half of the product depends on all bits. */
        uint64_t at = ((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32 ^ bits) & mask;
        for (; !own && slots[at] != 0; at = (at + 1) & mask) {
            if (narrow)
                other = (uint64_t)slots[at] >> 32;
            else
                (void)bits_of(in, places[slots[at] - 1], &other);
            if (other == bits)
                break;
        }
        if (own || slots[at] == 0) {
            places[count++] = i;
            if (!own)
                slots[at] = (int64_t)((narrow ? bits << 32 : 0) | (uint64_t)count);
            numbers[i] = count - 1;
        } else {
            numbers[i] = (int64_t)((uint64_t)slots[at] & low) - 1;
        }
    }
    return count;
}

static void store(const leati_operand *out, int64_t i, int64_t number) {
    if (out->dtype == LEAT_INT32)
        ((int32_t *)(void *)out->data)[i] = (int32_t)number;
    else
        ((int64_t *)(void *)out->data)[i] = number;
}

static leat_status run(leati_kernel_call *call, bool counts, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    if (in->rank != 1)
        return leati_refuse(err, SHAPE, "the input has rank %d; expected rank 1", (int)in->rank);
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)in->count)
        slots *= 2;
    /* Slots, the number of each place, and the place of each value, in one piece. */
    size_t words = (size_t)slots + 2 * (size_t)in->count, bytes = 0;
    if (!leati_mul_size(words, sizeof(int64_t), &bytes))
        return leati_no_memory(err);
    int64_t *memory = leati_arena_alloc(call->arena, bytes);
    if (memory == NULL)
        return leati_no_memory(err);
    /* Piece by piece: new pages cost more than what is put into them. */
    for (size_t at = 0; at < bytes && !leati_stop_look(); at += LEATI_STOP_WORK)
        memset((char *)memory + at, 0, LEATI_MIN(bytes - at, (size_t)LEATI_STOP_WORK));
    LEATI_TRY(leati_stop_check(err)); /* else slots are not empty */
    int64_t *numbers = memory + slots, *places = numbers + in->count;
    int64_t (*find)(const leati_operand *, int64_t *, int64_t *, int64_t *, uint64_t) =
        has_bits(in->dtype) ? find_unique_bits : find_unique;
    leat_shape found = LEAT_SHAPE(find(in, numbers, places, memory, slots - 1));
    LEATI_TRY(leati_stop_check(err)); /* else places are missing */
    leat_shape all = leati_support_operand_shape(in);
    size_t size = leat_dtype_size(in->dtype);
    LEATI_TRY(leati_support_output_like(call, 0, &found, err));
    LEATI_TRY(leati_support_output_like(call, 1, &all, err));
    for (int64_t i = 0; i < found.dims[0]; i++)
        memcpy(call->outputs[0].data + (size_t)i * size, in->data + (size_t)places[i] * size, size);
    for (int64_t i = 0; i < in->count; i++)
        store(&call->outputs[1], i, numbers[i]);
    if (counts) {
        memset(memory, 0, (size_t)found.dims[0] * sizeof *memory); /* the slots are done with */
        for (int64_t i = 0; i < in->count; i++)
            memory[numbers[i]]++;
        LEATI_TRY(leati_support_output_like(call, 2, &found, err));
        for (int64_t i = 0; i < found.dims[0]; i++)
            store(&call->outputs[2], i, memory[i]);
    }
    return leati_support_hold_strings(call, 0, err);
}

#define UNIQUE(OP, COUNTS, ...)                                                                    \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        return infer(call, COUNTS, err);                                                           \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return run(call, COUNTS, err);                                                             \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .inputs = "x",                                                                             \
        .types = "T",                                                                              \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = unique_rows,                                                                       \
        .args_size = sizeof(struct unique_args),                                                   \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
UNIQUE(unique, false,
       .doc = "The values of a vector without repetitions, and for each value its number among "
              "them (tf.unique).",
       .outputs = "Unique(y idx)")
UNIQUE(unique_with_counts, true,
       .doc = "The values of a vector without repetitions, for each value its number among them, "
              "and how often each occurs (tf.unique_with_counts).",
       .outputs = "UniqueWithCounts(y idx count)")
