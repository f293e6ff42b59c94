/* Event files: what TensorBoard reads.
 *
 * Happy path: a TFRecord file that is written in place, whose first record says the format's
 * version and each further one is an Event: the time, a step, and a Summary of one value or a
 * graph. Values are tensors with metadata that names a plug-in, as TensorFlow 2 writes them.
 * Records wait in the writer's buffer until there are `max_queue` of them or the first is
 * `flush_millis` old. Failures: memory, and those of the file, which the record writer keeps and
 * gives again. No locks: one owner. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/options.h"
#include "base/text.h"
#include "core/tensor.h"
#include "file/fs.h"
#include "file/tensor_proto.h"
#include "file/tfrecord.h"
#include <leat/summary.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Fields of Event and SourceMetadata. */
enum {
    EVENT_TIME = 1,
    EVENT_STEP = 2,
    EVENT_VERSION = 3,
    EVENT_GRAPH = 4,
    EVENT_SUMMARY = 5,
    EVENT_SOURCE = 10,
    SOURCE_WRITER = 1
};

/* Fields of Summary, its Value, SummaryMetadata and PluginData. */
enum {
    SUMMARY_VALUE = 1,
    VALUE_TAG = 1,
    VALUE_TENSOR = 8,
    VALUE_METADATA = 9,
    METADATA_PLUGIN = 1,
    METADATA_DISPLAY_NAME = 2,
    METADATA_DESCRIPTION = 3,
    METADATA_CLASS = 4,
    PLUGIN_NAME = 1,
    PLUGIN_CONTENT = 2
};

#define DEFAULT_BUCKETS 30
#define MAX_BUCKETS 1000000
/* Protobuf's limit for a message. */
#define MAX_MESSAGE ((size_t)INT32_MAX)

struct leat_event_writer {
    leat_tfrecord_writer *records;
    char *path;
    int64_t max_queue;
    int64_t flush_ns;
    int64_t waiting;   /* records since the last flush */
    int64_t oldest_ns; /* when the first of them came */
};

/* Makes names differ within the process. */
static atomic_uint file_number;

/* FOLDER/events.out.tfevents.SECONDS.HOST.PROCESS.NUMBERSUFFIX, TensorFlow's form. */
static char *file_name(const char *folder, const char *suffix) {
    char host[256] = "";
    /* One byte less, because a name that is cut off may lack its zero. */
    if (gethostname(host, sizeof host - 1) || !host[0])
        snprintf(host, sizeof host, "localhost");
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    size_t size = strlen(folder);
    leati_text text = {0};
    leati_text_addf(&text, "%s%sevents.out.tfevents.%010lld.%s.%ld.%u%s", folder,
                    size > 0 && folder[size - 1] == '/' ? "" : "/", (long long)now.tv_sec, host,
                    (long)getpid(), atomic_fetch_add(&file_number, 1), suffix);
    return leati_text_take(&text);
}

/* ---- events ---- */

static void put_text(leati_writer *out, uint32_t number, const char *text) {
    if (text != NULL && text[0])
        leati_tensor_proto_put_field(out, number, text, strlen(text));
}

/* Starts an event: when and at which step it happened. */
static void put_event(leati_writer *out, int64_t step) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = (double)now.tv_sec + (double)(now.tv_nsec / 1000) * 1e-6;
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    /* A double is eight bytes on the wire. */
    leati_put_uint(out, EVENT_TIME << 3 | LEATI_WIRE_FIXED64);
    leati_put_fixed64(out, bits);
    /* 0 is protobuf's default and is left out. */
    if (step != 0)
        leati_tensor_proto_put_number_field(out, EVENT_STEP, (uint64_t)step);
}

