/* How a long task is cut into parts, between which a run may be stopped.
 *
 * A part does some rows (pictures of a batch, rows of a product) of those that the task does; the
 * last one ends with them and may do rows of the one before again, so that all have one size. As
 * with threads the estimate is of shapes alone, so that a task is cut in the same way in every run.
 * No failures, no locks. */
#include "exec/cpu/cpu.h"

#include "base/minmax.h"

/* What a part may take: some 30 ms on a fast machine. */
#define MOST_NS 80e6
/* One of so many rows may be done twice. */
enum { LEAST_OF_ALL = 64 };

static double most_ns = MOST_NS;

void leati_cpu_cut_above(double ns) {
    most_ns = ns > 0 ? ns : MOST_NS;
}

/* The size of `count` parts; *twice: how many rows they do again. */
static int64_t part_of(int64_t rows, int64_t count, int64_t *twice) {
    int64_t part = (rows + count - 1) / count;
    *twice = (part - rows % part) % part;
    return part;
}

double leati_cpu_parts_of(const leati_cpu_step *step, const leati_cpu_task *task) {
    return leati_cpu_estimate_ns(step, task->node) / LEATI_MAX(task->threads, 1) / most_ns;
}

int64_t leati_cpu_part_of(const leati_cpu_step *step, const leati_cpu_task *task, int64_t rows,
                          int64_t least) {
    double parts = leati_cpu_parts_of(step, task);
    int64_t most = rows / least, twice;
    if (parts <= 1 || most < 2)
        return rows;
    int64_t count = parts < (double)most ? (int64_t)parts + 1 : most;
    int64_t part = part_of(rows, count, &twice);
    while (twice > rows / LEAST_OF_ALL && count < most)
        part = part_of(rows, ++count, &twice);
    return part;
}
