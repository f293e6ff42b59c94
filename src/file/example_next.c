/* The features of any tf.train.Example, one after another: for tools that know no plan.
 *
 * Happy path: the position is the byte of the record after the last entry given out; the few fields
 * around the entries are walked again at each call, so the caller keeps nothing else. Failures:
 * INVALID_ARGUMENT with the byte. No state, no locks. */
#include "base/error.h"
#include "file/feature.h"

static leat_status malformed(leat_string record, const uint8_t *at, leat_error *err) {
    return leati_refuse(err, VALUE,
                        "byte %zu of a record of %zu bytes is no valid tf.train.Example",
                        (size_t)(at - (const uint8_t *)record.data), record.size);
}

static leat_status fill(leat_string record, leati_wire message, leat_feature *out,
                        leat_error *err) {
    const uint8_t *bad = message.at;
    leati_feature_entry entry;
    leati_wire list;
    leat_dtype dtype;
    int64_t count = -1;
    if (leati_feature_split(message, &entry, &bad) &&
        leati_feature_list(entry.feature, &dtype, &list, &bad))
        /* A Feature without a list is shown as one without values. */
        count = dtype == LEAT_INVALID ? 0 : leati_feature_count(dtype, list, &bad);
    if (count < 0)
        return malformed(record, bad, err);
    *out = (leat_feature){
        .name = {(const char *)entry.name.at, (size_t)(entry.name.end - entry.name.at)},
        .dtype = dtype,
        .count = count,
        .list = {(const char *)list.at, (size_t)(list.end - list.at)},
    };
    return LEAT_OK;
}

/* The next entry of one Features message; *found is whether there was one. */
static leat_status next_entry(leat_string record, leati_wire *features, leat_feature *out,
                              bool *found, leat_error *err) {
    while (features->at < features->end) {
        const uint8_t *bad = features->at;
        leati_wire_field field;
        if (!leati_wire_next(features, &field))
            return malformed(record, bad, err);
        if (field.number == 1 && field.type == LEATI_WIRE_BYTES) {
            *found = true;
            return fill(record, field.bytes, out, err);
        }
    }
    return LEAT_OK;
}

leat_status leat_example_next(leat_string record, size_t *position, leat_feature *out, bool *end,
                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const uint8_t *start = (const uint8_t *)record.data;
    leati_wire example = {start, start};
    if (record.size > 0)
        example.end += record.size;
    while (example.at < example.end) {
        const uint8_t *bad = example.at;
        leati_wire_field field;
        if (!leati_wire_next(&example, &field))
            return malformed(record, bad, err);
        /* The whole message lies before the position. */
        if (field.number != 1 || field.type != LEATI_WIRE_BYTES ||
            *position >= (size_t)(field.bytes.end - start))
            continue;
        leati_wire features = field.bytes;
        /* Entries before it were given out by earlier calls. */
        if (*position > (size_t)(features.at - start))
            features.at = start + *position;
        bool found = false;
        LEATI_TRY(next_entry(record, &features, out, &found, err));
        /* Also without an entry: the fields passed need not be walked again. */
        *position = (size_t)(features.at - start);
        if (found) {
            *end = false;
            return LEAT_OK;
        }
    }
    *end = true;
    return LEAT_OK;
}

int64_t leat_feature_read(const leat_feature *feature, void *values, int64_t capacity) {
    const uint8_t *list = (const uint8_t *)feature->list.data;
    if (feature->dtype == LEAT_INVALID || feature->list.size == 0)
        return 0;
    return leati_feature_values(feature->dtype, (leati_wire){list, list + feature->list.size},
                                values, capacity);
}
