/* What the programs of oneDNN alone share: an engine, failures that end the program, memory,
 * primitives with their arguments. oneDNN's 2.x API. */
#ifndef LIMIT_DNNL_H
#define LIMIT_DNNL_H

#include "bench.h"

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

extern void omp_set_num_threads(int threads);

#define CHECK(call) check((call), #call)

enum { MAX_ARGS = 12 };

static dnnl_engine_t engine;
static dnnl_stream_t stream;

/* A primitive with its arguments. */
typedef struct step {
    dnnl_primitive_t primitive;
    int count;
    dnnl_exec_arg_t args[MAX_ARGS];
} step;

static inline void check(dnnl_status_t status, const char *call) {
    if (status != dnnl_success) {
        fprintf(stderr, "oneDNN: %s: status %d\n", call, (int)status);
        exit(2);
    }
}

static inline void open_engine(int threads) {
    omp_set_num_threads(threads);
    CHECK(dnnl_engine_create(&engine, dnnl_cpu, 0));
    CHECK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
}

static inline dnnl_memory_desc_t describe(int rank, const dnnl_dim_t *dims, dnnl_format_tag_t tag) {
    dnnl_memory_desc_t md;
    CHECK(dnnl_memory_desc_init_by_tag(&md, rank, dims, dnnl_f32, tag));
    return md;
}

/* Memory of that form, filled with small numbers. */
static inline dnnl_memory_t memory(const dnnl_memory_desc_t *md) {
    dnnl_memory_t m;
    void *data;
    CHECK(dnnl_memory_create(&m, md, engine, DNNL_MEMORY_ALLOCATE));
    CHECK(dnnl_memory_get_data_handle(m, &data));
    size_t size = dnnl_memory_desc_get_size(md);
    memset(data, 0, size);
    for (size_t i = 0; i < size / sizeof(float); i++)
        ((float *)data)[i] = (float)((i * 2654435761u >> 7) % 1000) * 2e-4f - 0.1f;
    return m;
}

static inline const dnnl_memory_desc_t *query(dnnl_primitive_desc_t pd, dnnl_query_t what,
                                              int index) {
    return dnnl_primitive_desc_query_md(pd, what, index);
}

static inline dnnl_primitive_desc_t describe_primitive(const void *desc, dnnl_primitive_attr_t attr,
                                                       dnnl_primitive_desc_t hint) {
    dnnl_primitive_desc_t pd;
    CHECK(dnnl_primitive_desc_create(&pd, desc, attr, engine, hint));
    return pd;
}

static inline void give_to(step *s, int arg, dnnl_memory_t m) {
    s->args[s->count++] = (dnnl_exec_arg_t){arg, m};
}

/* Attributes with a ReLU behind the primitive. */
static inline dnnl_primitive_attr_t relu_after(void) {
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t ops;
    CHECK(dnnl_primitive_attr_create(&attr));
    CHECK(dnnl_post_ops_create(&ops));
    CHECK(dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_relu, 0, 0));
    CHECK(dnnl_primitive_attr_set_post_ops(attr, ops));
    return attr;
}

static inline void run_step(const step *s) {
    CHECK(dnnl_primitive_execute(s->primitive, stream, s->count, s->args));
}

#endif
