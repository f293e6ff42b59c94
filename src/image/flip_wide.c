/* Mirroring rows by permuting whole vectors: AVX-512 with VBMI, AVX2, and NEON.
 *
 * With VBMI pixels of up to 32 bytes go by groups of whole vectors of 64 bytes, where a group holds
 * whole pixels: 1 vector of 64 bytes, or 3 for pixels such as RGB. What a vector of the result
 * takes from the row lies within two windows of 64 bytes; tables say where each byte comes from.
 * The last group of a row lies over the one before. Results that no cache holds are written past
 * the caches, from a row's first border of a vector on. Elsewhere a vector of 16 bytes holds as
 * many whole pixels of the usual sizes, 1, 3, 4 and 12 bytes, as fit. Results are written from the
 * first to the last, since memory is slower the other way round. Nothing beyond the rows is read or
 * written. Bytes are moved, not computed: results are those of plain C. Cannot fail; no locks. */
#include "base/minmax.h"
#include "image/flip.h"

#include <string.h>

#if defined(__x86_64__) || (defined(__ARM_NEON) && defined(__aarch64__))

/* Pixels [first, end) of the result one by one. */
static inline void mirror_some(const uint8_t *in, uint8_t *out, size_t first, size_t end,
                               size_t width, size_t pixel_size) {
    for (size_t x = first; x < end; x++)
        memcpy(out + x * pixel_size, in + (width - 1 - x) * pixel_size, pixel_size);
}

/* Where the bytes of a mirrored vector of 16 come from, whose pixels stand at the end of what is
 * read; of the result, what is behind them is written over. */
static inline void fill_table(uint8_t *table, size_t pixel_size) {
    /* Of RGB 15 of 16 bytes are pixels: what is read begins with one byte too many. */
    size_t pixels = 16 / pixel_size, unused = 16 - pixels * pixel_size;
    memset(table, 0, 16);
    for (size_t p = 0; p < pixels; p++)
        for (size_t b = 0; b < pixel_size; b++)
            table[p * pixel_size + b] = (uint8_t)(unused + (pixels - 1 - p) * pixel_size + b);
}

static inline bool is_usual(size_t pixel_size) {
    return pixel_size == 1 || pixel_size == 3 || pixel_size == 4 || pixel_size == 12;
}

#endif

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

AVX2 static bool avx2_rows(const leati_flip_picture *p) {
    uint8_t table[16];
    size_t pixel_size = p->pixel_size, width = p->width;
    if (!is_usual(pixel_size))
        return false;
    fill_table(table, pixel_size);
    const size_t pixels = 16 / pixel_size;
    const __m128i order = _mm_loadu_si128((const __m128i *)(const void *)table);
    for (size_t y = 0; y < p->height; y++) {
        const uint8_t *in = p->in + y * p->in_stride;
        uint8_t *out = p->out + y * p->out_stride;
        size_t x = 0;
        leati_flip_fetch(p, y);
        /* Reads end with the pixels that are wanted, so the bytes before them must be there too. */
        for (; (width - x) * pixel_size >= 16; x += pixels) {
            const uint8_t *from = in + (width - x) * pixel_size - 16;
            __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
            _mm_storeu_si128((__m128i *)(void *)(out + x * pixel_size),
                             _mm_shuffle_epi8(bytes, order));
        }
        mirror_some(in, out, x, width, width, pixel_size);
    }
    return true;
}

static bool avx2_runs(void) {
    return __builtin_cpu_supports("avx2");
}

static const leati_flip_kernel avx2 = {"avx2", avx2_runs, avx2_rows};

/* ---- AVX-512 ---- */

enum { WIDE = 64, MOST = 3 };

/* How a group of `vectors` vectors is put together: byte i of result v is byte near[v][i] of the 64
 * bytes from low[v] on, or where bit i of far_ones[v] is set, byte far[v][i] of those from high[v]
 * on. */
typedef struct flip_group {
    size_t vectors, pixels;
    uint8_t near[MOST][WIDE], far[MOST][WIDE];
    uint64_t far_ones[MOST];
    size_t low[MOST], high[MOST];
} flip_group;

/* False where no group of few vectors holds whole pixels. */
static bool group_init(flip_group *g, size_t pixel_size) {
    if (pixel_size == 0 || pixel_size > WIDE / 2 || MOST * WIDE % pixel_size != 0)
        return false;
    /* 64 bytes of three channels hold no whole number of pixels, 192 do. */
    g->vectors = WIDE % pixel_size == 0 ? 1 : MOST;
    size_t bytes = g->vectors * WIDE;
    g->pixels = bytes / pixel_size;
    for (size_t v = 0; v < g->vectors; v++) {
        size_t from[WIDE], low = bytes, high = 0;
        for (size_t i = 0; i < WIDE; i++) {
            size_t at = v * WIDE + i;
            from[i] = (g->pixels - 1 - at / pixel_size) * pixel_size + at % pixel_size;
            low = LEATI_MIN(from[i], low);
            high = LEATI_MAX(from[i], high);
        }
        /* Windows are moved inside the group: nothing around it may be read. */
        low = low + WIDE <= bytes ? low : bytes - WIDE;
        high = high >= WIDE - 1 ? high - (WIDE - 1) : 0;
        g->low[v] = low;
        g->high[v] = LEATI_MAX(high, low);
        g->far_ones[v] = 0;
        for (size_t i = 0; i < WIDE; i++) {
            bool far = from[i] - low >= WIDE;
            g->near[v][i] = (uint8_t)(far ? 0 : from[i] - low);
            g->far[v][i] = (uint8_t)(far ? from[i] - g->high[v] : 0);
            g->far_ones[v] |= (uint64_t)far << i;
        }
    }
    return true;
}

