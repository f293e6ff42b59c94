/* tf.train.Example: bytes written by hand from protobuf's encoding rules, the shipped digits
 * (written by another program), the builder, and damage at every byte. */
#include "support/cmocka.h"

#include "file/example.h"
#include "file/tfrecord.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"

#define DIGITS LEATI_SOURCE_DIR "/data/digits/"

/* {"a": int64 [1, 300, -1], "b": bytes ["xy", ""], "f": float [1.0, -2.5]}, packed. */
static const uint8_t packed[] =
    {
        0x0a, 0x3a,                                                             /* features */
        0x0a, 0x16, 0x0a, 0x01, 'a',  0x12, 0x11, 0x1a, 0x0f, 0x0a, 0x0d, 0x01, /* a: 1, */
        0xac, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 300, -1 */
        0x0a, 0x0d, 0x0a, 0x01, 'b',  0x12, 0x08, 0x0a, 0x06, 0x0a, 0x02, 'x',
        'y',  0x0a, 0x00, /* b */
        0x0a, 0x11, 0x0a, 0x01, 'f',  0x12, 0x0c, 0x12, 0x0a, 0x0a, 0x08, 0x00,
        0x00, 0x80, 0x3f, 0x00, 0x00, 0x20, 0xc0, /* f */
};

static leat_string text_of(const void *data, size_t size) {
    return (leat_string){data, size};
}

