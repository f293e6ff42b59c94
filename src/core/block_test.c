/* Blocks against a plain model: a list of rows, each a list of numbers or texts. Every operation is
 * run on every form of column, and its result is compared row by row with what the model says. */
#include "support/cmocka.h"

#include "base/error.h"
#include "core/block.h"
#include "core/element.h"
#include "core/object.h"
#include "core/tensor.h"
#include "core/verify.h"
#include "support/torture.h"

#define ROWS 5

static const char *const texts[] = {"zero", "",     "two", "a longer text for row three",
                                    "four", "five", "6"};

/* Column 0: int64 [2] {10i, 10i + 1}; column 1: string scalar texts[i]; column 2: int32 [i]. */
static leat_status fill(leati_block *block, int first, int n, leat_error *err) {
    leat_status status = leati_block_prepare(block, 3, err);
    if (status != LEAT_OK)
        return status;
    leat_tensor numbers;
    status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(n, 2), &numbers, err);
    if (status != LEAT_OK)
        return status;
    for (int i = 0; i < 2 * n; i++)
        ((int64_t *)numbers.data)[i] = 10 * (first + i / 2) + i % 2;
    leat_shape pair = LEAT_SHAPE(2);
    leati_column_strided(&block->columns[0], LEAT_INT64, &pair, numbers.data, 16, numbers.owner);
    leat_string strings[ROWS + 2];
    for (int i = 0; i < n; i++)
        strings[i] = (leat_string){texts[first + i], strlen(texts[first + i])};
    leat_tensor words;
    status = leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(n), strings, &words, err);
    if (status != LEAT_OK)
        return status;
    leat_shape scalar = LEAT_SCALAR;
    leati_column_strided(&block->columns[1], LEAT_STRING, &scalar, words.data, 16, words.owner);
    leat_buffer *array = leati_buffer_of_tensors(n, err);
    if (array == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_column_tensors(&block->columns[2], LEAT_INT32, array);
    for (int i = 0; i < n; i++) {
        leat_tensor *tensor = (leat_tensor *)leat_buffer_data(array) + i;
        status = leat_tensor_new(LEAT_INT32, LEAT_SHAPE(first + i), tensor, err);
        if (status != LEAT_OK)
            return status;
        for (int k = 0; k < first + i; k++)
            ((int32_t *)tensor->data)[k] = k;
    }
    block->n = n;
    return LEAT_OK;
}

/* Is row i of the block what fill gives for number `row`? */
static void expect_row(const leati_block *block, int64_t i, int row) {
    const int64_t *pair = leati_column_row(&block->columns[0], i);
    assert_int_equal(pair[0], 10 * row);
    assert_int_equal(pair[1], 10 * row + 1);
    const leat_string *text = leati_column_row(&block->columns[1], i);
    assert_int_equal(text->size, strlen(texts[row]));
    assert_memory_equal(text->data, texts[row], text->size);
    leat_shape shape = leati_column_row_shape(&block->columns[2], i);
    assert_int_equal(shape.rank, 1);
    assert_int_equal(shape.dims[0], row);
    const int32_t *values = leati_column_row(&block->columns[2], i);
    for (int k = 0; k < row; k++)
        assert_int_equal(values[k], k);
}

static void expect_rows(const leati_block *block, const int *rows, int n) {
    assert_int_equal(block->n, n);
    assert_int_equal(block->num_columns, 3);
    for (int i = 0; i < n; i++)
        expect_row(block, i, rows[i]);
}

#define EXPECT(block, ...)                                                                         \
    expect_rows(block, (int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)))

static leat_buffer *numbers_buffer(const uint32_t *rows, int n) {
    leat_buffer *buffer = leat_buffer_new((size_t)n * sizeof *rows, NULL);
    assert_non_null(buffer);
    memcpy(leat_buffer_data(buffer), rows, (size_t)n * sizeof *rows);
    return buffer;
}