/* Writes an event and hands on what waits where it is time; releases the event's memory. */
static leat_status write_event(leat_event_writer *writer, leati_writer *event, leat_error *err) {
    leat_status status = LEAT_OK;
    if (event->failed)
        status = leati_no_memory(err);
    else if (event->size > MAX_MESSAGE)
        status = leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, writer->path, -1, false,
                                    "an event of %zu bytes is above protobuf's limit of 2 GiB; "
                                    "write less at once",
                                    event->size);
    else
        status = leat_tfrecord_writer_write(writer->records, event->data, event->size, err);
    leati_writer_fini(event);
    if (status != LEAT_OK)
        return status;
    int64_t now = leati_now_ns();
    /* The first that waits starts the clock. */
    if (writer->waiting++ == 0)
        writer->oldest_ns = now;
    if (writer->waiting <= writer->max_queue && now - writer->oldest_ns <= writer->flush_ns)
        return LEAT_OK;
    return leat_event_writer_flush(writer, err);
}

static leat_status write_version(leat_event_writer *writer, leat_error *err) {
    static const char version[] = "brain.Event:2", source[] = "leat";
    leati_writer event = {0}, inner = {0};
    put_event(&event, 0);
    put_text(&event, EVENT_VERSION, version);
    put_text(&inner, SOURCE_WRITER, source);
    leati_tensor_proto_put_field(&event, EVENT_SOURCE, inner.data, inner.size);
    event.failed = event.failed || inner.failed;
    leati_writer_fini(&inner);
    return write_event(writer, &event, err);
}

/* ---- the file ---- */

leat_event_writer *leat_event_writer_open(const char *folder, const leat_event_options *options,
                                          leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_event_options chosen = {LEAT_EVENT_DEFAULTS};
    if (LEATI_OPTIONS(leat_event_options, &chosen, options, err) != LEAT_OK)
        return NULL;
    if (folder == NULL || !folder[0]) {
        leati_refuse(err, VALUE, "an event file needs a folder; found none");
        return NULL;
    }
    leat_event_writer *writer = leati_alloc_zero(1, sizeof *writer);
    if (writer == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    writer->max_queue = LEATI_MAX(0, chosen.max_queue);
    int64_t millis = LEATI_MAX(0, chosen.flush_millis);
    /* Too long to be counted in nanoseconds: never by age. */
    writer->flush_ns = millis < INT64_MAX / 1000000 ? millis * 1000000 : INT64_MAX;
    writer->path = file_name(folder, chosen.suffix != NULL ? chosen.suffix : "");
    if (writer->path == NULL) {
        leati_no_memory(err);
        leati_free(writer);
        return NULL;
    }
    leat_tfrecord_writer_options in_place = {LEAT_TFRECORD_WRITER_DEFAULTS, .in_place = true};
    /* The version goes out at once: TensorBoard may look before anything else is written. */
    if (leati_fs_mkdirs(folder, err) != LEAT_OK ||
        (writer->records = leat_tfrecord_writer_open(writer->path, &in_place, err)) == NULL ||
        write_version(writer, err) != LEAT_OK || leat_event_writer_flush(writer, err) != LEAT_OK) {
        leat_tfrecord_writer_discard(writer->records);
        leati_free(writer->path);
        leati_free(writer);
        return NULL;
    }
    return writer;
}

const char *leat_event_writer_path(const leat_event_writer *writer) {
    return writer->path;
}

leat_status leat_event_writer_flush(leat_event_writer *writer, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    writer->waiting = 0;
    return leati_tfrecord_writer_flush(writer->records, err);
}

leat_status leat_event_writer_close(leat_event_writer *writer, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (writer == NULL)
        return LEAT_OK;
    leat_status status = leat_tfrecord_writer_close(writer->records, err);
    leati_free(writer->path);
    leati_free(writer);
    return status;
}

/* ---- values ---- */

static void put_metadata(leati_writer *value, const leat_event_metadata *metadata) {
    /* Metadata that are serialised already go in whole, in place of the parts. */
    if (metadata->metadata.size > 0) {
        leati_tensor_proto_put_field(value, VALUE_METADATA, metadata->metadata.data,
                                     metadata->metadata.size);
        return;
    }
    if (metadata->plugin == NULL && metadata->display_name == NULL && metadata->description == NULL)
        return;
    leati_writer plugin = {0}, out = {0};
    put_text(&plugin, PLUGIN_NAME, metadata->plugin);
    if (metadata->content.size > 0)
        leati_tensor_proto_put_field(&plugin, PLUGIN_CONTENT, metadata->content.data,
                                     metadata->content.size);
    leati_tensor_proto_put_field(&out, METADATA_PLUGIN, plugin.data, plugin.size);
    put_text(&out, METADATA_DISPLAY_NAME, metadata->display_name);
    put_text(&out, METADATA_DESCRIPTION, metadata->description);
    if (metadata->data_class > 0)
        leati_tensor_proto_put_number_field(&out, METADATA_CLASS, (uint64_t)metadata->data_class);
    leati_tensor_proto_put_field(value, VALUE_METADATA, out.data, out.size);
    value->failed = value->failed || plugin.failed || out.failed;
    leati_writer_fini(&plugin);
    leati_writer_fini(&out);
}

leat_status leat_event_tensor(leat_event_writer *writer, const char *tag, int64_t step,
                              const leat_tensor *value, const leat_event_metadata *metadata,
                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    static const leat_event_metadata none = {0};
    if (tag == NULL || value == NULL || value->dtype == LEAT_INVALID)
        return leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, writer->path, -1, false,
                                  "an event needs a %s; found none", tag != NULL ? "value" : "tag");
    leati_writer tensor = {0}, entry = {0}, summary = {0}, event = {0};
    leat_shape shape = leat_tensor_shape(value);
    leat_status status =
        value->dtype == LEAT_STRING
            ? leati_tensor_proto_put_strings(&tensor, &shape, value->data, err)
            : leati_tensor_proto_put(&tensor, value->dtype, &shape, value->data, err);
    if (status == LEAT_OK) {
        leati_tensor_proto_put_field(&entry, VALUE_TAG, tag, strlen(tag));
        leati_tensor_proto_put_field(&entry, VALUE_TENSOR, tensor.data, tensor.size);
        put_metadata(&entry, metadata != NULL ? metadata : &none);
        leati_tensor_proto_put_field(&summary, SUMMARY_VALUE, entry.data, entry.size);
        put_event(&event, step);
        leati_tensor_proto_put_field(&event, EVENT_SUMMARY, summary.data, summary.size);
        event.failed = event.failed || tensor.failed || entry.failed || summary.failed;
        status = write_event(writer, &event, err);
    }
    leati_writer_fini(&tensor);
    leati_writer_fini(&entry);
    leati_writer_fini(&summary);
    return status;
}

