/* Messages of specs and tensors: those of TensorFlow, what they read as and that they are written
 * again; every cut of them, every byte changed, and values that do not fit their shape. */
#include "support/cmocka.h"

#include "core/spec.h"
#include "file/tensor_proto.h"
#include "support/refused.h"
#include "support/torture.h"

typedef struct message {
    const char *data;
    size_t size;
    const char *text; /* of the spec, or a keyword of the error */
    leat_status code;
} message;

#define BYTES(text) (text), sizeof(text) - 1

/* What nested_structure_coder.encode_structure writes. The specs: int64 (), string of unknown rank,
 * None, (bool (2,), None, float64 ()), (), {a: (float16 (),), b: int16 ()}, ragged int32 (2, None)
 * with splits of int32, ragged string (None, None, None, 5) of ragged rank 2, sparse int64 (2, 3),
 * bfloat16 (0,). */
static const message written[] = {
    {BYTES("\212\002\004\022\000\030\011"), "int64[]", 0},
    {BYTES("\212\002\006\022\002\030\001\030\007"), "string<unknown>", 0},
    {BYTES("\012\000"), "none", 0},
    {BYTES(
         "\242\003\032\012\013\212\002\010\022\004\022\002\010\002\030\012\012\002\012\000\012\007"
         "\212\002\004\022\000\030\002"),
     "(bool[2], none, float64[])", 0},
    {BYTES("\242\003\000"), "()", 0},
    {BYTES("\252\003!\012\021\012\001a\022\014\242\003\011\012\007\212\002\004\022\000\030\023"
           "\012\014\012\001b\022\007\212\002\004\022\000\030\005"),
     "{'a': (float16[],), 'b': int16[]}", 0},
    {BYTES("\222\002\077\010\003\022'\242\003$\012\024\372\001\021\022\002\010\002\022\013\010\377"
           "\377\377\377\377\377\377\377\377\001\012\003\200\002\003\012\002`\002\012\003\200\002"
           "\003\032\020RaggedTensorSpec \002"),
     "ragged<int32[2,?], 1, int32>", 0},
    {BYTES(
         "\222\002Y\010\003\022A\242\003>\012.\372\001+\022\013\010\377\377\377\377\377\377\377"
         "\377\377\001\022\013\010\377\377\377\377\377\377\377\377\377\001\022\013\010\377\377\377"
         "\377\377\377\377\377\377\001\022\002\010\005\012\003\200\002\007\012\002`\004\012\003"
         "\200\002\011\032\020RaggedTensorSpec \003"),
     "ragged<string[?,?,?,5], 2, int64>", 0},
    {BYTES("\222\002-\010\001\022\025\242\003\022\012\013\372\001\010\022\002\010\002\022\002\010"
           "\003\012\003\200\002\011\032\020SparseTensorSpec \003"),
     "sparse<int64[2,3]>", 0},
    {BYTES("\212\002\006\022\002\022\000\030\016"), "bfloat16[0]", 0},
};

/* A name, a bound, a list and a named tuple: more than a spec of leat says, or less. */
static const message read[] = {
    {BYTES("\212\002\030\012\001x\022\021\022\013\010\377\377\377\377\377\377\377\377\377\001\022"
           "\002\010\003\030\001"),
     "float32[?,3]", 0},
    {BYTES("\232\002\032\022\004\022\002\010\003\030\003\042\007\010\003\022\000:\001\000*\007\010"
           "\003\022\000:\001\005"),
     "int32[3]", 0},
    {BYTES("\232\003\033\012\007\212\002\004\022\000\030\004\012\020\232\003\015\012\013\212\002"
           "\010\022\004\022\002\010\001\030\003"),
     "(uint8[], (int32[1],))", 0},
    {BYTES("\262\003#\012\001P\022\014\012\001a\022\007\212\002\004\022\000\030\006\022\020\012\001"
           "b\022\013\212\002\010\022\004\022\002\010\004\030\005"),
     "(int8[], int16[4])", 0},
};

#define NO_TYPE "type"
#define NO_SPEC "element_spec"

