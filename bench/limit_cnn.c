/* What oneDNN needs for one training step of the small CNN: the sum of its primitives, and nothing
 * else.
 *
 *   limit_cnn SIDE BATCH THREADS SECONDS
 *
 * Conv2D 32 3x3 with ReLU, MaxPooling2D, Flatten, Dense 64 with ReLU, Dense 10 on SIDE x SIDE x 1
 * pictures, NHWC; forward, then the gradients of all weights. Weights are kept in Keras' layouts,
 * so the reorders into the layouts that the primitives ask for count too, and those of the
 * gradients back. Loss and optimizer do not. Prints steps/s. oneDNN's 2.x API; any failed call ends
 * the program. */
#include "limit_dnnl.h"

enum { FILTERS = 32, HIDDEN = 64, CLASSES = 10, MAX_STEPS = 48 };

/* The primitives of a training step in order. */
static step steps[MAX_STEPS];
static int num_steps;

/* Adds a primitive to the step; its arguments follow with `give`. */
static void add(dnnl_primitive_desc_t pd) {
    if (num_steps == MAX_STEPS)
        check(dnnl_out_of_memory, "the table of steps");
    CHECK(dnnl_primitive_create(&steps[num_steps++].primitive, pd));
}

static void give(int arg, dnnl_memory_t m) {
    give_to(&steps[num_steps - 1], arg, m);
}

/* `m` in the layout `wanted`: itself, or a copy that the step makes. */
static dnnl_memory_t in_layout(dnnl_memory_t m, const dnnl_memory_desc_t *wanted) {
    const dnnl_memory_desc_t *is;
    dnnl_primitive_desc_t pd;
    CHECK(dnnl_memory_get_memory_desc(m, &is));
    if (dnnl_memory_desc_equal(is, wanted))
        return m;
    dnnl_memory_t copy = memory(wanted);
    CHECK(dnnl_reorder_primitive_desc_create(&pd, is, engine, wanted, engine, NULL));
    add(pd);
    give(DNNL_ARG_FROM, m);
    give(DNNL_ARG_TO, copy);
    return copy;
}

/* The gradient of a weight goes back to the layout of its master. */
static void back_to(dnnl_memory_t gradient, const dnnl_memory_desc_t *master) {
    in_layout(gradient, master);
}

/* The gradient before a ReLU, in place of the one after it. */
static void relu_backward(dnnl_memory_t output, dnnl_memory_t gradient) {
    const dnnl_memory_desc_t *md, *gradient_md;
    dnnl_eltwise_desc_t forward, backward;
    CHECK(dnnl_memory_get_memory_desc(output, &md));
    CHECK(dnnl_memory_get_memory_desc(gradient, &gradient_md));
    CHECK(dnnl_eltwise_forward_desc_init(&forward, dnnl_forward_training, dnnl_eltwise_relu, md, 0,
                                         0));
    dnnl_primitive_desc_t hint = describe_primitive(&forward, NULL, NULL);
    CHECK(dnnl_eltwise_backward_desc_init(&backward, dnnl_eltwise_relu_use_dst_for_bwd, gradient_md,
                                          md, 0, 0));
    add(describe_primitive(&backward, NULL, hint));
    give(DNNL_ARG_DST, output);
    give(DNNL_ARG_DIFF_DST, gradient);
    give(DNNL_ARG_DIFF_SRC, gradient);
}

/* A layer in the step: what its backward half needs of its forward half. */
typedef struct layer {
    dnnl_primitive_desc_t forward;
    dnnl_memory_t input, weights, bias, output, workspace;
    dnnl_memory_desc_t input_any, weights_any, weights_master, bias_md, output_md;
} layer;

static dnnl_memory_desc_t any(const dnnl_memory_desc_t *md) {
    return describe(md->ndims, md->dims, dnnl_format_tag_any);
}

