/* oneDNN 2.x behind a few calls, shared by the dnnl_*.c kernels. Everything that differs in version
 * 3 is in dnnl.c and in the *_desc_init calls of the kernels. */
#ifndef LEATI_EXEC_CPU_DNNL_H
#define LEATI_EXEC_CPU_DNNL_H

#include "exec/cpu/cpu.h"
#include "exec/cpu/dnnl_module.h"

#define LEATI_DNNL_ARGS 8

/* A primitive and which value each of its arguments is. {0} is empty. */
typedef struct leati_dnnl_op {
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[LEATI_DNNL_ARGS];
    int32_t values[LEATI_DNNL_ARGS];
    size_t row_bytes[LEATI_DNNL_ARGS]; /* from a row of a part to the next; 0: is whole in each */
    int count;
    int64_t rows, part; /* how many rows all parts have, and each; 0: it is not cut */
    int64_t first;      /* the row where the first part begins */
    int64_t pictures;   /* the parts of each; 0: one */
    size_t base_bytes[LEATI_DNNL_ARGS], picture_bytes[LEATI_DNNL_ARGS]; /* of row 0; of a picture */
    bool behind;   /* another primitive has run before: a look comes first */
    bool clears;   /* what it adds to is 0 at first */
    int64_t block; /* parts begin at multiples of it; 0: anywhere */
    struct leati_dnnl_sum {
        int32_t from, into; /* values; what a part made of one is added to the other */
        size_t count;       /* floats */
    } sums[2];
    int num_sums;
} leati_dnnl_op;

/* The `here` slot: loads the module at first, and warns once where it cannot be loaded. Where that
 * is for want of memory it fails, and the next call tries again: results would have other bits. Any
 * thread. */
leat_status leati_dnnl_here(bool *out, leat_error *err);

/* INTERNAL naming `what` unless the status is success. */
leat_status leati_dnnl_check(dnnl_status_t status, const char *what, leat_error *err);

/* What comes behind an operation, in the same pass. */
typedef enum leati_dnnl_behind {
    LEATI_DNNL_NOTHING,
    LEATI_DNNL_RELU,
    LEATI_DNNL_SUM /* the result is added to what is there */
} leati_dnnl_behind;

/* The primitive of an operation descriptor, with memory for scratch given by the caller. `hint` is
 * the forward primitive's descriptor, or NULL. *refused is set, and the op left empty, where oneDNN
 * has nothing better than its reference implementation. */
LEAT_WARN_UNUSED leat_status leati_dnnl_create(leati_dnnl_op *op, const_dnnl_op_desc_t operation,
                                               leati_dnnl_behind behind,
                                               const_dnnl_primitive_desc_t hint, bool *refused,
                                               leat_error *err);
/* The layout that the primitive wants for an argument. Borrowed from it. */
const dnnl_memory_desc_t *leati_dnnl_layout(const leati_dnnl_op *op, int argument);
/* Argument `argument` is value v in this layout. */
LEAT_WARN_UNUSED leat_status leati_dnnl_bind(leati_dnnl_op *op, int argument,
                                             const dnnl_memory_desc_t *layout, int32_t v,
                                             leat_error *err);
/* The memory of up to `part` rows, the first dimension, of an operand of the plain layout `whole`,
 * of which the primitive shall do so many at a time. */
void leati_dnnl_cut(dnnl_memory_desc_t *whole, int64_t part);
/* leati_dnnl_bind of an operand that lies in rows: the op runs once for each part of `rows`, with a
 * look whether to stop before all but the first. */
LEAT_WARN_UNUSED leat_status leati_dnnl_bind_rows(leati_dnnl_op *op, int argument,
                                                  const dnnl_memory_desc_t *layout, int32_t v,
                                                  int64_t rows, leat_error *err);
/* The same of an operand whose rows the primitive sums up, `bytes` from one to the next; the parts,
 * of so many rows each, begin with row `first`. */
LEAT_WARN_UNUSED leat_status leati_dnnl_bind_summed(leati_dnnl_op *op, int argument,
                                                    const dnnl_memory_desc_t *layout, int32_t v,
                                                    size_t bytes, int64_t first, int64_t part,
                                                    int64_t rows, leat_error *err);
/* What each part makes of an argument is added to value v. */
LEAT_WARN_UNUSED leat_status leati_dnnl_bind_added(leati_cpu_build *build, leati_cpu_task *task,
                                                   leati_dnnl_op *op, int argument,
                                                   const dnnl_memory_desc_t *layout, int32_t v,
                                                   leat_error *err);
/* Plans memory for the primitive's scratch, if it needs some. */
LEAT_WARN_UNUSED leat_status leati_dnnl_scratch(leati_cpu_build *build, leati_cpu_task *task,
                                                leati_dnnl_op *op, leat_error *err);
/* A copy of value `from` into another layout: fills `op` and *v, an extra value of the task; or *v
 * is `from` itself where the layouts are the same, and `op` stays empty. */
LEAT_WARN_UNUSED leat_status leati_dnnl_reorder_in(leati_cpu_build *build, leati_cpu_task *task,
                                                   leati_dnnl_op *op,
                                                   const dnnl_memory_desc_t *plain,
                                                   const dnnl_memory_desc_t *wanted, int32_t from,
                                                   int32_t *v, leat_error *err);
