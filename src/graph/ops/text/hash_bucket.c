/* string_to_hash_bucket, string_to_hash_bucket_fast, string_to_hash_bucket_strong: a number from 0
 * to num_buckets - 1 for each string (tf.strings.to_hash_bucket and so on): the remainder of a
 * hash.
 *
 * The first is the 64-bit MurmurHash2 under TensorFlow's seed. The fast one is FarmHash's 64-bit
 * fingerprint, the same in every process and on every machine. The strong one is SipHash-2-4 under
 * a key of two 64-bit numbers, at which nobody can aim who does not know it. They fail in inference
 * on other dtypes than string, and where the key is none. No gradient, no locks. */
#include "file/wire.h"
#include "graph/support/array/moving.h"
#include "graph/support/text/texts.h"

struct hash_bucket_args {
    int64_t num_buckets;
    leati_ints key; /* of the strong hash alone */
};

#define BUCKET_ROW                                                                                 \
    {                                                                                              \
        .name = "num_buckets", .type = LEATI_ROW_INT, .flags = LEATI_REQUIRED,                     \
        .offset = offsetof(struct hash_bucket_args, num_buckets), .minimum = 1,                    \
        .maximum = INT64_MAX, .doc = "How many numbers there are, at least 1."                     \
    }

static const leati_row bucket_rows[] = {BUCKET_ROW, {0}};

static const leati_row strong_rows[] = {
    BUCKET_ROW,
    {.name = "key",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct hash_bucket_args, key),
     .doc = "Two numbers that choose the hash."},
    {0},
};

static leat_status infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_op_infer_output(call, LEAT_INT64, &call->inputs[0].shape, NULL, err);
}

typedef uint64_t (*hash_function)(const struct hash_bucket_args *args, const uint8_t *data,
                                  size_t size);

/* One row of the call. */
typedef struct hashing {
    const struct hash_bucket_args *args;
    hash_function hash;
    const leat_string *strings;
    int64_t *to;
} hashing;

static void hash_steps(void *data, int64_t begin, int64_t end) {
    const hashing *h = data;
    int64_t done = 0;
    for (int64_t i = begin; i < end; i++) {
        const leat_string *s = &h->strings[i];
        if (leati_stop_look_after(LEATI_TEXT_WORK + (int64_t)s->size / 8, &done))
            return;
        h->to[i] = (int64_t)(h->hash(h->args, (const uint8_t *)s->data, s->size) %
                             (uint64_t)h->args->num_buckets);
    }
}

enum { BYTES_OF_HASH = 256 }; /* that could be moved while a string is hashed */

/* The hash of each string, modulo num_buckets. */
static leat_status run(leati_kernel_call *call, hash_function hash, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        hashing h = {.args = call->args,
                     .hash = hash,
                     .strings = leati_text_strings_of(in, row),
                     .to = (int64_t *)(void *)leati_support_row_of(out, row)};
        leati_moving_share(in->count, BYTES_OF_HASH, hash_steps, &h);
    }
    return LEAT_OK;
}

/* ---- MurmurHash2 ---- */
static uint64_t murmur(const struct hash_bucket_args *args, const uint8_t *at, size_t size) {
    (void)args;
    /* MurmurHash64A by Austin Appleby; the seed is that of TensorFlow's Hash64. */
    const uint64_t by = UINT64_C(0xc6a4a7935bd1e995), seed = UINT64_C(0xDECAFCAFFE);
    uint64_t sum = seed ^ ((uint64_t)size * by);
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word = leati_wire_load64(at) * by;
        word = (word ^ word >> 47) * by;
        sum = (sum ^ word) * by;
    }
    /* The last 0 to 7 bytes, as a number with the lowest byte first. */
    for (size_t i = 0; i < size; i++)
        sum ^= (uint64_t)at[i] << (8 * i);
    if (size > 0)
        sum *= by;
    sum = (sum ^ sum >> 47) * by;
    return sum ^ sum >> 47;
}

