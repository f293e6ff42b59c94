/* The planned parser of tf.train.Example.
 *
 * Happy path: one walk over the record's entries finds the Feature message of each request (by the
 * remembered order, else by binary search in the sorted names); then each request's list is
 * checked and counted. Nothing is allocated.
 * Failures: INVALID_ARGUMENT with feature and byte; spans are then undefined. No locks: a plan is
 * immutable, an order belongs to one thread. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/example_plan.h"
#include "file/feature.h"
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b) {
    const leati_plan_name *x = a, *y = b;
    /* By size first: most names differ there, and no byte needs to be looked at. */
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return memcmp(x->text, y->text, x->size);
}

static leat_status check_request(const leati_feature_request *request, leat_error *err) {
    if (request->name == NULL)
        return leati_refuse(err, VALUE, "parse_example: a feature's name is NULL; expected text");
    if (request->dtype != LEAT_STRING && request->dtype != LEAT_INT64 &&
        request->dtype != LEAT_FLOAT32)
        return leati_refuse(
            err, DTYPE,
            "parse_example: feature \"%.100s\": dtype %s; expected string, int64 or "
            "float32 (cast afterwards)",
            request->name, leat_dtype_name(request->dtype));
    if (request->length < -1 || request->length > INT32_MAX || request->multiple < 0)
        return leati_refuse(err, VALUE,
                            "parse_example: feature \"%.100s\": %lld values, a multiple of %lld; "
                            "expected 0 to 2147483647 values, or -1 for any number",
                            request->name, (long long)request->length,
                            (long long)request->multiple);
    return LEAT_OK;
}

static leat_status check_twice(const leati_example_plan *plan, leat_error *err) {
    /* Equal names stand side by side in the sorted list. */
    for (int i = 1; i < plan->count; i++)
        if (compare_names(&plan->sorted[i - 1], &plan->sorted[i]) == 0)
            return leati_refuse(err, VALUE,
                                "parse_example: feature \"%.100s\" is asked for twice; expected "
                                "each name once",
                                plan->sorted[i].text);
    return LEAT_OK;
}

/* Copies the requests into an empty plan that has room for them. */
static leat_status fill_plan(leati_example_plan *plan, const leati_feature_request *requests,
                             int count, leat_error *err) {
    for (int i = 0; i < count; i++) {
        LEATI_TRY(check_request(&requests[i], err));
        size_t size = strlen(requests[i].name);
        plan->requests[i] = requests[i];
        /* A lent plan borrows the names and lies in the caller's arena. */
        if (!plan->lent)
            plan->requests[i].name = leati_strndup(requests[i].name, size);
        if (plan->requests[i].name == NULL)
            return leati_no_memory(err);
        /* Counted one by one, so that a failure frees just the names that were copied. */
        plan->count = i + 1;
        leati_plan_name name = {.text = plan->requests[i].name, .size = size, .index = i};
        /* The first eight bytes as a word, and which of them count: names are compared by it. */
        memcpy(&name.head, name.text, LEATI_MIN(size, 8));
        memset(&name.mask, 0xff, LEATI_MIN(size, 8));
        plan->by_index[i] = plan->sorted[i] = name;
    }
    /* Only lists of fixed length have their places known beforehand. */
    plan->dense = count <= LEATI_QUICK_FEATURES;
    for (int i = 0; i < count; i++)
        plan->dense = plan->dense && requests[i].length >= 0;
    if (count > 1)
        qsort(plan->sorted, (size_t)count, sizeof *plan->sorted, compare_names);
    return check_twice(plan, err);
}

static void *take(leati_arena *arena, size_t count, size_t size) {
    size_t bytes = 0;
    if (arena == NULL)
        return leati_alloc_zero(count, size);
    void *memory = leati_mul_size(count, size, &bytes) ? leati_arena_alloc(arena, bytes) : NULL;
    return memory == NULL ? NULL : memset(memory, 0, bytes);
}

