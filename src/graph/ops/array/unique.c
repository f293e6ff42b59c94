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

static void store(const leati_operand *out, int64_t i, int64_t number) {
    if (out->dtype == LEAT_INT32)
        ((int32_t *)(void *)out->data)[i] = (int32_t)number;
    else
        ((int64_t *)(void *)out->data)[i] = number;
}

/* ---- the table ---- */

/* The values that were found. A slot has a value's number plus one, 0 where it is empty; of values
 * of 4 bytes the value as well, so that it is compared where it is found. There are twice as many
 * slots as values or more: it grows with what is found, as new pages cost more than looking. */
typedef struct table {
    const leati_operand *in;
    leati_arena *arena;
    int64_t *slots,
        *places;        /* places: where each value was first; room for half as many as slots */
    uint64_t size, low; /* slots, a power of two; the bits of a slot that are a number */
    int64_t count;
    bool bits; /* values are compared as bits */
} table;

enum { FIRST_SLOTS = 1 << 10, MANY_SLOTS = 1 << 20 };

static uint64_t slot_of_bits(uint64_t bits) {
    /* The upper half of the product depends on all bits. */
    return (bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32 ^ bits;
}

/* NaNs start at different slots: otherwise each would walk past all those before it. */
static uint64_t slot_of_key(const key *k, int64_t place) {
    return leati_hash(k->bytes, k->size, (uint64_t)(k->own ? place : 0));
}

static int64_t word_of(const table *t, uint64_t bits, int64_t number) {
    return (int64_t)((t->low == UINT32_MAX ? bits << 32 : 0) | (uint64_t)(number + 1));
}

/* Puts the values that were found into more slots, which are empty. */
static void table_fill(table *t) {
    uint64_t mask = t->size - 1, bits = 0;
    for (int64_t i = 0, done = 0; i < t->count && !leati_stop_look_after(16, &done); i++) {
        key k = {0};
        if (t->bits && !bits_of(t->in, t->places[i], &bits))
            continue;
        if (!t->bits)
            k = key_of(t->in, t->places[i]);
        uint64_t at = (t->bits ? slot_of_bits(bits) : slot_of_key(&k, t->places[i])) & mask;
        while (t->slots[at] != 0)
            at = (at + 1) & mask;
        t->slots[at] = word_of(t, bits, i);
    }
}

/* Room for one more value. */
static leat_status table_grow(table *t, leat_error *err) {
    if (t->size > 2 * (uint64_t)t->count + 1)
        return LEAT_OK;
    uint64_t size = t->size == 0 ? FIRST_SLOTS : t->size * (t->size < MANY_SLOTS ? 4 : 2);
    size_t bytes = 0;
    if (!leati_mul_size(size, sizeof *t->slots, &bytes))
        return leati_no_memory(err);
    int64_t *slots = leati_arena_alloc(t->arena, bytes);
    int64_t *places = leati_arena_alloc(t->arena, bytes / 2);
    if (slots == NULL || places == NULL)
        return leati_no_memory(err);
    for (size_t at = 0; at < bytes && !leati_stop_look(); at += LEATI_STOP_WORK)
        memset((char *)slots + at, 0, LEATI_MIN(bytes - at, (size_t)LEATI_STOP_WORK));
    LEATI_TRY(leati_stop_check(err)); /* else slots are not empty */
    if (t->count > 0)
        memcpy(places, t->places, (size_t)t->count * sizeof *places);
    t->slots = slots;
    t->places = places;
    t->size = size;
    table_fill(t);
    return LEAT_OK;
}

/* Stores the number of each value, and notes where each new one is. */
static leat_status find_unique(table *t, const leati_operand *numbers, leat_error *err) {
    const leati_operand *in = t->in;
    int64_t done = 0;
    for (int64_t i = 0; i < in->count && !leati_stop_look_after(16, &done); i++) {
        LEATI_TRY(table_grow(t, err));
        key k = key_of(in, i);
        uint64_t mask = t->size - 1, at = slot_of_key(&k, i) & mask;
        /* Linear probing; at least half of the slots are empty, so this ends. */
        for (; t->slots[at] > 0; at = (at + 1) & mask) {
            key other = key_of(in, t->places[t->slots[at] - 1]);
            if (!k.own && !other.own && k.size == other.size &&
                memcmp(k.bytes, other.bytes, k.size) == 0)
                break;
        }
        if (t->slots[at] == 0) {
            t->places[t->count] = i;
            t->slots[at] = ++t->count;
        }
        store(numbers, i, t->slots[at] - 1);
    }
    return LEAT_OK;
}

/* The same of bits. NaNs need no slot. */
static leat_status find_unique_bits(table *t, const leati_operand *numbers, leat_error *err) {
    const leati_operand *in = t->in;
    for (int64_t i = 0, done = 0; i < in->count && !leati_stop_look_after(8, &done); i++) {
        uint64_t bits = 0, other = 0;
        bool own = !bits_of(in, i, &bits);
        LEATI_TRY(table_grow(t, err));
        uint64_t mask = t->size - 1, at = slot_of_bits(bits) & mask;
        for (; !own && t->slots[at] != 0; at = (at + 1) & mask) {
            if (t->low == UINT32_MAX)
                other = (uint64_t)t->slots[at] >> 32;
            else
                (void)bits_of(in, t->places[t->slots[at] - 1], &other);
            if (other == bits)
                break;
        }
        if (own || t->slots[at] == 0) {
            if (!own)
                t->slots[at] = word_of(t, bits, t->count);
            t->places[t->count] = i;
            store(numbers, i, t->count++);
        } else {
            store(numbers, i, (int64_t)((uint64_t)t->slots[at] & t->low) - 1);
        }
    }
    return LEAT_OK;
}

/* How often each value occurs, in its slots. */
static leat_status count_values(leati_kernel_call *call, int64_t *counts, int64_t values,
                                leat_error *err) {
    const leati_operand *numbers = &call->outputs[1];
    leat_shape found = LEAT_SHAPE(values);
    if (values > 0)
        memset(counts, 0, (size_t)values * sizeof *counts);
    for (int64_t i = 0; i < numbers->count; i++)
        counts[leati_support_index_at(numbers, 0, i)]++;
    LEATI_TRY(leati_support_output_like(call, 2, &found, err));
    for (int64_t i = 0; i < values; i++)
        store(&call->outputs[2], i, counts[i]);
    return LEAT_OK;
}

static leat_status run(leati_kernel_call *call, bool counts, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape all = leati_support_operand_shape(in);
    size_t size = leat_dtype_size(in->dtype);
    if (in->rank != 1)
        return leati_refuse(err, SHAPE, "the input has rank %d; expected rank 1", (int)in->rank);
    /* Of 4 bytes there are less than 2^32 values. */
    bool narrow = has_bits(in->dtype) && size == 4 && in->count < UINT32_MAX;
    table t = {.in = in,
               .arena = call->arena,
               .low = narrow ? UINT32_MAX : UINT64_MAX,
               .bits = has_bits(in->dtype)};
    LEATI_TRY(leati_support_output_like(call, 1, &all, err));
    LEATI_TRY((t.bits ? find_unique_bits : find_unique)(&t, &call->outputs[1], err));
    LEATI_TRY(leati_stop_check(err)); /* else places are missing */
    leat_shape found = LEAT_SHAPE(t.count);
    LEATI_TRY(leati_support_output_like(call, 0, &found, err));
    for (int64_t i = 0; i < t.count; i++)
        memcpy(call->outputs[0].data + (size_t)i * size, in->data + (size_t)t.places[i] * size,
               size);
    if (counts)
        LEATI_TRY(count_values(call, t.slots, t.count, err)); /* the slots are done with */
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
