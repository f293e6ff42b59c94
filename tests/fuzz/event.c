/* Event files. The first byte of an input says what the rest is: a whole file; an Event's message;
 * or what a writer is given, a tensor with its tag, metadata and step, or messages as they are.
 *
 * A file has the records that reading finds one by one. A tensor in an event that is read is
 * written and read again as the same one. What a writer wrote is read as what it was given. */
#include "base/hash.h"
#include "core/tensor.h"
#include "file/tensor_proto.h"
#include "file/tfrecord.h"
#include "fuzz.h"
#include <leat/summary.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE, MESSAGE, TENSOR, MESSAGES, KINDS };
enum { EVENT_STEP = 2, EVENT_GRAPH = 4, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_TENSOR = 8, VALUE_METADATA = 9 };
enum { MOST_VALUES = 1 << 14, MOST_EVENTS = 4, MOST_TAG = 20, OPTIONS = 5 };

/* ---- reading ---- */

/* The last field of a number, as protobuf reads one that is there more than once. */
static bool find(leati_wire message, uint32_t number, leati_wire_field *out) {
    leati_wire_field field = {0};
    bool found = false;
    while (message.at < message.end && leati_wire_next(&message, &field)) {
        if (field.number != number)
            continue;
        *out = field;
        found = true;
    }
    return found;
}

/* Copies what a tensor's message has, where it is not too much to try; false where it is damaged.
 * `values` has room for MOST_VALUES of the largest dtype. */
static bool values_of(const leati_tensor_proto *tensor, void *values) {
    leat_error err = {0};
    leat_status status = leati_tensor_proto_values(tensor, values, &err);
    fuzz_check_error("a tensor's values", status, &err);
    return status == LEAT_OK;
}

static void put(leati_writer *out, const leati_tensor_proto *tensor, const void *values) {
    leat_error err = {0};
    leat_status status =
        tensor->dtype == LEAT_STRING
            ? leati_tensor_proto_put_strings(out, &tensor->shape, values, &err)
            : leati_tensor_proto_put(out, tensor->dtype, &tensor->shape, values, &err);
    if (status != LEAT_OK || out->failed)
        fuzz_broken("a tensor that was read cannot be written: %s", err.text);
}

static void compare_values(const leati_tensor_proto *tensor, const void *a, const void *b) {
    const leat_string *first = a, *second = b;
    if (tensor->dtype != LEAT_STRING) {
        if (memcmp(a, b, (size_t)tensor->count * leat_dtype_size(tensor->dtype)) != 0)
            fuzz_broken("other values");
        return;
    }
    for (int64_t i = 0; i < tensor->count; i++)
        if (first[i].size != second[i].size ||
            (first[i].size > 0 && memcmp(first[i].data, second[i].data, first[i].size) != 0))
            fuzz_broken("string %lld is another one", (long long)i);
}

static void check_tensor(leati_wire message) {
    static leat_string values[MOST_VALUES], again[MOST_VALUES]; /* the largest of all dtypes */
    leati_tensor_proto tensor, copy;
    leat_error err = {0};
    leat_status status = leati_tensor_proto_read(message, &tensor, &err);
    fuzz_check_error("a tensor", status, &err);
    if (status != LEAT_OK || tensor.dtype == LEAT_INVALID || tensor.count > MOST_VALUES ||
        !values_of(&tensor, values))
        return;
    leati_writer out = {0};
    put(&out, &tensor, values);
    leati_wire written = {(const uint8_t *)out.data, (const uint8_t *)out.data + out.size};
    if (leati_tensor_proto_read(written, &copy, &err) != LEAT_OK || copy.dtype != tensor.dtype ||
        copy.count != tensor.count || !values_of(&copy, again))
        fuzz_broken("a tensor, written and read again: %s", err.text);
    compare_values(&tensor, values, again);
    leati_writer_fini(&out);
}

/* The tensors of an event's summary, which may have several values. */
static void check_event(leati_wire event) {
    leati_wire_field summary = {0}, field = {0}, tensor = {0};
    if (!find(event, EVENT_SUMMARY, &summary))
        return;
    while (summary.bytes.at < summary.bytes.end && leati_wire_next(&summary.bytes, &field))
        if (field.number == SUMMARY_VALUE && find(field.bytes, VALUE_TENSOR, &tensor))
            check_tensor(tensor.bytes);
}

struct events {
    leat_string list[MOST_EVENTS]; /* copies of the first ones */
    int64_t count;
    uint64_t hash;
};

static leat_status take(void *context, int64_t index, int64_t offset, leat_string record,
                        leat_error *err) {
    struct events *events = context;
    (void)offset;
    (void)err;
    check_event((leati_wire){(const uint8_t *)record.data, //
                             (const uint8_t *)record.data + record.size});
    if (index < MOST_EVENTS) {
        char *copy = malloc(record.size + 1);
        if (copy == NULL)
            fuzz_broken("no memory");
        memcpy(copy, record.data, record.size);
        events->list[index] = (leat_string){copy, record.size};
    }
    events->hash = leati_hash(record.data, record.size, events->hash);
    events->count++;
    return LEAT_OK;
}

