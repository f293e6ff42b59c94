/* The descriptor of a tensor operation: a file of graph/ops/ has one, or those of siblings. See
 * CONTRIBUTING.md "Add a tensor operation". */
#ifndef LEATI_GRAPH_OP_H
#define LEATI_GRAPH_OP_H

#include "base/alloc.h"
#include "base/error.h"
#include "core/row.h"
#include "core/spec.h"
#include <leat/graph.h>

typedef struct leati_type {
    leat_dtype dtype;
    leat_shape shape;
    const leat_spec *element; /* of a dataset value; borrowed from whoever owns the type */
} leati_type;

enum {
    LEATI_ELEMENTWISE = 1, /* output value i depends on input values i alone (after broadcasting) */
    LEATI_RANDOM = 2,      /* draws numbers keyed by call ordinal and node number */
    /* Reads or writes state: keeps trace order, is never dropped or duplicated. */
    LEATI_STATEFUL = 4,
    /* Calls a user's code that was not declared pure: one element at a time, in order. */
    LEATI_IMPURE = 8,
    LEATI_NO_EAGER = 16, /* needs a replica context: only inside a step */
    LEATI_COSTLY = 32, /* an element takes many microseconds, or waits for a file: worth a thread */
    LEATI_REPLAYS = 64 /* computes again what another node computed: draws the same numbers */
};

/* ---- inference ---- */
struct leati_known; /* graph/known.h */
typedef struct leati_infer_call {
    const leati_type *inputs;
    int num_inputs;
    const void *args;
    leati_type *outputs; /* filled by leati_op_infer_output */
    int num_outputs;
    int capacity;
    leat_spec **made; /* by leati_op_infer_keep; the caller releases them */
    size_t num_made, made_capacity;
    /* Of the node, for leati_op_infer_constant; NULL: nothing is known. */
    const struct leati_body *body;
    const int32_t *ids; /* values of the inputs */
    /* Bit i: row i has a placeholder, its value is computed in the run. Only rows flagged
     * LEATI_TENSOR; lists have as many placeholders as values, or none where that is not known
     * either. */
    uint64_t unknown;
} leati_infer_call;

/* Adds an output; `element` (may be NULL) is borrowed and copied as a reference by the graph. */
LEAT_WARN_UNUSED leat_status leati_op_infer_output(leati_infer_call *call, leat_dtype dtype,
                                                   const leat_shape *shape,
                                                   const leat_spec *element, leat_error *err);
/* Keeps a spec (given; NULL passes through) that infer made for an output's elements as long as the
 * call. Borrowed; NULL with the error set if there is no memory. */
const leat_spec *leati_op_infer_keep(leati_infer_call *call, leat_spec *spec, leat_error *err);
/* Releases what the call keeps. */
void leati_op_infer_fini(leati_infer_call *call);
/* What two values of one dtype both are: shapes and the elements of datasets joined. */
LEAT_WARN_UNUSED leat_status leati_op_infer_join(leati_infer_call *call, const leati_type *a,
                                                 const leati_type *b, leati_type *out,
                                                 leat_error *err);
/* The tensor of input `index` where it is a constant of the graph (borrowed); NULL: it is not. */
const leat_tensor *leati_op_infer_constant(const leati_infer_call *call, int index);
/* What is known of input `index`, integers that are a scalar or a vector (graph/known.h). */
bool leati_op_infer_known(const leati_infer_call *call, int index, struct leati_known *out);
/* Is the row at `offset` of the arguments one whose value is not known yet? */
bool leati_op_infer_unknown(const leati_infer_call *call, const leati_row *rows, size_t offset);
/* Shared rules: one output like input 0; numpy broadcasting of all inputs (dtypes must agree). */
leat_status leati_op_infer_same(leati_infer_call *call, leat_error *err);
leat_status leati_op_infer_broadcast(leati_infer_call *call, leat_error *err);
leat_status leati_op_infer_compare(leati_infer_call *call, leat_error *err); /* broadcast, bool */
/* The shape that numpy's broadcasting gives two shapes, which may be unknown in part or whole. */
LEAT_WARN_UNUSED leat_status leati_op_infer_broadcast_shape(const leat_shape *a,
                                                            const leat_shape *b, leat_shape *out,
                                                            leat_error *err);

