/* What max_pool2d and its gradient share. */
#ifndef LEATI_EXEC_CPU_DNNL_POOL_H
#define LEATI_EXEC_CPU_DNNL_POOL_H

#include "exec/cpu/dnnl.h"

typedef struct leati_dnnl_pool {
    dnnl_memory_desc_t input, output;
    dnnl_dims_t strides, kernel, dilation, before, after;
} leati_dnnl_pool;

/* False where oneDNN is not asked. */
bool leati_dnnl_pool_init(const leati_cpu_build *build, const leati_simple_node *node,
                          int32_t input, int32_t output, leati_dnnl_pool *pool);

#endif