/* Optional, dataset, a dtype that leat lacks; no message; a tree without an end. */
static const message refused[] = {
    {BYTES("\222\002 \010\007\022\014\242\003\011\012\007\212\002\004\022\000\030\011\032\014"
           "OptionalSpec \001"),
     NO_TYPE, LEAT_UNIMPLEMENTED},
    {BYTES("\222\002$\010\005\022\021\242\003\016\012\007\212\002\004\022\000\030\011\012\003\372"
           "\001\000\032\013DatasetSpec \001"),
     NO_TYPE, LEAT_UNIMPLEMENTED},
    {BYTES("\212\002\010\022\004\022\002\010\004\030\013"), "11", LEAT_UNIMPLEMENTED},
    {BYTES("\212\002\002\022\000"), "0", LEAT_UNIMPLEMENTED},
    {BYTES(""), NO_SPEC, LEAT_DATA_LOSS},
    {BYTES("\020\001"), NO_SPEC, LEAT_DATA_LOSS},
    {BYTES("\212\002\002\030\011"), NO_SPEC, LEAT_DATA_LOSS},
    {BYTES("\212\002\005\022\000\030\011"), NO_SPEC, LEAT_DATA_LOSS},
    {BYTES("\252\003\004\012\002\012\000"), NO_SPEC, LEAT_DATA_LOSS},
    {BYTES("\242\003\002\012\000"), NO_SPEC, LEAT_DATA_LOSS},
};

static leati_wire wire_of(const void *data, size_t size) {
    return (leati_wire){data, (const uint8_t *)data + size};
}

static void check_spec(const message *m, bool again) {
    leat_error err = {0};
    char text[256];
    leat_spec *spec = leati_tensor_proto_spec(wire_of(m->data, m->size), &err);
    if (spec == NULL)
        fail_msg("%s", err.text);
    leat_spec_print(spec, text, sizeof text);
    assert_string_equal(text, m->text);
    leati_writer out = {0};
    assert_int_equal(leati_tensor_proto_put_spec(&out, spec, &err), LEAT_OK);
    if (again) {
        assert_int_equal(out.size, m->size);
        assert_memory_equal(out.data, m->data, m->size);
    } else {
        leat_spec *same = leati_tensor_proto_spec(wire_of(out.data, out.size), &err);
        assert_true(leat_spec_equal(spec, same));
        leat_spec_unref(same);
    }
    leati_writer_fini(&out);
    leat_spec_unref(spec);
}

static void specs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        check_spec(&written[i], true);
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        check_spec(&read[i], false);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const message *m = &refused[i];
        leat_error err = {0};
        assert_null(leati_tensor_proto_spec(wire_of(m->data, m->size), &err));
        assert_refused(&err, m->code, LEAT_REASON_NONE, m->text);
    }
}

/* Tuples in tuples, as many as a spec may have and one more. */
static void depth(void **state) {
    (void)state;
    leati_writer all[2] = {{0}, {0}};
    leat_error err = {0};
    leati_put_raw(&all[0], written[0].data, written[0].size);
    int levels = 0;
    for (;; levels++) {
        leati_writer *from = &all[levels % 2], *to = &all[1 - levels % 2], list = {0};
        leat_spec *spec = leati_tensor_proto_spec(wire_of(from->data, from->size), &err);
        if (spec == NULL)
            break;
        leat_spec_unref(spec);
        leati_tensor_proto_put_field(&list, 1, from->data, from->size);
        to->size = 0;
        leati_tensor_proto_put_field(to, 52, list.data, list.size);
        leati_writer_fini(&list);
        assert_true(levels < 1000);
    }
    assert_int_equal(levels, LEATI_MAX_DEPTH);
    leati_writer_fini(&all[0]);
    leati_writer_fini(&all[1]);
}

/* Any other bytes are a spec, or refused: DATA_LOSS or UNIMPLEMENTED or what its parts say. */
static void damaged_specs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        for (size_t k = 0; k < 6 * written[i].size; k++) {
            leat_error err = {0};
            size_t at = k / 6, size = k % 6 == 5 ? at : written[i].size;
            char *copy = malloc(size + 1);
            assert_non_null(copy);
            memcpy(copy, written[i].data, size);
            if (at < size)
                copy[at] = (char)(copy[at] ^ 1 << k % 6);
            leat_spec *spec = leati_tensor_proto_spec(wire_of(copy, size), &err);
            assert_true(spec != NULL || (err.code != LEAT_OK && err.code != LEAT_INTERNAL));
            leat_spec_unref(spec);
            free(copy);
        }
    }
}

static void objects_are_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leati_writer out = {0};
    leat_spec *spec = leat_spec_dataset(leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err), &err);
    assert_non_null(spec);
    assert_int_equal(leati_tensor_proto_put_spec(&out, spec, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "dataset<int64[]>");
    leat_spec_unref(spec);
    leati_writer_fini(&out);
}

/* ---- tensors ---- */

