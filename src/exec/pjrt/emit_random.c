/* Random numbers of a seed as StableHLO: the Philox stream of the CPU, in 32-bit words.
 *
 * Uniform numbers and integers are the CPU's bit for bit; of normal ones the words are, and what
 * the device's logarithm, sine and cosine make of them. Everything is a vector over the blocks of
 * four words that the call takes. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/draw.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "graph/support/random/random.h"
#include <string.h>

typedef struct stream {
    leati_hlo_value counter[4], key[2]; /* scalars, uint32 */
} stream;

static leati_hlo_value binary(leati_emit *emit, const char *name, leati_hlo_value a,
                              leati_hlo_value b) {
    return leati_hlo_binary(&emit->hlo, name, a, b);
}

static leati_hlo_value word(leati_emit *emit, uint32_t number, leati_hlo_value like) {
    return leati_hlo_fill_like(&emit->hlo, number, like);
}

/* The lower and the upper half of 64-bit numbers. */
static void halve(leati_emit *emit, leati_hlo_value wide, leati_hlo_value *low,
                  leati_hlo_value *high) {
    leati_hlo_value by = leati_hlo_fill_like(&emit->hlo, 32, wide);
    *low = leati_hlo_convert(&emit->hlo, wide, LEAT_UINT32);
    wide = binary(emit, "shift_right_logical", wide, by);
    *high = leati_hlo_convert(&emit->hlo, wide, LEAT_UINT32);
}

/* The halves of word times a number. */
static void product(leati_emit *emit, leati_hlo_value x, uint32_t number, leati_hlo_value *low,
                    leati_hlo_value *high) {
    leati_hlo_value wide = leati_hlo_convert(&emit->hlo, x, LEAT_UINT64);
    halve(emit, binary(emit, "multiply", wide, word(emit, number, wide)), low, high);
}

/* Ten rounds of Philox 4x32: the blocks at the counters. */
static void philox(leati_emit *emit, leati_hlo_value counter[4], leati_hlo_value key[2]) {
    for (int round = 0; round < 10; round++) {
        leati_hlo_value low[2], high[2];
        product(emit, counter[0], 0xD2511F53u, &low[0], &high[0]);
        product(emit, counter[2], 0xCD9E8D57u, &low[1], &high[1]);
        counter[0] = binary(emit, "xor", binary(emit, "xor", high[1], counter[1]), key[0]);
        counter[1] = low[1];
        counter[2] = binary(emit, "xor", binary(emit, "xor", high[0], counter[3]), key[1]);
        counter[3] = low[0];
        key[0] = binary(emit, "add", key[0], word(emit, 0x9E3779B9u, key[0]));
        key[1] = binary(emit, "add", key[1], word(emit, 0xBB67AE85u, key[1]));
    }
}

/* Number i of the seed, as 64 bits. */
static leati_hlo_value seed_at(leati_emit *emit, leati_hlo_value seed, int64_t i) {
    const int64_t begin[1] = {i}, end[1] = {i + 1}, step[1] = {1};
    leati_hlo_value x = leati_hlo_slice(&emit->hlo, seed, begin, end, step);
    x = leati_hlo_reshape(&emit->hlo, x, &LEAT_SCALAR);
    /* Through int64, so that a negative int32 keeps its sign. */
    return leati_hlo_convert(&emit->hlo, leati_hlo_convert(&emit->hlo, x, LEAT_INT64), LEAT_UINT64);
}

/* Where the stream of a seed begins: two seeds are mixed into counter and key, a generator's state
 * of three numbers is both as they are. */
static void begin_stream(leati_emit *emit, leati_hlo_value seed, stream *out) {
    halve(emit, seed_at(emit, seed, 0), &out->counter[0], &out->counter[1]);
    halve(emit, seed_at(emit, seed, 1), &out->counter[2], &out->counter[3]);
    if (leati_hlo_shape(&emit->hlo, seed).dims[0] == 3) {
        halve(emit, seed_at(emit, seed, 2), &out->key[0], &out->key[1]);
        return;
    }
    leati_hlo_value mix[4], zero = word(emit, 0, out->counter[0]);
    leati_hlo_value key[2] = {word(emit, 0x3EC8F720u, zero), word(emit, 0x02461E29u, zero)};
    memcpy(mix, out->counter, sizeof mix);
    philox(emit, mix, key);
    *out = (stream){.counter = {zero, zero, mix[2], mix[3]}, .key = {mix[0], mix[1]}};
}