static leati_example_plan *plan_of(const leati_feature_request *requests, int count) {
    leati_example_plan *plan = NULL;
    leat_error err = {0};
    if (leati_example_plan_new(requests, count, &plan, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    return plan;
}

static const leati_feature_request all_three[] = {
    {.name = "f", .dtype = LEAT_FLOAT32, .length = 2},
    {.name = "a", .dtype = LEAT_INT64, .length = -1},
    {.name = "b", .dtype = LEAT_STRING, .length = 2},
};

static void expect_all_three(const leati_example_plan *plan, leat_string record,
                             leati_example_order *order) {
    leati_feature_span spans[3];
    leat_error err = {0};
    if (leati_example_parse(plan, record, order, spans, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    float floats[2] = {0};
    leati_example_read(plan, 0, &spans[0], floats);
    assert_true(floats[0] == 1.0f && floats[1] == -2.5f);
    assert_int_equal(spans[1].count, 3);
    int64_t numbers[3] = {0};
    leati_example_read(plan, 1, &spans[1], numbers);
    assert_int_equal(numbers[0], 1);
    assert_int_equal(numbers[1], 300);
    assert_int_equal(numbers[2], -1);
    leat_string texts[2];
    leati_example_read(plan, 2, &spans[2], texts);
    assert_int_equal(texts[0].size, 2);
    assert_memory_equal(texts[0].data, "xy", 2);
    assert_true(texts[0].data > record.data && texts[0].data < record.data + record.size);
    assert_int_equal(texts[1].size, 0);
}

static void packed_values(void **state) {
    (void)state;
    leati_example_plan *plan = plan_of(all_three, 3);
    leati_example_order order = {0};
    expect_all_three(plan, text_of(packed, sizeof packed), NULL);
    for (int i = 0; i < 3; i++)
        expect_all_three(plan, text_of(packed, sizeof packed), &order);
    leati_example_plan_free(plan);
}

/* The same with one field per number, value before key, the order turned round, and an unknown
 * field 2 behind the floats. */
static void unpacked_values(void **state) {
    (void)state;
    static const uint8_t unpacked[] = {
        0x0a, 0x3d, 0x0a, 0x13, 0x12, 0x0e, 0x12, 0x0c, 0x0d, 0x00, 0x00, 0x80, 0x3f,
        0x0d, 0x00, 0x00, 0x20, 0xc0, 0x10, 0x07, 0x0a, 0x01, 'f',  0x0a, 0x0d, 0x0a,
        0x01, 'b',  0x12, 0x08, 0x0a, 0x06, 0x0a, 0x02, 'x',  'y',  0x0a, 0x00, 0x0a,
        0x17, 0x0a, 0x01, 'a',  0x12, 0x12, 0x1a, 0x10, 0x08, 0x01, 0x08, 0xac, 0x02,
        0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
    };
    leati_example_plan *plan = plan_of(all_three, 3);
    leati_example_order order = {0};
    expect_all_three(plan, text_of(unpacked, sizeof unpacked), &order);
    /* An order remembered from other records does no harm. */
    expect_all_three(plan, text_of(packed, sizeof packed), &order);
    expect_all_three(plan, text_of(unpacked, sizeof unpacked), &order);
    leati_example_plan_free(plan);
}

/* Fields that are none of the format's, or of another type, are passed over: an entry for "a" in
 * field 2 of the features, a number in field 1; the same in the example. */
static void unknown_fields(void **state) {
    (void)state;
    static const uint8_t more[] = {0x12, 0x09, 0x0a, 0x01, 'a',  0x12, 0x04,
                                   0x1a, 0x02, 0x08, 0x05, 0x08, 0x05};
    uint8_t record[sizeof packed + 2 * sizeof more];
    memcpy(record, packed, sizeof packed);
    memcpy(record + sizeof packed, more, sizeof more);
    record[1] += sizeof more;
    memcpy(record + sizeof packed + sizeof more, more, sizeof more);
    leati_example_plan *plan = plan_of(all_three, 3);
    expect_all_three(plan, text_of(record, sizeof record), NULL);
    leati_example_plan_free(plan);
}

static void part_of_the_features(void **state) {
    (void)state;
    leati_example_plan *plan = plan_of(&all_three[2], 1);
    leati_feature_span span;
    assert_int_equal(
        leati_example_parse(plan, text_of(packed, sizeof packed), NULL, &span, &(leat_error){0}),
        LEAT_OK);
    assert_int_equal(span.count, 2);
    leati_example_plan_free(plan);
    plan = plan_of(NULL, 0);
    assert_int_equal(
        leati_example_parse(plan, text_of(packed, sizeof packed), NULL, &span, &(leat_error){0}),
        LEAT_OK);
    leati_example_plan_free(plan);
}

static void defaults_and_missing(void **state) {
    (void)state;
    static const int64_t sevens[] = {7, 8};
    static const leat_string word = {"none", 4};
    const leati_feature_request requests[] = {
        {.name = "n", .dtype = LEAT_INT64, .length = 2, .defaults = sevens},
        {.name = "w", .dtype = LEAT_STRING, .length = 1, .defaults = &word},
        {.name = "v", .dtype = LEAT_FLOAT32, .length = -1},
        {.name = "a", .dtype = LEAT_INT64, .length = 3},
    };
    leati_example_plan *plan = plan_of(requests, 4);
    leati_feature_span spans[4];
    leat_error err = {0};
    assert_int_equal(leati_example_parse(plan, text_of(packed, sizeof packed), NULL, spans, &err),
                     LEAT_OK);
    int64_t numbers[2];
    leat_string text;
    leati_example_read(plan, 0, &spans[0], numbers);
    leati_example_read(plan, 1, &spans[1], &text);
    assert_int_equal(numbers[0], 7);
    assert_int_equal(numbers[1], 8);
    assert_ptr_equal(text.data, word.data);
    assert_null(spans[2].list);
    assert_int_equal(spans[2].count, 0);
    /* An entry without any list counts as missing too. */
    static const uint8_t empty_feature[] = {0x0a, 0x07, 0x0a, 0x05, 0x0a, 0x01, 'a', 0x12, 0x00};
    assert_int_equal(
        leati_example_parse(plan, text_of(empty_feature, sizeof empty_feature), NULL, spans, &err),
        LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "required");
    assert_int_equal(leati_example_parse(plan, text_of(NULL, 0), NULL, spans, &err),
                     LEAT_INVALID_ARGUMENT);
    leati_example_plan_free(plan);
}

static void wrong_dtype_and_count(void **state) {
    (void)state;
    static const struct {
        leati_feature_request request;
        leat_reason reason;
        const char *keywords[3];
    } cases[] = {
        {{.name = "a", .dtype = LEAT_FLOAT32, .length = 3},
         LEAT_REASON_DTYPE,
         {"types", "9", "float"}},
        {{.name = "b", .dtype = LEAT_INT64, .length = -1},
         LEAT_REASON_DTYPE,
         {"types", "33", "bytes"}},
        {{.name = "a", .dtype = LEAT_INT64, .length = 1}, LEAT_REASON_SHAPE, {"Number", "3", "1"}},
        {{.name = "b", .dtype = LEAT_STRING, .length = 0}, LEAT_REASON_SHAPE, {"Number", "2", "0"}},
        {{.name = "a", .dtype = LEAT_INT64, .length = -1, .multiple = 2},
         LEAT_REASON_SHAPE,
         {"\"a\"", "3", "2"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leati_example_plan *plan = plan_of(&cases[i].request, 1);
        leati_feature_span span;
        leat_error err = {0};
        assert_int_equal(
            leati_example_parse(plan, text_of(packed, sizeof packed), NULL, &span, &err),
            LEAT_INVALID_ARGUMENT);
        for (int k = 0; k < 3; k++)
            assert_refused(&err, LEAT_INVALID_ARGUMENT, cases[i].reason, cases[i].keywords[k]);
        leati_example_plan_free(plan);
    }
}

/* The last entry of a name counts, as in every protobuf map, even where the first is bad. */
static void last_duplicate_wins(void **state) {
    (void)state;
    static const uint8_t twice[] = {
        0x0a, 0x19,                                                                 /* */
        0x0a, 0x0b, 0x0a, 0x01, 'a', 0x12, 0x06, 0x0a, 0x04, 0x0a, 0x02, 'n',  'o', /* bytes */
        0x0a, 0x0a, 0x0a, 0x01, 'a', 0x12, 0x05, 0x1a, 0x03, 0x0a, 0x01, 0x2a,      /* 42 */
    };
    leati_feature_request request = {.name = "a", .dtype = LEAT_INT64, .length = 1};
    leati_example_plan *plan = plan_of(&request, 1);
    leati_feature_span span;
    leat_error err = {0};
    assert_int_equal(leati_example_parse(plan, text_of(twice, sizeof twice), NULL, &span, &err),
                     LEAT_OK);
    int64_t number = 0;
    leati_example_read(plan, 0, &span, &number);
    assert_int_equal(number, 42);
    leati_example_plan_free(plan);
}

static void bad_requests(void **state) {
    (void)state;
    static const struct {
        leati_feature_request requests[2];
        leat_reason reason;
        const char *keyword;
    } cases[] = {
        {{{.name = "a", .dtype = LEAT_INT32, .length = 1}}, LEAT_REASON_DTYPE, "int32"},
        {{{.name = NULL, .dtype = LEAT_INT64}}, LEAT_REASON_VALUE, "NULL"},
        {{{.name = "a", .dtype = LEAT_INT64, .length = -2}}, LEAT_REASON_VALUE, "-2"},
        {{{.name = "b", .dtype = LEAT_INT64}, {.name = "b", .dtype = LEAT_STRING}},
         LEAT_REASON_VALUE,
         "\"b\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leati_example_plan *plan = NULL;
        leat_error err = {0};
        int count = cases[i].requests[1].name != NULL ? 2 : 1;
        assert_int_equal(leati_example_plan_new(cases[i].requests, count, &plan, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, cases[i].reason, cases[i].keyword);
        assert_null(plan);
    }
    leati_feature_request one = {.name = "a", .dtype = LEAT_INT64};
    static const int counts[] = {-1, INT16_MAX};
    for (int i = 0; i < 2; i++) {
        char count[16];
        leati_example_plan *plan = NULL;
        leat_error err = {0};
        snprintf(count, sizeof count, "%d", counts[i]);
        assert_int_equal(leati_example_plan_new(&one, counts[i], &plan, &err),
                         LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, count);
    }
}

/* Copies to memory of exactly the size, so that the address sanitizer sees a read beyond. */
static void try_bytes(const leati_example_plan *plan, const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, data, size);
    leati_feature_span spans[3];
    leat_error err = {0};
    leat_status status = leati_example_parse(plan, text_of(exact, size), NULL, spans, &err);
    if (status != LEAT_OK) {
        assert_int_equal(status, LEAT_INVALID_ARGUMENT);
        assert_true(strlen(err.text) > 10);
    }
    for (int i = 0; i < 3 && status == LEAT_OK; i++) {
        assert_in_range(spans[i].count, 0, 64);
        uint64_t values[2 * 64 + 2];
        values[2 * spans[i].count] = 0x5ca1ab1e;
        size_t end =
            (size_t)spans[i].count * leat_dtype_size(leati_example_plan_request(plan, i)->dtype);
        memset((char *)values + end, 0x77, 8);
        leati_example_read(plan, i, &spans[i], values);
        for (int b = 0; b < 8; b++)
            assert_int_equal(((char *)values)[end + (size_t)b], 0x77);
    }
    size_t position = 0;
    bool end = false;
    for (int i = 0; !end; i++) {
        leat_feature feature;
        if (leat_example_next(text_of(exact, size), &position, &feature, &end, &err) != LEAT_OK)
            break;
        assert_true(i < 64);
        leat_string values[64];
        if (!end)
            assert_in_range(leat_feature_read(&feature, values, 64), 0, feature.count);
    }
    free(exact);
}

static void damage_at_every_byte(void **state) {
    (void)state;
    leati_feature_request requests[3];
    memcpy(requests, all_three, sizeof requests);
    requests[0].length = requests[2].length = -1;
    leati_example_plan *plan = plan_of(requests, 3);
    uint8_t data[sizeof packed];
    for (size_t cut = 0; cut <= sizeof packed; cut++)
        try_bytes(plan, packed, cut);
    for (size_t at = 0; at < sizeof packed; at++) {
        for (int value = 0; value < 256; value++) {
            memcpy(data, packed, sizeof data);
            data[at] = (uint8_t)value;
            try_bytes(plan, data, sizeof data);
        }
    }
    leati_example_plan_free(plan);
}

static void malformed_names_the_byte(void **state) {
    (void)state;
    leati_example_plan *plan = plan_of(all_three, 3);
    leati_feature_span spans[3];
    leat_error err = {0};
    assert_int_equal(leati_example_parse(plan, text_of("not an example", 14), NULL, spans, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    uint8_t data[sizeof packed];
    memcpy(data, packed, sizeof data);
    data[25] = 0x81; /* the last varint of a has no end */
    assert_int_equal(leati_example_parse(plan, text_of(data, sizeof data), NULL, spans, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "11");
    leati_example_plan_free(plan);
}

/* What another program wrote: 64 raw pixels, a PNG, a label. */
static void digits(void **state) {
    (void)state;
    const leati_feature_request requests[] = {
        {.name = "image/encoded", .dtype = LEAT_STRING, .length = 1},
        {.name = "image/raw", .dtype = LEAT_STRING, .length = 1},
        {.name = "label", .dtype = LEAT_INT64, .length = 1},
    };
    leati_example_plan *plan = plan_of(requests, 3);
    leati_example_order order = {0};
    leati_tfrecord *reader = NULL;
    assert_int_equal(
        leati_tfrecord_open(DIGITS "digits-test.tfrecord", NULL, &reader, &(leat_error){0}),
        LEAT_OK);
    leat_string record;
    int64_t n = 0, total = 0;
    size_t csv_size = 0;
    char *csv = (char *)scratch_read(DIGITS "digits.csv", &csv_size);
    char *line = strchr(csv, '\n') + 1;
    for (int i = 0; i < 1437; i++)
        line = strchr(line, '\n') + 1;
    while (leati_tfrecord_read(reader, 1, 0, &record, NULL, &n, &(leat_error){0}) == LEATI_RECORD) {
        leati_feature_span spans[3];
        leat_error err = {0};
        if (leati_example_parse(plan, record, &order, spans, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        leat_string png, raw;
        int64_t label = -1;
        leati_example_read(plan, 0, &spans[0], &png);
        leati_example_read(plan, 1, &spans[1], &raw);
        leati_example_read(plan, 2, &spans[2], &label);
        assert_memory_equal(png.data, "\x89PNG\r\n", 6);
        assert_int_equal(raw.size, 64);
        /* The row of digits.csv: label, then the pixels. */
        assert_int_equal(strtol(line, &line, 10), label);
        for (int p = 0; p < 64; p++)
            assert_int_equal(strtol(line + 1, &line, 10), (uint8_t)raw.data[p]);
        line = strchr(line, '\n') + 1;
        total++;
    }
    assert_int_equal(total, 360);
    free(csv);
    leati_tfrecord_close(reader);
    leati_example_plan_free(plan);
}

static leat_example *build_three(void) {
    leat_example *example = leat_example_new(NULL);
    const int64_t numbers[] = {1, 300, -1};
    const leat_string texts[] = {{"xy", 2}, {NULL, 0}};
    const float floats[] = {1.0f, -2.5f};
    assert_int_equal(leat_example_add_int64(example, "a", numbers, 3, NULL), LEAT_OK);
    assert_int_equal(leat_example_add_bytes(example, "b", texts, 2, NULL), LEAT_OK);
    assert_int_equal(leat_example_add_float(example, "f", floats, 2, NULL), LEAT_OK);
    return example;
}

static void builder_writes_the_same(void **state) {
    (void)state;
    leat_example *example = build_three();
    leat_string got;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(leat_example_serialize(example, &got, NULL), LEAT_OK);
        assert_int_equal(got.size, sizeof packed);
        assert_memory_equal(got.data, packed, got.size);
    }
    leat_example_clear(example);
    assert_int_equal(leat_example_serialize(example, &got, NULL), LEAT_OK);
    assert_int_equal(got.size, 2);
    assert_memory_equal(got.data, "\x0a\x00", 2);
    assert_int_equal(leat_example_add_float(example, "", NULL, 0, NULL), LEAT_OK);
    assert_int_equal(leat_example_serialize(example, &got, NULL), LEAT_OK);
    assert_memory_equal(got.data, "\x0a\x08\x0a\x06\x0a\x00\x12\x02\x12\x00", got.size);
    leat_example_free(example);
    leat_example_free(NULL);
}

/* Sizes whose lengths take one, two, three bytes, and many features. */
static void builder_sizes(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 127, 128, 200, 16383, 16384, 70000};
    leat_example *example = leat_example_new(NULL);
    char *data = malloc(70000);
    assert_non_null(data);
    memset(data, 'd', 70000);
    for (size_t i = 0; i < 9; i++) {
        char name[16];
        snprintf(name, sizeof name, "feature%zu", i);
        leat_string value = {data, sizes[i]};
        assert_int_equal(leat_example_add_bytes(example, name, &value, 1, NULL), LEAT_OK);
    }
    leat_string got;
    assert_int_equal(leat_example_serialize(example, &got, NULL), LEAT_OK);
    size_t position = 0;
    for (size_t i = 0; i <= 9; i++) {
        leat_feature feature;
        bool end = false;
        assert_int_equal(leat_example_next(got, &position, &feature, &end, NULL), LEAT_OK);
        assert_int_equal(end, i == 9);
        if (end)
            break;
        leat_string value = {NULL, 99};
        assert_int_equal(leat_feature_read(&feature, &value, 1), 1);
        assert_int_equal(value.size, sizes[i]);
    }
    free(data);
    leat_example_free(example);
}

static void builder_refuses(void **state) {
    (void)state;
    leat_example *example = build_three();
    leat_string before, after, bad = {NULL, 5};
    int64_t number = 1;
    leat_error err = {0};
    assert_int_equal(leat_example_serialize(example, &before, NULL), LEAT_OK);
    size_t size = before.size;
    assert_int_equal(leat_example_add_int64(example, "b", &number, 1, &err), LEAT_ALREADY_EXISTS);
    assert_refused(&err, LEAT_ALREADY_EXISTS, LEAT_REASON_NONE, "\"b\"");
    assert_int_equal(leat_example_add_int64(example, "n", &number, -1, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_example_add_int64(example, "n", NULL, 1, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_example_add_int64(example, NULL, &number, 1, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_example_add_int64(NULL, "n", &number, 1, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_example_add_bytes(example, "n", &bad, 1, &err), LEAT_INVALID_ARGUMENT);
    bad = (leat_string){"", (size_t)1 << 31};
    assert_int_equal(leat_example_add_bytes(example, "n", &bad, 1, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "2");
    float value = 1;
    assert_int_equal(leat_example_add_float(example, "n", &value, INT64_MAX, &err),
                     LEAT_INVALID_ARGUMENT);
    static const int64_t most = INT32_MAX;
    assert_int_equal(leat_example_add_int64(example, "n", &number, most + 1, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"n\"");
    assert_int_equal(leat_example_add_float(example, "n", &value, most / 4, &err),
                     LEAT_INVALID_ARGUMENT);
    bad = (leat_string){"", (size_t)most - 300000};
    const leat_string three[] = {bad, {"", 400000}};
    assert_int_equal(leat_example_add_bytes(example, "n", three, 2, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "2");
    static char name[65537];
    memset(name, 'n', 65536);
    assert_int_equal(leat_example_add_int64(example, name, &number, 1, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "65535");
    assert_int_equal(leat_example_serialize(NULL, &after, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_example_serialize(example, &after, NULL), LEAT_OK);
    assert_int_equal(after.size, size);
    assert_memory_equal(after.data, packed, size);
    leat_example_free(example);
}

static leat_status build_and_parse(void *context, leat_error *err) {
    (void)context;
    static char data[2000];
    leat_string value = {data, sizeof data}, record;
    leat_example *example = leat_example_new(err);
    if (example == NULL)
        return torture_code(err);
    leat_status status = leat_example_add_bytes(example, "b", &value, 1, err);
    if (status == LEAT_OK)
        status = leat_example_serialize(example, &record, err);
    leati_example_plan *plan = NULL;
    leati_feature_request request = {.name = "b", .dtype = LEAT_STRING, .length = 1};
    leati_feature_span span;
    if (status == LEAT_OK)
        status = leati_example_plan_new(&request, 1, &plan, err);
    if (status == LEAT_OK)
        status = leati_example_parse(plan, record, NULL, &span, err);
    leati_example_plan_free(plan);
    leat_example_free(example);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    torture_begin();
    torture_run(build_and_parse, NULL);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_values),
        cmocka_unit_test(unpacked_values),
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(part_of_the_features),
        cmocka_unit_test(defaults_and_missing),
        cmocka_unit_test(wrong_dtype_and_count),
        cmocka_unit_test(last_duplicate_wins),
        cmocka_unit_test(bad_requests),
        cmocka_unit_test(damage_at_every_byte),
        cmocka_unit_test(malformed_names_the_byte),
        cmocka_unit_test(digits),
        cmocka_unit_test(builder_writes_the_same),
        cmocka_unit_test(builder_sizes),
        cmocka_unit_test(builder_refuses),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
