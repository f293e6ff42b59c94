/* Order by digits: see sorting.h.
 *
 * Each number becomes an unsigned key that has its order: a sign bit turned over, the bits of a
 * negative float inverted, all bits inverted where the order is descending. Keys are dealt out by
 * their lowest digit, then by the next (a least significant digit first radix sort), which keeps
 * the order of equal ones. One pass counts all digits; a digit that all keys share is left out, and
 * a line that is in order already, or in the reverse order without equal numbers, is not dealt out
 * at all. A key of 8 or 16 bits needs no dealing out: it is counted.
 *
 * Where places are asked for, key and place are one number of 64 bits, the key above. A key of 64
 * bits is dealt out in two rounds then, first by its lower half.
 *
 * Keys of equal numbers are equal, so zeros have one key and NaNs have one. Values come out of
 * their keys again; where a line has a zero below zero or a NaN, those two runs of the result are
 * written anew, in the order of the line. */
#include "graph/support/array/sorting.h"

#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/array/sorting_x86.h"

#include <string.h>

enum {
    BLOCK = 1024,       /* keys made at a time */
    CANDIDATES = 128,   /* for the first of a line */
    GROUP = 32,         /* keys that are passed over at a time */
    FEW = 24,           /* so many are put in order by insertion */
    SMALL_DIGIT = 8,    /* bits, of lines up to */
    SMALL = 4096,       /* so many values; and of longer ones */
    LARGE_DIGIT = 11,   /* bits: 2048 places to write to is what a processor keeps track of */
    COUNTED_16 = 65536, /* lines of as many values of 16 bits are counted */
    COUNTS = 1 << 16    /* room for these, or for the digits of a key */
};

_Static_assert((64 / LARGE_DIGIT + 1) << LARGE_DIGIT <= COUNTS, "the digits of a key fit");

/* Keys of 64 or 32 bits, whichever a dtype's keys lie in; `out` may be `from` where values are as
 * wide. */
typedef bool (*load_function)(const void *from, size_t n, uint64_t flip, void *out);
typedef void (*store_function)(const void *keys, size_t n, uint64_t flip, void *out);

struct leati_sorting_coding {
    load_function load[2]; /* true: there are NaNs or zeros below zero; plain and wide */
    store_function store[2];
    unsigned bits;      /* of a value, and of its key */
    uint64_t up, down;  /* turns a number's bits over, going up and down */
    uint64_t zero, nan; /* their keys, going up; integers have none that are special */
};
typedef struct leati_sorting_coding coding;

/* ---- keys ---- */

#define INTEGER(NAME, RAW, KEY)                                                                    \
    static bool load_##NAME(const void *from, size_t n, uint64_t flip, void *out) {                \
        const RAW *in = from;                                                                      \
        KEY *keys = out;                                                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            keys[i] = (KEY)(in[i] ^ (RAW)flip);                                                    \
        return false;                                                                              \
    }                                                                                              \
    static void store_##NAME(const void *from, size_t n, uint64_t flip, void *out) {               \
        const KEY *keys = from;                                                                    \
        RAW *to = out;                                                                             \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (RAW)(keys[i] ^ (KEY)flip);                                                    \
    }

/* SIGN is the bit of the sign and ALL are all bits of a value, INF those of infinity. */
#define FLOATING(NAME, TARGET, RAW, KEY, SIGN, ALL, INF)                                           \
    TARGET static bool load_##NAME(const void *from, size_t n, uint64_t flip, void *out) {         \
        const RAW *in = from;                                                                      \
        KEY *keys = out;                                                                           \
        KEY special = 0;                                                                           \
        for (size_t i = 0; i < n; i++) {                                                           \
            KEY bits = in[i];                                                                      \
            KEY is_nan = (bits & ~(KEY)(SIGN)) > (KEY)(INF), below = bits == (KEY)(SIGN);          \
            special |= is_nan | below;                                                             \
            KEY key = bits & (KEY)(SIGN) ? bits ^ (KEY)(ALL) : bits | (KEY)(SIGN);                 \
            key = below ? (KEY)(SIGN) : key;                                                       \
            key = is_nan ? (KEY)(ALL) : key;                                                       \
            keys[i] = key ^ (KEY)flip;                                                             \
        }                                                                                          \
        return special != 0;                                                                       \
    }                                                                                              \
    TARGET static void store_##NAME(const void *from, size_t n, uint64_t flip, void *out) {        \
        const KEY *keys = from;                                                                    \
        RAW *to = out;                                                                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            KEY key = keys[i] ^ (KEY)flip;                                                         \
            to[i] = (RAW)(key & (KEY)(SIGN) ? key ^ (KEY)(SIGN) : key ^ (KEY)(ALL));               \
        }                                                                                          \
    }

