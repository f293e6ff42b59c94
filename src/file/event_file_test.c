/* Event files: what stands in them, against bytes and numbers that TensorFlow 2.21 and TensorBoard
 * 2.21 wrote, and what the writer does when it fails. */
#include "support/cmocka.h"

#include "file/tensor_proto.h"
#include "file/tfrecord.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"
#include <leat/summary.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

/* The events of a file: copies of the records without their first field, the time. */
struct events {
    uint8_t *data[32];
    size_t size[32];
    int count;
};

static leat_status keep(void *context, int64_t index, int64_t offset, leat_string record,
                        leat_error *err) {
    (void)offset;
    (void)err;
    struct events *events = context;
    assert_in_range(index, 0, 31);
    assert_true(record.size >= 9 && record.data[0] == 0x09);
    double time;
    memcpy(&time, record.data + 1, sizeof time);
    assert_true(time > 1.6e9 && time < 1e11);
    events->size[index] = record.size - 9;
    events->data[index] = malloc(record.size);
    memcpy(events->data[index], record.data + 9, record.size - 9);
    events->count = (int)index + 1;
    return LEAT_OK;
}

static struct events read_events(const char *path) {
    struct events events = {0};
    leat_record_summary summary;
    leat_error err = {0};
    assert_int_equal(
        leat_records_inspect(path, LEAT_COMPRESSION_NONE, keep, &events, &summary, &err), LEAT_OK);
    assert_int_equal(summary.trailing_bytes, 0);
    return events;
}

static void free_events(struct events *events) {
    for (int i = 0; i < events->count; i++)
        free(events->data[i]);
}

/* The first field `number` of a message. */
static leati_wire field_of(leati_wire message, uint32_t number) {
    leati_wire_field field = {0};
    while (message.at < message.end) {
        assert_true(leati_wire_next(&message, &field));
        if (field.number == number)
            return field.bytes;
    }
    fail_msg("no field %u", number);
    return message;
}

/* The tensor of event `index`. */
static leati_tensor_proto tensor_of(const struct events *events, int index) {
    leati_wire event = {events->data[index], events->data[index] + events->size[index]};
    leati_wire value = field_of(field_of(event, 5), 1);
    leati_tensor_proto tensor;
    assert_int_equal(leati_tensor_proto_read(field_of(value, 8), &tensor, &(leat_error){0}),
                     LEAT_OK);
    return tensor;
}

/* tf.summary.scalar("loss", 0.5, step=3) and tf.summary.text("t", "hi", step=300) of TensorFlow. */
static void bytes_of_tensorflow(void **state) {
    (void)state;
    leat_error err = {0};
    leat_event_writer *writer = leat_event_writer_open(scratch_path("a/b"), NULL, &err);
    assert_non_null(writer);
    char path[1024];
    snprintf(path, sizeof path, "%s", leat_event_writer_path(writer));
    assert_non_null(strstr(path, "/a/b/events.out.tfevents."));
    assert_string_equal(path + strlen(path) - 3, ".v2");
    assert_int_equal(leat_event_scalar(writer, "loss", 3, 0.5F, &err), LEAT_OK);
    assert_int_equal(leat_event_text(writer, "t", 300, "hi", &err), LEAT_OK);
    assert_int_equal(leat_event_writer_close(writer, &err), LEAT_OK);
    struct events events = read_events(path);
    assert_int_equal(events.count, 3);
    static const char version[] = "\x1a\x0d"
                                  "brain.Event:2";
    assert_memory_equal(events.data[0], version, sizeof version - 1);
    static const char scalar[] = "\x10\x03\x2a\x21\x0a\x1f\x0a\x04loss\x42\x0a\x08\x01\x12\x00\x22"
                                 "\x04\x00\x00\x00\x3f\x4a\x0b\x0a\x09\x0a\x07scalars";
    assert_int_equal(events.size[1], sizeof scalar - 1);
    assert_memory_equal(events.data[1], scalar, sizeof scalar - 1);
    static const char text[] = "\x10\xac\x02\x2a\x19\x0a\x17\x0a\x01t\x42\x08\x08\x07\x12\x00\x42"
                               "\x02hi\x4a\x08\x0a\x06\x0a\x04text";
    assert_int_equal(events.size[2], sizeof text - 1);
    assert_memory_equal(events.data[2], text, sizeof text - 1);
    free_events(&events);
}

