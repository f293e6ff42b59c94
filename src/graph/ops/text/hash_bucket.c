/* string_to_hash_bucket, string_to_hash_bucket_fast, string_to_hash_bucket_strong: a number from 0
 * to num_buckets - 1 for each string (tf.strings.to_hash_bucket and so on): the remainder of a
 * hash.
 *
 * The first is the 64-bit MurmurHash2 under TensorFlow's seed. The fast one is FarmHash's 64-bit
 * fingerprint, the same in every process and on every machine: one formula each for strings of up
 * to 3, 7, 16, 32 and 64 bytes, and a loop over pieces of 64 bytes for longer ones, whose last
 * piece ends with the string and may overlap the one before. The strong one is SipHash-2-4 under a
 * key of two 64-bit numbers, at which nobody can aim who does not know it. They fail in inference
 * on other dtypes than string, and where the key is none. No gradient, no locks. */
#include "file/wire.h"
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

/* The hash of each string, modulo num_buckets. */
static leat_status run(leati_kernel_call *call, hash_function hash, leat_error *err) {
    const struct hash_bucket_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        const leat_string *strings = leati_text_strings_of(in, row);
        int64_t *to = (int64_t *)(void *)leati_support_row_of(out, row);
        for (int64_t i = 0;
             i < in->count &&
             !leati_stop_look_after(LEATI_TEXT_WORK + (int64_t)strings[i].size / 8, &done);
             i++)
            to[i] = (int64_t)(hash(args, (const uint8_t *)strings[i].data, strings[i].size) %
                              (uint64_t)args->num_buckets);
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
/* FarmHash's k0, k1 and k2: primes between 2^63 and 2^64. The functions below are its farmhashna,
 * where by is "mul"; their numbers have no other reason than that they mix well. */
#define K0 UINT64_C(0xc3a5c85c97cb3127)
#define K1 UINT64_C(0xb492b66fbe98f273)
#define K2 UINT64_C(0x9ae16a3b2f90404f)

/* The little-endian number of `size` bytes at `at`. */
static uint64_t load(const uint8_t *at, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static uint64_t rotate_right(uint64_t value, int by) {
    return value >> by | value << (64 - by);
}

static uint64_t fold(uint64_t value) {
    return value ^ value >> 47;
}

/* HashLen16 with a multiplier. */
static uint64_t mix(uint64_t u, uint64_t v, uint64_t by) {
    uint64_t a = fold((u ^ v) * by);
    return fold((v ^ a) * by) * by;
}

static uint64_t hash_to_16(const uint8_t *s, size_t size) {
    uint64_t by = K2 + 2 * (uint64_t)size;
    if (size >= 8) {
        /* The two words overlap where the string is shorter than 16 bytes. */
        uint64_t a = load(s, 8) + K2, b = load(s + size - 8, 8);
        return mix(rotate_right(b, 37) * by + a, (rotate_right(a, 25) + b) * by, by);
    }
    if (size >= 4)
        return mix(size + (load(s, 4) << 3), load(s + size - 4, 4), by);
    if (size == 0)
        return K2;
    /* First, middle and last byte: of one byte all three are the same. */
    uint64_t y = s[0] + ((uint64_t)s[size / 2] << 8), z = size + ((uint64_t)s[size - 1] << 2);
    return fold(y * K2 ^ z * K0) * K2;
}

/* HashLen17to32 and HashLen33to64, which begin alike but for one constant. */
static uint64_t hash_to_64(const uint8_t *s, size_t size) {
    uint64_t by = K2 + 2 * (uint64_t)size, b = load(s + 8, 8);
    uint64_t a = load(s, 8) * (size <= 32 ? K1 : K2);
    uint64_t c = load(s + size - 8, 8) * by, d = load(s + size - 16, 8) * K2;
    uint64_t y = rotate_right(a + b, 43) + rotate_right(c, 30) + d;
    uint64_t z = mix(y, a + rotate_right(b + K2, 18) + c, by);
    if (size <= 32)
        return z;
    uint64_t e = load(s + 16, 8) * by, f = load(s + 24, 8);
    uint64_t g = (y + load(s + size - 32, 8)) * by, h = (z + load(s + size - 24, 8)) * by;
    return mix(rotate_right(e + f, 43) + rotate_right(g, 30) + h, e + rotate_right(f + a, 18) + g,
               by);
}

typedef struct long_state {
    uint64_t x, y, z, v[2], w[2];
} long_state;

/* Takes 32 bytes into the pair `to`, which begins at a and b. */
static void take_half(uint64_t *to, const uint8_t *s, uint64_t a, uint64_t b) {
    uint64_t first = a + load(s, 8), last = load(s + 24, 8);
    uint64_t sum = first + load(s + 8, 8) + load(s + 16, 8);
    to[1] = rotate_right(b + first + last, 21) + rotate_right(sum, 44) + first;
    to[0] = sum + last;
}

/* Takes 64 bytes; `times` weighs what the last piece adds. */
static void take_piece(long_state *t, const uint8_t *s, uint64_t by, uint64_t times) {
    uint64_t x = rotate_right(t->x + t->y + t->v[0] + load(s + 8, 8), 37) * by;
    uint64_t y = rotate_right(t->y + t->v[1] + load(s + 48, 8), 42) * by;
    uint64_t z = rotate_right(t->z + t->w[0], 33) * by;
    x ^= t->w[1] * times;
    y += t->v[0] * times + load(s + 40, 8);
    take_half(t->v, s, t->v[1] * by, x + t->w[0]);
    take_half(t->w, s + 32, z + t->w[1], y + load(s + 16, 8));
    t->x = z;
    t->y = y;
    t->z = x;
}

static uint64_t fingerprint(const struct hash_bucket_args *args, const uint8_t *s, size_t size) {
    (void)args;
    if (size <= 16)
        return hash_to_16(s, size);
    if (size <= 64)
        return hash_to_64(s, size);
    /* 81 is FarmHash's seed, and x, y and z follow from it. */
    long_state t = {.x = 81 * K2 + load(s, 8), .y = 81 * K1 + 113};
    t.z = fold(t.y * K2 + 113) * K2;
    /* size - 1, as a string of whole pieces keeps one for the end, which has its own multiplier. */
    size_t rest = (size - 1) % 64;
    for (size_t at = 0; at < size - 1 - rest; at += 64)
        take_piece(&t, s + at, K1, 1);
    /* An odd multiplier, as K1 is odd and what is added even. */
    uint64_t by = K1 + ((t.z & 255) << 1);
    t.w[0] += rest;
    t.v[0] += t.w[0];
    t.w[0] += t.v[0];
    take_piece(&t, s + size - 64, by, 9);
    return mix(mix(t.v[0], t.w[0], by) + fold(t.y) * K0 + t.z, mix(t.v[1], t.w[1], by) + t.x, by);
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
