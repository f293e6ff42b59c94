/* string_to_hash_bucket_strong: a number from 0 to num_buckets - 1 for each string, which nobody
 * can aim at who does not know the key (tf.strings.to_hash_bucket_strong).
 *
 * It is the remainder of SipHash-2-4 under a key of two 64-bit numbers. Fails in inference where
 * the key is none. No gradient, no locks. */
#include "graph/support/text/hash_bucket.h"

#include "file/wire.h"

static const leati_row string_to_hash_bucket_strong_rows[] = {
    LEATI_HASH_BUCKET_ROW,
    {.name = "key",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_hash_bucket_args, key),
     .doc = "Two numbers that choose the hash."},
    {0},
};

/* ---- SipHash-2-4 ---- */
typedef struct sip {
    uint64_t a, b, c, d;
} sip;

static uint64_t rotate(uint64_t value, int by) {
    return value << by | value >> (64 - by);
}

static void rounds(sip *s, int count) {
    for (; count > 0; count--) {
        s->a += s->b;
        s->c += s->d;
        s->b = rotate(s->b, 13) ^ s->a;
        s->d = rotate(s->d, 16) ^ s->c;
        s->a = rotate(s->a, 32) + s->d;
        s->c += s->b;
        s->b = rotate(s->b, 17) ^ s->c;
        s->d = rotate(s->d, 21) ^ s->a;
        s->c = rotate(s->c, 32);
    }
}

static void take(sip *s, uint64_t word) {
    s->d ^= word;
    rounds(s, 2);
    s->a ^= word;
}

static uint64_t hash(const struct leati_hash_bucket_args *args, const uint8_t *at, size_t size) {
    uint64_t key0 = (uint64_t)args->key.values[0], key1 = (uint64_t)args->key.values[1];
    sip s = {UINT64_C(0x736f6d6570736575) ^ key0, UINT64_C(0x646f72616e646f6d) ^ key1,
             UINT64_C(0x6c7967656e657261) ^ key0, UINT64_C(0x7465646279746573) ^ key1};
    uint64_t last = (uint64_t)size << 56;
    for (; size >= 8; size -= 8, at += 8)
        take(&s, leati_wire_load64(at));
    for (size_t i = 0; i < size; i++)
        last |= (uint64_t)at[i] << (8 * i);
    take(&s, last);
    s.c ^= 0xff;
    rounds(&s, 4);
    return s.a ^ s.b ^ s.c ^ s.d;
}

/* ---- the operation ---- */
static leat_status string_to_hash_bucket_strong_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_hash_bucket_args *args = call->args;
    LEATI_TRY(leati_hash_bucket_infer(call, err));
    if (args->key.count != 2)
        return leati_refuse(err, VALUE, "key has %d numbers; expected 2", (int)args->key.count);
    return LEAT_OK;
}

static leat_status string_to_hash_bucket_strong_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_hash_bucket_kernel(call, hash, err);
}

leat_value leat_op_string_to_hash_bucket_strong(leat_value input, int64_t num_buckets,
                                                const int64_t key[2]) {
    struct leati_hash_bucket_args args = {
        .num_buckets = num_buckets,
        .key = {.values = (int64_t *)(uintptr_t)key, .count = 2},
    };
    return leati_graph_build1(&leati_tensor_op_string_to_hash_bucket_strong, &args, input);
}

const leati_tensor_op leati_tensor_op_string_to_hash_bucket_strong = {
    .name = "string_to_hash_bucket_strong",
    .version = 1,
    .doc = "A number below num_buckets for each string, by a hash under a key "
           "(tf.strings.to_hash_bucket_strong).",
    .names = "strings.to_hash_bucket_strong",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = string_to_hash_bucket_strong_rows,
    .args_size = sizeof(struct leati_hash_bucket_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_to_hash_bucket_strong_infer,
    .kernel = string_to_hash_bucket_strong_kernel,
};