leat_status leat_event_scalar(leat_event_writer *writer, const char *tag, int64_t step, float value,
                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_event_metadata metadata = {.plugin = "scalars"};
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &value);
    return leat_event_tensor(writer, tag, step, &tensor, &metadata, err);
}

leat_status leat_event_text(leat_event_writer *writer, const char *tag, int64_t step,
                            const char *text, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_event_metadata metadata = {.plugin = "text"};
    leat_string value = {text != NULL ? text : "", text != NULL ? strlen(text) : 0};
    leat_tensor tensor = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &value);
    return leat_event_tensor(writer, tag, step, &tensor, &metadata, err);
}

leat_status leat_event_images(leat_event_writer *writer, const char *tag, int64_t step,
                              const leat_string *pngs, int64_t count, int64_t width, int64_t height,
                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (count < 0 || (pngs == NULL && count > 0) || count > INT32_MAX)
        return leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, writer->path, -1, false,
                                  "%lld pictures; expected 0 or more, and their bytes",
                                  (long long)count);
    char sides[2][24];
    /* TensorBoard wants width and height as texts in front of the pictures. */
    leat_string *values = leati_alloc((size_t)count + 2, sizeof *values);
    if (values == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < 2; i++) {
        int size = snprintf(sides[i], sizeof sides[i], "%lld", (long long)(i ? height : width));
        values[i] = (leat_string){sides[i], (size_t)size};
    }
    if (count > 0)
        memcpy(values + 2, pngs, (size_t)count * sizeof *values);
    leat_event_metadata metadata = {.plugin = "images"};
    leat_tensor tensor = leat_tensor_view(LEAT_STRING, LEAT_SHAPE(count + 2), values);
    leat_status status = leat_event_tensor(writer, tag, step, &tensor, &metadata, err);
    leati_free(values);
    return status;
}