/* ---- FarmHash's fingerprint ---- */
static uint64_t fingerprint(const struct hash_bucket_args *args, const uint8_t *s, size_t size) {
    (void)args;
    return leati_text_fingerprint(s, size);
}

/* ---- SipHash-2-4 ---- */
typedef struct sip {
    uint64_t a, b, c, d;
} sip;

static uint64_t rotate_left(uint64_t value, int by) {
    return value << by | value >> (64 - by);
}

static void rounds(sip *s, int count) {
    for (; count > 0; count--) {
        s->a += s->b;
        s->c += s->d;
        s->b = rotate_left(s->b, 13) ^ s->a;
        s->d = rotate_left(s->d, 16) ^ s->c;
        s->a = rotate_left(s->a, 32) + s->d;
        s->c += s->b;
        s->b = rotate_left(s->b, 17) ^ s->c;
        s->d = rotate_left(s->d, 21) ^ s->a;
        s->c = rotate_left(s->c, 32);
    }
}

/* SipHash takes a word into d, mixes by two rounds, and takes it into a. */
static void take(sip *s, uint64_t word) {
    s->d ^= word;
    rounds(s, 2);
    s->a ^= word;
}

static uint64_t sip_hash(const struct hash_bucket_args *args, const uint8_t *at, size_t size) {
    uint64_t key0 = (uint64_t)args->key.values[0], key1 = (uint64_t)args->key.values[1];
    /* The constants spell "somepseudorandomlygeneratedbytes". */
    sip s = {UINT64_C(0x736f6d6570736575) ^ key0, UINT64_C(0x646f72616e646f6d) ^ key1,
             UINT64_C(0x6c7967656e657261) ^ key0, UINT64_C(0x7465646279746573) ^ key1};
    /* The last word has the length's lowest byte at the top and up to 7 bytes of the rest. */
    uint64_t last = (uint64_t)size << 56;
    for (; size >= 8; size -= 8, at += 8)
        take(&s, leati_wire_load64(at));
    for (size_t i = 0; i < size; i++)
        last |= (uint64_t)at[i] << (8 * i);
    take(&s, last);
    /* SipHash-2-4: two rounds for each word, and four at the end. */
    s.c ^= 0xff;
    rounds(&s, 4);
    return s.a ^ s.b ^ s.c ^ s.d;
}

/* ---- the operations ---- */
/* ---- the operation ---- */
static leat_status strong_infer(leati_infer_call *call, leat_error *err) {
    const struct hash_bucket_args *args = call->args;
    LEATI_TRY(infer(call, err));
    if (args->key.count != 2)
        return leati_refuse(err, VALUE, "key has %d numbers; expected 2", (int)args->key.count);
    return LEAT_OK;
}

#define HASH_BUCKET(OP, HASH, ...)                                                                 \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return run(call, HASH, err);                                                               \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "input",                                                                         \
        .types = "string",                                                                         \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .args_size = sizeof(struct hash_bucket_args),                                              \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
HASH_BUCKET(string_to_hash_bucket, murmur,
            .doc = "A number below num_buckets for each string (tf.strings.to_hash_bucket).",
            .names = "strings.to_hash_bucket", .rows = bucket_rows, .infer = infer)
HASH_BUCKET(string_to_hash_bucket_fast, fingerprint,
            .doc = "A number below num_buckets for each string, the same everywhere "
                   "(tf.strings.to_hash_bucket_fast).",
            .names = "strings.to_hash_bucket_fast", .by_value = true, .rows = bucket_rows,
            .infer = infer)
HASH_BUCKET(string_to_hash_bucket_strong, sip_hash,
            .doc = "A number below num_buckets for each string, by a hash under a key "
                   "(tf.strings.to_hash_bucket_strong).",
            .names = "strings.to_hash_bucket_strong", .rows = strong_rows, .infer = strong_infer)