/* Result `v` of the group that is read from `from` on. */
#define MIRRORED(v)                                                                                \
    _mm512_mask_permutexvar_epi8(                                                                  \
        _mm512_permutexvar_epi8(near##v, _mm512_loadu_si512(from + g->low[v])), g->far_ones[v],    \
        far##v, _mm512_loadu_si512(from + g->high[v]))
#define TABLES(v)                                                                                  \
    const __m512i near##v = _mm512_loadu_si512(g->near[v]), far##v = _mm512_loadu_si512(g->far[v])

/* Groups of one row from pixel `x` of the result on, as many as fit; the pixel behind them. */
AVX512 static size_t groups_of_three(const flip_group *g, const uint8_t *in, uint8_t *out, size_t x,
                                     size_t width, size_t pixel_size, bool far) {
    TABLES(0);
    TABLES(1);
    TABLES(2);
    for (; width - x >= g->pixels; x += g->pixels) {
        const uint8_t *from = in + (width - x - g->pixels) * pixel_size;
        uint8_t *to = out + x * pixel_size;
        if (far) {
            _mm512_stream_si512((__m512i *)(void *)to, MIRRORED(0));
            _mm512_stream_si512((__m512i *)(void *)(to + WIDE), MIRRORED(1));
            _mm512_stream_si512((__m512i *)(void *)(to + (size_t)2 * WIDE), MIRRORED(2));
        } else {
            _mm512_storeu_si512(to, MIRRORED(0));
            _mm512_storeu_si512(to + WIDE, MIRRORED(1));
            _mm512_storeu_si512(to + (size_t)2 * WIDE, MIRRORED(2));
        }
    }
    return x;
}

AVX512 static size_t groups_of_one(const flip_group *g, const uint8_t *in, uint8_t *out, size_t x,
                                   size_t width, size_t pixel_size, bool far) {
    const __m512i order = _mm512_loadu_si512(g->near[0]);
    for (; width - x >= g->pixels; x += g->pixels) {
        const uint8_t *from = in + (width - x - g->pixels) * pixel_size;
        uint8_t *to = out + x * pixel_size;
        __m512i mirrored = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(from));
        if (far)
            _mm512_stream_si512((__m512i *)(void *)to, mirrored);
        else
            _mm512_storeu_si512(to, mirrored);
    }
    return x;
}

/* The first pixel of a row of the result that lies at a vector's border; `width` where none does.
 */
static size_t first_at_border(const uint8_t *out, size_t width, size_t pixel_size) {
    for (size_t x = 0; x < width && x < WIDE; x++)
        if (((uintptr_t)out + x * pixel_size) % WIDE == 0)
            return x;
    return width;
}

AVX512 static bool avx512_rows(const leati_flip_picture *p) {
    flip_group group;
    size_t pixel_size = p->pixel_size, width = p->width;
    if (!group_init(&group, pixel_size))
        return false;
    const flip_group *g = &group;
    for (size_t y = 0; y < p->height; y++) {
        const uint8_t *in = p->in + y * p->in_stride;
        uint8_t *out = p->out + y * p->out_stride;
        leati_flip_fetch(p, y);
        size_t x = p->far ? first_at_border(out, width, pixel_size) : 0;
        /* Without a border in the row streaming stores would fault. */
        bool far = p->far && x < width;
        x = far ? x : 0;
        mirror_some(in, out, 0, x, width, pixel_size);
        x = g->vectors == 1 ? groups_of_one(g, in, out, x, width, pixel_size, far)
                            : groups_of_three(g, in, out, x, width, pixel_size, far);
        /* The rest of a row by a last group that lies over the one before. */
        if (x < width && width >= g->pixels && g->vectors == 1)
            groups_of_one(g, in, out, width - g->pixels, width, pixel_size, false);
        else if (x < width && width >= g->pixels)
            groups_of_three(g, in, out, width - g->pixels, width, pixel_size, false);
        else
            mirror_some(in, out, x, width, width, pixel_size);
    }
    if (p->far)
        /* Stores past the caches become visible to other threads by this alone. */
        _mm_sfence();
    return true;
}

static bool avx512_runs(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi");
}

static const leati_flip_kernel avx512 = {"avx512", avx512_runs, avx512_rows};

const leati_flip_kernel *const leati_flip_fast[] = {&avx512, &avx2, NULL};

#elif defined(__ARM_NEON) && defined(__aarch64__)

#include <arm_neon.h>

static bool neon_rows(const leati_flip_picture *p) {
    uint8_t table[16];
    size_t pixel_size = p->pixel_size, width = p->width;
    if (!is_usual(pixel_size))
        return false;
    fill_table(table, pixel_size);
    const size_t pixels = 16 / pixel_size;
    const uint8x16_t order = vld1q_u8(table);
    for (size_t y = 0; y < p->height; y++) {
        const uint8_t *in = p->in + y * p->in_stride;
        uint8_t *out = p->out + y * p->out_stride;
        size_t x = 0;
        leati_flip_fetch(p, y);
        for (; (width - x) * pixel_size >= 16; x += pixels)
            vst1q_u8(out + x * pixel_size,
                     vqtbl1q_u8(vld1q_u8(in + (width - x) * pixel_size - 16), order));
        mirror_some(in, out, x, width, width, pixel_size);
    }
    return true;
}

static bool neon_runs(void) {
    return true;
}

static const leati_flip_kernel neon = {"neon", neon_runs, neon_rows};

const leati_flip_kernel *const leati_flip_fast[] = {&neon, NULL};

#else

const leati_flip_kernel *const leati_flip_fast[] = {NULL};

#endif