/* TensorProto's number of a dtype and the field of its values, by tensor.proto. */
static const struct listed {
    leat_dtype dtype;
    unsigned number, field;
} listed[] = {
    {LEAT_FLOAT32, 1, 5},  {LEAT_FLOAT64, 2, 6},    {LEAT_INT32, 3, 7},   {LEAT_UINT8, 4, 7},
    {LEAT_INT16, 5, 7},    {LEAT_INT8, 6, 7},       {LEAT_STRING, 7, 8},  {LEAT_INT64, 9, 10},
    {LEAT_BOOL, 10, 11},   {LEAT_BFLOAT16, 14, 13}, {LEAT_UINT16, 17, 7}, {LEAT_FLOAT16, 19, 13},
    {LEAT_UINT32, 22, 16}, {LEAT_UINT64, 23, 17},
};
enum { NUM_LISTED = sizeof listed / sizeof *listed };

/* The bits of value i: negative numbers are written as 64 bits. */
static uint64_t value_of(leat_dtype dtype, int i) {
    bool is_signed =
        dtype == LEAT_INT8 || dtype == LEAT_INT16 || dtype == LEAT_INT32 || dtype == LEAT_INT64;
    return dtype == LEAT_BOOL ? (uint64_t)(i + 1) % 2
           : is_signed        ? (uint64_t)(-3 - 40 * i)
                              : (uint64_t)(250 - 7 * i);
}

static void put_fixed(leati_writer *out, leat_dtype dtype, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    leati_put_raw(out, bytes, dtype == LEAT_FLOAT32 ? 4 : 8);
}

/* A tensor of five values of which `given` are listed, packed or one by one. */
static void put_listed(leati_writer *out, const struct listed *l, int given, bool packed) {
    leati_writer list = {0};
    bool fixed = l->dtype == LEAT_FLOAT32 || l->dtype == LEAT_FLOAT64;
    leati_tensor_proto_put_number_field(out, 1, l->number);
    leati_tensor_proto_put_field(out, 2, "\022\002\010\005", 4);
    for (int i = 0; i < given; i++) {
        uint64_t value = value_of(l->dtype, i);
        leati_writer *to = packed ? &list : out;
        if (l->dtype == LEAT_STRING) {
            leati_tensor_proto_put_field(out, l->field, "abcdefgh", (size_t)value % 8);
            continue;
        }
        if (!packed)
            leati_put_uint(to, l->field << 3 | (!fixed ? 0u : l->dtype == LEAT_FLOAT32 ? 5u : 1u));
        if (fixed)
            put_fixed(to, l->dtype, value);
        else
            leati_put_uint(to, value);
    }
    if (packed && l->dtype != LEAT_STRING)
        leati_tensor_proto_put_field(out, l->field, list.data, list.size);
    leati_tensor_proto_put_field(out, 99, "not a field", 11);
    leati_writer_fini(&list);
}

/* Values that are listed; the last one stands for those that follow. */
static void lists_of_values(void **state) {
    (void)state;
    for (int i = 0; i < NUM_LISTED * 2 * 7; i++) {
        const struct listed *l = &listed[i / 14];
        int given = i % 7;
        leati_writer out = {0};
        leat_error err = {0};
        leati_tensor_proto proto;
        union {
            leat_string texts[6];
            uint8_t bytes[96];
        } values;
        memset(&values, 0x77, sizeof values);
        put_listed(&out, l, given, i / 7 % 2);
        assert_int_equal(leati_tensor_proto_read(wire_of(out.data, out.size), &proto, &err),
                         LEAT_OK);
        assert_int_equal(proto.dtype, l->dtype);
        assert_int_equal(proto.number, l->number);
        assert_int_equal(proto.count, 5);
        assert_int_equal(proto.shape.rank, 1);
        assert_int_equal(leati_tensor_proto_values(&proto, &values, &err), LEAT_OK);
        size_t size = leat_dtype_size(l->dtype);
        for (int k = 0; k < 5; k++) {
            int from = k < given ? k : given - 1;
            uint64_t value = given > 0 ? value_of(l->dtype, from) : 0;
            if (l->dtype == LEAT_STRING) {
                assert_int_equal(values.texts[k].size, value % 8);
                if (value % 8 > 0)
                    assert_memory_equal(values.texts[k].data, "abcdefgh", value % 8);
            } else {
                assert_memory_equal(values.bytes + (size_t)k * size, &value, size);
            }
        }
        assert_int_equal(values.bytes[5 * (l->dtype == LEAT_STRING ? sizeof(leat_string) : size)],
                         0x77);
        leati_writer_fini(&out);
    }
}

