/* The border between the kernels by oneDNN and the module libleat_dnnl.so (dnnl_module.c,
 * base/module.h), which is linked with it, with 40 megabytes, and with OpenCL. It is loaded where a
 * step is first compiled that has an operation of oneDNN's.
 *
 * The table is oneDNN's own functions, not ours. The kernels write the functions' names, which lead
 * into the table here, but in the module itself. The library is not linked where one is used that
 * is missing from the list, or from the names below it. */
#ifndef LEATI_EXEC_CPU_DNNL_MODULE_H
#define LEATI_EXEC_CPU_DNNL_MODULE_H

#include "base/module.h"
#include <oneapi/dnnl/dnnl.h>

#define LEATI_DNNL_FUNCTIONS(X)                                                                    \
    X(dnnl_dilated_convolution_backward_data_desc_init)                                            \
    X(dnnl_dilated_convolution_backward_weights_desc_init)                                         \
    X(dnnl_dilated_convolution_forward_desc_init)                                                  \
    X(dnnl_engine_create)                                                                          \
    X(dnnl_matmul_desc_init)                                                                       \
    X(dnnl_memory_create)                                                                          \
    X(dnnl_memory_desc_equal)                                                                      \
    X(dnnl_memory_desc_get_size)                                                                   \
    X(dnnl_memory_desc_init_by_strides)                                                            \
    X(dnnl_memory_desc_init_by_tag)                                                                \
    X(dnnl_memory_destroy)                                                                         \
    X(dnnl_memory_get_data_handle)                                                                 \
    X(dnnl_memory_set_data_handle)                                                                 \
    X(dnnl_pooling_v2_backward_desc_init)                                                          \
    X(dnnl_pooling_v2_forward_desc_init)                                                           \
    X(dnnl_post_ops_append_eltwise)                                                                \
    X(dnnl_post_ops_append_sum)                                                                    \
    X(dnnl_post_ops_create)                                                                        \
    X(dnnl_post_ops_destroy)                                                                       \
    X(dnnl_primitive_attr_create)                                                                  \
    X(dnnl_primitive_attr_destroy)                                                                 \
    X(dnnl_primitive_attr_set_post_ops)                                                            \
    X(dnnl_primitive_attr_set_scratchpad_mode)                                                     \
    X(dnnl_primitive_create)                                                                       \
    X(dnnl_primitive_desc_create)                                                                  \
    X(dnnl_primitive_desc_destroy)                                                                 \
    X(dnnl_primitive_desc_query)                                                                   \
    X(dnnl_primitive_desc_query_md)                                                                \
    X(dnnl_primitive_destroy)                                                                      \
    X(dnnl_primitive_execute)                                                                      \
    X(dnnl_reorder_primitive_desc_create)                                                          \
    X(dnnl_stream_create)                                                                          \
    X(dnnl_stream_destroy)

typedef struct leati_dnnl {
    leati_module_head head;
#define X(name) __typeof__(name) *name;
    LEATI_DNNL_FUNCTIONS(X)
#undef X
} leati_dnnl;

/* Loaded by leati_dnnl_here. */
extern leati_module leati_dnnl_module;

#ifndef LEATI_MODULE_ITSELF
#define LEATI_DNNL ((const leati_dnnl *)leati_dnnl_module.table)
#define dnnl_dilated_convolution_backward_data_desc_init                                           \
    LEATI_DNNL->dnnl_dilated_convolution_backward_data_desc_init
#define dnnl_dilated_convolution_backward_weights_desc_init                                        \
    LEATI_DNNL->dnnl_dilated_convolution_backward_weights_desc_init
#define dnnl_dilated_convolution_forward_desc_init                                                 \
    LEATI_DNNL->dnnl_dilated_convolution_forward_desc_init
#define dnnl_engine_create LEATI_DNNL->dnnl_engine_create
#define dnnl_matmul_desc_init LEATI_DNNL->dnnl_matmul_desc_init
#define dnnl_memory_create LEATI_DNNL->dnnl_memory_create
#define dnnl_memory_desc_equal LEATI_DNNL->dnnl_memory_desc_equal
#define dnnl_memory_desc_get_size LEATI_DNNL->dnnl_memory_desc_get_size
#define dnnl_memory_desc_init_by_strides LEATI_DNNL->dnnl_memory_desc_init_by_strides
#define dnnl_memory_desc_init_by_tag LEATI_DNNL->dnnl_memory_desc_init_by_tag
#define dnnl_memory_destroy LEATI_DNNL->dnnl_memory_destroy
#define dnnl_memory_get_data_handle LEATI_DNNL->dnnl_memory_get_data_handle
#define dnnl_memory_set_data_handle LEATI_DNNL->dnnl_memory_set_data_handle
#define dnnl_pooling_v2_backward_desc_init LEATI_DNNL->dnnl_pooling_v2_backward_desc_init
#define dnnl_pooling_v2_forward_desc_init LEATI_DNNL->dnnl_pooling_v2_forward_desc_init
#define dnnl_post_ops_append_eltwise LEATI_DNNL->dnnl_post_ops_append_eltwise
#define dnnl_post_ops_append_sum LEATI_DNNL->dnnl_post_ops_append_sum
#define dnnl_post_ops_create LEATI_DNNL->dnnl_post_ops_create
#define dnnl_post_ops_destroy LEATI_DNNL->dnnl_post_ops_destroy
#define dnnl_primitive_attr_create LEATI_DNNL->dnnl_primitive_attr_create
#define dnnl_primitive_attr_destroy LEATI_DNNL->dnnl_primitive_attr_destroy
#define dnnl_primitive_attr_set_post_ops LEATI_DNNL->dnnl_primitive_attr_set_post_ops
#define dnnl_primitive_attr_set_scratchpad_mode LEATI_DNNL->dnnl_primitive_attr_set_scratchpad_mode
#define dnnl_primitive_create LEATI_DNNL->dnnl_primitive_create
#define dnnl_primitive_desc_create LEATI_DNNL->dnnl_primitive_desc_create
#define dnnl_primitive_desc_destroy LEATI_DNNL->dnnl_primitive_desc_destroy
#define dnnl_primitive_desc_query LEATI_DNNL->dnnl_primitive_desc_query
#define dnnl_primitive_desc_query_md LEATI_DNNL->dnnl_primitive_desc_query_md
#define dnnl_primitive_destroy LEATI_DNNL->dnnl_primitive_destroy
#define dnnl_primitive_execute LEATI_DNNL->dnnl_primitive_execute
#define dnnl_reorder_primitive_desc_create LEATI_DNNL->dnnl_reorder_primitive_desc_create
#define dnnl_stream_create LEATI_DNNL->dnnl_stream_create
#define dnnl_stream_destroy LEATI_DNNL->dnnl_stream_destroy
#endif

#endif
