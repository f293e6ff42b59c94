/* The quick parser of tf.train.Example: values of features of fixed length, or where the values of
 * features of any length are.
 *
 * Happy path: encoders write each map entry as name and value, each value as one list, and each
 * list packed, so an entry is a chain of lengths that end where the one around them ends, and then
 * its values. Entry i of most records has the same tags, name and lengths as entry i of the record
 * before: where its first bytes are equal, the chain is known to be good, and only the values are
 * read. Elsewhere one walk along the chain checks it. Failures: none are told apart here; a record
 * that is written in another way, lacks a feature or is malformed is left to the thorough parser.
 * No locks: a plan is immutable, an order belongs to one thread. */
#include "file/example_plan.h"
#include "file/feature.h"

/* Enters the length-delimited field with this one-byte tag: *at goes to its bytes, *end to their
 * end. False if there is none before `limit`. */
static inline bool enter(const uint8_t **at, const uint8_t *limit, uint8_t tag,
                         const uint8_t **end) {
    const uint8_t *p = *at;
    if (limit - p < 2 || p[0] != tag)
        return false;
    size_t size = p[1];
    p += 2;
    /* A bit above the ones read so far says that another byte follows; it is masked off there. */
    for (int shift = 7; size >> shift; shift += 7) {
        /* Five bytes at most: a message is below 2 GiB. */
        if (p == limit || shift > 28)
            return false;
        size = (size & (((size_t)1 << shift) - 1)) | (size_t)*p++ << shift;
    }
    if (size > (size_t)(limit - p))
        return false;
    *at = p;
    *end = p + size;
    return true;
}

/* The same for a field that must be all there is up to `limit`. */
static inline bool enter_whole(const uint8_t **at, const uint8_t *limit, uint8_t tag) {
    const uint8_t *end;
    return enter(at, limit, tag, &end) && end == limit;
}

/* Writes the values of one packed field or of one string, exactly as many as are wanted. */
static inline bool read_values(const leati_feature_request *request, const uint8_t *at,
                               const uint8_t *end, void *to) {
    leati_wire packed = {at, end};
    int64_t count = request->length, *integers = to;
    uint64_t value;
    switch (request->dtype) {
    case LEAT_STRING:
        *(leat_string *)to = (leat_string){(const char *)at, (size_t)(end - at)};
        return true;
    case LEAT_FLOAT32:
        /* Another number of values is refused by the thorough parser, with the name. */
        if (end - at != count * 4)
            return false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        memcpy(to, at, (size_t)count * 4);
#else
        for (int64_t i = 0; i < count; i++) {
            uint32_t bits = leati_wire_load32(at + 4 * i);
            memcpy((float *)to + i, &bits, sizeof bits);
        }
#endif
        return true;
    default:
        for (int64_t i = 0; i < count; i++) {
            if (!leati_wire_varint(&packed, &value))
                return false;
            integers[i] = (int64_t)value;
        }
        /* Bytes left over: more values than were asked for. */
        return packed.at == end;
    }
}

/* Several strings, or none: [at, end) is their list. */
static bool read_strings(const uint8_t *at, const uint8_t *end, int64_t count, leat_string *to) {
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *stop;
        if (!enter(&at, end, 0x0a, &stop))
            return false;
        to[i] = (leat_string){(const char *)at, (size_t)(stop - at)};
        at = stop;
    }
    return at == end;
}

/* Reads the Feature message that lies from *at to `end`; *at goes to its values, or to NULL where
 * they are no single field. */
static bool read_feature(const leati_feature_request *request, const uint8_t **at,
                         const uint8_t *end, void *to) {
    bool strings = request->dtype == LEAT_STRING;
    uint8_t tag = strings ? 0x0a : request->dtype == LEAT_FLOAT32 ? 0x12 : 0x1a;
    if (!enter_whole(at, end, tag))
        return false;
    /* Several strings are walked one by one; of no values there is just the end of the list. */
    if (request->length != 1 && (strings || request->length == 0)) {
        bool good = read_strings(*at, end, request->length, to);
        *at = NULL;
        return good;
    }
    return enter_whole(at, end, 0x0a) && read_values(request, *at, end, to);
}

