/* The inside of exec/cpu: a training step as a list of tasks over one slab.
 *
 * Most tasks are one node run by its plain kernel. The kernels of cpu.def take a node, and the ones
 * behind it that they fuse, and compute them faster; values are numbered like the function's, and
 * what a kernel needs besides (workspaces, reordered weights, scratchpads) are extra values behind
 * those. */
#ifndef LEATI_EXEC_CPU_CPU_H
#define LEATI_EXEC_CPU_CPU_H

#include "coll/pack.h"
#include "core/pools.h"
#include "exec/device.h"
#include "exec/simplify.h"
#include "exec/slab.h"
#include "graph/kernel_host.h"

#define LEATI_CPU_OPERANDS 16 /* of a fast kernel, extra values included */

typedef struct leati_cpu_build leati_cpu_build;
typedef struct leati_cpu_step leati_cpu_step;
typedef struct leati_cpu_task leati_cpu_task;

/* A faster way to compute an operation. */
typedef struct leati_cpu_kernel {
    const leati_tensor_op *op;
    /* Looks at the task's node; either declines by leaving task->kernel NULL, or sets it and the
     * task's state, inputs and outputs, and takes further nodes. */
    leat_status (*plan)(leati_cpu_build *build, leati_cpu_task *task, leat_error *err);
    /* Whether what the kernel is made of is there; NULL: it always is. Without, it is not asked. It
     * fails where that cannot be told for want of memory. */
    leat_status (*here)(bool *out, leat_error *err);
    /* Computes; the memory of value v is step->data[v]. */
    leat_status (*run)(leati_cpu_step *step, leati_cpu_task *task, leat_error *err);
    void (*release)(void *state);
} leati_cpu_kernel;

#define X(name) extern const leati_cpu_kernel leati_cpu_kernel_##name;
#include "exec/cpu/cpu.def"
#undef X

/* What a task is done for. */
typedef enum leati_cpu_stage {
    LEATI_CPU_STAGE_FORWARD = 0, /* the results need it */
    LEATI_CPU_STAGE_BACKWARD,    /* only variables need it */
    LEATI_CPU_STAGE_REDUCE,      /* it exchanges values with replicas */
    LEATI_CPU_STAGE_UPDATE,      /* it writes variables, or computes value by value for that */
    LEATI_CPU_NUM_STAGES
} leati_cpu_stage;

extern const char *const leati_cpu_stage_names[LEATI_CPU_NUM_STAGES];

struct leati_cpu_task {
    const leati_simple_node *node;  /* the first */
    int32_t last;                   /* the last node that the task covers */
    const leati_cpu_kernel *kernel; /* NULL: the plain kernel of `node` */
    void *state;                    /* the kernel's; owned */
    int32_t inputs[LEATI_CPU_OPERANDS], num_inputs;
    int32_t outputs[LEATI_CPU_OPERANDS], num_outputs; /* extra values that it fills included */
    leati_operand *operands; /* of the plain kernel: inputs, then outputs; borrowed */
    int32_t group;           /* an all_reduce: which of the step's; -1: another operation */
    char implementation[48];
    int threads; /* that work on it */
    leati_cpu_stage stage;
    int64_t ns; /* so far */
};

typedef enum leati_cpu_place {
    LEATI_CPU_NOWHERE = 0,
    LEATI_CPU_ARGUMENT,
    LEATI_CPU_CONSTANT,
    LEATI_CPU_SLAB,
    LEATI_CPU_OUTPUT,   /* the buffer of a result */
    LEATI_CPU_VARIABLE, /* a variable's copy, read in place */
    LEATI_CPU_ALIAS,    /* the memory of another value */
    LEATI_CPU_PART      /* `offset` bytes into another value: what is summed over replicas */
} leati_cpu_place;

typedef struct leati_cpu_value {
    leati_cpu_place place;
    int32_t index; /* argument, constant, output, or the other value */
    size_t bytes;
    leat_variable *variable; /* of VARIABLE; borrowed from the node */
    int32_t first, last;     /* tasks between which the memory is in use; -1: never */
    size_t offset;           /* of SLAB and PART */
} leati_cpu_value;