leati_hlo_value leati_emit_words(leati_emit *emit, leati_hlo_value seed, int64_t count) {
    leati_hlo *hlo = &emit->hlo;
    leat_shape blocks = LEAT_SHAPE((count + 3) / 4), column = LEAT_SHAPE(blocks.dims[0], 1);
    leat_shape flat = LEAT_SHAPE(4 * blocks.dims[0]);
    stream start;
    begin_stream(emit, seed, &start);
    /* A counter of 128 bits plus the number of the block. */
    leati_hlo_value halves[2], by;
    for (int i = 0; i < 2; i++) {
        leati_hlo_value low = leati_hlo_convert(hlo, start.counter[2 * i], LEAT_UINT64);
        leati_hlo_value high = leati_hlo_convert(hlo, start.counter[2 * i + 1], LEAT_UINT64);
        by = leati_hlo_fill_like(hlo, 32, high);
        high = binary(emit, "shift_left", high, by);
        halves[i] = leati_hlo_broadcast(hlo, binary(emit, "or", low, high), &blocks);
    }
    leati_hlo_value number = leati_hlo_iota(hlo, LEAT_UINT64, &blocks, 0);
    leati_hlo_value sum = binary(emit, "add", halves[0], number);
    leati_hlo_value carry = leati_hlo_compare(hlo, "LT", sum, number);
    halves[1] = binary(emit, "add", halves[1], leati_hlo_convert(hlo, carry, LEAT_UINT64));
    leati_hlo_value counter[4], key[2];
    halve(emit, sum, &counter[0], &counter[1]);
    halve(emit, halves[1], &counter[2], &counter[3]);
    for (int i = 0; i < 2; i++)
        key[i] = leati_hlo_broadcast(hlo, start.key[i], &blocks);
    philox(emit, counter, key);
    for (int i = 0; i < 4; i++)
        counter[i] = leati_hlo_reshape(hlo, counter[i], &column);
    return leati_hlo_reshape(hlo, leati_hlo_concatenate(hlo, counter, 4, 1), &flat);
}

/* [0, 1) of 23 bits of each word. */
static leati_hlo_value unit(leati_emit *emit, leati_hlo_value x) {
    leati_hlo_value bits = binary(emit, "and", x, word(emit, 0x7FFFFFu, x));
    bits = binary(emit, "or", bits, word(emit, 0x3F800000u, bits));
    leati_hlo_value one = leati_hlo_bitcast(&emit->hlo, bits, LEAT_FLOAT32);
    return binary(emit, "subtract", one, leati_hlo_fill_like(&emit->hlo, 1, one));
}

/* Box-Muller of pairs [n / 2, 2]: sine first. */
static leati_hlo_value normal(leati_emit *emit, leati_hlo_value uniform) {
    leati_hlo *hlo = &emit->hlo;
    int64_t pairs = leati_hlo_shape(hlo, uniform).dims[0] / 2;
    leat_shape both = LEAT_SHAPE(pairs, 2), column = LEAT_SHAPE(pairs, 1),
               flat = LEAT_SHAPE(2 * pairs);
    leati_hlo_value pair = leati_hlo_reshape(hlo, uniform, &both), parts[2];
    for (int64_t i = 0; i < 2; i++)
        parts[i] = leati_hlo_slice(hlo, pair, (int64_t[]){0, i}, (int64_t[]){pairs, i + 1},
                                   (int64_t[]){1, 1});
    leati_hlo_value least = leati_hlo_fill_like(hlo, 1e-7, parts[0]);
    leati_hlo_value radius = leati_hlo_unary(hlo, "log", binary(emit, "maximum", parts[0], least));
    radius = binary(emit, "multiply", radius, leati_hlo_fill_like(hlo, -2, radius));
    radius = leati_hlo_unary(hlo, "sqrt", radius);
    /* Multiplied as a double, and rounded once. */
    leati_hlo_value angle = leati_hlo_convert(hlo, parts[1], LEAT_FLOAT64);
    angle = binary(emit, "multiply", angle,
                   leati_hlo_fill_like(hlo, 6.283185307179586476925286766559, angle));
    angle = leati_hlo_convert(hlo, angle, LEAT_FLOAT32);
    parts[0] = binary(emit, "multiply", leati_hlo_unary(hlo, "sine", angle), radius);
    parts[1] = binary(emit, "multiply", leati_hlo_unary(hlo, "cosine", angle), radius);
    for (int i = 0; i < 2; i++)
        parts[i] = leati_hlo_reshape(hlo, parts[i], &column);
    return leati_hlo_reshape(hlo, leati_hlo_concatenate(hlo, parts, 2, 1), &flat);
}

/* The first values of a vector, in the result's shape. */
static leati_hlo_value shaped(leati_emit *emit, leati_hlo_value x, int64_t count) {
    x = leati_hlo_slice(&emit->hlo, x, (int64_t[]){0}, (int64_t[]){count}, (int64_t[]){1});
    return leati_hlo_reshape(&emit->hlo, x, leati_emit_shape(emit, 0));
}

leat_status leati_emit_stateless(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    const struct leati_random_args *args = emit->node->source->args;
    bool is_normal = emit->text[0] == 'n';
    int64_t count = leati_shape_count(leati_emit_shape(emit, 0));
    double scale = leati_random_scale(is_normal ? LEATI_NORMAL : LEATI_UNIFORM, LEAT_FLOAT32,
                                      args->low, args->high);
    leati_hlo_value x = unit(emit, leati_emit_words(emit, emit->inputs[0], count));
    if (is_normal)
        x = normal(emit, x);
    x = shaped(emit, x, count);
    x = binary(emit, "multiply", x, leati_hlo_fill_like(hlo, scale, x));
    emit->outputs[0] = binary(emit, "add", x, leati_hlo_fill_like(hlo, args->low, x));
    return LEAT_OK;
}