/* What the walk over a record's entries carries. */
typedef struct walk {
    const leati_example_plan *plan;
    leati_example_order *order;
    const leati_example_column *columns;
    leati_feature_span *spans; /* of the record; NULL: values go to the columns */
    int64_t row;
    const uint8_t *end;
    uint64_t missing[LEATI_QUICK_FEATURES / 64]; /* requests without a value, as bits */
} walk;

static inline void found(walk *w, int index) {
    w->missing[index / 64] &= ~(UINT64_C(1) << (index % 64));
}

static inline bool complete(const walk *w) {
    uint64_t missing = 0;
    for (size_t i = 0; i < sizeof w->missing / sizeof *w->missing; i++)
        missing |= w->missing[i];
    return missing == 0;
}

static inline void *place_of(const walk *w, int index) {
    return (char *)w->columns[index].data + w->row * w->columns[index].stride;
}

/* Keeps the first `prefix` bytes of an entry of `size` bytes. */
static void remember(const walk *w, int entry, const uint8_t *at, size_t prefix, size_t size,
                     int request) {
    struct leati_entry_shape *shape = &w->order->shape[entry];
    shape->prefix = 0;
    /* Long names do not fit the pattern, and are walked along each time. */
    if (prefix > sizeof shape->head || size > UINT32_MAX)
        return;
    *shape = (struct leati_entry_shape){
        .prefix = (uint32_t)prefix, .size = (uint32_t)size, .request = request};
    memcpy(shape->head, at, prefix);
    memset(shape->mask, 0xff, prefix);
}

static inline bool resembles(const struct leati_entry_shape *shape, const uint8_t *at,
                             const uint8_t *end) {
    uint64_t word, differences = 0;
    /* Near the record's end the 32 bytes of a pattern may not be there to read. */
    size_t left = (size_t)(end - at);
    if (left < sizeof shape->head || shape->prefix == 0 || shape->size > left)
        return false;
    for (int i = 0; i < 4; i++) {
        /* Four words at once, with bytes beyond the prefix masked out, instead of a loop over
         * bytes. */
        memcpy(&word, at + 8 * i, sizeof word);
        differences |= (word & shape->mask[i]) ^ shape->head[i];
    }
    return differences == 0;
}

/* How many strings a list has; -1 if it is written in another way. */
static int64_t count_strings(const uint8_t *at, const uint8_t *end) {
    int64_t count = 0;
    for (const uint8_t *stop; at < end; at = stop, count++)
        if (!enter(&at, end, 0x0a, &stop))
            return -1;
    return count;
}

/* Notes values of a request that lie from `at` to `end`, a packed field or a list of strings. */
static inline bool note(walk *w, int index, const uint8_t *at, const uint8_t *end) {
    const leati_feature_request *request = &w->plan->requests[index];
    int64_t count;
    switch (request->dtype) {
    case LEAT_STRING: count = count_strings(at, end); break;
    case LEAT_FLOAT32: count = (end - at) % 4 == 0 ? (end - at) / 4 : -1; break;
    default: count = leati_feature_count_varints((leati_wire){at, end}); break;
    }
    if (count < 0 || (request->length >= 0 && count != request->length) ||
        (request->length < 0 && request->multiple > 1 && count % request->multiple != 0))
        return false;
    w->spans[index] = (leati_feature_span){.list = (const char *)at,
                                           .size = (size_t)(end - at),
                                           .count = count,
                                           .packed = request->dtype != LEAT_STRING};
    return true;
}

/* The same for a Feature message; *at goes to its values. */
static bool note_feature(walk *w, int index, const uint8_t **at, const uint8_t *end) {
    leat_dtype dtype = w->plan->requests[index].dtype;
    uint8_t tag = dtype == LEAT_STRING ? 0x0a : dtype == LEAT_FLOAT32 ? 0x12 : 0x1a;
    if (!enter_whole(at, end, tag))
        return false;
    /* A list without values has no packed field. */
    if (dtype != LEAT_STRING && *at != end && !enter_whole(at, end, 0x0a))
        return false;
    return note(w, index, *at, end);
}