static void free_events(struct events *events) {
    for (int i = 0; i < MOST_EVENTS; i++)
        free((void *)(uintptr_t)events->list[i].data);
}

static void check_file(const uint8_t *data, size_t size) {
    const char *path = fuzz_file(data, size);
    struct events events = {0};
    leat_record_summary summary = {0};
    leat_error err = {0}, reading = {0};
    leat_status status =
        leat_records_inspect(path, LEAT_COMPRESSION_NONE, take, &events, &summary, &err);
    fuzz_check_error("looking into a file", status, &err);
    leati_tfrecord *reader = NULL;
    if (leati_tfrecord_open(path, NULL, &reader, &reading) != LEAT_OK)
        fuzz_broken("opening: %s", reading.text);
    uint64_t hash = 0;
    leat_string record;
    int64_t n = 0, count = 0;
    while (leati_tfrecord_read(reader, 1, 0, &record, NULL, &n, &reading) == LEATI_RECORD) {
        hash = leati_hash(record.data, record.size, hash);
        count++;
    }
    if (count != events.count || hash != events.hash ||
        (status == LEAT_OK && summary.records != count))
        fuzz_broken("%lld records, then %lld", (long long)events.count, (long long)count);
    leati_tfrecord_close(reader);
    free_events(&events);
}

/* ---- writing ---- */

static leat_event_writer *open_writer(char *path, size_t room) {
    leat_error err = {0};
    leat_event_writer *writer = leat_event_writer_open("events", NULL, &err);
    if (writer == NULL)
        fuzz_broken("opening a writer: %s", err.text);
    snprintf(path, room, "%s", leat_event_writer_path(writer));
    return writer;
}

/* What was written: the version, and as many events. The file is removed. */
static void read_back(leat_event_writer *writer, const char *path, int64_t count,
                      struct events *events) {
    leat_error err = {0};
    leat_record_summary summary = {0};
    if (leat_event_writer_close(writer, &err) != LEAT_OK)
        fuzz_broken("closing: %s", err.text);
    leat_status status =
        leat_records_inspect(path, LEAT_COMPRESSION_NONE, take, events, &summary, &err);
    if (status != LEAT_OK || summary.trailing_bytes != 0 || events->count != count + 1)
        fuzz_broken("%lld events were written, %lld read: %s", (long long)count,
                    (long long)events->count - 1, err.text);
    if (remove(path) != 0)
        fuzz_broken("%s cannot be removed", path);
}

static leati_wire event_at(const struct events *events, int index) {
    const uint8_t *data = (const uint8_t *)events->list[index].data;
    return (leati_wire){data, data + events->list[index].size};
}

/* The event has this step, and `bytes` in a field of bytes. */
static void expect(leati_wire event, int64_t step, uint32_t number, const void *bytes,
                   size_t size) {
    leati_wire_field field = {0};
    if ((find(event, EVENT_STEP, &field) ? (int64_t)field.value : 0) != step)
        fuzz_broken("step %lld was written", (long long)step);
    if (!find(event, number, &field) || (size_t)(field.bytes.end - field.bytes.at) != size ||
        (size > 0 && memcmp(field.bytes.at, bytes, size) != 0))
        fuzz_broken("field %u has other bytes", (unsigned)number);
}

static void check_messages(const uint8_t *data, size_t size) {
    char path[512];
    struct events events = {0};
    leat_error err = {0};
    leat_string message = {(const char *)data, size};
    int64_t step = size > 0 ? (int8_t)data[0] : 0;
    leat_event_writer *writer = open_writer(path, sizeof path);
    if (leat_event_summary(writer, step, message, &err) != LEAT_OK ||
        leat_event_graph(writer, message, &err) != LEAT_OK)
        fuzz_broken("a message cannot be written: %s", err.text);
    read_back(writer, path, 2, &events);
    expect(event_at(&events, 1), step, EVENT_SUMMARY, data, size);
    expect(event_at(&events, 2), 0, EVENT_GRAPH, data, size);
    free_events(&events);
}

/* The value that was written has this tag and these values; a tensor that is read was checked. */
static void expect_value(leati_wire event, const char *tag, const leat_tensor *value) {
    leati_wire_field summary = {0}, entry = {0}, tensor = {0};
    leati_tensor_proto proto;
    static leat_string values[MOST_VALUES];
    leat_error err = {0};
    if (!find(event, EVENT_SUMMARY, &summary) || !find(summary.bytes, SUMMARY_VALUE, &entry) ||
        !find(entry.bytes, VALUE_TENSOR, &tensor) ||
        leati_tensor_proto_read(tensor.bytes, &proto, &err) != LEAT_OK)
        fuzz_broken("no tensor was written");
    leati_wire_field name = {.bytes = {NULL, NULL}};
    (void)find(entry.bytes, VALUE_TAG, &name);
    size_t size = (size_t)(name.bytes.end - name.bytes.at);
    if (size != strlen(tag) || (size > 0 && memcmp(name.bytes.at, tag, size) != 0))
        fuzz_broken("another tag");
    if (proto.dtype != value->dtype || proto.count != leat_tensor_count(value) ||
        !values_of(&proto, values))
        fuzz_broken("another dtype or shape");
    compare_values(&proto, value->data, values);
}

