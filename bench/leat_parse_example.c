/* What a feature costs in parse_example: Examples of FEATURES features of one KIND (dense: 8
 * floats; sparse: 3 integers of any number; bytes: a string of 64 bytes), 256 at a time, out of
 * memory, on one thread. The limit is 40 ns of the processor's time for each feature, and what
 * copying its values takes; bytes are not copied, only where they are. */
#include "leat_bench.h"
#include <math.h>

enum { RECORDS = 1024, BATCH = 256, DENSE = 8, SPARSE = 3, BYTES = 64, MOST = 100 };

static char names[MOST][24];

static void add_feature(leat_example *example, int feature, int record, char kind,
                        leat_error *err) {
    float floats[DENSE];
    int64_t whole[SPARSE];
    char text[BYTES];
    leat_string string = {.data = text, .size = sizeof text};
    for (int i = 0; i < DENSE; i++)
        floats[i] = (float)sin(record * 8.0 + i + feature);
    for (int i = 0; i < SPARSE; i++)
        whole[i] = (int64_t)record * 1000 + feature * 7 + i;
    memset(text, 'a' + record % 26, sizeof text);
    leat_status status =
        kind == 'd'   ? leat_example_add_float(example, names[feature], floats, DENSE, err)
        : kind == 's' ? leat_example_add_int64(example, names[feature], whole, SPARSE, err)
                      : leat_example_add_bytes(example, names[feature], &string, 1, err);
    bench_check(status == LEAT_OK, "example", err);
}

/* The serialised Examples as batches of strings. */
static leat_dataset *make_records(int features, char kind, leat_error *err) {
    static leat_string strings[RECORDS];
    leat_example *example = leat_example_new(err);
    for (int r = 0; r < RECORDS; r++) {
        leat_example_clear(example);
        for (int f = 0; f < features; f++)
            add_feature(example, f, r, kind, err);
        leat_string bytes;
        bench_check(leat_example_serialize(example, &bytes, err) == LEAT_OK, "example", err);
        char *copy = bench_alloc(bytes.size);
        memcpy(copy, bytes.data, bytes.size);
        strings[r] = (leat_string){.data = copy, .size = bytes.size};
    }
    leat_example_free(example);
    leat_tensor tensor = {0};
    leat_element element = {0};
    leat_shape shape = LEAT_SHAPE(RECORDS / BATCH, BATCH);
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, shape, err);
    bench_check(leat_tensor_copy_of(LEAT_STRING, shape, strings, &tensor, err) == LEAT_OK &&
                    leat_element_set(&element, spec, &tensor, err) == LEAT_OK,
                "records", err);
    leat_dataset *dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    return dataset;
}

static leat_spec *make_spec(int features, char kind, leat_error *err) {
    const char *keys[MOST];
    leat_spec *children[MOST];
    for (int f = 0; f < features; f++) {
        keys[f] = names[f];
        children[f] = kind == 'd' ? leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(DENSE), err)
                      : kind == 's'
                          ? leat_spec_sparse(LEAT_INT64, LEAT_SHAPE(LEAT_UNKNOWN_DIM), err)
                          : leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
    }
    return leat_spec_dict(keys, children, features, err);
}

int main(int argc, char **argv) {
    int features = argc == 4 ? atoi(argv[2]) : 0;
    char kind = argc == 4 ? argv[3][0] : '?';
    if (features < 1 || features > MOST || (kind != 'd' && kind != 's' && kind != 'b')) {
        fprintf(stderr, "usage: leat_parse_example SECONDS FEATURES dense|sparse|bytes\n");
        return 2;
    }
    leat_error err = {0};
    for (int f = 0; f < features; f++)
        snprintf(names[f], sizeof names[f], "feature/%03d", f);
    leat_spec *spec = make_spec(features, kind, &err);
    leat_dataset *ds = leat_dataset_repeat(make_records(features, kind, &err), -1, &err);
    ds = leat_dataset_parse_example(ds, spec, NULL, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 1, .rewrites = false,
                                     .autotune = false};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "parse_example", &err);
    leat_element element = {0};
    double start = bench_now(), cpu = 0, batches = 0;
    for (int warm = 0; warm < 8 || bench_now() - start < atof(argv[1]); warm++) {
        bench_check(leat_iterator_next(iterator, &element, &err) == LEAT_OK, "next", &err);
        cpu = warm == 7 ? bench_cpu() : cpu;
        batches += warm > 7;
    }
    double spent = bench_cpu() - cpu, copied = kind == 'd'   ? DENSE * sizeof(float)
                                               : kind == 's' ? SPARSE * 3 * sizeof(int64_t)
                                                             : sizeof(leat_string);
    bench_result result = {.unit = "features/CPU s",
                           .units = batches * BATCH * features,
                           .seconds = spent,
                           .cpu_seconds = spent,
                           .limit = 1 / (40e-9 + copied / bench_memcpy_rate())};
    bench_print(&result);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    leat_spec_unref(spec);
    return 0;
}