/* The same after a primitive that writes *v in layout `made`, to `to` in layout `plain`. */
LEAT_WARN_UNUSED leat_status leati_dnnl_reorder_out(leati_cpu_build *build, leati_cpu_task *task,
                                                    leati_dnnl_op *op,
                                                    const dnnl_memory_desc_t *made,
                                                    const dnnl_memory_desc_t *plain, int32_t to,
                                                    int32_t *v, leat_error *err);
/* Runs the primitive, part after part; an empty op does nothing. Where a look says that the run
 * stops, the parts behind it are left out, and who runs the tasks asks, too. */
LEAT_WARN_UNUSED leat_status leati_dnnl_run(leati_cpu_step *step, leati_dnnl_op *op,
                                            leat_error *err);
void leati_dnnl_fini(leati_dnnl_op *op);

/* The state of every task here: primitives in a row. */
typedef struct leati_dnnl_state {
    leati_dnnl_op before[3], top, main, bottom, after; /* top and bottom: of strips */
    int32_t workspace; /* of pooling: what the gradient needs; -1: none */
} leati_dnnl_state;
/* Makes `kernel` compute the task with `main` (taken over, also on failure). */
LEAT_WARN_UNUSED leat_status leati_dnnl_start(leati_cpu_task *task, const leati_cpu_kernel *kernel,
                                              leati_dnnl_op *main, leati_dnnl_state **out,
                                              leat_error *err);
/* The `run` and `release` slots. */
leat_status leati_dnnl_task_run(leati_cpu_step *step, leati_cpu_task *task, leat_error *err);
void leati_dnnl_task_release(void *state);

/* The tensor of value v as an NCHW memory that lies as NHWC; false unless it is float32 of rank 4
 * without an empty dimension. */
bool leati_dnnl_picture(const leati_cpu_build *build, int32_t v, dnnl_memory_desc_t *out);

/* What the convolutions share: geometry from the shapes of input and filter. */
typedef struct leati_dnnl_conv {
    dnnl_memory_desc_t input, filter, any_filter, bias, output; /* filter as HWIO */
    dnnl_dims_t strides, dilates, before, after;
    int64_t pictures;
} leati_dnnl_conv;
/* Input and output have so many pictures as one part of the task, whose results are pictures. */
void leati_dnnl_conv_cut(const leati_cpu_build *build, const leati_cpu_task *task,
                         leati_dnnl_conv *conv);
/* False where oneDNN is not asked (other dtypes, empty tensors). */
bool leati_dnnl_conv_init(const leati_cpu_build *build, const leati_simple_node *node,
                          int32_t input, int32_t filter, leati_dnnl_conv *conv);
/* How a convolution is cut whose pictures take too long: a strip of rows that is the first one,
 * some that are alike, and the last one. */
typedef struct leati_dnnl_strips {
    leati_dnnl_conv strips[3];
    int64_t input_row[3],
        output_row[3];               /* where they begin in the picture; of those alike the first */
    int64_t input_step, output_step; /* rows from one to the next */
    int64_t count;                   /* of those that are alike */
} leati_dnnl_strips;
/* Are they? `of_input`: the rows of the input are what is made. */
bool leati_dnnl_strips_find(const leati_cpu_build *build, const leati_cpu_task *task,
                            const leati_dnnl_conv *conv, bool of_input, leati_dnnl_strips *out);
/* Makes the primitive of one convolution; *refused as leati_dnnl_create. */
typedef leat_status leati_dnnl_conv_maker(const leati_dnnl_conv *conv, const void *context,
                                          leati_dnnl_op *op, bool *refused, leat_error *err);
/* The primitives of the three, which have one layout for `argument` unless that is 0. *good: there
 * are; else, and on failure, they are empty. */
LEAT_WARN_UNUSED leat_status leati_dnnl_strips_create(const leati_dnnl_strips *strips,
                                                      leati_dnnl_conv_maker *maker,
                                                      const void *context, int argument,
                                                      leati_dnnl_op ops[3], bool *good,
                                                      leat_error *err);
/* leati_dnnl_start with the three. `which` of them is leati_dnnl_strip_op(state, which). */
LEAT_WARN_UNUSED leat_status leati_dnnl_strips_start(leati_cpu_task *task,
                                                     const leati_cpu_kernel *kernel,
                                                     leati_dnnl_op ops[3], leati_dnnl_state **out,
                                                     leat_error *err);
leati_dnnl_op *leati_dnnl_strip_op(leati_dnnl_state *state, int which);
/* leati_dnnl_bind of value `filter` to `which`, of which there is only 1 where nothing is cut, in
 * the layout that it wants; those before it in order, whose values are in `made`, -1: none. */
LEAT_WARN_UNUSED leat_status leati_dnnl_bind_filter(leati_cpu_build *build, leati_cpu_task *task,
                                                    const leati_dnnl_conv *conv, int32_t filter,
                                                    int32_t made[3], int which, leat_error *err);
/* leati_dnnl_bind of the `input` or the output of the whole `conv`, for the op that does the first
 * strip (0), those alike (1) or the last (2); without `strips` leati_dnnl_bind_rows of its
 * pictures.
 */
LEAT_WARN_UNUSED leat_status leati_dnnl_bind_pictures(leati_dnnl_op *op, int argument,
                                                      const leati_dnnl_conv *conv,
                                                      const leati_dnnl_strips *strips, int which,
                                                      bool input, int32_t v, leat_error *err);
/* The forward operation of the geometry. */
LEAT_WARN_UNUSED leat_status leati_dnnl_conv_forward(const leati_dnnl_conv *conv, bool bias,
                                                     dnnl_convolution_desc_t *out, leat_error *err);

#endif
