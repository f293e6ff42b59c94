/* How many of the device's threads work on a task.
 *
 * A sleeping thread takes about 100 us to come to a task's help (libgomp's threads stop spinning
 * soon, for the sake of the pipeline beside them), so each must have as much to do. The estimate is
 * rough and depends on shapes alone: some results depend in their last bits on the number, which
 * therefore is the same in every run. No failures, no locks. */
#include "exec/cpu/cpu.h"

#include <math.h>

/* Of one thread. */
#define LEAST_NS 100e3
#define PRODUCTS_PER_NS 25.0 /* that are added up */
#define BYTES_PER_NS 8.0     /* of operands and results */
#define FEW_CHANNELS 8       /* of a group */

/* How many products a convolution, its gradients and a product of matrices add up; 0: another
 * operation. */
static double count_products(const leati_simple *simple, const leati_simple_node *node) {
    leati_trait trait = node->source->op->trait;
    const leati_simple_value *values = simple->values, *out = &values[node->first_output];
    const leati_simple_value *b = node->num_inputs > 1 ? &values[node->inputs[1]] : NULL;
    if (trait == LEATI_TRAIT_MATMUL)
        /* The root of (m k) (k n) (m n) is m k n. */
        return sqrt((double)values[node->inputs[0]].count * (double)b->count * (double)out->count);
    if (trait != LEATI_TRAIT_CONVOLUTION || b->count == 0)
        return 0;
    if (node->num_inputs == 3) /* input, filter, gradient */
        out = &values[node->inputs[2]];
    const leat_shape *filter = &b->type->shape;
    double products =
        (double)out->count * (double)b->count / (double)filter->dims[filter->rank - 1];
    /* Groups of few channels leave most of a register empty. */
    int64_t own = filter->dims[filter->rank - 2];
    bool groups = own < values[node->inputs[0]].type->shape.dims[filter->rank - 1];
    return groups && own < FEW_CHANNELS ? products * FEW_CHANNELS / (double)own : products;
}

double leati_cpu_estimate_ns(const leati_cpu_step *step, const leati_simple_node *node) {
    const leati_simple_value *values = step->simple.values;
    double bytes = 0;
    for (int32_t i = 0; i < node->num_inputs; i++)
        bytes += (double)values[node->inputs[i]].row_bytes;
    for (int32_t i = 0; i < node->num_outputs; i++)
        bytes += (double)values[node->first_output + i].row_bytes;
    return count_products(&step->simple, node) / PRODUCTS_PER_NS + bytes / BYTES_PER_NS;
}

int leati_cpu_threads_for(const leati_cpu_step *step, const leati_simple_node *node) {
    double threads = leati_cpu_estimate_ns(step, node) / LEAST_NS;
    int most = step->base.device->num_threads;
    return threads >= most ? most : threads > 1 ? (int)threads : 1;
}
