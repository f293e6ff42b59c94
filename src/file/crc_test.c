/* CRC32C: the check values of RFC 3720 (B.4) and of the polynomial's catalogue entry; the masked
 * form against the recorded files, in tfrecord_test. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/stop.h"
#include "file/crc.h"
#include <string.h>

static void known_values(void **state) {
    (void)state;
    uint8_t bytes[32];
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(leati_crc_crc32c(bytes, 32), 0x8a9136aau);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(leati_crc_crc32c(bytes, 32), 0x62a8ab43u);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(leati_crc_crc32c(bytes, 32), 0x46dd794eu);
    assert_int_equal(leati_crc_crc32c("123456789", 9), 0xe3069283u);
    assert_int_equal(leati_crc_crc32c(NULL, 0), 0);
}

/* The mask is invertible by its definition: subtract the constant, rotate left by 15. */
static void mask_is_undone(void **state) {
    (void)state;
    for (uint32_t crc = 1; crc; crc <<= 1) {
        uint32_t turned = leati_crc_mask(crc) - 0xa282ead8u;
        assert_int_equal(turned << 15 | turned >> 17, crc);
    }
}

/* The third look says true. */
static bool third(void *context) {
    return ++*(int *)context >= 3;
}

static void many_bytes_are_stopped(void **state) {
    (void)state;
    enum { MANY = 17 << 20 };
    int looks = -100;
    uint32_t crc = 7;
    leat_error err = {0};
    uint8_t *bytes = leati_alloc_zero(MANY, 1);
    assert_non_null(bytes);
    bytes[MANY - 1] = 1;
    leat_interrupt_set(third, &looks);
    leati_stop_ask_always(true);
    assert_int_equal(leati_crc_of_many(bytes, MANY, &crc, &err), LEAT_OK);
    assert_int_equal(crc, leati_crc_crc32c(bytes, MANY));
    assert_int_equal(looks, -96);
    looks = 0;
    crc = 7;
    assert_int_equal(leati_crc_of_many(bytes, MANY, &crc, &err), LEAT_CANCELLED);
    assert_int_equal(looks, 3);
    assert_int_equal(crc, 7);
    leati_stop_ask_always(false);
    leat_interrupt_set(NULL, NULL);
    leati_free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(mask_is_undone),
        cmocka_unit_test(many_bytes_are_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
