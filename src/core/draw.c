/* Arrays of random numbers; see draw.h.
 *
 * Normals come in groups as TensorFlow's vectors of samples do: four of a block for float32 and
 * narrower types, two for float64. A group of truncated normals has a part of the stream for
 * itself, so that it may take as many words as it needs. No state, no failures. */
#include "core/draw.h"

#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "core/half.h"

#include <math.h>
#include <string.h>

/* A group of values before they get their dtype: `count` of them. */
struct group {
    double values[4];
    int count;
};

static bool is_wide(leat_dtype dtype) {
    return dtype == LEAT_FLOAT64;
}

/* [0, 1) from as many low bits of a word as the dtype's fraction has. */
static double unit(leat_dtype dtype, uint32_t word) {
    switch (dtype) {
    /* 10 bits are float16's fraction, 7 bfloat16's: TensorFlow builds 1.x from them and takes 1
     * away. */
    case LEAT_FLOAT16: return (word & 0x3ffu) * 0x1p-10;
    case LEAT_BFLOAT16: return (word & 0x7fu) * 0x1p-7;
    default: return (double)leati_uniform_float(word);
    }
}

static void normal_pair(const uint32_t words[4], double out[2]) {
    double u = leati_uniform_double(words[0], words[1]);
    double angle = 6.283185307179586 * leati_uniform_double(words[2], words[3]);
    /* Box-Muller; as in TensorFlow, u is kept away from 0, whose logarithm is infinite. */
    double radius = sqrt(-2.0 * log(LEATI_MAX(1e-7, u)));
    out[0] = sin(angle) * radius;
    out[1] = cos(angle) * radius;
}

static void uniform_group(leat_dtype dtype, const uint32_t words[4], struct group *group) {
    group->count = is_wide(dtype) ? 2 : 4;
    for (int i = 0; i < group->count; i++)
        group->values[i] = is_wide(dtype) ? leati_uniform_double(words[2 * i], words[2 * i + 1])
                                          : unit(dtype, words[i]);
}

static void normal_group(leat_dtype dtype, const uint32_t words[4], struct group *group) {
    group->count = is_wide(dtype) ? 2 : 4;
    if (is_wide(dtype)) {
        normal_pair(words, group->values);
        return;
    }
    for (int i = 0; i < 4; i += 2) {
        float pair[2];
        leati_normal_pair(words[i], words[i + 1], pair);
        group->values[i] = (double)pair[0];
        group->values[i + 1] = (double)pair[1];
    }
}

static void truncated_group(leat_dtype dtype, leati_philox stream, struct group *group) {
    int wanted = is_wide(dtype) ? 2 : 4;
    group->count = 0;
    while (group->count < wanted) {
        struct group next;
        uint32_t words[4];
        leati_philox_next(&stream, words);
        normal_group(dtype, words, &next);
        /* Rejection, as TensorFlow's kernel does it: what lies two deviations away is drawn
         * again. */
        for (int i = 0; i < next.count && group->count < wanted; i++)
            if (fabs(next.values[i]) < 2)
                group->values[group->count++] = next.values[i];
    }
}

static void next_group(leati_distribution distribution, leat_dtype dtype, leati_philox *stream,
                       struct group *group) {
    uint32_t words[4];
    if (distribution == LEATI_TRUNCATED_NORMAL) {
        truncated_group(dtype, *stream, group);
        /* The place of the next group does not depend on how many words this one rejected, so that
         * TensorFlow's threads may begin anywhere; 256 blocks are reserved for each four values. */
        leati_philox_skip(stream, (uint64_t)group->count * LEATI_BLOCKS_PER_VALUE / 4);
        return;
    }
    leati_philox_next(stream, words);
    (distribution == LEATI_UNIFORM ? uniform_group : normal_group)(dtype, words, group);
}

/* ---- what a value becomes ---- */

double leati_draw_rounded(leat_dtype dtype, double value) {
    switch (dtype) {
    case LEAT_FLOAT16: return (double)leati_float_of_half(leati_half_of_float((float)value));
    case LEAT_BFLOAT16:
        return (double)leati_float_of_bfloat16(leati_bfloat16_of_float((float)value));
    case LEAT_FLOAT32: return (double)(float)value;
    /* Float64 is what it was computed in. */
    default: return value;
    }
}

static void store(leat_dtype dtype, double value, void *to, int64_t at) {
    switch (dtype) {
    case LEAT_FLOAT16: ((uint16_t *)to)[at] = leati_half_of_float((float)value); break;
    case LEAT_BFLOAT16: ((uint16_t *)to)[at] = leati_bfloat16_of_float((float)value); break;
    case LEAT_FLOAT32: ((float *)to)[at] = (float)value; break;
    default: ((double *)to)[at] = value; break;
    }
}