static void views(void **state) {
    (void)state;
    torture_begin();
    leati_block all = {0}, part = {0}, again = {0};
    assert_int_equal(fill(&all, 0, ROWS, &(leat_error){0}), LEAT_OK);
    EXPECT(&all, 0, 1, 2, 3, 4);
    assert_int_equal(leati_block_slice(&all, 1, 3, &part, &(leat_error){0}), LEAT_OK);
    EXPECT(&part, 1, 2, 3);
    assert_int_equal(leati_block_slice(&part, 1, 2, &part, &(leat_error){0}), LEAT_OK);
    EXPECT(&part, 2, 3);
    assert_int_equal(leati_block_stride(&all, 0, 2, 3, &part, &(leat_error){0}), LEAT_OK);
    EXPECT(&part, 0, 2, 4);
    assert_int_equal(part.columns[0].form, LEATI_STRIDED);
    assert_int_equal(part.columns[0].stride, 32);
    assert_int_equal(leati_block_stride(&part, 1, 0, 2, &again, &(leat_error){0}), LEAT_OK);
    EXPECT(&again, 2, 2);
    assert_int_equal(leati_block_stride(&all, 1, 3, 2, &part, &(leat_error){0}), LEAT_OK);
    EXPECT(&part, 1, 4);
    leati_block_clear(&all);
    EXPECT(&part, 1, 4);
    leati_block_move(&part, &all);
    assert_int_equal(part.n, 0);
    EXPECT(&all, 1, 4);
    leat_error err = {0};
    assert_int_equal(leati_block_slice(&all, 1, 2, &part, &err), LEAT_INTERNAL);
    assert_int_equal(leati_block_slice(&all, 3, 0, &part, &(leat_error){0}), LEAT_INTERNAL);
    assert_int_equal(leati_block_stride(&all, 0, 2, 2, &part, &(leat_error){0}), LEAT_INTERNAL);
    assert_int_equal(leati_block_slice(&all, 2, 0, &part, &(leat_error){0}), LEAT_OK);
    leati_block_fini(&all);
    leati_block_fini(&part);
    leati_block_fini(&again);
    torture_end();
}

static void selections_are_composed_once(void **state) {
    (void)state;
    torture_begin();
    leati_block all = {0}, some = {0}, fewer = {0}, sliced = {0};
    assert_int_equal(fill(&all, 0, ROWS, &(leat_error){0}), LEAT_OK);
    leat_buffer *first = numbers_buffer((const uint32_t[]){4, 2, 1, 0}, 4);
    leat_buffer *second = numbers_buffer((const uint32_t[]){3, 3, 1}, 3);
    assert_int_equal(
        leati_block_select(&all, leat_buffer_data(first), first, 4, &some, &(leat_error){0}),
        LEAT_OK);
    leat_buffer_unref(first);
    EXPECT(&some, 4, 2, 1, 0);
    assert_int_equal(some.columns[0].form, LEATI_SELECTED);
    assert_ptr_equal(some.columns[0].data, all.columns[0].data);
    assert_ptr_equal(some.columns[0].rows, some.columns[1].rows);
    long before = torture_count();
    assert_int_equal(
        leati_block_select(&some, leat_buffer_data(second), second, 3, &fewer, &(leat_error){0}),
        LEAT_OK);
    leat_buffer_unref(second);
    /* The columns array, one composed array for two columns, one array of tensors. */
    assert_int_equal(torture_count() - before, 3);
    EXPECT(&fewer, 0, 0, 2);
    assert_ptr_equal(fewer.columns[0].rows, fewer.columns[1].rows);
    assert_int_equal(leati_block_slice(&some, 2, 2, &sliced, &(leat_error){0}), LEAT_OK);
    EXPECT(&sliced, 1, 0);
    assert_int_equal(leati_block_stride(&some, 1, 2, 2, &fewer, &(leat_error){0}), LEAT_OK);
    EXPECT(&fewer, 2, 0);
    assert_ptr_equal(fewer.columns[0].rows, fewer.columns[1].rows);
    const uint32_t one = 2;
    assert_int_equal(leati_block_select(&all, &one, NULL, 1, &some, &(leat_error){0}), LEAT_OK);
    EXPECT(&some, 2);
    assert_int_equal(some.columns[0].form, LEATI_STRIDED);
    leati_block_fini(&all);
    leati_block_fini(&some);
    leati_block_fini(&fewer);
    leati_block_fini(&sliced);
    torture_end();
}