static leat_status make_plan(const leati_feature_request *requests, int count, leati_arena *arena,
                             leati_example_plan **out, leat_error *err) {
    /* An order remembers request numbers plus 1 in 16 bits. */
    if (count < 0 || count >= INT16_MAX)
        return leati_refuse(err, VALUE, "parse_example: %d features; expected 0 to %d", count,
                            INT16_MAX - 1);
    leati_example_plan *plan = take(arena, 1, sizeof *plan);
    if (plan == NULL)
        return leati_no_memory(err);
    size_t n = (size_t)count;
    plan->lent = arena != NULL;
    plan->requests = take(arena, n, sizeof *plan->requests);
    plan->by_index = take(arena, n, sizeof *plan->by_index);
    plan->sorted = take(arena, n, sizeof *plan->sorted);
    leat_status status = plan->requests != NULL && plan->by_index != NULL && plan->sorted != NULL
                             ? fill_plan(plan, requests, count, err)
                             : leati_no_memory(err);
    if (status != LEAT_OK)
        leati_example_plan_free(plan);
    else
        *out = plan;
    return status;
}

leat_status leati_example_plan_new(const leati_feature_request *requests, int count,
                                   leati_example_plan **out, leat_error *err) {
    return make_plan(requests, count, NULL, out, err);
}

leat_status leati_example_plan_lend(const leati_feature_request *requests, int count,
                                    leati_arena *arena, leati_example_plan **out, leat_error *err) {
    return make_plan(requests, count, arena, out, err);
}

void leati_example_plan_free(leati_example_plan *plan) {
    if (plan == NULL || plan->lent)
        return;
    for (int i = 0; i < plan->count; i++)
        leati_free((char *)(uintptr_t)plan->requests[i].name); /* the plan's own copy */
    leati_free(plan->requests);
    leati_free(plan->by_index);
    leati_free(plan->sorted);
    leati_free(plan);
}

const leati_feature_request *leati_example_plan_request(const leati_example_plan *plan, int index) {
    return &plan->requests[index];
}

int leati_example_plan_look_up(const leati_example_plan *plan, leati_wire text, int entry,
                               leati_example_order *order) {
    leati_plan_name key = {.text = (const char *)text.at, .size = (size_t)(text.end - text.at)};
    const leati_plan_name *found =
        bsearch(&key, plan->sorted, (size_t)plan->count, sizeof key, compare_names);
    if (order != NULL && entry < LEATI_REMEMBERED_FEATURES)
        /* 0 stands for a name that no request has. */
        order->request[entry] = found != NULL ? (int16_t)(found->index + 1) : 0;
    return found != NULL ? found->index : -1;
}

static leat_status malformed(leat_string record, const uint8_t *at, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "byte %zu of a record of %zu bytes is no valid tf.train.Example",
                        (size_t)(at - (const uint8_t *)record.data), record.size);
}

/* What the walk over the entries carries. */
typedef struct walk {
    const leati_example_plan *plan;
    leati_example_order *order;
    leati_feature_span *spans;
    leat_string record;
    int entry;
} walk;

/* Notes where the wanted Feature messages of one Features message lie. */
static leat_status walk_features(walk *w, leati_wire features, leat_error *err) {
    while (features.at < features.end) {
        const uint8_t *bad = features.at;
        leati_wire_field field;
        leati_feature_entry entry;
        if (!leati_wire_next(&features, &field))
            return malformed(w->record, bad, err);
        if (field.number != 1 || field.type != LEATI_WIRE_BYTES)
            /* Unknown fields are passed over, as protobuf demands. */
            continue;
        if (!leati_feature_split(field.bytes, &entry, &bad))
            return malformed(w->record, bad, err);
        int index =
            leati_example_plan_find(w->plan, entry.name, features.end, w->entry++, w->order);
        /* Of a name that comes twice the last entry counts, as in a protobuf map. */
        if (index >= 0) {
            w->spans[index].list = (const char *)entry.feature.at;
            w->spans[index].size = (size_t)(entry.feature.end - entry.feature.at);
        }
    }
    return LEAT_OK;
}

static leat_status walk_record(walk *w, leat_error *err) {
    const uint8_t *start = (const uint8_t *)w->record.data;
    /* An empty record is an Example without features, and its data may be NULL. */
    if (w->record.size == 0)
        return LEAT_OK;
    leati_wire example = {start, start + w->record.size};
    while (example.at < example.end) {
        const uint8_t *bad = example.at;
        leati_wire_field field;
        if (!leati_wire_next(&example, &field))
            return malformed(w->record, bad, err);
        if (field.number != 1 || field.type != LEATI_WIRE_BYTES)
            continue;
        LEATI_TRY(walk_features(w, field.bytes, err));
    }
    return LEAT_OK;
}

