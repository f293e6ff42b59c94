/* The walk of elementwise kernels over rows and broadcast dimensions; see elementwise.h.
 *
 * Rows are one more dimension in front of the others, with the operands' row strides. Dimensions of
 * one are dropped and neighbours merged where every operand allows it; the innermost one goes to
 * the lane, or the two innermost ones where few values are repeated. The outermost dimension is cut
 * into pieces, which the crew shares. Failure modes: shapes that do not broadcast where inference
 * could not know it, and a lane that refuses a value. No allocation; no locks: the place of the
 * first value that was refused is an atomic number. */
#include "graph/support/math/elementwise.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "run/crew.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#ifdef LEATI_FOR_AVX2
#include <immintrin.h>
#endif

enum { OPERANDS = 4, MAX_DIMS = LEAT_MAX_RANK + 1 }; /* the output is operand 0 */
enum { AT_ONCE = 1 << 16 };                          /* values: 1 ms of the slowest functions */
#define NS_PER_BYTE 0.12                             /* of operands and results */
#define PIECE_NS 100e3                               /* of a piece of slow functions */

/* ---- lanes that are not dense ---- */
enum { GATHERED = 512 }; /* values */

static void copy_values(char *to, int64_t to_step, const char *from, int64_t from_step, size_t size,
                        int64_t n) {
    switch (size) {
#define COPY(BYTES)                                                                                \
    case BYTES:                                                                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            memcpy(to + i * to_step, from + i * from_step, BYTES);                                 \
        break;
        COPY(1)
        COPY(2)
        COPY(4)
        COPY(8)
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * to_step, from + i * from_step, size);
    }
}

/* Those operands of which the bit is set are copied. */
static void run_gathered(leati_lane *lane, leati_lane_function dense, unsigned copied,
                         size_t in_size, size_t out_size) {
    _Alignas(64) char room[4][GATHERED * 8];
    int64_t step = (int64_t)in_size, out_step = (int64_t)out_size;
    for (int64_t at = 0; at < lane->n; at += GATHERED) {
        leati_lane piece = *lane;
        piece.n = LEATI_MIN(lane->n - at, GATHERED);
        for (int k = 0; k < OPERANDS - 1; k++) {
            if (lane->in[k] != NULL)
                piece.in[k] = lane->in[k] + at * lane->in_step[k];
            if (!(copied >> k & 1))
                continue;
            copy_values(room[k], step, piece.in[k], lane->in_step[k], in_size, piece.n);
            piece.in[k] = room[k];
            piece.in_step[k] = step;
        }
        char *out = lane->out + at * lane->out_step;
        bool apart = lane->out_step != out_step;
        piece.out = apart ? room[3] : out;
        piece.out_step = out_step;
        dense(&piece);
        if (apart)
            copy_values(out, lane->out_step, room[3], out_step, out_size, piece.n);
    }
}

static unsigned not_dense(const leati_lane *lane, int operands, size_t in_size) {
    unsigned copied = 0;
    for (int k = 0; k < operands; k++)
        if (lane->in_step[k] != (int64_t)in_size)
            copied |= 1U << k;
    return copied;
}

void leati_elementwise_run(leati_lane *lane, leati_lane_function dense, int operands,
                           size_t in_size, size_t out_size) {
    unsigned copied = not_dense(lane, operands, in_size);
    /* One of two. */
    if (operands == 2 && (copied == 1 || copied == 2) && lane->in_step[copied >> 1] == 0)
        copied = 0;
    if (lane->n == 1 || (copied == 0 && lane->out_step == (int64_t)out_size))
        dense(lane);
    else
        run_gathered(lane, dense, copied, in_size, out_size);
}

/* ---- halves by way of floats ---- */
#define CONVERT(NAME, FROM, TO, FUNCTION)                                                          \
    LEATI_ALWAYS_INLINE void NAME##_loop(leati_lane *lane) {                                       \
        const FROM *from = (const FROM *)lane->in[0];                                              \
        TO *to = (TO *)lane->out;                                                                  \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0, n = lane->n; i < n; i++)                                               \
            to[i] = FUNCTION(from[i]);                                                             \
    }