static void dense_forward(layer *l, dnnl_memory_t input, int units, int relu) {
    const dnnl_memory_desc_t *in;
    dnnl_inner_product_desc_t desc;
    CHECK(dnnl_memory_get_memory_desc(input, &in));
    dnnl_dims_t weights = {units, in->dims[1]}, output = {in->dims[0], units}, bias = {units};
    l->input = input;
    l->input_any = any(in);
    l->weights_any = describe(2, weights, dnnl_format_tag_any);
    l->weights_master = describe(2, weights, dnnl_ba); /* Keras keeps (inputs, units) */
    l->bias_md = describe(1, bias, dnnl_a);
    l->output_md = describe(2, output, dnnl_ab);
    l->weights = memory(&l->weights_master);
    l->bias = memory(&l->bias_md);
    CHECK(dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_training, in, &l->weights_any,
                                               &l->bias_md, &l->output_md));
    l->forward = describe_primitive(&desc, relu ? relu_after() : NULL, NULL);
    l->output = memory(&l->output_md);
    dnnl_memory_t used = in_layout(l->weights, query(l->forward, dnnl_query_weights_md, 0));
    add(l->forward);
    give(DNNL_ARG_SRC, input);
    give(DNNL_ARG_WEIGHTS, used);
    give(DNNL_ARG_BIAS, l->bias);
    give(DNNL_ARG_DST, l->output);
}

/* Adds both gradients; returns that of the input. */
static dnnl_memory_t dense_backward(layer *l, dnnl_memory_t gradient) {
    const dnnl_memory_desc_t *in;
    dnnl_inner_product_desc_t desc;
    CHECK(dnnl_memory_get_memory_desc(l->input, &in));
    CHECK(dnnl_inner_product_backward_weights_desc_init(&desc, in, &l->weights_any, &l->bias_md,
                                                        &l->output_md));
    dnnl_primitive_desc_t pd = describe_primitive(&desc, NULL, l->forward);
    dnnl_memory_t weights = memory(query(pd, dnnl_query_diff_weights_md, 0));
    add(pd);
    give(DNNL_ARG_SRC, l->input);
    give(DNNL_ARG_DIFF_DST, gradient);
    give(DNNL_ARG_DIFF_WEIGHTS, weights);
    give(DNNL_ARG_DIFF_BIAS, memory(&l->bias_md));
    back_to(weights, &l->weights_master);

    CHECK(dnnl_inner_product_backward_data_desc_init(&desc, in, &l->weights_any, &l->output_md));
    pd = describe_primitive(&desc, NULL, l->forward);
    dnnl_memory_t used = in_layout(l->weights, query(pd, dnnl_query_weights_md, 0));
    dnnl_memory_t result = memory(in);
    add(pd);
    give(DNNL_ARG_WEIGHTS, used);
    give(DNNL_ARG_DIFF_DST, gradient);
    give(DNNL_ARG_DIFF_SRC, result);
    return result;
}

static void conv_forward(layer *l, int side, int batch) {
    dnnl_convolution_desc_t desc;
    int out = side - 2;
    dnnl_dims_t input = {batch, 1, side, side}, weights = {FILTERS, 1, 3, 3}, bias = {FILTERS};
    dnnl_dims_t output = {batch, FILTERS, out, out}, one = {1, 1}, zero = {0, 0};
    dnnl_memory_desc_t in = describe(4, input, dnnl_nhwc);
    l->input = memory(&in);
    l->weights_any = describe(4, weights, dnnl_format_tag_any);
    l->weights_master = describe(4, weights, dnnl_hwio);
    l->bias_md = describe(1, bias, dnnl_a);
    l->output_md = describe(4, output, dnnl_nhwc);
    l->weights = memory(&l->weights_master);
    l->bias = memory(&l->bias_md);
    CHECK(dnnl_convolution_forward_desc_init(&desc, dnnl_forward_training, dnnl_convolution_direct,
                                             &in, &l->weights_any, &l->bias_md, &l->output_md, one,
                                             zero, zero));
    l->forward = describe_primitive(&desc, relu_after(), NULL);
    l->output = memory(&l->output_md);
    dnnl_memory_t used = in_layout(l->weights, query(l->forward, dnnl_query_weights_md, 0));
    add(l->forward);
    give(DNNL_ARG_SRC, l->input);
    give(DNNL_ARG_WEIGHTS, used);
    give(DNNL_ARG_BIAS, l->bias);
    give(DNNL_ARG_DST, l->output);
}

/* The input is data, so only the weights have a gradient. */
static void conv_backward(layer *l, dnnl_memory_t gradient) {
    const dnnl_memory_desc_t *in;
    dnnl_convolution_desc_t desc;
    dnnl_dims_t one = {1, 1}, zero = {0, 0};
    CHECK(dnnl_memory_get_memory_desc(l->input, &in));
    CHECK(dnnl_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, in,
                                                      &l->weights_any, &l->bias_md, &l->output_md,
                                                      one, zero, zero));
    dnnl_primitive_desc_t pd = describe_primitive(&desc, NULL, l->forward);
    dnnl_memory_t weights = memory(query(pd, dnnl_query_diff_weights_md, 0));
    add(pd);
    give(DNNL_ARG_SRC, l->input);
    give(DNNL_ARG_DIFF_DST, gradient);
    give(DNNL_ARG_DIFF_WEIGHTS, weights);
    give(DNNL_ARG_DIFF_BIAS, memory(&l->bias_md));
    back_to(weights, &l->weights_master);
}

