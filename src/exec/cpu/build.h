/* A step under construction: shared by plan.c and build.c alone. */
#ifndef LEATI_EXEC_CPU_BUILD_H
#define LEATI_EXEC_CPU_BUILD_H

#include "exec/cpu/cpu.h"

struct leati_cpu_build {
    leati_cpu_step *step;
    size_t value_capacity; /* of step->values */
    int32_t *task_of;      /* of each node: its task; -1: none yet; -2: an alias, needs none */
};

/* Orders the step's tasks (order.c). */
LEAT_WARN_UNUSED leat_status leati_cpu_order(leati_cpu_build *build, leat_error *err);
/* Says of the ordered tasks what each is done for (stages.c). */
LEAT_WARN_UNUSED leat_status leati_cpu_find_stages(leati_cpu_step *step, leat_error *err);
/* Sets `stops_before`, once the sums have their places: up to there nothing is written, here or by
 * a replica that has all it needs for it (stages.c). */
void leati_cpu_find_stops(leati_cpu_step *step);

#endif