#define CONVERT_FOR_ALL(NAME, FROM, TO, FUNCTION)                                                  \
    CONVERT(NAME, FROM, TO, FUNCTION)                                                              \
    LEATI_ISA(NAME##_dense, NAME##_loop, leati_lane *)
CONVERT_FOR_ALL(bfloat16_to_float, uint16_t, float, leati_float_of_bfloat16)
CONVERT_FOR_ALL(float_to_bfloat16, float, uint16_t, leati_bfloat16_of_float)
CONVERT(half_to_float, uint16_t, float, leati_float_of_half)
CONVERT(float_to_half, float, uint16_t, leati_half_of_float)

#ifdef LEATI_FOR_AVX2
/* The processor's own instructions, eight or sixteen at once, give the same bits. */
LEATI_FOR_AVX2 static void half_to_float_f16c(leati_lane *lane) {
    const uint16_t *from = (const uint16_t *)lane->in[0];
    float *to = (float *)lane->out;
    int64_t i = 0;
    for (; i + 8 <= lane->n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    for (; i < lane->n; i++)
        to[i] = leati_float_of_half(from[i]);
}

LEATI_FOR_AVX2 static void float_to_half_f16c(leati_lane *lane) {
    const float *from = (const float *)lane->in[0];
    uint16_t *to = (uint16_t *)lane->out;
    int64_t i = 0;
    for (; i + 8 <= lane->n; i += 8)
        _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
    for (; i < lane->n; i++)
        to[i] = leati_half_of_float(from[i]);
}
LEATI_FOR_AVX512 static void half_to_float_avx512(leati_lane *lane) {
    const uint16_t *from = (const uint16_t *)lane->in[0];
    float *to = (float *)lane->out;
    int64_t i = 0;
    for (; i + 16 <= lane->n; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i))));
    for (; i < lane->n; i++)
        to[i] = leati_float_of_half(from[i]);
}

LEATI_FOR_AVX512 static void float_to_half_avx512(leati_lane *lane) {
    const float *from = (const float *)lane->in[0];
    uint16_t *to = (uint16_t *)lane->out;
    int64_t i = 0;
    for (; i + 16 <= lane->n; i += 16)
        _mm256_storeu_si256((__m256i *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), 0));
    for (; i < lane->n; i++)
        to[i] = leati_half_of_float(from[i]);
}

#define CONVERT_HALF(NAME)                                                                         \
    static void NAME##_dense(leati_lane *lane) {                                                   \
        if (leati_isa_here() >= LEATI_ISA_AVX512)                                                  \
            NAME##_avx512(lane);                                                                   \
        else if (leati_isa_here() >= LEATI_ISA_AVX2)                                               \
            NAME##_f16c(lane);                                                                     \
        else                                                                                       \
            NAME##_loop(lane);                                                                     \
    }
#else
#define CONVERT_HALF(NAME) LEATI_ISA(NAME##_dense, NAME##_loop, leati_lane *)
#endif
CONVERT_HALF(half_to_float)
CONVERT_HALF(float_to_half)

void leati_elementwise_widen(leati_lane *lane, leat_dtype half) {
    leati_elementwise_run(lane,
                          half == LEAT_FLOAT16 ? half_to_float_dense : bfloat16_to_float_dense, 1,
                          sizeof(uint16_t), sizeof(float));
}

void leati_elementwise_narrow(leati_lane *lane, leat_dtype half) {
    leati_elementwise_run(lane,
                          half == LEAT_FLOAT16 ? float_to_half_dense : float_to_bfloat16_dense, 1,
                          sizeof(float), sizeof(uint16_t));
}

void leati_elementwise_run_halves(leati_lane *lane, leat_dtype half, leati_lane_function of_floats,
                                  int operands, size_t out_size) {
    _Alignas(64) float floats[OPERANDS][GATHERED];
    bool back = out_size == sizeof(uint16_t);
    for (int64_t at = 0; at < lane->n; at += GATHERED) {
        leati_lane piece = {.n = LEATI_MIN(lane->n - at, GATHERED), .failed = -1};
        for (int k = 0; k < operands; k++) {
            leati_lane wide = {.out = (char *)floats[k], .out_step = sizeof(float), .n = piece.n};
            wide.in[0] = lane->in[k] + at * lane->in_step[k];
            wide.in_step[0] = lane->in_step[k];
            leati_elementwise_widen(&wide, half);
            piece.in[k] = (const char *)floats[k];
            piece.in_step[k] = sizeof(float);
        }
        leati_lane narrow = {.out = lane->out + at * lane->out_step, .n = piece.n};
        narrow.out_step = lane->out_step;
        narrow.in[0] = (const char *)floats[OPERANDS - 1];
        narrow.in_step[0] = sizeof(float);
        piece.out = back ? (char *)floats[OPERANDS - 1] : narrow.out;
        piece.out_step = back ? (int64_t)sizeof(float) : lane->out_step;
        of_floats(&piece);
        if (back)
            leati_elementwise_narrow(&narrow, half);
    }
}