/* Options choose dtype, rank, the tag's length, where metadata come from, and the step. */
static void check_written(const uint8_t *data, size_t size) {
    static const leat_dtype dtypes[] = {LEAT_STRING, LEAT_FLOAT32, LEAT_UINT8,  LEAT_INT64,
                                        LEAT_BOOL,   LEAT_FLOAT16, LEAT_FLOAT64};
    static leat_string values[MOST_VALUES];
    char path[512], tag[MOST_TAG + 1] = "", plugin[9] = "";
    struct events events = {0};
    leat_error err = {0};
    if (size < OPTIONS)
        return;
    const uint8_t *options = data;
    data += OPTIONS, size -= OPTIONS;
    size_t named = options[2] % MOST_TAG < size ? options[2] % MOST_TAG : size;
    memcpy(tag, data, named);
    data += named, size -= named;
    memcpy(plugin, data, size < 8 ? size : 8);
    leat_dtype dtype = dtypes[options[0] % (sizeof dtypes / sizeof *dtypes)];
    size_t count = dtype == LEAT_STRING ? size : size / leat_dtype_size(dtype);
    for (size_t i = 0; i < count && dtype == LEAT_STRING; i++)
        values[i] = (leat_string){(const char *)data + i, (size - i) % 7};
    if (dtype != LEAT_STRING)
        memcpy(values, data, count * leat_dtype_size(dtype));
    for (size_t i = 0; i < count && dtype == LEAT_BOOL; i++)
        ((uint8_t *)values)[i] &= 1;
    leat_shape shape = options[1] % 2 ? LEAT_SHAPE((int64_t)count) : LEAT_SHAPE(1, (int64_t)count);
    leat_tensor value = leat_tensor_view(dtype, shape, values);
    leat_event_metadata metadata = {.plugin = options[3] & 1 ? plugin : NULL,
                                    .display_name = options[3] & 2 ? tag : NULL,
                                    .description = options[3] & 4 ? plugin : NULL,
                                    .data_class = options[3] / 8 % 4};
    if (options[3] & 32)
        metadata.content = (leat_string){(const char *)data, size};
    if (options[3] & 64)
        metadata.metadata = (leat_string){(const char *)data, size};
    int64_t step = (int8_t)options[4];
    leat_event_writer *writer = open_writer(path, sizeof path);
    leat_status status = leat_event_tensor(writer, tag, step, &value, &metadata, &err);
    fuzz_check_error("writing a tensor", status, &err);
    read_back(writer, path, status == LEAT_OK, &events);
    if (status == LEAT_OK)
        expect_value(event_at(&events, 1), tag, &value);
    free_events(&events);
}

static void run(const uint8_t *data, size_t size) {
    if (size < 1)
        return;
    switch (data[0] % KINDS) {
    case WHOLE: check_file(data + 1, size - 1); break;
    case MESSAGE: check_event((leati_wire){data + 1, data + size}); break;
    case TENSOR: check_written(data + 1, size - 1); break;
    default: check_messages(data + 1, size - 1); break;
    }
}

/* ---- seeds ---- */

/* A file with values of several kinds, and each of its events. */
static void seeds(void) {
    static char bytes[1 << 14] = {WHOLE};
    char path[512];
    leat_error err = {0};
    struct events events = {0};
    float numbers[] = {1, -2.5F, 0};
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(3), numbers);
    leat_event_writer *writer = open_writer(path, sizeof path);
    if (leat_event_scalar(writer, "loss", 3, 0.5F, &err) != LEAT_OK ||
        leat_event_text(writer, "note", 4, "hello", &err) != LEAT_OK ||
        leat_event_histogram(writer, "weights", 5, &tensor, 3, NULL, &err) != LEAT_OK ||
        leat_event_writer_flush(writer, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(bytes + 1, 1, sizeof bytes - 1, file) : 0;
    if (file == NULL || fclose(file) != 0)
        fuzz_broken("%s cannot be read", path);
    fuzz_seed(bytes, size + 1);
    read_back(writer, path, 3, &events);
    for (int i = 0; i < MOST_EVENTS; i++) {
        bytes[0] = MESSAGE;
        memcpy(bytes + 1, events.list[i].data, events.list[i].size);
        fuzz_seed(bytes, events.list[i].size + 1);
    }
    free_events(&events);
    for (int i = 0; i < 14; i++) {
        const uint8_t written[] = {TENSOR,
                                   (uint8_t)(i / 2),
                                   (uint8_t)i,
                                   3,
                                   (uint8_t)(i * 19),
                                   7,
                                   't',
                                   'a',
                                   'g',
                                   'v',
                                   'a',
                                   'l',
                                   'u',
                                   'e',
                                   's'};
        fuzz_seed(written, sizeof written);
    }
    fuzz_seed("\3summary", 8);
}

const fuzz_target fuzz_event = {
    .name = "event",
    .doc = "event files",
    .run = run,
    .most = 2048,
    .seeds = seeds,
};