static leat_status missing(const leati_feature_request *request, leati_feature_span *span,
                           leat_error *err) {
    if (request->length >= 0 && request->defaults == NULL)
        return leati_refuse(err, VALUE,
                            "Feature: %.100s (data type: %s) is required but could not be found: "
                            "%lld values; give it a default or leave it out",
                            request->name, leati_feature_word(request->dtype),
                            (long long)request->length);
    /* No list: the reader takes the defaults, which are so many. */
    *span = (leati_feature_span){.count = request->length >= 0 ? request->length : 0};
    return LEAT_OK;
}

static leat_status check_count(const leati_feature_request *request, int64_t count, size_t at,
                               leat_error *err) {
    const char *word = leati_feature_word(request->dtype);
    if (request->length >= 0 && count != request->length)
        return leati_refuse(err, SHAPE,
                            "Key: %.100s, at byte %zu. Number of %s values != expected: has %lld, "
                            "expected %lld",
                            request->name, at, word, (long long)count, (long long)request->length);
    if (request->length < 0 && request->multiple > 1 && count % request->multiple != 0)
        return leati_refuse(
            err, SHAPE,
            "feature \"%.100s\" at byte %zu has %lld %s values; expected a multiple "
            "of %lld",
            request->name, at, (long long)count, word, (long long)request->multiple);
    return LEAT_OK;
}

/* Turns the noted Feature message of one request into its checked list. */
static leat_status check_span(const leati_feature_request *request, leat_string record,
                              leati_feature_span *span, leat_error *err) {
    if (span->list == NULL)
        return missing(request, span, err);
    const uint8_t *start = (const uint8_t *)record.data, *message = (const uint8_t *)span->list;
    leati_wire feature = {message, message + span->size}, list;
    const uint8_t *bad = message;
    leat_dtype dtype;
    int64_t count = -1;
    if (leati_feature_list(feature, &dtype, &list, &bad)) {
        /* A Feature without a list counts as missing, as in TensorFlow. */
        if (dtype == LEAT_INVALID)
            return missing(request, span, err);
        if (dtype != request->dtype)
            return leati_refuse(
                err, DTYPE,
                "Key: %.100s, at byte %zu. Data types don't match. Data type: %s but "
                "expected type: %s",
                request->name, (size_t)(message - start), leati_feature_word(dtype),
                leati_feature_word(request->dtype));
        count = leati_feature_count(dtype, list, &bad);
    }
    if (count < 0)
        return leati_refuse(err, VALUE,
                            "feature \"%.100s\": byte %zu of a record of %zu bytes is no valid "
                            "tf.train.Feature",
                            request->name, (size_t)(bad - start), record.size);
    *span = (leati_feature_span){
        .list = (const char *)list.at, .size = (size_t)(list.end - list.at), .count = count};
    return check_count(request, count, (size_t)(message - start), err);
}

leat_status leati_example_parse(const leati_example_plan *plan, leat_string record,
                                leati_example_order *order, leati_feature_span *spans,
                                leat_error *err) {
    for (int i = 0; i < plan->count; i++)
        /* NULL until an entry is found; size and count mean nothing before. */
        spans[i].list = NULL;
    walk w = {plan, order, spans, record, 0};
    leat_status status = walk_record(&w, err);
    for (int i = 0; i < plan->count && status == LEAT_OK; i++)
        status = check_span(&plan->requests[i], record, &spans[i], err);
    return status;
}

void leati_example_read(const leati_example_plan *plan, int index, const leati_feature_span *span,
                        void *to) {
    const leati_feature_request *request = &plan->requests[index];
    if (span->list == NULL) {
        /* Without defaults nothing is copied: lists of any length are empty then. */
        if (span->count > 0)
            memcpy(to, request->defaults, (size_t)span->count * leat_dtype_size(request->dtype));
        return;
    }
    const uint8_t *list = (const uint8_t *)span->list;
    if (span->packed) {
        leati_feature_unpack(request->dtype, (leati_wire){list, list + span->size}, to,
                             span->count);
        return;
    }
    (void)leati_feature_values(request->dtype, (leati_wire){list, list + span->size}, to,
                               span->count);
}