typedef struct walk_dim {
    int64_t size;
    int64_t step[OPERANDS];
} walk_dim;

typedef struct walk {
    int num_operands;
    int num_dims;
    walk_dim dims[MAX_DIMS];
} walk;

/* Appends a dimension inside the others, merged with the one before where strides allow it. */
static void walk_push(walk *w, const walk_dim *dim) {
    if (dim->size == 1)
        return;
    if (w->num_dims > 0) {
        walk_dim *outer = &w->dims[w->num_dims - 1];
        bool merges = true;
        for (int k = 0; k < w->num_operands; k++)
            /* One step outside must be as long as the whole dimension inside, for every operand. */
            merges = merges && outer->step[k] == dim->step[k] * dim->size;
        if (merges) {
            int64_t size = outer->size * dim->size;
            *outer = *dim;
            outer->size = size;
            return;
        }
    }
    w->dims[w->num_dims++] = *dim;
}

/* Byte strides of `operand` along the dimensions of `shape`, 0 where it is broadcast. */
static void operand_steps(const leati_operand *operand, const leat_shape *shape, int64_t *steps) {
    int64_t step = (int64_t)leat_dtype_size(operand->dtype);
    int32_t shift = shape->rank - operand->rank;
    for (int32_t d = 0; d < shift; d++)
        steps[d] = 0;
    for (int32_t d = operand->rank - 1; d >= 0; d--) {
        steps[d + shift] = operand->dims[d] == 1 ? 0 : step;
        step *= operand->dims[d];
    }
}

static void walk_init(walk *w, const leati_kernel_call *call, const leat_shape *shape) {
    int64_t steps[OPERANDS][LEAT_MAX_RANK];
    w->num_operands = call->num_inputs + 1;
    w->num_dims = 0;
    walk_dim rows = {.size = call->n};
    for (int k = 0; k < w->num_operands; k++) {
        const leati_operand *operand = k == 0 ? &call->outputs[0] : &call->inputs[k - 1];
        rows.step[k] = operand->row_stride;
        operand_steps(operand, shape, steps[k]);
    }
    walk_push(w, &rows);
    for (int32_t d = 0; d < shape->rank; d++) {
        walk_dim dim = {.size = shape->dims[d]};
        for (int k = 0; k < w->num_operands; k++)
            dim.step[k] = steps[k][d];
        walk_push(w, &dim);
    }
}

/* Runs the lane over the innermost dimension at the given offsets. */
static bool run_lane(const walk *w, const leati_kernel_call *call, leati_lane_function function,
                     const int64_t *offsets, int64_t *failed) {
    static const walk_dim one = {.size = 1};
    const walk_dim *inner = w->num_dims > 0 ? &w->dims[w->num_dims - 1] : &one;
    leati_lane lane = {.n = inner->size, .failed = -1};
    lane.out = call->outputs[0].data + offsets[0];
    lane.out_step = inner->step[0];
    for (int k = 1; k < w->num_operands; k++) {
        lane.in[k - 1] = call->inputs[k - 1].data + offsets[k];
        lane.in_step[k - 1] = inner->step[k];
    }
    function(&lane);
    *failed = offsets[0] + lane.failed * inner->step[0];
    return lane.failed < 0;
}

/* ---- few values, over and over ---- */

enum { REPEATED_BYTES = 4096, SHORT = 64, STRETCHED = 16 };

/* What an operand is in the two innermost dimensions. */
typedef enum repeat {
    GOES_ON,  /* from each step of the outer one to the next */
    TILED,    /* the same few values for each step, as numbers for each channel are */
    ONE_EACH, /* one value for each step, as a number for each pixel is */
    OTHERWISE
} repeat;

