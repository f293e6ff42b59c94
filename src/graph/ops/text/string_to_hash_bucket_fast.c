/* string_to_hash_bucket_fast: a number from 0 to num_buckets - 1 for each string, the same in every
 * process and on every machine (tf.strings.to_hash_bucket_fast).
 *
 * It is the remainder of FarmHash's 64-bit fingerprint: one formula each for strings of up to 3, 7,
 * 16, 32 and 64 bytes, and a loop over pieces of 64 bytes for longer ones, whose last piece ends
 * with the string and may overlap the one before. Fails in inference on other dtypes than string.
 * No gradient, no locks. */
#include "graph/support/text/hash_bucket.h"

static const leati_row string_to_hash_bucket_fast_rows[] = {
    LEATI_HASH_BUCKET_ROW,
    {0},
};

/* ---- the fingerprint ---- */
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

static uint64_t rotate(uint64_t value, int by) {
    return value >> by | value << (64 - by);
}

static uint64_t fold(uint64_t value) {
    return value ^ value >> 47;
}

static uint64_t mix(uint64_t u, uint64_t v, uint64_t by) {
    uint64_t a = fold((u ^ v) * by);
    return fold((v ^ a) * by) * by;
}

static uint64_t hash_to_16(const uint8_t *s, size_t size) {
    uint64_t by = K2 + 2 * (uint64_t)size;
    if (size >= 8) {
        uint64_t a = load(s, 8) + K2, b = load(s + size - 8, 8);
        return mix(rotate(b, 37) * by + a, (rotate(a, 25) + b) * by, by);
    }
    if (size >= 4)
        return mix(size + (load(s, 4) << 3), load(s + size - 4, 4), by);
    if (size == 0)
        return K2;
    uint64_t y = s[0] + ((uint64_t)s[size / 2] << 8), z = size + ((uint64_t)s[size - 1] << 2);
    return fold(y * K2 ^ z * K0) * K2;
}

static uint64_t hash_to_64(const uint8_t *s, size_t size) {
    uint64_t by = K2 + 2 * (uint64_t)size, b = load(s + 8, 8);
    uint64_t a = load(s, 8) * (size <= 32 ? K1 : K2);
    uint64_t c = load(s + size - 8, 8) * by, d = load(s + size - 16, 8) * K2;
    uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
    uint64_t z = mix(y, a + rotate(b + K2, 18) + c, by);
    if (size <= 32)
        return z;
    uint64_t e = load(s + 16, 8) * by, f = load(s + 24, 8);
    uint64_t g = (y + load(s + size - 32, 8)) * by, h = (z + load(s + size - 24, 8)) * by;
    return mix(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, by);
}

typedef struct long_state {
    uint64_t x, y, z, v[2], w[2];
} long_state;

/* Takes 32 bytes into the pair `to`, which begins at a and b. */
static void take_half(uint64_t *to, const uint8_t *s, uint64_t a, uint64_t b) {
    uint64_t first = a + load(s, 8), last = load(s + 24, 8);
    uint64_t sum = first + load(s + 8, 8) + load(s + 16, 8);
    to[1] = rotate(b + first + last, 21) + rotate(sum, 44) + first;
    to[0] = sum + last;
}

/* Takes 64 bytes; `times` weighs what the last piece adds. */
static void take_piece(long_state *t, const uint8_t *s, uint64_t by, uint64_t times) {
    uint64_t x = rotate(t->x + t->y + t->v[0] + load(s + 8, 8), 37) * by;
    uint64_t y = rotate(t->y + t->v[1] + load(s + 48, 8), 42) * by;
    uint64_t z = rotate(t->z + t->w[0], 33) * by;
    x ^= t->w[1] * times;
    y += t->v[0] * times + load(s + 40, 8);
    take_half(t->v, s, t->v[1] * by, x + t->w[0]);
    take_half(t->w, s + 32, z + t->w[1], y + load(s + 16, 8));
    t->x = z;
    t->y = y;
    t->z = x;
}

static uint64_t fingerprint(const struct leati_hash_bucket_args *args, const uint8_t *s,
                            size_t size) {
    (void)args;
    if (size <= 16)
        return hash_to_16(s, size);
    if (size <= 64)
        return hash_to_64(s, size);
    long_state t = {.x = 81 * K2 + load(s, 8), .y = 81 * K1 + 113};
    t.z = fold(t.y * K2 + 113) * K2;
    size_t rest = (size - 1) % 64;
    for (size_t at = 0; at < size - 1 - rest; at += 64)
        take_piece(&t, s + at, K1, 1);
    uint64_t by = K1 + ((t.z & 255) << 1);
    t.w[0] += rest;
    t.v[0] += t.w[0];
    t.w[0] += t.v[0];
    take_piece(&t, s + size - 64, by, 9);
    return mix(mix(t.v[0], t.w[0], by) + fold(t.y) * K0 + t.z, mix(t.v[1], t.w[1], by) + t.x, by);
}

/* ---- the operation ---- */
static leat_status string_to_hash_bucket_fast_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_hash_bucket_kernel(call, fingerprint, err);
}

leat_value leat_op_string_to_hash_bucket_fast(leat_value input, int64_t num_buckets) {
    struct leati_hash_bucket_args args = {.num_buckets = num_buckets};
    return leati_graph_build1(&leati_tensor_op_string_to_hash_bucket_fast, &args, input);
}

const leati_tensor_op leati_tensor_op_string_to_hash_bucket_fast = {
    .name = "string_to_hash_bucket_fast",
    .version = 1,
    .doc = "A number below num_buckets for each string, the same everywhere "
           "(tf.strings.to_hash_bucket_fast).",
    .names = "strings.to_hash_bucket_fast",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = string_to_hash_bucket_fast_rows,
    .args_size = sizeof(struct leati_hash_bucket_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = leati_hash_bucket_infer,
    .kernel = string_to_hash_bucket_fast_kernel,
};
