/* padded_batch by its builder: the options as a C program gives them. Expected batches are
 * TensorFlow's; everything else: tests/conform/data/padded_batch.json. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"

struct padded {
    int64_t batch_size, length; /* 0: no padded_shapes */
    bool options, values, drop_remainder;
};

static leat_status set(leat_element *out, leat_shape shape, const int64_t *data, leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, shape, err);
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, shape, data);
    leat_status status =
        spec == NULL ? torture_code(err) : leat_element_set(out, spec, &tensor, err);
    leat_spec_unref(spec);
    return status;
}

/* Vectors of 3, 3 and 1 numbers. */
static leat_dataset *pad(void *context, leat_error *err) {
    const struct padded *p = context;
    static const int64_t minus_one = -1;
    leat_dataset *dataset =
        leat_dataset_batch(leat_dataset_range(0, 7, 1, NULL, err), 3, NULL, err);
    leat_element shapes = {0}, values = {0};
    leat_status status = set(&shapes, LEAT_SHAPE(1), &p->length, err);
    if (status == LEAT_OK)
        status = set(&values, LEAT_SCALAR, &minus_one, err);
    if (status == LEAT_OK) {
        leat_dataset_padded_batch_options options = {
            LEAT_DATASET_PADDED_BATCH_DEFAULTS, .drop_remainder = p->drop_remainder,
            .padded_shapes = p->length > 0 ? &shapes : NULL,
            .padding_values = p->values ? &values : NULL};
        dataset =
            leat_dataset_padded_batch(dataset, p->batch_size, p->options ? &options : NULL, err);
    } else {
        leat_dataset_unref(dataset);
        dataset = NULL;
    }
    leat_element_fini(&shapes);
    leat_element_fini(&values);
    return dataset;
}

static void test_options(void **state) {
    (void)state;
    struct padded p = {.batch_size = 3};
    dataset_check(pad, &p, "[0,1,2,3,4,5,6,0,0]");
    p.options = true;
    dataset_check(pad, &p, "[0,1,2,3,4,5,6,0,0]");
    p.values = true;
    dataset_check(pad, &p, "[0,1,2,3,4,5,6,-1,-1]");
    p.batch_size = 2;
    p.length = 4;
    dataset_check(pad, &p, "[0,1,2,-1,3,4,5,-1] [6,-1,-1,-1]");
    p.drop_remainder = true;
    dataset_check(pad, &p, "[0,1,2,-1,3,4,5,-1]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_options, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