leati_philox leati_draw_part(leati_distribution distribution, leat_dtype dtype, leati_philox stream,
                             int64_t begin) {
    uint64_t group = is_wide(dtype) ? 2 : 4;
    uint64_t blocks = distribution == LEATI_TRUNCATED_NORMAL
                          ? (uint64_t)begin * (LEATI_BLOCKS_PER_VALUE / 4)
                          : (uint64_t)begin / group;
    leati_philox_skip(&stream, blocks);
    return stream;
}

/* ---- words of many blocks ---- */
enum { BLOCKS = 128 };

typedef struct stretched {
    const uint32_t *words;
    float *out, scale, offset;
    int64_t count;
} stretched;

/* What leati_uniform_float makes of each word, stretched. */
LEATI_ALWAYS_INLINE void stretch_loop(stretched *s) {
    const float scale = s->scale, offset = s->offset;
    for (int64_t i = 0; i < s->count; i++) {
        uint32_t bits = 0x3F800000u | (s->words[i] & 0x7FFFFFu);
        float value;
        memcpy(&value, &bits, sizeof value);
        s->out[i] = (value - 1.0f) * scale + offset;
    }
}
LEATI_ISA(stretch, stretch_loop, stretched *)

static void draw_uniform_floats(leati_philox stream, float scale, float offset, int64_t count,
                                float *to) {
    uint32_t words[4 * BLOCKS];
    int64_t done = 0;
    for (int64_t i = 0; i < count && !leati_stop_look_after(4 * BLOCKS, &done); i += 4 * BLOCKS) {
        int64_t n = LEATI_MIN(count - i, 4 * BLOCKS);
        stretched s = {words, to + i, scale, offset, n};
        leati_philox_blocks(&stream, words, (n + 3) / 4);
        stretch(&s);
    }
}

void leati_draw(leati_distribution distribution, leat_dtype dtype, leati_philox stream,
                double scale, double offset, int64_t count, void *to) {
    struct group group;
    /* TensorFlow multiplies by tensors of the dtype, so limits are rounded to it before they are
     * used. */
    scale = leati_draw_rounded(dtype, scale);
    offset = leati_draw_rounded(dtype, offset);
    if (distribution == LEATI_UNIFORM && dtype == LEAT_FLOAT32) {
        draw_uniform_floats(stream, (float)scale, (float)offset, count, to);
        return;
    }
    int64_t done = 0;
    for (int64_t i = 0; i < count && !leati_stop_look_after(16, &done); i += group.count) {
        next_group(distribution, dtype, &stream, &group);
        for (int k = 0; k < group.count && i + k < count; k++) {
            if (dtype == LEAT_FLOAT32) { /* as below, without asking for the dtype */
                ((float *)to)[i + k] = (float)group.values[k] * (float)scale + (float)offset;
                continue;
            }
            double scaled =
                leati_draw_rounded(dtype, leati_draw_rounded(dtype, group.values[k]) * scale);
            store(dtype, scaled + offset, to, i + k);
        }
    }
}

void leati_draw_integers(leat_dtype dtype, leati_philox stream, int64_t low, uint64_t width,
                         int64_t count, void *to) {
    uint32_t words[4 * BLOCKS];
    int step = leat_dtype_size(dtype) == 4 ? 1 : 2;
    int64_t done = 0, at_once = 4 * BLOCKS / step;
    for (int64_t i = 0; i < count && !leati_stop_look_after(at_once, &done); i += at_once) {
        int64_t n = LEATI_MIN(count - i, at_once);
        leati_philox_blocks(&stream, words, (n * step + 3) / 4);
        for (int64_t k = 0; k < n; k++) {
            /* The remainder favours small numbers by at most width / 2^bits; TensorFlow's numbers
             * have that, too. The sum wraps, so a negative `low` comes out right. */
            if (step == 1 && width <= UINT32_MAX) {
                uint32_t by = (uint32_t)width, word = words[k];
                ((uint32_t *)to)[i + k] = by == 0 ? word : (uint32_t)low + word % by;
                continue;
            }
            uint64_t bits = step == 1 ? words[k] : (uint64_t)words[2 * k + 1] << 32 | words[2 * k];
            bits = width == 0 ? bits : (uint64_t)low + bits % width;
            if (step == 1)
                ((uint32_t *)to)[i + k] = (uint32_t)bits;
            else
                ((uint64_t *)to)[i + k] = bits;
        }
    }
}