/* A tensor of the step's sums is there once a task has run. */
typedef struct leati_cpu_ready {
    int32_t task, tensor;
    int32_t value; /* is copied to its place in the pack; -1: it lies there */
    bool beside;   /* the step goes on computing */
} leati_cpu_ready;

/* What the step sums over replicas: the operands of all its all_reduces, one group of tensors each
 * (coll/pack.h), begun while the step computes on. sums.c */
typedef struct leati_cpu_sums {
    leati_packing packing;
    leati_packs *packs;     /* NULL: the step has no all_reduce */
    int32_t *memory;        /* of each pack: its value */
    leati_cpu_ready *ready; /* of each tensor, in the order of tasks */
    int32_t num_done;       /* of `ready`, in this run */
} leati_cpu_sums;

/* The executable. */
struct leati_cpu_step {
    leati_executable base; /* first */
    leati_simple simple;
    int replica;
    leati_cpu_task *tasks; /* in the order they run */
    int32_t num_tasks;
    leati_cpu_value *values;
    int32_t num_values; /* extra values included */
    char **data;        /* of each value: its memory in this run */
    char *slab;
    size_t slab_bytes, slab_least; /* what it has, and what any plan needs */
    leati_operand *operands;       /* of all plain tasks */
    leati_arena arena;             /* of the kernel under way */
    leati_cpu_sums sums;
    int32_t backward_begins, backward_ends; /* the tasks between which that stage lies */
    int32_t stops_before;  /* the task from which on a run goes to its end, whoever cancels it */
    leati_pools pools;     /* of results */
    leat_buffer **results; /* of each output in this run */
    void *stream;          /* the fast kernels' queue; owned by dnnl.c; NULL: none */
    int64_t runs;
};

/* ---- for the kernels of cpu.def: what a plan may ask and say ---- */

const leati_cpu_step *leati_cpu_step_of(const leati_cpu_build *build);
const leati_simple_node *leati_cpu_node(const leati_cpu_build *build, int32_t index);
const leati_simple_value *leati_cpu_value_of(const leati_cpu_build *build, int32_t v);
/* The only node that reads value v; -1 if there are none or several, or if v is a result. */
int32_t leati_cpu_only_reader(const leati_cpu_build *build, int32_t v);
/* The first free node from `from` on that reads v with this operation; -1: none. */
int32_t leati_cpu_next_reader(const leati_cpu_build *build, int32_t v, const leati_tensor_op *op,
                              int32_t from);
/* The bias_add and the relu that follow value v directly and are its only readers. */
typedef struct leati_cpu_followers {
    int32_t bias_node, relu_node; /* -1: none */
    int32_t bias;                 /* value of the vector; -1: none */
    int32_t result;               /* value behind both */
} leati_cpu_followers;
leati_cpu_followers leati_cpu_find_followers(const leati_cpu_build *build, int32_t v);
/* The only reader of v if it is this operation and free; -1: not so. */
int32_t leati_cpu_follower(const leati_cpu_build *build, int32_t v, const leati_tensor_op *op);
/* The node that makes v if it is this operation and free; -1: not so. */
int32_t leati_cpu_maker(const leati_cpu_build *build, int32_t v, const leati_tensor_op *op);
/* Is v there before the node, in the order of the function? */
bool leati_cpu_made_before(const leati_cpu_build *build, int32_t v, const leati_simple_node *node);
bool leati_cpu_same_shape(const leati_cpu_build *build, int32_t a, int32_t b);
/* Does any node before `node` read v? */
bool leati_cpu_read_before(const leati_cpu_build *build, int32_t v, int32_t node);
/* Covers a further node, which no task has yet, with this task; -1 does nothing. */
void leati_cpu_take(leati_cpu_build *build, leati_cpu_task *task, int32_t node);
/* A new value of the executor's own: memory of `bytes` from the task that first names it to the one
 * that names it last. -1 with an error. */
int32_t leati_cpu_extra(leati_cpu_build *build, size_t bytes, leat_error *err);
/* Adds operands; each returns false where there are too many. */
bool leati_cpu_input(leati_cpu_task *task, int32_t v);
bool leati_cpu_output(leati_cpu_task *task, int32_t v);
/* An attribute by name: an integer (or bool), the fallback where the operation has no such row. */
int64_t leati_cpu_attr_int(const leati_simple_node *node, const char *name, int64_t fallback);
const double *leati_cpu_attr_float(const leati_simple_node *node, const char *name); /* or NULL */
/* What the task that plans `v`'s maker left for the tasks of its gradient; NULL: nothing. */
leati_cpu_task *leati_cpu_task_of(leati_cpu_build *build, int32_t v);

