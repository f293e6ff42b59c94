/* leat's side of jpeg_full: the files of a list, over and over: read, decode (accurate DCT),
 * bilinear 224 x 224, random flip, divide by 255, float32 batches of 64. */
#include "leat_bench.h"

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: leat_jpeg_full SECONDS THREADS LIST\n");
        return 2;
    }
    leat_error err = {0};
    int count = 0;
    char **names = bench_names(argv[3], &count);
    leat_dataset *ds = leat_repeat(bench_name_dataset(names, count, &err), -1, &err);
    leat_map_options parallel = {.num_parallel_calls = atoi(argv[2])};
    ds = leat_map(ds, leat_trace(bench_load_picture, NULL, leat_dataset_spec(ds), &err), &parallel,
                  &err);
    ds = leat_batch(ds, 64, NULL, &err);
    leat_iterator_options options = {.num_threads = atoi(argv[2])};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "jpeg_full", &err);
    bench_result result = bench_drain(iterator, atof(argv[1]), "images/s");
    bench_print(&result);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    return 0;
}
