/* Sets of positions; see ranges.h. Failures: RESOURCE_EXHAUSTED. No locks: one owner. */
#include "service/wire/ranges.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <string.h>

/* The first pair that ends at or behind `at`. */
static int32_t find(const leati_ranges *ranges, int64_t at) {
    int32_t low = 0, high = ranges->count / 2;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (ranges->values[2 * middle + 1] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

leat_status leati_ranges_add(leati_ranges *ranges, int64_t begin, int64_t end, leat_error *err) {
    if (begin >= end)
        return LEAT_OK;
    int32_t pairs = ranges->count / 2, first = find(ranges, begin), last = first;
    while (last < pairs && ranges->values[2 * last] <= end) {
        begin = LEATI_MIN(begin, ranges->values[2 * last]);
        end = LEATI_MAX(end, ranges->values[2 * last + 1]);
        last++;
    }
    /* Pairs first to last become one; without any, one is put in. */
    if (first == last) {
        int64_t *values = leati_alloc_resize(ranges->values, 2 * (size_t)pairs + 2, sizeof *values);
        if (values == NULL)
            return leati_no_memory(err);
        ranges->values = values;
    }
    memmove(ranges->values + 2 * first + 2, ranges->values + 2 * last,
            2 * (size_t)(pairs - last) * sizeof *ranges->values);
    ranges->values[2 * first] = begin;
    ranges->values[2 * first + 1] = end;
    ranges->count = 2 * (pairs - last + first + 1);
    return LEAT_OK;
}

bool leati_ranges_look(const leati_ranges *ranges, int64_t at, int64_t *until) {
    int32_t i = find(ranges, at + 1), pairs = ranges->count / 2;
    bool in = i < pairs && ranges->values[2 * i] <= at;
    *until = i >= pairs ? INT64_MAX : ranges->values[2 * i + (in ? 1 : 0)];
    return in;
}

bool leati_ranges_are_valid(const leati_ranges *ranges) {
    if (ranges->count % 2 != 0)
        return false;
    for (int32_t i = 0; i < ranges->count; i++)
        if (ranges->values[i] < (i == 0 ? 0 : ranges->values[i - 1] + i % 2))
            return false;
    return true;
}

leat_status leati_ranges_copy(const leati_ranges *from, leati_ranges *to, leat_error *err) {
    *to = (leati_ranges){0};
    if (from->count == 0)
        return LEAT_OK;
    to->values = leati_alloc((size_t)from->count, sizeof *to->values);
    if (to->values == NULL)
        return leati_no_memory(err);
    memcpy(to->values, from->values, (size_t)from->count * sizeof *to->values);
    to->count = from->count;
    return LEAT_OK;
}

void leati_ranges_fini(leati_ranges *ranges) {
    leati_free(ranges->values);
    *ranges = (leati_ranges){0};
}