/* The bytes of tf.make_tensor_proto for numbers, and for a list of strings. */
static void bytes_of_tensorflow(void **state) {
    (void)state;
    static const char numbers[] = "\010\003\022\004\022\002\010\003\042\014\001\000\000\000\376\377"
                                  "\377\377\003\000\000\000";
    static const char texts[] = "\010\007\022\010\022\002\010\002\022\002\010\001B\001aB\003bcd";
    leat_error err = {0};
    leati_writer out = {0};
    leat_shape three = LEAT_SHAPE(3), column = LEAT_SHAPE(2, 1), none = LEAT_SHAPE(0);
    assert_int_equal(
        leati_tensor_proto_put(&out, LEAT_INT32, &three, (const int32_t[]){1, -2, 3}, &err),
        LEAT_OK);
    assert_int_equal(out.size, sizeof numbers - 1);
    assert_memory_equal(out.data, numbers, sizeof numbers - 1);
    out.size = 0;
    const leat_string values[] = {{"a", 1}, {"bcd", 3}};
    assert_int_equal(leati_tensor_proto_put_strings(&out, &column, values, &err), LEAT_OK);
    assert_int_equal(out.size, sizeof texts - 1);
    assert_memory_equal(out.data, texts, sizeof texts - 1);
    out.size = 0;
    assert_int_equal(leati_tensor_proto_put(&out, LEAT_FLOAT32, &none, NULL, &err), LEAT_OK);
    leati_tensor_proto proto;
    assert_int_equal(leati_tensor_proto_read(wire_of(out.data, out.size), &proto, &err), LEAT_OK);
    assert_int_equal(proto.count, 0);
    assert_int_equal(leati_tensor_proto_values(&proto, NULL, &err), LEAT_OK);
    leat_shape unknown = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    assert_int_equal(leati_tensor_proto_put(&out, LEAT_INT32, &unknown, NULL, &err),
                     LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "int32");
    leati_writer_fini(&out);
}

/* Strings as a dataset's file has them, lengths and then bytes, and what is wrong with others. */
static void damaged_tensors(void **state) {
    (void)state;
#define SHAPE_2 "\010\007\022\004\022\002\010\002"
#define FLOATS_2 "\010\001\022\004\022\002\010\002"
    static const message cases[] = {
        {BYTES(SHAPE_2 "\042\006\001\003abcd"), NULL, LEAT_OK},
        {BYTES(SHAPE_2 "\042\001\001"), "content", LEAT_DATA_LOSS},
        {BYTES(SHAPE_2 "\042\002\001\003"), "string", LEAT_DATA_LOSS},
        {BYTES(SHAPE_2 "\042\005\001\004abc"), "string", LEAT_DATA_LOSS},
        {BYTES(SHAPE_2 "\042\002\001\200"), "length", LEAT_DATA_LOSS},
        {BYTES(SHAPE_2 "\042"), "bytes", LEAT_DATA_LOSS},
        {BYTES(FLOATS_2 "\042\007abcdefg"), "content", LEAT_DATA_LOSS},
        {BYTES(FLOATS_2 "\042\011abcdefghi"), "content", LEAT_DATA_LOSS},
        {BYTES(FLOATS_2 "\052\007abcdefg"), "list", LEAT_DATA_LOSS},
        {BYTES("\010\011\022\004\022\002\010\002\122\002\001\200"), "list", LEAT_DATA_LOSS},
        {BYTES("\010\001\022\002\030\001"), "shape", LEAT_DATA_LOSS},
        {BYTES("\010\001\022\001\022"), "8", LEAT_DATA_LOSS},
        {BYTES("\010\001\022\022\022\000\022\000\022\000\022\000\022\000\022\000\022\000\022\000"
               "\022\000"),
         "8", LEAT_DATA_LOSS},
        {BYTES("\010\001\022\010\022\006\010\200\200\200\200\100"), "17179869184", LEAT_DATA_LOSS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const message *m = &cases[i];
        leat_error err = {0};
        leati_tensor_proto proto;
        leat_string values[2] = {{0}};
        leat_status status = leati_tensor_proto_read(wire_of(m->data, m->size), &proto, &err);
        if (status == LEAT_OK)
            status = leati_tensor_proto_values(&proto, values, &err);
        assert_int_equal(status, m->code);
        assert_refused(&err, m->code, LEAT_REASON_NONE, m->text);
        if (status == LEAT_OK) {
            assert_int_equal(values[0].size, 1);
            assert_memory_equal(values[0].data, "a", 1);
            assert_int_equal(values[1].size, 3);
            assert_memory_equal(values[1].data, "bcd", 3);
        }
    }
}

#define COUNTED(test) cmocka_unit_test_setup_teardown(test, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        COUNTED(specs),           COUNTED(depth),
        COUNTED(damaged_specs),   COUNTED(objects_are_refused),
        COUNTED(lists_of_values), COUNTED(bytes_of_tensorflow),
        COUNTED(damaged_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