/* ---- kernels ---- */
/* One operand over n rows: row i at data + i * row_stride (0: one row shared by all). All rows have
 * this dtype and shape; each is dense row-major. */
typedef struct leati_operand {
    char *data;
    int64_t row_stride;
    leat_dtype dtype;
    int32_t rank;
    int64_t dims[LEAT_MAX_RANK];
    int64_t count;      /* values of a row */
    leat_buffer *owner; /* of data; NULL: scratch or static */
} leati_operand;

/* How exactly a JPEG in front of a resize is decoded (option picture_quality of datasets). Where a
 * file is decoded 1/2, 1/4 or 1/8 as large, pixels are means of the ones left out. */
typedef enum leati_picture_quality {
    LEATI_PICTURE_EXACT,    /* as decoding, cutting and resizing one after the other */
    LEATI_PICTURE_BALANCED, /* smaller where that keeps 40 dB against exact: see stream.c */
    LEATI_PICTURE_FAST      /* smaller where the result is, plain colours */
} leati_picture_quality;

/* Computes a node by itself some faster way than by its kernel, or says in *ran that it does not;
 * `types` are those of its outputs, which are filled with tensors that are owned. */
struct leati_node;
struct leati_value;
struct leati_call_context;
typedef leat_status leati_node_runner(const struct leati_node *node,
                                      const struct leati_value *types, const leat_tensor *inputs,
                                      const struct leati_call_context *context,
                                      leat_tensor *outputs, bool *ran, leat_error *err);

/* What random and stateful kernels know about where they run. */
typedef struct leati_call_context {
    /* Hash of the seeds and of the ordinals of enclosing flat_map and interleave calls. */
    uint64_t scope;
    /* Of row 0's call at this function within its iterator; row i has ordinal + i. */
    int64_t ordinal;
    int64_t seed, seed2;                 /* the function's pair */
    int64_t step;                        /* of training; else 0 */
    int32_t replica;                     /* of training, among all workers'; else 0 */
    int32_t first_replica;               /* of this process: it has copy 0 of variables; else 0 */
    int32_t num_replicas;                /* of training; else 1 */
    struct leati_collective *collective; /* of training; NULL: one replica */
    int64_t bytes_per_pack; /* of one exchange of several values (coll/pack.h); 0: chosen */
    /* Where calls follow each other one by one (graph/draws.h); NULL: numbers go by the ordinal. */
    struct leati_draws *draws; /* how far the streams have come; borrowed */
    struct leati_draws *kept;  /* where they stood in nodes that a gradient repeats; borrowed */
    uint64_t path;             /* to the function that runs, through nodes of the one outside */
    uint64_t trail;            /* the same from the graph outside, and for each iteration another */
    bool replays;              /* draw what is kept */
    bool may_wait; /* the user's own thread runs this: it may wait for threads of a pipeline */
    leati_node_runner *single;   /* of large nodes, where calls are made one by one; NULL: none */
    struct leat_cancel *cancel;  /* ends loops and waits; NULL: nothing does. Borrowed */
    const struct leati_own *own; /* of the restored iterator that it is part of (data/run/own.h), or
                                    NULL; borrowed */
    /* Counts calls of users' code, those of functions inside included; may be NULL. */
    int64_t *callbacks;
    int64_t *recovered; /* counts pictures that were cut short and filled; may be NULL */
    leati_picture_quality quality;
} leati_call_context;

typedef struct leati_kernel_call {
    int64_t n; /* rows; 1 where any shape is not static */
    const leati_operand *inputs;
    int num_inputs;
    /* Static shapes: data is ready; else the kernel calls leati_op_kernel_output. */
    leati_operand *outputs;
    int num_outputs;
    const void *args;
    int64_t number; /* the node's */
    const leati_call_context *context;
    leati_arena *arena; /* scratch, valid for this call */
    int64_t failed_row; /* a failing kernel says which row failed; 0 at first */
    /* The executor's side of leati_op_kernel_output and leati_op_kernel_hold. */
    struct leati_kernel_host *host;
} leati_kernel_call;