#define SIGN_64 (UINT64_C(1) << 63)

INTEGER(8, uint8_t, uint32_t)
INTEGER(16, uint16_t, uint32_t)
INTEGER(32, uint32_t, uint32_t)
INTEGER(64, uint64_t, uint64_t)
/* Loops over floats are compiled for AVX-512 as well, where it may be used. */
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq")))
#else
#define WIDE
#endif
#define FLOATINGS(NAME, ...) FLOATING(NAME, , __VA_ARGS__) FLOATING(NAME##_wide, WIDE, __VA_ARGS__)

FLOATINGS(float16, uint16_t, uint32_t, 0x8000, 0xffff, 0x7c00)
FLOATINGS(bfloat16, uint16_t, uint32_t, 0x8000, 0xffff, 0x7f80)
FLOATINGS(float32, uint32_t, uint32_t, 0x80000000, 0xffffffff, 0x7f800000)
FLOATINGS(float64, uint64_t, uint64_t, SIGN_64, UINT64_MAX, UINT64_C(0x7ff0000000000000))

#define ALL_OF(BITS) (UINT64_MAX >> (64 - (BITS)))
#define SIGN_OF(BITS) (UINT64_C(1) << ((BITS)-1))
#define CODING(NAME, NAME_WIDE, BITS, UP, ZERO, NAN_KEY)                                           \
    {                                                                                              \
        {load_##NAME, load_##NAME_WIDE}, {store_##NAME, store_##NAME_WIDE}, BITS, UP,              \
            (UP) ^ ALL_OF(BITS), ZERO, NAN_KEY                                                     \
    }
#define UNSIGNED(BITS) CODING(BITS, BITS, BITS, 0, 0, 0)
#define SIGNED(BITS) CODING(BITS, BITS, BITS, SIGN_OF(BITS), 0, 0)
#define FLOAT(NAME, BITS) CODING(NAME, NAME##_wide, BITS, 0, SIGN_OF(BITS), ALL_OF(BITS))

static const coding codings[LEAT_NUM_DTYPES] = {
    [LEAT_UINT8] = UNSIGNED(8),          [LEAT_INT8] = SIGNED(8),
    [LEAT_UINT16] = UNSIGNED(16),        [LEAT_INT16] = SIGNED(16),
    [LEAT_UINT32] = UNSIGNED(32),        [LEAT_INT32] = SIGNED(32),
    [LEAT_UINT64] = UNSIGNED(64),        [LEAT_INT64] = SIGNED(64),
    [LEAT_FLOAT16] = FLOAT(float16, 16), [LEAT_BFLOAT16] = FLOAT(bfloat16, 16),
    [LEAT_FLOAT32] = FLOAT(float32, 32), [LEAT_FLOAT64] = FLOAT(float64, 64),
};

bool leati_sorting_knows(leat_dtype dtype) {
    return dtype < LEAT_NUM_DTYPES && codings[dtype].bits > 0;
}

static bool is_wide(const leati_sorting *s) {
    return !s->plain && leati_sorting_x86_runs();
}

static uint64_t flip_of(const leati_sorting *s) {
    return s->descending ? s->coding->down : s->coding->up;
}

static bool load(const leati_sorting *s, const void *line, size_t at, size_t n, void *keys) {
    const char *from = (const char *)line + at * (s->coding->bits / 8);
    return s->coding->load[is_wide(s)](from, n, flip_of(s), keys);
}

static void store(const leati_sorting *s, const void *keys, size_t n, void *out) {
    s->coding->store[is_wide(s)](keys, n, flip_of(s), out);
}

/* ---- dealing out ---- */

/* Puts n keys in order by their bits from `low` on; those below are in order among equal ones
 * already. The result is in `a` or in `b`, which have room for n; `counts` has room for COUNTS. */
#define RADIX(NAME, KEY, BITS)                                                                     \
    static bool NAME##_count(const KEY *keys, size_t n, unsigned low, size_t *counts) {            \
        enum { BUCKETS = 1 << BITS };                                                              \
        const unsigned digits = ((unsigned)sizeof(KEY) * 8 - low + BITS - 1) / BITS;               \
        memset(counts, 0, digits * sizeof *counts * BUCKETS);                                      \
        for (size_t i = 0, end = 0; i < n;) {                                                      \
            for (end = i + LEATI_MIN(n - i, (size_t)LEATI_STOP_WORK); i < end; i++) {              \
                KEY key = keys[i] >> low;                                                          \
                for (unsigned d = 0; d < digits; d++, key >>= BITS)                                \
                    counts[d * BUCKETS + (key & (BUCKETS - 1))]++;                                 \
            }                                                                                      \
            if (i < n && leati_stop_look())                                                        \
                return false;                                                                      \
        }                                                                                          \
        return true;                                                                               \
    }                                                                                              \
    /* Each count becomes the place of the first key with that digit, then of the next one. */     \
    static bool NAME##_deal(const KEY *from, size_t n, unsigned shift, size_t *next, KEY *to) {    \
        enum { BUCKETS = 1 << BITS };                                                              \
        size_t before = 0;                                                                         \
        for (size_t i = 0; i < BUCKETS; i++) {                                                     \
            size_t count = next[i];                                                                \
            next[i] = before;                                                                      \
            before += count;                                                                       \
        }                                                                                          \
        for (size_t i = 0, end = 0; i < n;) {                                                      \
            for (end = i + LEATI_MIN(n - i, (size_t)LEATI_STOP_WORK); i < end; i++) {              \
                KEY key = from[i];                                                                 \
                to[next[(key >> shift) & (BUCKETS - 1)]++] = key;                                  \
            }                                                                                      \
            if (i < n && leati_stop_look())                                                        \
                return false;                                                                      \
        }                                                                                          \
        return true;                                                                               \
    }                                                                                              \
    static KEY *NAME(KEY *a, KEY *b, size_t n, unsigned low, size_t *counts) {                     \
        enum { BUCKETS = 1 << BITS };                                                              \
        if (!NAME##_count(a, n, low, counts))                                                      \
            return a;                                                                              \
        for (unsigned shift = low; shift < sizeof(KEY) * 8; shift += BITS, counts += BUCKETS) {    \
            if (counts[(a[0] >> shift) & (BUCKETS - 1)] == n)                                      \
                continue; /* all have the same */                                                  \
            if (!NAME##_deal(a, n, shift, counts, b))                                              \
                return a; /* whole, though not in order: who called drops it */                    \
            KEY *other = a;                                                                        \
            a = b;                                                                                 \
            b = other;                                                                             \
        }                                                                                          \
        return a;                                                                                  \
    }

RADIX(small_32, uint32_t, SMALL_DIGIT)
RADIX(large_32, uint32_t, LARGE_DIGIT)
RADIX(small_64, uint64_t, SMALL_DIGIT)
RADIX(large_64, uint64_t, LARGE_DIGIT)

/* Keys that are in order by their bits from `low` on, or in the reverse order without equal ones:
 * the place of the result, or NULL. */
#define IN_ORDER(NAME, KEY)                                                                        \
    static KEY *NAME(KEY *a, KEY *b, size_t n, unsigned low) {                                     \
        size_t up = 1, down = 1;                                                                   \
        while (up < n && a[up - 1] >> low <= a[up] >> low)                                         \
            up++;                                                                                  \
        if (up >= n)                                                                               \
            return a;                                                                              \
        while (down < n && a[down - 1] >> low > a[down] >> low)                                    \
            down++;                                                                                \
        if (down < n)                                                                              \
            return NULL;                                                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            b[i] = a[n - 1 - i];                                                                   \
        return b;                                                                                  \
    }

IN_ORDER(in_order_32, uint32_t)
IN_ORDER(in_order_64, uint64_t)

/* RADIX for any number of keys; few of them by insertion. */
#define SORT(NAME, KEY, SMALL_RADIX, LARGE_RADIX)                                                  \
    static KEY *NAME(KEY *a, KEY *b, size_t n, unsigned low, size_t *counts) {                     \
        if (n > FEW)                                                                               \
            return n <= SMALL ? SMALL_RADIX(a, b, n, low, counts)                                  \
                              : LARGE_RADIX(a, b, n, low, counts);                                 \
        for (size_t i = 1; i < n; i++) {                                                           \
            KEY key = a[i];                                                                        \
            size_t at = i;                                                                         \
            for (; at > 0 && a[at - 1] >> low > key >> low; at--)                                  \
                a[at] = a[at - 1];                                                                 \
            a[at] = key;                                                                           \
        }                                                                                          \
        return a;                                                                                  \
    }

SORT(sort_32, uint32_t, small_32, large_32)
SORT(sort_64, uint64_t, small_64, large_64)

/* Keys of values, whose equal ones need no order; of places, above them. */
static uint32_t *values_32(const leati_sorting *s, uint32_t *a, uint32_t *b) {
    uint32_t *found = in_order_32(a, b, s->n, 0);
    if (found != NULL)
        return found;
    if (is_wide(s) && leati_sorting_x86_sort_32(a, s->n))
        return a;
    return sort_32(a, b, s->n, 0, s->counts);
}

static uint64_t *values_64(const leati_sorting *s, uint64_t *a, uint64_t *b) {
    uint64_t *found = in_order_64(a, b, s->n, 0);
    if (found != NULL)
        return found;
    if (is_wide(s) && leati_sorting_x86_sort_64(a, s->n))
        return a;
    return sort_64(a, b, s->n, 0, s->counts);
}

static uint64_t *places_64(const leati_sorting *s, uint64_t *a, uint64_t *b) {
    uint64_t *found = in_order_64(a, b, s->n, 32);
    return found != NULL ? found : sort_64(a, b, s->n, 32, s->counts);
}

/* ---- lines ---- */

/* Values of 8 bits, and many of 16, are counted and written down as often. */
static bool is_counted(const leati_sorting *s) {
    return s->coding->bits == 8 || (s->coding->bits == 16 && s->n >= COUNTED_16);
}

static size_t num_counts(const leati_sorting *s, bool places) {
    if (!places && is_counted(s))
        return (size_t)1 << s->coding->bits;
    unsigned digit = s->n <= SMALL ? SMALL_DIGIT : LARGE_DIGIT;
    unsigned bits = places || s->coding->bits < 32 ? 32 : s->coding->bits;
    return (size_t)((bits + digit - 1) / digit) << digit;
}

leat_status leati_sorting_init(leati_sorting *s, leat_dtype dtype, int64_t n, bool descending,
                               bool places, leati_arena *arena, leat_error *err) {
    *s = (leati_sorting){.coding = &codings[dtype], .n = (size_t)n, .descending = descending};
    if (places && n > UINT32_MAX)
        return leati_refuse(err, SHAPE,
                            "a line has %lld values; expected at most %lld where their places are "
                            "asked for: cut the line into parts",
                            (long long)n, (long long)UINT32_MAX);
    /* Values as wide as their keys need one side: the other is the result's memory. */
    size_t width = places || s->coding->bits == 64 ? sizeof(uint64_t) : sizeof(uint32_t);
    size_t sides = places || s->coding->bits < 32 ? 2 : 1, keys = 0, counts = 0, bytes = 0;
    if (!places && is_counted(s))
        sides = 0;
    if (!leati_mul_size(s->n, width * sides, &keys) ||
        !leati_mul_size(num_counts(s, places), sizeof *s->counts, &counts) ||
        !leati_add_size(keys, counts, &bytes))
        return leati_no_memory(err);
    /* One piece, since each further one may double what the arena takes. */
    s->counts = leati_arena_alloc(arena, bytes);
    if (s->counts == NULL)
        return leati_no_memory(err);
    s->keys[0] = (char *)s->counts + counts;
    s->keys[1] = (char *)s->keys[0] + (sides == 2 ? keys / 2 : 0);
    return LEAT_OK;
}

/* Keys of n values from value `at` on, at most a block of them, as numbers of 64 bits. */
static void load_wide(const leati_sorting *s, const void *line, size_t at, size_t n,
                      uint64_t *keys) {
    uint32_t block[BLOCK];
    if (s->coding->bits == 64) {
        (void)load(s, line, at, n, keys);
        return;
    }
    (void)load(s, line, at, n, block);
    for (size_t i = 0; i < n; i++)
        keys[i] = block[i];
}

/* Writes the zeros and the NaNs of the line into their places of the result, which have one key
 * each, as they follow each other in the line. */
static void restore_special(const leati_sorting *s, const char *line, char *out) {
    const size_t size = s->coding->bits / 8;
    const uint64_t zero = s->coding->zero ^ flip_of(s), nan = s->coding->nan ^ flip_of(s);
    uint64_t keys[BLOCK];
    size_t zeros = 0, nans = 0;
    for (size_t at = 0; at < s->n; at += BLOCK) {
        size_t n = LEATI_MIN(s->n - at, (size_t)BLOCK);
        load_wide(s, line, at, n, keys);
        for (size_t i = 0; i < n; i++) {
            zeros += keys[i] < zero;
            nans += keys[i] < nan;
        }
    }
    for (size_t at = 0; at < s->n; at += BLOCK) {
        size_t n = LEATI_MIN(s->n - at, (size_t)BLOCK);
        load_wide(s, line, at, n, keys);
        for (size_t i = 0; i < n; i++)
            if (keys[i] == zero)
                memcpy(out + zeros++ * size, line + (at + i) * size, size);
            else if (keys[i] == nan)
                memcpy(out + nans++ * size, line + (at + i) * size, size);
    }
}

/* Writes each value as often as the line has its key; true: as load. */
static bool write_counted(leati_sorting *s, const void *line, char *out) {
    const size_t keys = (size_t)1 << s->coding->bits;
    uint32_t block[BLOCK];
    bool special = false;
    memset(s->counts, 0, keys * sizeof *s->counts);
    for (size_t at = 0; at < s->n; at += BLOCK) {
        size_t n = LEATI_MIN(s->n - at, (size_t)BLOCK);
        special |= load(s, line, at, n, block);
        for (size_t i = 0; i < n; i++)
            s->counts[block[i]]++;
    }
    for (uint32_t key = 0; key < keys; key++) {
        uint16_t value = 0;
        size_t count = s->counts[key];
        if (count == 0)
            continue;
        store(s, &key, 1, &value);
        if (s->coding->bits == 8) {
            memset(out, *(const unsigned char *)&value, count);
            out += count;
            continue;
        }
        for (size_t i = 0; i < count; i++, out += sizeof value)
            memcpy(out, &value, sizeof value);
    }
    return special;
}

void leati_sorting_values(leati_sorting *s, const void *line, void *out) {
    bool special = false;
    if (s->n == 0)
        return;
    if (is_counted(s)) {
        special = write_counted(s, line, out);
    } else {
        void *keys = s->coding->bits >= 32 ? out : s->keys[1];
        special = load(s, line, 0, s->n, keys);
        keys = s->coding->bits == 64 ? (void *)values_64(s, keys, s->keys[0])
                                     : (void *)values_32(s, keys, s->keys[0]);
        store(s, keys, s->n, out);
    }
    if (special)
        restore_special(s, line, out);
}

/* Puts the upper halves of the keys above the places that `from` has, in its order. */
static void join_upper(const leati_sorting *s, const uint64_t *line, uint64_t *from) {
    uint64_t values[BLOCK], keys[BLOCK];
    for (size_t at = 0; at < s->n; at += BLOCK) {
        size_t n = LEATI_MIN(s->n - at, (size_t)BLOCK);
        for (size_t i = 0; i < n; i++)
            values[i] = line[(uint32_t)from[at + i]];
        (void)load(s, values, 0, n, keys);
        for (size_t i = 0; i < n; i++)
            from[at + i] = (keys[i] & ~(uint64_t)UINT32_MAX) | (uint32_t)from[at + i];
    }
}

static uint64_t *places_of(leati_sorting *s, const void *line) {
    uint64_t *a = s->keys[0], *b = s->keys[1];
    int64_t done = 0;
    for (size_t at = 0; at < s->n; at += BLOCK) {
        size_t end = at + LEATI_MIN(s->n - at, (size_t)BLOCK);
        if (leati_stop_look_after(BLOCK, &done))
            return NULL;
        load_wide(s, line, at, end - at, a + at);
        for (size_t i = at; i < end; i++)
            a[i] = a[i] << 32 | i; /* of a key of 64 bits, the lower half */
    }
    uint64_t *order = places_64(s, a, b);
    if (s->coding->bits == 64) {
        join_upper(s, line, order);
        order = places_64(s, order, order == a ? b : a);
    }
    return order;
}

const uint64_t *leati_sorting_places(leati_sorting *s, const void *line) {
    return places_of(s, line);
}

/* ---- the largest ---- */

leat_status leati_sorting_top_init(leati_sorting_top *top, leat_dtype dtype, int64_t n, int64_t k,
                                   leati_arena *arena, leat_error *err) {
    /* With as many that come as stay, or a number that is worth the while, a line is put in order
     * twice at the worst. */
    const int64_t more = LEATI_MAX(k, (int64_t)CANDIDATES);
    *top = (leati_sorting_top){.n = n, .k = k};
    if (k > n / 2 || k > n - more)
        return leati_sorting_init(&top->sorting, dtype, n, true, true, arena, err);
    top->room = k + more;
    LEATI_TRY(leati_sorting_init(&top->sorting, dtype, top->room, true, true, arena, err));
    size_t of_places = 0, of_values = 0, bytes = 0;
    if (!leati_mul_size((size_t)top->room, 2 * sizeof(int64_t), &of_places) ||
        !leati_mul_size((size_t)top->room, leat_dtype_size(dtype), &of_values) ||
        !leati_add_size(of_places, of_values, &bytes))
        return leati_no_memory(err);
    top->places[0] = leati_arena_alloc(arena, bytes);
    if (top->places[0] == NULL)
        return leati_no_memory(err);
    top->places[1] = top->places[0] + top->room;
    top->values = (char *)top->places[0] + of_places;
    return LEAT_OK;
}

/* Of `count` candidates the first k stay, in order; the key of the last one. */
static uint64_t keep_first(leati_sorting_top *top, const char *line, int64_t count) {
    leati_sorting *s = &top->sorting;
    const size_t size = s->coding->bits / 8;
    for (int64_t i = 0; i < count && !leati_stop_look_at(i); i++)
        memcpy(top->values + (size_t)i * size, line + (size_t)top->places[0][i] * size, size);
    s->n = (size_t)count;
    const uint64_t *order = leati_sorting_places(s, top->values);
    if (order == NULL || leati_stop_stopped())
        return 0;
    for (int64_t i = 0; i < top->k && !leati_stop_look_at(i); i++)
        top->places[1][i] = top->places[0][(uint32_t)order[i]];
    uint64_t last = 0;
    load_wide(s, top->values, (uint32_t)order[top->k - 1], 1, &last);
    int64_t *kept = top->places[1];
    top->places[1] = top->places[0];
    top->places[0] = kept;
    return last;
}

/* Are all of them at least `least`? */
static bool none_below(const uint32_t *keys, int64_t n, uint32_t least) {
    uint32_t below = 0;
    for (int64_t i = 0; i < n; i++)
        below |= keys[i] < least;
    return below == 0;
}

/* Looks at the n values from `at` on, a block at most. */
static void take_block(leati_sorting_top *top, const void *line, int64_t at, int64_t n,
                       int64_t *count, uint64_t *last) {
    const leati_sorting *s = &top->sorting;
    uint64_t wide[BLOCK];
    uint32_t narrow[BLOCK];
    const bool is_narrow = s->coding->bits <= 32;
    (void)load(s, line, (size_t)at, (size_t)n, is_narrow ? (void *)narrow : (void *)wide);
    for (int64_t i = 0; i < n;) {
        int64_t end = i + LEATI_MIN(n - i, (int64_t)GROUP);
        if (is_narrow && at + i >= top->room && none_below(narrow + i, end - i, (uint32_t)*last))
            i = end;
        for (; i < end; i++) {
            /* One that is equal to the last that stays comes after it. */
            if (at + i >= top->room && (is_narrow ? narrow[i] : wide[i]) >= *last)
                continue;
            top->places[0][(*count)++] = at + i;
            if (*count == top->room) {
                *last = keep_first(top, line, *count);
                *count = top->k;
            }
        }
    }
}

const int64_t *leati_sorting_top_places(leati_sorting_top *top, const void *line) {
    uint64_t last = 0;
    int64_t count = 0;
    if (top->room == 0) {
        uint64_t *order = places_of(&top->sorting, line);
        for (int64_t i = 0; order != NULL && i < top->k && !leati_stop_look_at(i); i++)
            order[i] = (uint32_t)order[i];
        return (const int64_t *)order;
    }
    if (top->k == 0)
        return top->places[0];
    int64_t done = 0;
    for (int64_t at = 0; at < top->n; at += BLOCK) {
        int64_t n = LEATI_MIN(top->n - at, (int64_t)BLOCK);
        if (leati_stop_look_after(BLOCK, &done))
            return NULL;
        take_block(top, line, at, n, &count, &last);
    }
    (void)keep_first(top, line, count);
    return leati_stop_stopped() ? NULL : top->places[0];
}
