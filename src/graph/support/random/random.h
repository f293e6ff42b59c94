/* What random operations share: attributes, seeds, and the place in the stream of a call.
 *
 * A node has a pair of seeds. Given a `seed`, or under a global one, they are TensorFlow's; else
 * they are drawn when the node is built and mixed with the pair of the run. The stream of the pair
 * is Philox. Where calls follow each other one by one a call begins where the last one ended
 * (graph/draws.h), as TensorFlow's stateful kernels do: `count` values take count * 256 blocks. In
 * pipelines and steps call number i begins at block i * count * 256, whatever ran before, and
 * enclosing functions (context->scope) and other replicas get streams of their own. */
#ifndef LEATI_GRAPH_SUPPORT_RANDOM_RANDOM_H
#define LEATI_GRAPH_SUPPORT_RANDOM_RANDOM_H

#include "core/draw.h"
#include "graph/support/support.h"

struct leati_random_args {
    leat_shape shape;
    leat_dtype dtype;
    double low, high; /* uniform: the range; normal: mean and deviation */
    leati_seed_argument seed;
    int64_t graph_seed, op_seed;
    bool unseeded;       /* the pair was drawn */
    int64_t num_samples; /* categorical */
    char *alg;           /* stateless ones */
};

/* The last rows of every random operation. */
#define LEATI_SEED_ROWS                                                                            \
    {.name = "seed",                                                                               \
     .type = LEATI_ROW_SEED,                                                                       \
     .flags = LEATI_NONE,                                                                          \
     .offset = offsetof(struct leati_random_args, seed),                                           \
     .doc = "The operation's seed."},                                                              \
        {.name = "graph_seed",                                                                     \
         .type = LEATI_ROW_INT,                                                                    \
         .flags = LEATI_CONSTRUCT,                                                                 \
         .offset = offsetof(struct leati_random_args, graph_seed),                                 \
         .doc = "The first of the pair that the seeds give."},                                     \
        {.name = "op_seed",                                                                        \
         .type = LEATI_ROW_INT,                                                                    \
         .flags = LEATI_CONSTRUCT,                                                                 \
         .offset = offsetof(struct leati_random_args, op_seed),                                    \
         .doc = "The second."},                                                                    \
        {.name = "unseeded",                                                                       \
         .type = LEATI_ROW_BOOL,                                                                   \
         .flags = LEATI_CONSTRUCT,                                                                 \
         .offset = offsetof(struct leati_random_args, unseeded),                                   \
         .doc = "The pair was drawn, not given."},                                                 \
    {                                                                                              \
        0                                                                                          \
    }

/* The rows that say what is drawn, and how an operation names the two numbers. */
#define LEATI_DRAW_ROWS(LOW, LOW_DOC, HIGH, HIGH_NUMBER, HIGH_DOC)                                 \
    {.name = "shape",                                                                              \
     .type = LEATI_ROW_SHAPE,                                                                      \
     .flags = LEATI_REQUIRED | LEATI_TENSOR,                                                       \
     .offset = offsetof(struct leati_random_args, shape),                                          \
     .doc = "The shape of the result, without unknown dimensions."},                               \
        {.name = LOW,                                                                              \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .flags = LEATI_TENSOR,                                                                    \
         .offset = offsetof(struct leati_random_args, low),                                        \
         .doc = LOW_DOC},                                                                          \
        {.name = HIGH,                                                                             \
         .type = LEATI_ROW_FLOAT,                                                                  \
         .flags = LEATI_NONE | LEATI_TENSOR,                                                       \
         .offset = offsetof(struct leati_random_args, high),                                       \
         .default_number = HIGH_NUMBER,                                                            \
         .doc = HIGH_DOC},                                                                         \
    {                                                                                              \
        .name = "dtype", .type = LEATI_ROW_DTYPE,                                                  \
        .offset = offsetof(struct leati_random_args, dtype), .default_number = LEAT_FLOAT32,       \
        .doc = "float16, bfloat16, float32 or float64; of uniform numbers also int32 or int64."    \
    }

#define LEATI_RANDOM_ROWS(...)                                                                     \
    { LEATI_DRAW_ROWS(__VA_ARGS__), LEATI_SEED_ROWS }

LEAT_WARN_UNUSED leat_status leati_random_infer(leati_infer_call *call, leat_error *err);
/* The slot `complete`: resolves the seeds of a node that a graph is given by name. */
leat_status leati_random_complete(leat_graph *graph, void *args, leat_error *err);
/* The stream of row `row`'s call of `op`, which reserves `blocks` blocks of it. Fails without
 * memory. */
LEAT_WARN_UNUSED leat_status leati_random_stream(const leati_kernel_call *call,
                                                 const leati_tensor_op *op, int64_t row,
                                                 uint64_t blocks, leati_philox *out,
                                                 leat_error *err);
/* The kernel of float operations: low and high are the offset and, of uniform numbers, the end of
 * the range, else the deviation. */
LEAT_WARN_UNUSED leat_status leati_random_floats(leati_kernel_call *call, const leati_tensor_op *op,
                                                 leati_distribution distribution, leat_error *err);
/* leati_draw and leati_draw_integers (core/draw.h), shared by the crew. */
void leati_random_draw(leati_distribution distribution, leat_dtype dtype, leati_philox stream,
                       double scale, double offset, int64_t count, char *to);
void leati_random_draw_integers(leat_dtype dtype, leati_philox stream, int64_t low, uint64_t width,
                                int64_t count, char *to);
/* What values of the distribution are multiplied by. */
double leati_random_scale(leati_distribution distribution, leat_dtype dtype, double low,
                          double high);

#endif