static void histograms(void **state) {
    (void)state;
    leat_error err = {0};
    leat_event_options options = {LEAT_EVENT_DEFAULTS, .suffix = "", .max_queue = -1};
    leat_event_writer *writer = leat_event_writer_open(scratch_path("h"), &options, &err);
    float values[8] = {0, 1, 2, 3, 4, 5, NAN, INFINITY};
    int64_t same[3] = {7, 7, 7};
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 4), values);
    leat_tensor equal = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(3), same);
    leat_tensor none = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(0), same);
    leat_event_metadata metadata = {.plugin = "histograms", .description = "*d*"};
    assert_int_equal(leat_event_histogram(writer, "h", 1, &tensor, 3, &metadata, &err), LEAT_OK);
    assert_int_equal(leat_event_histogram(writer, "e", 1, &equal, 2, NULL, &err), LEAT_OK);
    assert_int_equal(leat_event_histogram(writer, "n", 1, &none, 0, NULL, &err), LEAT_OK);
    /* Each was handed on at once. */
    struct events events = read_events(leat_event_writer_path(writer));
    assert_int_equal(events.count, 4);
    static const double spread[9] = {0, 5.0 / 3, 2, 5.0 / 3, 10.0 / 3, 2, 10.0 / 3, 5, 2};
    static const double one[6] = {7, 7, 0, 7, 7, 3};
    double found[90];
    leati_tensor_proto proto = tensor_of(&events, 1);
    assert_int_equal(leati_tensor_proto_values(&proto, found, &err), LEAT_OK);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(found[i] - spread[i]) < 1e-12);
    proto = tensor_of(&events, 2);
    assert_int_equal(leati_tensor_proto_values(&proto, found, &err), LEAT_OK);
    assert_memory_equal(found, one, sizeof one);
    proto = tensor_of(&events, 3);
    assert_int_equal(proto.count, 90);
    assert_int_equal(leati_tensor_proto_values(&proto, found, &err), LEAT_OK);
    for (int i = 0; i < 90; i++)
        assert_true(found[i] == 0);
    free_events(&events);
    leat_string text = {"a", 1};
    leat_tensor strings = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &text);
    assert_int_equal(leat_event_histogram(writer, "s", 1, &strings, 0, NULL, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "string");
    assert_int_equal(leat_event_histogram(writer, "s", 1, &equal, -1, NULL, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_event_writer_close(writer, &err), LEAT_OK);
}

static void pictures_and_messages(void **state) {
    (void)state;
    leat_error err = {0};
    leat_event_writer *writer = leat_event_writer_open(scratch_path("p"), NULL, &err);
    char path[1024];
    snprintf(path, sizeof path, "%s", leat_event_writer_path(writer));
    leat_string pngs[2] = {{"PNG", 3}, {"\0b", 2}}, message = {"\x0a\x00", 2};
    assert_int_equal(leat_event_images(writer, "i", 1, pngs, 2, 6, 8, &err), LEAT_OK);
    assert_int_equal(leat_event_images(writer, "i", 1, NULL, 1, 6, 8, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_event_summary(writer, 2, message, &err), LEAT_OK);
    assert_int_equal(leat_event_graph(writer, message, &err), LEAT_OK);
    assert_int_equal(leat_event_scalar(writer, NULL, 1, 1, &err), LEAT_INVALID_ARGUMENT);
    leat_event_metadata raw = {.metadata = {"\x0a\x00", 2}, .plugin = "not looked at"};
    leat_tensor value = leat_scalar_int64(5);
    assert_int_equal(leat_event_tensor(writer, "v", -1, &value, &raw, &err), LEAT_OK);
    leat_tensor_unref(&value);
    assert_int_equal(leat_event_writer_close(writer, &err), LEAT_OK);
    struct events events = read_events(path);
    assert_int_equal(events.count, 5);
    leati_tensor_proto proto = tensor_of(&events, 1);
    leat_string found[4];
    assert_int_equal(proto.count, 4);
    assert_int_equal(leati_tensor_proto_values(&proto, found, &err), LEAT_OK);
    assert_memory_equal(found[0].data, "6", 1);
    assert_memory_equal(found[1].data, "8", 1);
    assert_int_equal(found[3].size, 2);
    assert_memory_equal(found[3].data, "\0b", 2);
    assert_memory_equal(events.data[2], "\x10\x02\x2a\x02\x0a\x00", 6);
    assert_memory_equal(events.data[3], "\x22\x02\x0a\x00", 4);
    static const char negative[] = "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    assert_memory_equal(events.data[4], negative, sizeof negative - 1);
    assert_memory_equal(events.data[4] + events.size[4] - 4, "\x4a\x02\x0a\x00", 4);
    free_events(&events);
}

/* What a value says of itself, by summary.proto: each part alone, and all. */
static void metadata_of_values(void **state) {
    (void)state;
    leat_error err = {0};
    static const struct {
        leat_event_metadata metadata;
        const char *bytes;
        size_t size;
    } cases[] = {
        {{.plugin = NULL}, "", 0},
        {{.content = {"c", 1}}, "", 0}, /* of no plugin */
        {{.plugin = "p"}, "\x4a\x05\x0a\x03\x0a\x01p", 7},
        {{.display_name = "d"},
         "\x4a\x05\x0a\x00\x12\x01"
         "d",
         7},
        {{.description = "e"},
         "\x4a\x05\x0a\x00\x1a\x01"
         "e",
         7},
        {{.plugin = "p",
          .content = {"\0c", 2},
          .display_name = "d",
          .description = "e",
          .data_class = 2},
         "\x4a\x11\x0a\x07\x0a\x01p\x12\x02\0c\x12\x01"
         "d\x1a\x01"
         "e\x20\x02",
         19},
    };
    leat_tensor value = leat_scalar_int64(5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_event_writer *writer = leat_event_writer_open(scratch_path("m"), NULL, &err);
        char path[1024];
        snprintf(path, sizeof path, "%s", leat_event_writer_path(writer));
        assert_int_equal(leat_event_tensor(writer, "v", 1, &value, &cases[i].metadata, &err),
                         LEAT_OK);
        assert_int_equal(leat_event_tensor(writer, NULL, 1, &value, NULL, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "tag");
        assert_int_equal(leat_event_tensor(writer, "v", 1, NULL, NULL, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "value");
        assert_int_equal(leat_event_writer_close(writer, &err), LEAT_OK);
        struct events events = read_events(path);
        assert_int_equal(events.count, 2);
        leati_wire event = {events.data[1], events.data[1] + events.size[1]};
        leati_wire entry = field_of(field_of(event, 5), 1);
        /* Tag and tensor (dtype, shape, eight bytes) come before. */
        size_t before = 3 + 2 + 14;
        assert_int_equal(entry.end - entry.at, before + cases[i].size);
        assert_memory_equal(entry.at + before, cases[i].bytes, cases[i].size);
        free_events(&events);
    }
    leat_tensor_unref(&value);
}

static void files_of_one_folder_differ(void **state) {
    (void)state;
    leat_event_writer *first = leat_event_writer_open(scratch_path("."), NULL, NULL);
    leat_event_writer *second = leat_event_writer_open(scratch_path("."), NULL, NULL);
    assert_string_not_equal(leat_event_writer_path(first), leat_event_writer_path(second));
    assert_int_equal(leat_event_writer_close(first, NULL), LEAT_OK);
    assert_int_equal(leat_event_writer_close(second, NULL), LEAT_OK);
    assert_int_equal(leat_event_writer_close(NULL, NULL), LEAT_OK);
    leat_error err = {0};
    assert_null(leat_event_writer_open("", NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    scratch_write("file", "x", 1);
    assert_null(leat_event_writer_open(scratch_path("file"), NULL, &err));
    assert_refused(&err, LEAT_ALREADY_EXISTS, LEAT_REASON_NONE, "file");
}

static void a_failure_stays(void **state) {
    (void)state;
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    leat_error err = {0};
    leat_event_writer *writer = leat_event_writer_open(scratch_path("f"), NULL, &err);
    small = limit;
    small.rlim_cur = 200;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(leat_event_scalar(writer, "loss", i, 1, &err), LEAT_OK);
    leat_status status = leat_event_writer_flush(writer, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)signal(SIGXFSZ, before);
    assert_int_not_equal(status, LEAT_OK);
    assert_refused(&err, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "events");
    assert_int_equal(leat_event_scalar(writer, "loss", 9, 1, &err), status);
    assert_int_equal(leat_event_writer_close(writer, &err), status);
}

static leat_status write_all(void *context, leat_error *err) {
    (void)context;
    float values[2] = {0, 1};
    leat_string png = {"PNG", 3};
    leat_tensor tensor = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2), values);
    leat_event_writer *writer = leat_event_writer_open(scratch_path("t"), NULL, err);
    if (writer == NULL)
        return torture_code(err);
    leat_status status = leat_event_histogram(writer, "h", 1, &tensor, 0, NULL, err);
    if (status == LEAT_OK)
        status = leat_event_images(writer, "i", 1, &png, 1, 2, 2, err);
    if (status == LEAT_OK)
        status = leat_event_graph(writer, png, err);
    leat_status closing = leat_event_writer_close(writer, status != LEAT_OK ? NULL : err);
    return status != LEAT_OK ? status : closing;
}

static void failing_allocations(void **state) {
    (void)state;
    torture_run(write_all, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bytes_of_tensorflow),        TEST(histograms),
        TEST(pictures_and_messages),      TEST(metadata_of_values),
        TEST(files_of_one_folder_differ), TEST(a_failure_stays),
        TEST(failing_allocations),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