/* The least and the greatest of the finite values; how many those are. */
static int64_t range_of(const leat_tensor *values, double *least, double *greatest) {
    int64_t count = leat_tensor_count(values), finite = 0;
    for (int64_t i = 0; i < count; i++) {
        double value = leati_tensor_float_at(values, i);
        if (!isfinite(value))
            continue;
        *least = finite == 0 || value < *least ? value : *least;
        *greatest = finite == 0 || value > *greatest ? value : *greatest;
        finite++;
    }
    return finite;
}

/* Fills `buckets` rows of (left, right, count). */
static void fill_buckets(const leat_tensor *values, int buckets, double *rows) {
    double least = 0, greatest = 0;
    int64_t count = leat_tensor_count(values), finite = range_of(values, &least, &greatest);
    double range = greatest - least; /* infinite only for doubles of both ends of their range */
    /* Where greatest - least overflows each end is divided by itself. */
    double width = isfinite(range) ? range / buckets : greatest / buckets - least / buckets;
    for (int i = 0; i < buckets; i++) {
        rows[3 * i] = least + i * width;
        /* Exactly, not by rounding: the last bucket has both its borders in. */
        rows[3 * i + 1] = i + 1 == buckets ? greatest : least + (i + 1) * width;
        rows[3 * i + 2] = 0;
    }
    /* As TensorBoard's own summaries: all in the last bucket. */
    if (!(width > 0)) { /* one value, or none */
        rows[3 * (buckets - 1) + 2] = (double)finite;
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        double value = leati_tensor_float_at(values, i);
        if (!isfinite(value))
            continue;
        double place = isfinite(range) ? (value - least) / width : value / width - least / width;
        /* The greatest value falls behind the last border and belongs to the last bucket. */
        int bucket = place > buckets - 1 ? buckets - 1 : place > 0 ? (int)place : 0;
        rows[3 * bucket + 2] += 1;
    }
}

leat_status leat_event_histogram(leat_event_writer *writer, const char *tag, int64_t step,
                                 const leat_tensor *values, int buckets,
                                 const leat_event_metadata *metadata, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    static const leat_event_metadata own = {.plugin = "histograms"};
    if (values == NULL || values->dtype == LEAT_STRING ||
        leati_tensor_proto_of_dtype(values->dtype) == 0)
        return leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, writer->path, -1, false,
                                  "a histogram is of numbers; found dtype %s",
                                  values != NULL ? leat_dtype_name(values->dtype) : "(no tensor)");
    if (buckets < 0 || buckets > MAX_BUCKETS)
        return leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, writer->path, -1, false,
                                  "a histogram of %d buckets; expected 0 (30) to %d", buckets,
                                  MAX_BUCKETS);
    buckets = buckets ? buckets : DEFAULT_BUCKETS;
    double *rows = leati_alloc((size_t)buckets * 3, sizeof *rows);
    if (rows == NULL)
        return leati_no_memory(err);
    fill_buckets(values, buckets, rows);
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT64, LEAT_SHAPE(buckets, 3), rows);
    leat_status status =
        leat_event_tensor(writer, tag, step, &tensor, metadata != NULL ? metadata : &own, err);
    leati_free(rows);
    return status;
}

/* An event whose content is one message. */
static leat_status write_message(leat_event_writer *writer, int64_t step, uint32_t number,
                                 leat_string message, leat_error *err) {
    leati_writer event = {0};
    put_event(&event, step);
    leati_tensor_proto_put_field(&event, number, message.data, message.size);
    return write_event(writer, &event, err);
}

leat_status leat_event_summary(leat_event_writer *writer, int64_t step, leat_string summary,
                               leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return write_message(writer, step, EVENT_SUMMARY, summary, err);
}

leat_status leat_event_graph(leat_event_writer *writer, leat_string graph, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return write_message(writer, 0, EVENT_GRAPH, graph, err);
}
