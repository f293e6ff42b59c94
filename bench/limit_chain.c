/* What a chain of small maps may cost: `maps` times x + 1 over a column of int64 that stays in the
 * first-level cache, one pass for each map, then a copy of the column into a batch. Passes are kept
 * apart from one another, as a library may not fold the constants together.
 *
 *   limit_chain MAPS SECONDS
 *
 * Prints maps of elements per second (elements/s times MAPS), and the bytes that the passes load.
 */
#include "bench.h"

enum { BLOCK = 1024 };

static void add_one(int64_t *restrict column) {
    for (int i = 0; i < BLOCK; i++)
        column[i] += 1;
}

int main(int argc, char **argv) {
    int maps = argc == 3 ? atoi(argv[1]) : 0;
    if (maps < 1) {
        fprintf(stderr, "usage: limit_chain MAPS SECONDS\n");
        return 2;
    }
    _Alignas(64) static int64_t column[BLOCK], batch[BLOCK];
    int64_t first = 0;
    double blocks = 0, start = bench_now(), start_cpu = bench_cpu(),
           deadline = start + atof(argv[2]);
    while (bench_now() < deadline)
        for (int round = 0; round < 256; round++, blocks++) {
            for (int i = 0; i < BLOCK; i++)
                column[i] = first + i;
            bench_touch(column);
            for (int map = 0; map < maps; map++) {
                add_one(column);
                bench_touch(column);
            }
            memcpy(batch, column, sizeof batch);
            bench_touch(batch);
            first += BLOCK;
        }
    bench_print(&(bench_result){.unit = "element maps/s",
                                .units = blocks * BLOCK * maps,
                                .bytes = blocks * (maps + 1) * sizeof column,
                                .seconds = bench_now() - start,
                                .cpu_seconds = bench_cpu() - start_cpu});
    return 0;
}