/* Walks along an entry's chain of lengths; *at goes behind it. */
static bool read_entry(walk *w, const uint8_t **at, int entry) {
    const uint8_t *start = *at, *stop, *values = start;
    leati_wire name;
    if (!enter(&values, w->end, 0x0a, &stop) || !enter(&values, stop, 0x0a, &name.end))
        return false;
    name.at = values;
    values = name.end;
    if (!enter_whole(&values, stop, 0x12))
        return false;
    int index = leati_example_plan_find(w->plan, name, w->end, entry, w->order);
    if (index >= 0) {
        if (w->spans != NULL
                ? !note_feature(w, index, &values, stop)
                : !read_feature(&w->plan->requests[index], &values, stop, place_of(w, index)))
            return false;
        found(w, index);
    }
    /* Entries whose values are not in one piece have no prefix to remember. */
    if (values != NULL && entry < LEATI_REMEMBERED_FEATURES)
        remember(w, entry, start, (size_t)(values - start), (size_t)(stop - start), index);
    *at = stop;
    return true;
}

static inline bool read_record(walk *w, const leat_string *record) {
    const uint8_t *at = (const uint8_t *)record->data;
    if (record->size == 0)
        return complete(w);
    w->end = at + record->size;
    if (!enter_whole(&at, w->end, 0x0a))
        return false;
    for (int entry = 0; at < w->end; entry++) {
        const struct leati_entry_shape *shape =
            entry < LEATI_REMEMBERED_FEATURES ? &w->order->shape[entry] : NULL;
        if (shape == NULL || !resembles(shape, at, w->end)) {
            if (!read_entry(w, &at, entry))
                return false;
            continue;
        }
        int index = shape->request;
        if (index >= 0) {
            if (w->spans != NULL ? !note(w, index, at + shape->prefix, at + shape->size)
                                 : !read_values(&w->plan->requests[index], at + shape->prefix,
                                                at + shape->size, place_of(w, index)))
                return false;
            found(w, index);
        }
        at += shape->size;
    }
    return complete(w);
}

/* All requests that a record may not lack. */
static void expect(const leati_example_plan *plan, uint64_t *bits) {
    for (int i = 0; i < plan->count; i++)
        if (plan->requests[i].length >= 0)
            /* One bit each: whether all were found is one comparison. */
            bits[i / 64] |= UINT64_C(1) << (i % 64);
}

int64_t leati_example_parse_dense(const leati_example_plan *plan, const leat_string *records,
                                  int64_t n, leati_example_order *order,
                                  const leati_example_column *columns) {
    walk w = {.plan = plan, .order = order, .columns = columns};
    uint64_t all[LEATI_QUICK_FEATURES / 64] = {0};
    if (!plan->dense)
        return 0;
    expect(plan, all);
    while (w.row < n) {
        memcpy(w.missing, all, sizeof all);
        if (!read_record(&w, &records[w.row]))
            /* The thorough parser goes on at this row, and says what is wrong if anything is. */
            break;
        w.row++;
    }
    return w.row;
}

int64_t leati_example_find(const leati_example_plan *plan, const leat_string *records, int64_t n,
                           leati_example_order *order, leati_feature_span *spans) {
    walk w = {.plan = plan, .order = order};
    uint64_t all[LEATI_QUICK_FEATURES / 64] = {0};
    if (plan->count > LEATI_QUICK_FEATURES)
        return 0;
    expect(plan, all);
    while (w.row < n) {
        w.spans = spans + w.row * plan->count;
        memset(w.spans, 0, (size_t)plan->count * sizeof *w.spans);
        memcpy(w.missing, all, sizeof all);
        if (!read_record(&w, &records[w.row]))
            break;
        w.row++;
    }
    return w.row;
}