/* Gives output `index` its shape (n must be 1) and memory, if it has none yet; fails if the shape
 * contradicts inference. */
LEAT_WARN_UNUSED leat_status leati_op_kernel_output(leati_kernel_call *call, int index,
                                                    int32_t rank, const int64_t *dims,
                                                    leat_error *err);
/* Instead of computing into memory: output `index` becomes a view of `data` (rows `row_stride`
 * apart), kept alive by `owner` (a reference is taken; NULL: an input's scratch). For reshape,
 * identity, slices of strings. */
LEAT_WARN_UNUSED leat_status leati_op_kernel_view(leati_kernel_call *call, int index, int32_t rank,
                                                  const int64_t *dims, void *data,
                                                  int64_t row_stride, leat_buffer *owner,
                                                  leat_error *err);
/* Memory for string bytes of output `index` that lives as long as the output. */
char *leati_op_kernel_text(leati_kernel_call *call, int index, size_t size, leat_error *err);
/* Output `index` points into what input `input` points into: keeps that alive. */
LEAT_WARN_UNUSED leat_status leati_op_kernel_hold(leati_kernel_call *call, int index, int input,
                                                  leat_error *err);

/* A part of a picture, in pixels. */
typedef struct leati_window {
    int64_t top, left, height, width;
} leati_window;

/* ---- gradients ---- */
typedef struct leati_gradient_call {
    leat_graph *graph;
    const leat_value *inputs;
    int num_inputs;
    const leat_value *outputs;
    const leat_value *output_gradients; /* id < 0: none flows */
    int num_outputs;
    const void *args;
    /* To fill; all are {graph, -1} at first, which means: no gradient. */
    leat_value *input_gradients;
} leati_gradient_call;

/* Sums a gradient of a broadcast result down to the shape of `like` (shapes known up to dimension,
 * or dynamic). */
leat_value leati_op_gradient_unbroadcast(leat_value gradient, leat_value like);

/* The gradient of an operation whose result does not change with its inputs (ones_like): nothing
 * flows, and nobody complains. */
leat_status leati_op_gradient_none(leati_gradient_call *call, leat_error *err);

/* ---- the descriptor ---- */
typedef struct leati_known_call leati_known_call;

/* What becomes of inputs and attributes that are float16 or bfloat16. */
typedef enum leati_halves {
    LEATI_HALVES_UNSAID,
    LEATI_HALVES_OWN,   /* the operation has them, as it has other dtypes */
    LEATI_HALVES_FLOAT, /* it computes in float32 and rounds what it gives (graph/halves.h) */
    LEATI_HALVES_NONE   /* they are refused, or it has nothing to do with floats */
} leati_halves;

/* Where TensorFlow checks shapes and values of inputs: what a binding raises. */
typedef enum leati_checks {
    LEATI_CHECKS_UNSAID,
    LEATI_CHECKS_IN_KERNEL, /* an InvalidArgumentError, but while a function is traced */
    LEATI_CHECKS_IN_PYTHON  /* a ValueError */
} leati_checks;

/* What executors make use of, beside the flags. */
typedef enum leati_trait {
    LEATI_TRAIT_ANY = 0,
    LEATI_TRAIT_VIEW,   /* output 0 is input 0 in another shape, at most: the same memory does */
    LEATI_TRAIT_MIRROR, /* a picture, or its mirror image */
    LEATI_TRAIT_MATMUL, /* adds up products, as matmul does */
    LEATI_TRAIT_CONVOLUTION, /* adds up products, as conv2d and its gradients do */
    LEATI_TRAIT_READS_PATH   /* reads the file that input 0 names */
} leati_trait;