static repeat repeat_of(const walk *w, int k) {
    const walk_dim *inner = &w->dims[w->num_dims - 1], *outer = &w->dims[w->num_dims - 2];
    if (outer->step[k] == inner->step[k] * inner->size)
        return GOES_ON;
    if (k == 0)
        return OTHERWISE;
    if (outer->step[k] == 0 && inner->step[k] != 0)
        return TILED;
    return inner->step[k] == 0 && inner->size <= STRETCHED ? ONE_EACH : OTHERWISE;
}

/* Where no operand is otherwise one call can serve many steps, if what is repeated is written down
 * as often. */
static bool repeats(const walk *w) {
    if (w->num_dims < 2)
        return false;
    /* Long lanes are fast as they are, and few steps do not pay for the copies. */
    if (w->dims[w->num_dims - 1].size > SHORT || w->dims[w->num_dims - 2].size < 4)
        return false;
    for (int k = 0; k < w->num_operands; k++)
        if (repeat_of(w, k) == OTHERWISE)
            return false;
    return true;
}

/* How many steps of the outer dimension one call serves: what fits the smallest room. */
static int64_t steps_at_once(const walk *w, const leati_kernel_call *call) {
    const walk_dim *inner = &w->dims[w->num_dims - 1], *outer = &w->dims[w->num_dims - 2];
    int64_t most = outer->size;
    for (int k = 1; k < w->num_operands; k++) {
        /* At least 4: SHORT values of 16 bytes are a quarter of the room. */
        int64_t size = (int64_t)leat_dtype_size(call->inputs[k - 1].dtype) * inner->size;
        if (repeat_of(w, k) != GOES_ON && REPEATED_BYTES / size < most)
            most = REPEATED_BYTES / size;
    }
    return most;
}

/* Writes each of `count` values, `step` bytes apart, `times` times. */
static void stretch(char *to, const char *from, int64_t step, int64_t count, int64_t times,
                    size_t size) {
    switch (size) {
#define STRETCH(TYPE)                                                                              \
    case sizeof(TYPE):                                                                             \
        for (int64_t i = 0; i < count; i++) {                                                      \
            TYPE value = *(const TYPE *)(const void *)(from + i * step);                           \
            for (int64_t k = 0; k < times; k++)                                                    \
                ((TYPE *)(void *)to)[i * times + k] = value;                                       \
        }                                                                                          \
        break;
        STRETCH(uint8_t)
        STRETCH(uint16_t)
        STRETCH(uint32_t)
        STRETCH(uint64_t)
    default:
        for (int64_t i = 0; i < count * times; i++)
            memcpy(to + (size_t)i * size, from + i / times * step, size);
    }
}

/* Runs the lane over the two innermost dimensions. */
static bool run_repeated(const walk *w, const leati_kernel_call *call, leati_lane_function function,
                         const int64_t *offsets, int64_t *failed) {
    const walk_dim *inner = &w->dims[w->num_dims - 1], *outer = &w->dims[w->num_dims - 2];
    _Alignas(64) char room[OPERANDS - 1][REPEATED_BYTES];
    int64_t most = steps_at_once(w, call);
    for (int k = 1; k < w->num_operands; k++) {
        size_t bytes = (size_t)(inner->step[k] * inner->size);
        for (int64_t s = 0; repeat_of(w, k) == TILED && s < most; s++)
            memcpy(room[k - 1] + (size_t)s * bytes, call->inputs[k - 1].data + offsets[k], bytes);
    }
    for (int64_t at = 0; at < outer->size; at += most) {
        int64_t steps = LEATI_MIN(outer->size - at, most);
        leati_lane lane = {.n = steps * inner->size, .failed = -1};
        lane.out = call->outputs[0].data + offsets[0] + at * outer->step[0];
        lane.out_step = inner->step[0];
        for (int k = 1; k < w->num_operands; k++) {
            const char *from = call->inputs[k - 1].data + offsets[k] + at * outer->step[k];
            size_t size = leat_dtype_size(call->inputs[k - 1].dtype);
            repeat kind = repeat_of(w, k);
            lane.in[k - 1] = kind == GOES_ON ? from : room[k - 1];
            lane.in_step[k - 1] = kind == ONE_EACH ? (int64_t)size : inner->step[k];
            if (kind == ONE_EACH)
                stretch(room[k - 1], from, outer->step[k], steps, inner->size, size);
        }
        function(&lane);
        *failed = offsets[0] + at * outer->step[0] + lane.failed * inner->step[0];
        if (lane.failed >= 0)
            return false;
    }
    return true;
}

