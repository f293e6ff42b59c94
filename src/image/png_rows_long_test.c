/* A row of PNG samples that has more bits than 32 bits count: the sample behind 2^30 of 4 bits. */
#include "support/cmocka.h"

#include "image/png.h"
#include <stdlib.h>

static void test_wide_row(void **state) {
    (void)state;
    enum { LAST = 1 << 30 };
    leati_png_layout layout = {
        .width = (uint32_t)LAST + 2, .colour_type = 0, .depth = 4, .channels = 1, .bits = 8};
    uint8_t *row = calloc(1, (size_t)LAST / 2 + 1), *out = malloc((size_t)LAST + 2);
    assert_non_null(row);
    assert_non_null(out);
    row[0] = 0x12;
    row[LAST / 2] = 0xF3;
    leati_png_convert_row(&layout, row, out);
    /* Four bits become eight by repeating them. */
    assert_int_equal(out[0], 0x11);
    assert_int_equal(out[1], 0x22);
    assert_int_equal(out[LAST], 0xFF);
    assert_int_equal(out[LAST + 1], 0x33);
    free(row);
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wide_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