typedef struct leati_tensor_op {
    const char *name; /* TensorFlow's, snake case */
    int version;
    const char *doc; /* what it computes, and the TensorFlow symbol */
    /* For bindings. `names`: TensorFlow's exported paths below "tf.", separated by blanks; NULL:
     * internal, no binding shows it. Where several operations have one path, the number of inputs
     * decides. `inputs`: TensorFlow's names of the inputs, separated by blanks; a last "*values"
     * is a list of any length; NULL: none. `signature`: the names of inputs and rows in
     * TensorFlow's order, where that is not the inputs and then the rows. NAME=JSON there gives the
     * default that TensorFlow writes (of an input: it may be left out; of a row: null means the
     * row's own default; of neither: an argument of TensorFlow's that takes this value alone).
     * "name" stands for TensorFlow's argument of that name; where it does not stand, it is last. */
    const char *names, *inputs, *signature;

    /* What whoever calls the operation by its name must know. Zero means that the descriptor does
     * not say, which tests/conform refuses.
     *
     * `types`: TensorFlow's types of the inputs, a word for each in their order: a dtype, or a name
     * such as T, and inputs of one name have one dtype. `*T`: a list, `**T`: one for which a
     * tensor's rows may stand; `*`: inputs of any dtypes. NAME=int32: what has no dtype of its own,
     * such as an empty list, has this one. A name that is a row's is that row's dtype, where it has
     * one. WORD<int8,int16: these are taken, too, and cast: to WORD where that is a dtype, else to
     * int64, or to int32 where they are smaller than that; `number` stands for all of them.
     *
     * `outputs`: names of the outputs. Of several, bindings make a tuple, `Name(a b)`: a tuple with
     * fields of that name, `*a`: a list, of as many as there are; those in brackets at the end
     * serve gradients alone and are not shown. An attribute may leave out the last ones. */
    const char *types, *outputs;
    leati_halves halves;
    leati_checks checks; /* of those with `names` */

    /* The same where most say nothing. */
    bool quotient; /* integers are computed as float32 where they have fewer than 4 bytes, else as
                      float64 */
    bool by_value; /* value i of the output depends on value i of input 0 alone, though an executor
                      cannot fuse it as an elementwise one: of ragged tensors, on their values */
    /* What it is of its input's shape, and of nothing else: "dimensions" or "size"; NULL: not so.
     */
    const char *of_shape;
    bool large;             /* a function that has it is worth a program of its own */
    bool counts_from_zero;  /* where its second input is left out, the first one given is that, and
                               the first is 0 */
    const char *of_strings; /* the operation that it is of strings alone; NULL: as of others */

    const leati_row *rows;
    size_t args_size;
    int min_inputs, max_inputs; /* max -1: any number */
    uint32_t flags;
    leat_status (*infer)(leati_infer_call *call, leat_error *err);
    leat_status (*kernel)(leati_kernel_call *call, leat_error *err);
    leat_status (*gradient)(leati_gradient_call *call,
                            leat_error *err); /* NULL: not differentiable */
    /* Completes attributes that came from JSON: objects that follow from others, and, while a graph
     * is built (NULL: a finished one is read), resolved seeds. NULL slot: nothing. */
    leat_status (*complete)(leat_graph *graph, void *args, leat_error *err);
    /* Flags of one node, where they depend on its attributes (call, cond); NULL: `flags`. */
    uint32_t (*node_flags)(const void *args);
    /* How OBJECT attributes are written and read (write_object, read_object); NULL: variables and
     * the like, which live in this process. */
    const struct leati_json_functions *objects;
    /* Of operations that cut a part out of a picture [height, width, channels], input 0, with all
     * channels: which one, instead of the kernel. The call has one row, whose picture has a shape
     * but no data. Fails where the kernel would. So a chain of operations reads the part where it
     * lies (exec/chain.h). NULL: not such an operation. */
    leat_status (*window)(const leati_kernel_call *call, leati_window *out, leat_error *err);
    /* Of operations that shapes are computed with: what is known of output 0, integers, from what
     * is known of the inputs, while the graph is built. false: nothing. NULL: nothing ever. */
    bool (*known)(const leati_known_call *call, struct leati_known *out);
    leati_trait trait;
} leati_tensor_op;

/* Every operation of the table, for what is about one of them: gradients that build nodes of each
 * other, kernels that take the node behind theirs. */
#define X(family, file, name) extern const leati_tensor_op leati_tensor_op_##name;
#include "graph/ops.def"
#undef X

#endif