static void appends_grow(void **state) {
    (void)state;
    torture_begin();
    leati_block kept = {0}, next = {0}, view = {0};
    assert_int_equal(fill(&kept, 0, 2, &(leat_error){0}), LEAT_OK);
    for (int i = 2; i < 7; i++) {
        assert_int_equal(fill(&next, i, 1, &(leat_error){0}), LEAT_OK);
        assert_int_equal(leati_block_append(&kept, &next, &(leat_error){0}), LEAT_OK);
        if (i == 3) {
            /* A shared buffer is not written behind its last row. */
            assert_int_equal(leati_block_slice(&kept, 0, 4, &view, &(leat_error){0}), LEAT_OK);
        }
    }
    EXPECT(&view, 0, 1, 2, 3);
    EXPECT(&kept, 0, 1, 2, 3, 4, 5, 6);
    assert_int_equal(kept.columns[0].form, LEATI_STRIDED);
    assert_int_equal(kept.columns[1].form, LEATI_STRIDED);
    assert_int_equal(kept.columns[2].form, LEATI_TENSORS);
    /* The view grows from its own copy, and its owner's rows stay. */
    assert_int_equal(fill(&next, 6, 1, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_block_append(&view, &next, &(leat_error){0}), LEAT_OK);
    EXPECT(&view, 0, 1, 2, 3, 6);
    EXPECT(&kept, 0, 1, 2, 3, 4, 5, 6);
    assert_int_equal(leati_block_slice(&kept, 5, 2, &kept, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_block_append(&kept, &kept, &(leat_error){0}), LEAT_OK);
    EXPECT(&kept, 5, 6, 5, 6);
    leati_block_fini(&kept);
    leati_block_fini(&next);
    leati_block_fini(&view);
    torture_end();
}

static void appending_constants(void **state) {
    (void)state;
    torture_begin();
    leat_tensor seven = leat_scalar_int64(7), eight = leat_scalar_int64(8);
    leati_block a = {0}, b = {0};
    assert_int_equal(leati_block_prepare(&a, 1, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_block_prepare(&b, 1, &(leat_error){0}), LEAT_OK);
    leati_column_constant(&a.columns[0], &seven);
    leati_column_constant(&b.columns[0], &seven);
    a.n = 1000;
    b.n = 2;
    assert_int_equal(leati_block_append(&a, &b, &(leat_error){0}), LEAT_OK);
    assert_int_equal(a.n, 1002);
    assert_int_equal(a.columns[0].stride, 0);
    assert_int_equal(leati_block_bytes(&a), 8);
    assert_int_equal(leati_block_slice(&a, 0, 2, &a, &(leat_error){0}), LEAT_OK);
    leati_column_fini(&b.columns[0]);
    leati_column_constant(&b.columns[0], &eight);
    assert_int_equal(leati_block_append(&a, &b, &(leat_error){0}), LEAT_OK);
    const int64_t expected[] = {7, 7, 8, 8};
    for (int i = 0; i < 4; i++)
        assert_int_equal(*(int64_t *)leati_column_row(&a.columns[0], i), expected[i]);
    /* Another shape makes an array of tensors. */
    leat_tensor pair;
    assert_int_equal(leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(2), expected + 1, &pair, NULL),
                     LEAT_OK);
    leati_column_fini(&b.columns[0]);
    leati_column_constant(&b.columns[0], &pair);
    b.n = 1;
    assert_int_equal(leati_block_append(&a, &b, &(leat_error){0}), LEAT_OK);
    assert_int_equal(a.columns[0].form, LEATI_TENSORS);
    assert_int_equal(leati_column_row_shape(&a.columns[0], 3).rank, 0);
    assert_int_equal(leati_column_row_shape(&a.columns[0], 4).rank, 1);
    assert_int_equal(((int64_t *)leati_column_row(&a.columns[0], 4))[1], 8);
    leat_tensor_unref(&seven);
    leat_tensor_unref(&eight);
    leat_tensor_unref(&pair);
    leati_block_fini(&a);
    leati_block_fini(&b);
    torture_end();
}

static void compacting_unpins(void **state) {
    (void)state;
    torture_begin();
    leati_block all = {0}, one = {0};
    assert_int_equal(fill(&all, 0, ROWS, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_block_slice(&all, 3, 1, &one, &(leat_error){0}), LEAT_OK);
    const char *data = all.columns[0].data;
    for (int c = 0; c < 3; c++)
        assert_int_equal(leati_column_compact(&all.columns[c], ROWS, &(leat_error){0}), LEAT_OK);
    assert_ptr_equal(all.columns[0].data, data);
    for (int c = 0; c < 3; c++)
        assert_int_equal(leati_column_compact(&one.columns[c], 1, &(leat_error){0}), LEAT_OK);
    leati_block_fini(&all);
    EXPECT(&one, 3);
    assert_int_equal(leati_buffer_pinned(one.columns[0].owner), 16);
    assert_int_equal(leati_buffer_pinned(one.columns[1].owner), 16 + strlen(texts[3]));
    assert_int_equal(leati_block_bytes(&one), 16 + 16 + strlen(texts[3]) + 12);
    leati_block_fini(&one);
    torture_end();
}

/* Gathered headers keep the bytes alive, and gathering them again makes no chain. */
static void strings_outlive_their_block(void **state) {
    (void)state;
    torture_begin();
    leati_block block = {0};
    assert_int_equal(fill(&block, 0, ROWS, &(leat_error){0}), LEAT_OK);
    leat_buffer *bytes = leat_buffer_ref(block.columns[1].owner);
    leat_shape scalar = LEAT_SCALAR;
    leati_column headers;
    leati_column_copy(&block.columns[1], &headers);
    leati_block_fini(&block);
    for (int round = 0; round < 3; round++) {
        leat_buffer *owner = leat_buffer_new(16 * ROWS, NULL);
        assert_int_equal(leati_column_hold(&headers, 0, ROWS, owner, &(leat_error){0}), LEAT_OK);
        leati_column_gather(&headers, 0, ROWS, leat_buffer_data(owner), 16);
        leati_column_fini(&headers);
        leati_column_strided(&headers, LEAT_STRING, &scalar, leat_buffer_data(owner), 16, owner);
        assert_int_equal(owner->num_holds, 1);
        assert_ptr_equal(owner->holds[0], bytes);
    }
    leat_buffer_unref(bytes);
    for (int i = 0; i < ROWS; i++) {
        const leat_string *text = leati_column_row(&headers, i);
        assert_memory_equal(text->data, texts[i], strlen(texts[i]));
    }
    leati_column_fini(&headers);
    torture_end();
}

static void elements(void **state) {
    (void)state;
    torture_begin();
    leati_block block = {0}, one = {0};
    assert_int_equal(fill(&block, 0, ROWS, &(leat_error){0}), LEAT_OK);
    leat_spec *spec =
        leat_spec_tuple((leat_spec *[]){leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(2), NULL),
                                        leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, NULL),
                                        leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(-1), NULL)},
                        3, NULL);
    assert_int_equal(leati_block_check(&block, spec, &(leat_error){0}), LEAT_OK);
    leat_element element = {0};
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(leati_block_element(&block, spec, i, &element, &(leat_error){0}), LEAT_OK);
        assert_int_equal(leati_block_of_element(&element, &one, &(leat_error){0}), LEAT_OK);
        EXPECT(&one, i);
    }
    assert_int_equal(leati_block_element(&block, spec, ROWS, &element, &(leat_error){0}),
                     LEAT_INTERNAL);
    leati_block_clear(&block);
    leati_block_clear(&one);
    assert_int_equal(leat_tensor_count(&element.tensors[2]), ROWS - 1);
    assert_int_equal(((int64_t *)element.tensors[0].data)[1], 41);
    leat_spec *other = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(3), NULL);
    assert_int_equal(leati_block_prepare(&one, 1, &(leat_error){0}), LEAT_OK);
    leati_column_constant(&one.columns[0], &element.tensors[0]);
    one.n = 1;
    assert_int_equal(leati_block_check(&one, other, &(leat_error){0}), LEAT_INTERNAL);
    leat_spec_unref(other);
    leat_spec_unref(spec);
    leat_element_fini(&element);
    leati_block_fini(&block);
    leati_block_fini(&one);
    torture_end();
}

