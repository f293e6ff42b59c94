/* What is done to every pixel, beside moving as many bytes: KERNEL (flip: RGB bytes mirrored; cast:
 * bytes to float32; normalise: float32 minus a mean, for each channel; resize: bytes of
 * 1280 x 960 to floats of 1024 x 1024) of RGB pictures of 1024 x 1024, on one thread. There are
 * more of them than the last cache holds, so that each comes from memory, as in a pipeline. The
 * limit is the rate at which memcpy reads and writes together as many bytes, out of as much memory,
 * in alternation. Both are medians over turns of four pictures, since a turn that others disturb
 * says nothing. */
#include "leat_bench.h"

#include <unistd.h>

enum { SIDE = 1024, VALUES = SIDE * SIDE * 3, MOST_TURNS = 1 << 16 };

/* Bytes that the last cache does not hold, within reason. */
static size_t beyond_caches(void) {
    const size_t least = (size_t)64 << 20, most = (size_t)1 << 30;
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size_t bytes = cache > 0 ? (size_t)cache / 4 * 5 : least;
    return bytes < least ? least : bytes < most ? bytes : most;
}

static leat_value numbers(leat_graph *graph) {
    const float mean[3] = {0.485f, 0.456f, 0.406f};
    leat_tensor tensor = {0};
    leat_error err = {0};
    bench_check(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(3), mean, &tensor, &err) == LEAT_OK,
                "mean", &err);
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = leat_graph_argument(graph, 0);
    switch (*(const char *)context) {
    case 'f': outputs[0] = leat_op_flip_left_right(x); break;
    case 'c': outputs[0] = leat_op_cast(x, LEAT_FLOAT32); break;
    case 'n': outputs[0] = leat_op_subtract(x, numbers(graph)); break;
    default: outputs[0] = leat_op_resize(x, (int64_t[]){SIDE, SIDE}, 2, NULL); break;
    }
    return 1;
}

/* Of one picture. */
static size_t bytes_read(char kernel) {
    return kernel == 'r' ? (size_t)960 * 1280 * 3 : (size_t)VALUES * (kernel == 'n' ? 4 : 1);
}

/* Pictures that no cache holds, again and again. */
static leat_dataset *pictures(char kernel, leat_error *err) {
    leat_dtype dtype = kernel == 'n' ? LEAT_FLOAT32 : LEAT_UINT8;
    size_t picture = bytes_read(kernel);
    int64_t count = (int64_t)(beyond_caches() / picture) + 1;
    leat_shape shape =
        kernel == 'r' ? LEAT_SHAPE(count, 960, 1280, 3) : LEAT_SHAPE(count, SIDE, SIDE, 3);
    leat_tensor tensor = {0};
    leat_element element = {0};
    leat_spec *spec = leat_spec_tensor(dtype, shape, err);
    bench_check(leat_tensor_new(dtype, shape, &tensor, err) == LEAT_OK, "pictures", err);
    memset(tensor.data, 1, (size_t)count * picture);
    bench_check(leat_element_set(&element, spec, &tensor, err) == LEAT_OK, "pictures", err);
    leat_dataset *dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    return leat_dataset_repeat(dataset, -1, err);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

int main(int argc, char **argv) {
    char kernel = argc == 3 ? argv[2][0] : '?';
    if (kernel != 'f' && kernel != 'c' && kernel != 'n' && kernel != 'r') {
        fprintf(stderr, "usage: leat_picture_kernels SECONDS flip|cast|normalise|resize\n");
        return 2;
    }
    leat_error err = {0};
    leat_dataset *ds = pictures(kernel, &err);
    leat_function *function = LEAT_TRACE(trace, &kernel, leat_dataset_spec(ds), &err);
    bench_check(function != NULL, "kernel", &err);
    ds = leat_dataset_map(ds, function, NULL, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 1, .rewrites = false,
                                     .autotune = false};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "kernel", &err);
    size_t read = bytes_read(kernel), written = (size_t)VALUES * (kernel == 'f' ? 1 : 4),
           half = (read + written) / 2;
    size_t copies = beyond_caches() / half + 1, next = 0;
    char *from = bench_alloc(copies * half), *to = bench_alloc(half);
    memset(from, 1, copies * half);
    memset(to, 1, half);
    leat_element element = {0};
    static double own[MOST_TURNS], limit[MOST_TURNS];
    double start = bench_now(), spent = 0;
    int turns = 0;
    for (int turn = 0; turn < 8 || bench_now() - start < atof(argv[1]); turn++) {
        double before = bench_cpu();
        for (int i = 0; i < 4; i++)
            bench_check(leat_iterator_next(iterator, &element, &err) == LEAT_OK, "next", &err);
        double middle = bench_cpu();
        for (int i = 0; i < 4; i++) {
            memcpy(to, from + next++ % copies * half, half);
            bench_touch(to);
        }
        if (turn < 4 || turns == MOST_TURNS)
            continue; /* the first ones make memory */
        own[turns] = middle - before;
        limit[turns++] = bench_cpu() - middle;
        spent += middle - before;
    }
    double turn = median(own, turns);
    bench_result result = {.unit = "pictures/CPU s",
                           .units = 4 * spent / turn,
                           .seconds = spent,
                           .cpu_seconds = spent,
                           .limit = 4 / median(limit, turns)};
    bench_print(&result);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    free(from);
    free(to);
    return 0;
}
