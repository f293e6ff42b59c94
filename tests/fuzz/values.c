/* Blocks of elements in saved states: bytes that are read as a block of some spec are written and
 * read again as the same block. The first byte chooses the spec. */
#include "data/values/values.h"
#include "base/error.h"
#include "core/verify.h"
#include "elements.h"
#include "fuzz.h"

static void check_again(const leati_block *block, const leat_spec *spec) {
    leati_writer out = {0};
    leati_block again = {0};
    leat_error err = {0};
    if (leati_values_put_block(&out, block, 0, block->n, &err) != LEAT_OK || out.failed)
        fuzz_broken("a block that was read cannot be written: %s", err.text);
    leati_reader in = {.data = out.data, .size = out.size};
    if (leati_values_get_block(&in, spec, &again, &err) != LEAT_OK || in.at != in.size)
        fuzz_broken("a block that was written cannot be read: %s", err.text);
    if (again.n != block->n || (leat_spec_get_kind(spec) != LEAT_SPEC_DATASET &&
                                leati_block_checksum(&again) != leati_block_checksum(block)))
        fuzz_broken("%lld rows came back as %lld or others", (long long)block->n,
                    (long long)again.n);
    leati_block_fini(&again);
    leati_writer_fini(&out);
}

static void run(const uint8_t *data, size_t size) {
    leat_error err = {0}, found = {0};
    leati_block block = {0};
    leat_tensor tensor = {0};
    if (size == 0)
        return;
    leat_spec *spec = fuzz_elements_spec(data[0]);
    leati_reader in = {.data = data + 1, .size = size - 1};
    leat_status status = leati_values_get_block(&in, spec, &block, &err);
    fuzz_check_error("leati_values_get_block", status, &err);
    if (status == LEAT_OK) {
        if (leati_block_check(&block, spec, &err) != LEAT_OK)
            fuzz_broken("%s", err.text);
        check_again(&block, spec);
    }
    in.at = 0;
    status = leati_values_get_tensor(&in, &tensor, &err);
    if (status == LEAT_OK)
        leat_tensor_unref(&tensor);
    in.at = 0;
    status = leati_values_get_error(&in, &found, &err);
    leati_block_fini(&block);
    leat_spec_unref(spec);
}

static void seed(uint8_t choice, const leati_block *block) {
    leati_writer out = {0};
    leat_error err = {0};
    leati_put_raw(&out, &choice, 1);
    if (leati_values_put_block(&out, block, 0, block->n, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
    fuzz_seed(out.data, out.size);
    leati_writer_fini(&out);
}

static void seeds(void) {
    fuzz_elements_seeds(seed);
}

const fuzz_target fuzz_values = {
    .name = "values",
    .doc = "blocks of elements in saved states",
    .run = run,
    .most = 1024,
    .seeds = seeds,
};