/* Every operation gives the same rows on every re-encoding of its input. */
static void every_form(void **state) {
    (void)state;
    torture_begin();
    leati_block plain = {0}, block = {0}, out = {0}, one = {0};
    assert_int_equal(fill(&plain, 0, ROWS, &(leat_error){0}), LEAT_OK);
    uint64_t sum = leati_block_checksum(&plain);
    unsigned forms = 0;
    leat_buffer *rows = numbers_buffer((const uint32_t[]){4, 0, 3}, 3);
    for (uint64_t seed = 0; seed < 64; seed++) {
        assert_int_equal(leati_verify_reencode(&plain, seed, &block, &(leat_error){0}), LEAT_OK);
        forms |= 1u << (block.columns[0].form + (block.columns[0].stride == 32 ? 4 : 0));
        EXPECT(&block, 0, 1, 2, 3, 4);
        assert_true(leati_block_checksum(&block) == sum);
        assert_int_equal(leati_block_slice(&block, 1, 3, &out, &(leat_error){0}), LEAT_OK);
        EXPECT(&out, 1, 2, 3);
        assert_int_equal(leati_block_stride(&block, 1, 2, 2, &out, &(leat_error){0}), LEAT_OK);
        EXPECT(&out, 1, 3);
        assert_int_equal(
            leati_block_select(&block, leat_buffer_data(rows), rows, 3, &out, &(leat_error){0}),
            LEAT_OK);
        EXPECT(&out, 4, 0, 3);
        assert_true(leati_block_checksum(&out) != sum);
        assert_int_equal(leati_verify_reencode(&out, seed * 7 + 1, &one, &(leat_error){0}),
                         LEAT_OK);
        assert_int_equal(leati_block_append(&out, &one, &(leat_error){0}), LEAT_OK);
        assert_int_equal(leati_block_append(&out, &block, &(leat_error){0}), LEAT_OK);
        for (int c = 0; c < 3; c++)
            assert_int_equal(leati_column_compact(&out.columns[c], out.n, &(leat_error){0}),
                             LEAT_OK);
        EXPECT(&out, 4, 0, 3, 4, 0, 3, 0, 1, 2, 3, 4);
        assert_int_equal(leati_block_slice(&out, 1, 1, &one, &(leat_error){0}), LEAT_OK);
        assert_int_equal(leati_verify_reencode(&one, seed, &out, &(leat_error){0}), LEAT_OK);
        EXPECT(&out, 0);
    }
    /* Dense, selected, tensors and doubled stride were all met. */
    assert_int_equal(forms, 1u | 2u | 4u | 16u);
    leat_buffer_unref(rows);
    leati_block_fini(&plain);
    leati_block_fini(&block);
    leati_block_fini(&out);
    leati_block_fini(&one);
    torture_end();
}

