/* .npy files: a header is read alike whole and byte by byte; the rows are those that the header
 * says and that are there, in reads of any size. */
#include "file/npy.h"
#include "fuzz.h"

/* Does reading with more and more bytes, as `need` asks, end as reading all of them at once? */
static bool read_piecewise(const uint8_t *data, size_t size, leati_npy *whole) {
    leat_error err = {0}, other_err = {0};
    leati_npy other = {0};
    size_t need = 1, given = 0, asked = 0;
    leat_status status = leati_npy_read(data, size, &need, whole, &err);
    bool read = status == LEAT_OK && need == 0;
    leat_status other_status = LEAT_OK;
    for (asked = 1; asked > 0 && asked <= size && other_status == LEAT_OK;) {
        given = asked;
        other_status = leati_npy_read(data, given, &asked, &other, &other_err);
        if (other_status == LEAT_OK && asked > 0 && asked <= given)
            fuzz_broken("%zu bytes asked for where %zu were given", asked, given);
    }
    bool other_read = other_status == LEAT_OK && asked == 0;
    if (status != LEAT_OK)
        fuzz_check_error("a header", status, &err);
    if (size > 0 && (status != other_status || read != other_read))
        fuzz_broken("%s at once, %s in pieces", leat_status_name(status),
                    leat_status_name(other_status));
    if (read && (other.dtype != whole->dtype || other.size != whole->size || whole->size > size))
        fuzz_broken("another header in pieces");
    return read;
}

static void run(const uint8_t *data, size_t size) {
    static fuzz_outcomes whole, other;
    static const int64_t reads[] = {1, 100};
    leati_npy header = {0};
    bool read = size > 0 && read_piecewise(data, size, &header);
    const char *path = fuzz_file(data, size);
    leat_error err = {0};
    fuzz_run(leat_dataset_numpy(&path, 1, NULL, &err), false, &whole);
    if (read && header.shape.rank == 1 && whole.count > 0 && whole.count < FUZZ_OUTCOMES &&
        !whole.limited) {
        size_t rows = (size - header.size) / leat_dtype_size(header.dtype);
        uint64_t expected = (uint64_t)header.shape.dims[0];
        if (rows < expected ? whole.count != rows + 1 : whole.count < expected)
            fuzz_broken("%zu outcomes of %llu rows", whole.count, (unsigned long long)expected);
    }
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        leat_dataset_numpy_options options = {LEAT_DATASET_NUMPY_DEFAULTS, .buffer_size = reads[i]};
        fuzz_run(leat_dataset_numpy(&path, 1, &options, &err), i == 1, &other);
        fuzz_compare("rows", &whole, &other);
    }
}

const fuzz_target fuzz_npy = {
    .name = "npy",
    .doc = ".npy files",
    .run = run,
    .most = 1024,
    .folders = "files/npy",
    .ending = ".npy",
};