static void pool_forward(layer *l, const layer *from) {
    dnnl_pooling_desc_t desc;
    dnnl_dims_t two = {2, 2}, zero = {0, 0}, output;
    memcpy(output, from->output_md.dims, sizeof output);
    output[2] /= 2, output[3] /= 2;
    l->input = from->output;
    l->input_any = from->output_md;
    l->output_md = describe(4, output, dnnl_nhwc);
    CHECK(dnnl_pooling_forward_desc_init(&desc, dnnl_forward_training, dnnl_pooling_max,
                                         &l->input_any, &l->output_md, two, two, zero, zero));
    l->forward = describe_primitive(&desc, NULL, NULL);
    l->output = memory(&l->output_md);
    l->workspace = memory(query(l->forward, dnnl_query_workspace_md, 0));
    add(l->forward);
    give(DNNL_ARG_SRC, l->input);
    give(DNNL_ARG_DST, l->output);
    give(DNNL_ARG_WORKSPACE, l->workspace);
}

static dnnl_memory_t pool_backward(layer *l, dnnl_memory_t gradient) {
    dnnl_pooling_desc_t desc;
    dnnl_dims_t two = {2, 2}, zero = {0, 0};
    CHECK(dnnl_pooling_backward_desc_init(&desc, dnnl_pooling_max, &l->input_any, &l->output_md,
                                          two, two, zero, zero));
    dnnl_memory_t result = memory(&l->input_any);
    add(describe_primitive(&desc, NULL, l->forward));
    give(DNNL_ARG_DIFF_DST, gradient);
    give(DNNL_ARG_WORKSPACE, l->workspace);
    give(DNNL_ARG_DIFF_SRC, result);
    return result;
}

/* The same memory seen with another shape. */
static dnnl_memory_t view(dnnl_memory_t m, const dnnl_memory_desc_t *md) {
    dnnl_memory_t seen;
    void *data;
    CHECK(dnnl_memory_get_data_handle(m, &data));
    CHECK(dnnl_memory_create(&seen, md, engine, data));
    return seen;
}

static void build(int side, int batch) {
    layer conv = {0}, pool = {0}, hidden = {0}, last = {0};
    conv_forward(&conv, side, batch);
    pool_forward(&pool, &conv);
    dnnl_dims_t dims = {batch, FILTERS * pool.output_md.dims[2] * pool.output_md.dims[3]};
    dnnl_memory_desc_t flat = describe(2, dims, dnnl_ab);
    dense_forward(&hidden, view(pool.output, &flat), HIDDEN, 1);
    dense_forward(&last, hidden.output, CLASSES, 0);
    dnnl_memory_t gradient = dense_backward(&last, memory(&last.output_md));
    relu_backward(hidden.output, gradient);
    gradient = view(dense_backward(&hidden, gradient), &pool.output_md);
    gradient = pool_backward(&pool, gradient);
    relu_backward(conv.output, gradient);
    conv_backward(&conv, gradient);
}

int main(int argc, char **argv) {
    int side = argc == 5 ? atoi(argv[1]) : 0, batch = argc == 5 ? atoi(argv[2]) : 0;
    if (side < 4 || batch < 1 || atoi(argv[3]) < 1) {
        fprintf(stderr, "usage: limit_cnn SIDE BATCH THREADS SECONDS\n");
        return 2;
    }
    open_engine(atoi(argv[3]));
    build(side, batch);
    double start = 0, start_cpu = 0, deadline = 0;
    long done = -20; /* rounds to warm up */
    for (; done <= 0 || bench_now() < deadline; done++) {
        if (done == 0) {
            start = bench_now();
            start_cpu = bench_cpu();
            deadline = start + atof(argv[4]);
        }
        for (int i = 0; i < num_steps; i++)
            run_step(&steps[i]);
        CHECK(dnnl_stream_wait(stream));
    }
    bench_print(&(bench_result){.unit = "steps/s",
                                .units = (double)done,
                                .seconds = bench_now() - start,
                                .cpu_seconds = bench_cpu() - start_cpu});
    return 0;
}