static void checksums_notice_changes(void **state) {
    (void)state;
    torture_begin();
    leati_block block = {0};
    assert_int_equal(fill(&block, 0, ROWS, &(leat_error){0}), LEAT_OK);
    uint64_t sum = leati_block_checksum(&block);
    *(int64_t *)leati_column_row(&block.columns[0], 4) += 1;
    assert_true(leati_block_checksum(&block) != sum);
    *(int64_t *)leati_column_row(&block.columns[0], 4) -= 1;
    assert_true(leati_block_checksum(&block) == sum);
    ((leat_string *)leati_column_row(&block.columns[1], 0))->size = 3;
    assert_true(leati_block_checksum(&block) != sum);
    leati_block_fini(&block);
    torture_end();
}

static int objects_alive;

static void object_free(leat_object *object) {
    free(object);
    objects_alive--;
}

static const leati_object_type thing = {.name = "thing", .free = object_free};

static void objects_are_counted(void **state) {
    (void)state;
    torture_begin();
    leat_tensor tensor;
    assert_int_equal(leat_tensor_new(LEAT_OBJECT, LEAT_SHAPE(3), &tensor, NULL), LEAT_OK);
    for (int i = 0; i < 3; i++) {
        leat_object *object = malloc(sizeof *object);
        leati_object_init(object, &thing);
        ((leat_object **)tensor.data)[i] = object;
        objects_alive++;
    }
    leati_block block = {0}, copy = {0};
    assert_int_equal(leati_block_prepare(&block, 1, &(leat_error){0}), LEAT_OK);
    leat_shape scalar = LEAT_SCALAR;
    leati_column_strided(&block.columns[0], LEAT_OBJECT, &scalar, tensor.data, 8, tensor.owner);
    block.n = 3;
    uint64_t sum = leati_block_checksum(&block);
    for (uint64_t seed = 0; seed < 16; seed++) {
        assert_int_equal(leati_verify_reencode(&block, seed, &copy, &(leat_error){0}), LEAT_OK);
        assert_true(leati_block_checksum(&copy) == sum);
    }
    assert_int_equal(leati_block_slice(&block, 2, 1, &copy, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_column_compact(&copy.columns[0], 1, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_block_append(&copy, &block, &(leat_error){0}), LEAT_OK);
    leati_block_fini(&block);
    assert_int_equal(objects_alive, 3);
    assert_int_equal(leati_block_slice(&copy, 0, 1, &copy, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_column_compact(&copy.columns[0], 1, &(leat_error){0}), LEAT_OK);
    assert_int_equal(objects_alive, 1);
    leati_block_fini(&copy);
    assert_int_equal(objects_alive, 0);
    torture_end();
}

static leat_status use_blocks(void *context, leat_error *err) {
    (void)context;
    leati_block block = {0}, out = {0}, more = {0};
    leat_buffer *rows = NULL;
    leat_status status = fill(&block, 0, ROWS, err);
    if (status == LEAT_OK && (rows = leat_buffer_new(3 * sizeof(uint32_t), err)) == NULL)
        status = LEAT_RESOURCE_EXHAUSTED;
    if (status == LEAT_OK) {
        memcpy(leat_buffer_data(rows), (const uint32_t[]){4, 0, 3}, 12);
        status = leati_block_select(&block, leat_buffer_data(rows), rows, 3, &out, err);
    }
    if (status == LEAT_OK)
        status = leati_block_stride(&out, 0, 2, 2, &more, err);
    for (uint64_t seed = 0; status == LEAT_OK && seed < 4; seed++) {
        status = leati_verify_reencode(&block, seed, &more, err);
        if (status == LEAT_OK)
            status = leati_block_append(&out, &more, err);
        EXPECT(&block, 0, 1, 2, 3, 4);
    }
    for (int c = 0; status == LEAT_OK && c < 3; c++)
        status = leati_column_compact(&out.columns[c], out.n, err);
    leat_buffer_unref(rows);
    leati_block_fini(&block);
    leati_block_fini(&out);
    leati_block_fini(&more);
    return status;
}

/* A failed append leaves its target as it was. */
static void failing_appends_change_nothing(void **state) {
    (void)state;
    torture_begin();
    leati_block kept = {0}, next = {0};
    assert_int_equal(fill(&next, 3, 2, &(leat_error){0}), LEAT_OK);
    for (long n = 1;; n++) {
        assert_int_equal(fill(&kept, 0, 3, &(leat_error){0}), LEAT_OK);
        torture_fail_at(n);
        leat_status status = leati_block_append(&kept, &next, &(leat_error){0});
        torture_fail_at(0);
        if (status == LEAT_OK)
            break;
        EXPECT(&kept, 0, 1, 2);
        assert_int_equal(leati_block_append(&kept, &next, &(leat_error){0}), LEAT_OK);
        EXPECT(&kept, 0, 1, 2, 3, 4);
    }
    leati_block_fini(&kept);
    leati_block_fini(&next);
    torture_end();
}

static void torture(void **state) {
    (void)state;
    torture_begin();
    torture_run(use_blocks, NULL);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(selections_are_composed_once),
        cmocka_unit_test(appends_grow),
        cmocka_unit_test(appending_constants),
        cmocka_unit_test(compacting_unpins),
        cmocka_unit_test(strings_outlive_their_block),
        cmocka_unit_test(elements),
        cmocka_unit_test(every_form),
        cmocka_unit_test(checksums_notice_changes),
        cmocka_unit_test(objects_are_counted),
        cmocka_unit_test(failing_appends_change_nothing),
        cmocka_unit_test(torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