/* Steps the counters of all dimensions but the `skipped` innermost; false after the last. */
static bool walk_step(const walk *w, int skipped, int64_t *counters, int64_t *offsets) {
    for (int d = w->num_dims - 1 - skipped; d >= 0; d--) {
        const walk_dim *dim = &w->dims[d];
        if (++counters[d] < dim->size) {
            for (int k = 0; k < w->num_operands; k++)
                offsets[k] += dim->step[k];
            return true;
        }
        /* Past its end a dimension goes back to the start, and the next outer one steps. */
        counters[d] = 0;
        for (int k = 0; k < w->num_operands; k++)
            offsets[k] -= dim->step[k] * (dim->size - 1);
    }
    return false;
}

static bool same_dims(const leati_operand *a, const leati_operand *b) {
    for (int32_t d = 0; d < a->rank && a->rank == b->rank; d++)
        if (a->dims[d] != b->dims[d])
            return false;
    return a->rank == b->rank;
}

/* The step of an operand in a loop over all rows and values of `out` at once; -1 if it needs more
 * loops. */
static int64_t flat_step(const leati_operand *operand, const leati_operand *out, int64_t n) {
    int64_t size = (int64_t)leat_dtype_size(operand->dtype), count = operand->count;
    if (count == 1 && out->count == 1)
        return operand->row_stride;
    if (count == 1)
        return n == 1 || operand->row_stride == 0 ? 0 : -1;
    if (count == out->count && (n == 1 || operand->row_stride == count * size) &&
        same_dims(operand, out))
        return size;
    return -1;
}

/* A walk of one dimension over everything: operands without broadcast dimensions, rows one behind
 * the other, or constants. False if they lie otherwise. */
static bool walk_flat(walk *w, const leati_kernel_call *call) {
    const leati_operand *out = &call->outputs[0];
    w->num_operands = call->num_inputs + 1;
    w->num_dims = 1;
    w->dims[0].size = call->n * out->count;
    w->dims[0].step[0] = flat_step(out, out, call->n);
    bool flat = out->data != NULL && w->dims[0].step[0] >= 0;
    for (int k = 0; flat && k < call->num_inputs; k++) {
        w->dims[0].step[k + 1] = flat_step(&call->inputs[k], out, call->n);
        flat = w->dims[0].step[k + 1] >= 0;
    }
    return flat;
}

/* A walk in pieces. */
typedef struct sweep {
    const walk *walk;
    const leati_kernel_call *call;
    leati_lane_function function;
    int64_t at_once;     /* values of a piece, about */
    double ns;           /* that a value takes; 0: by its bytes */
    int cut;             /* the dimension that is cut; each step of those outside is by itself */
    int64_t part, parts; /* steps of a part of it, and how many parts it has */
    atomic_int_fast64_t failed; /* bytes from the output's first value to the first one refused */
} sweep;

/* How many values one step of the walk computes. */
static int64_t work_of_lane(const walk *w, bool repeated) {
    int64_t inner = w->num_dims > 0 ? w->dims[w->num_dims - 1].size : 1;
    return repeated ? inner * w->dims[w->num_dims - 2].size : inner;
}

static void refused_at(sweep *s, int64_t failed) {
    int64_t first = atomic_load(&s->failed);
    while (failed < first && !atomic_compare_exchange_weak(&s->failed, &first, failed)) {
    }
}

/* Makes the walk that of one step of dimension `d`, or of some. */
static void narrow(walk *w, int d, int64_t begin, int64_t size, int64_t *offsets) {
    w->dims[d].size = size;
    for (int k = 0; k < w->num_operands; k++)
        offsets[k] += begin * w->dims[d].step[k];
}

static void sweep_piece(void *data, int64_t piece) {
    sweep *s = data;
    walk w = *s->walk;
    int64_t counters[MAX_DIMS] = {0}, offsets[OPERANDS] = {0}, done = 0, failed = -1;
    int64_t begin = piece % s->parts * s->part, outside = piece / s->parts;
    for (int d = s->cut - 1; d >= 0; d--) {
        int64_t size = w.dims[d].size;
        narrow(&w, d, outside % size, 1, offsets);
        outside /= size;
    }
    narrow(&w, s->cut, begin, LEATI_MIN(w.dims[s->cut].size - begin, s->part), offsets);
    bool repeated = repeats(&w);
    do {
        if (leati_stop_look_after(work_of_lane(&w, repeated), &done))
            return;
        if (repeated ? !run_repeated(&w, s->call, s->function, offsets, &failed)
                     : !run_lane(&w, s->call, s->function, offsets, &failed)) {
            refused_at(s, failed);
            return;
        }
    } while (walk_step(&w, repeated ? 2 : 1, counters, offsets));
}