/* ---- between the files of the room ---- */

/* The replica's copy of a variable, in host memory; NULL with FAILED_PRECONDITION set. */
const leat_buffer *leati_cpu_copy_of(const leati_cpu_step *step, const leat_variable *variable,
                                     leat_error *err);

LEAT_WARN_UNUSED leat_status leati_cpu_compile(leati_device *device, const leat_function *function,
                                               const leati_call_context *context,
                                               leati_executable **out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cpu_run(leati_executable *executable, leati_run_args *args,
                                           leat_error *err);
void leati_cpu_release(leati_executable *executable);
size_t leati_cpu_explain(const leati_executable *executable, char *text, size_t size);

/* Pins the calling thread to the device's cores and gives its fast kernels that many threads;
 * remembered, so that a replica's thread does it once. `brief`: only the latter. */
void leati_cpu_enter(const leati_device *device, bool brief);

/* A line "stage: NAME NANOSECONDS" for each stage, as snprintf does (stages.c). */
size_t leati_cpu_explain_stages(const leati_cpu_step *step, char *text, size_t size);

bool leati_cpu_plain_only(void);

/* sums.c, while a step is made. Gives the all_reduces among the sorted tasks their groups. */
LEAT_WARN_UNUSED leat_status leati_cpu_find_sums(leati_cpu_build *build, int64_t bytes_per_pack,
                                                 leat_error *err);
/* When lifetimes are known: which values lie in packs, and after which task each is there. */
LEAT_WARN_UNUSED leat_status leati_cpu_place_sums(leati_cpu_build *build, leat_error *err);
/* When memory is known. */
LEAT_WARN_UNUSED leat_status leati_cpu_bind_sums(leati_cpu_step *step, leat_error *err);
void leati_cpu_sums_fini(leati_cpu_sums *sums);
/* sums.c, in a run: at its beginning; after each task (`now`: when that was, moved on by what it
 * takes); instead of an all_reduce. */
void leati_cpu_sums_begin(leati_cpu_step *step, const leati_call_context *context);
LEAT_WARN_UNUSED leat_status leati_cpu_sums_after(leati_cpu_step *step, int32_t task, int64_t *now,
                                                  leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cpu_sums_await(leati_cpu_step *step, int32_t task,
                                                  leat_error *err);

/* threads.c: what the node takes one thread, roughly, from shapes alone; how many of the device's
 * threads are to work on it, at least 1. */
double leati_cpu_estimate_ns(const leati_cpu_step *step, const leati_simple_node *node);
int leati_cpu_threads_for(const leati_cpu_step *step, const leati_simple_node *node);

/* parts.c: in how many parts a task would best be done, a fraction where it is short; and how many
 * of its `rows`, which are independent of each other, are done between two
 * looks whether to stop: all of them where that takes some 80 ms, else at least `least`. */
double leati_cpu_parts_of(const leati_cpu_step *step, const leati_cpu_task *task);
int64_t leati_cpu_part_of(const leati_cpu_step *step, const leati_cpu_task *task, int64_t rows,
                          int64_t least);
/* For tests: what is compiled from now on is cut above so many nanoseconds; 0: as ever. */
void leati_cpu_cut_above(double ns);

/* A read of a variable that is used where it lies. */
bool leati_cpu_runs_nothing(const leati_cpu_step *step, const leati_cpu_task *task);
/* The value whose memory v has, where it has another's as a whole. */
int32_t leati_cpu_root(const leati_cpu_step *step, int32_t v);

/* dnnl.c; without oneDNN they do nothing. The first sets the calling thread's number of threads and
 * returns the one before. */
#ifdef LEATI_HAVE_DNNL
int leati_cpu_set_threads(int count);
void leati_cpu_stream_free(void *stream);
#else
static inline int leati_cpu_set_threads(int count) {
    return count;
}
static inline void leati_cpu_stream_free(void *stream) {
    (void)stream;
}
#endif

#endif