/* Runs all of a walk whose values take `ns` each, or what their bytes take where that is 0; where
 * the first refused value lies, in bytes, or INT64_MAX. */
static int64_t sweep_run(const walk *w, const leati_kernel_call *call, leati_lane_function function,
                         double ns) {
    sweep s = {.walk = w, .call = call, .function = function, .at_once = AT_ONCE, .ns = ns};
    atomic_init(&s.failed, INT64_MAX);
    if (ns > 0)
        s.at_once = LEATI_MAX((int64_t)(PIECE_NS / ns), 16);
    /* The innermost dimension of which some steps are a piece. */
    int64_t inside = 1, outside = 1, bytes = 0;
    for (s.cut = w->num_dims - 1; s.cut > 0 && inside * w->dims[s.cut].size <= s.at_once; s.cut--)
        inside *= w->dims[s.cut].size;
    if (w->num_dims <= 1 && (w->num_dims == 0 || w->dims[0].size <= s.at_once)) {
        int64_t offsets[OPERANDS] = {0}, failed = -1;
        return run_lane(w, call, function, offsets, &failed) ? INT64_MAX : failed;
    }
    for (int d = 0; d < s.cut; d++)
        outside *= w->dims[d].size;
    for (int k = 0; k < w->num_operands; k++)
        bytes += (int64_t)leat_dtype_size(k ? call->inputs[k - 1].dtype : call->outputs[0].dtype);
    s.part = LEATI_MAX(s.at_once / inside, 1);
    s.parts = (w->dims[s.cut].size + s.part - 1) / s.part;
    double values = (double)outside * (double)w->dims[s.cut].size * (double)inside;
    leati_crew_share(values * (ns > 0 ? ns : (double)bytes * NS_PER_BYTE), outside * s.parts,
                     sweep_piece, &s);
    return atomic_load(&s.failed);
}

leat_status leati_elementwise(leati_kernel_call *call, leati_lane_function function,
                              const char *refusal, leat_error *err) {
    return leati_elementwise_slow(call, function, 0, refusal, err);
}

leat_status leati_elementwise_slow(leati_kernel_call *call, leati_lane_function function, double ns,
                                   const char *refusal, leat_error *err) {
    walk w;
    if (!walk_flat(&w, call)) {
        leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
        for (int k = 1; k < call->num_inputs; k++) {
            leat_shape other = leati_support_operand_shape(&call->inputs[k]), joined;
            LEATI_TRY(leati_op_infer_broadcast_shape(&shape, &other, &joined, err));
            shape = joined;
        }
        LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
        /* Without values some operands have no memory. */
        if (call->n == 0 || leati_shape_count(&shape) == 0)
            return LEAT_OK;
        walk_init(&w, call, &shape);
    }
    int64_t failed = sweep_run(&w, call, function, ns), stride = call->outputs[0].row_stride;
    if (failed == INT64_MAX)
        return LEAT_OK;
    call->failed_row = call->n > 1 && stride > 0 ? failed / stride : 0;
    return leati_refuse(err, VALUE, "%s", refusal);
}

leat_status leati_elementwise_by_dtype(leati_kernel_call *call, const leati_lane_function *lanes,
                                       int index, const char *refusal, leat_error *err) {
    return leati_elementwise(call, lanes[call->inputs[index].dtype], refusal, err);
}

leat_status leati_elementwise_check(const leati_infer_call *call, int index,
                                    const leati_lane_function *lanes, leat_error *err) {
    leat_dtype dtype = call->inputs[index].dtype;
    if (dtype < LEAT_NUM_DTYPES && lanes[dtype] != NULL)
        return LEAT_OK;
    char text[200] = "";
    size_t used = 0;
    for (int d = 1; d < LEAT_NUM_DTYPES && used < sizeof text; d++)
        if (lanes[d] != NULL)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                                     leat_dtype_name((leat_dtype)d));
    return leati_refuse(err, DTYPE, "input %d is %s; expected one of %s (cast it)", index,
                        leat_dtype_name(dtype), text);
}
