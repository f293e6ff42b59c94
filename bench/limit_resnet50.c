/* What oneDNN needs for one training step of ResNet-50: the sum over its layers of the best
 * primitive that oneDNN has for each, and nothing else.
 *
 *   limit_resnet50 BATCH THREADS SECONDS
 *
 * Each primitive of both directions (convolution, batch normalisation with ReLU, addition with
 * ReLU, pooling, the last layer) is measured with pixels as NHWC and in oneDNN's blocked layouts,
 * in the order of a step, so that caches hold what they hold there; the faster of the two counts,
 * and changes of layout between them do not. The filters are kept as HWIO, so the reorders into
 * the layouts that the primitives ask for count, and those of the gradients back. Loss and
 * optimizer do not. Prints steps/s; with one thread of the processor's time, which other programs
 * disturb less. */
#include "limit_dnnl.h"

enum { MAX_SLOTS = 1024, MAX_ROUNDS = 64, RING = 6, NUM_LAYOUTS = 2 };

/* The work of one layer in one direction: a primitive, or several in a row, in each layout. */
typedef struct slot {
    step steps[NUM_LAYOUTS][3];
    int count[NUM_LAYOUTS];
    double seconds[NUM_LAYOUTS][MAX_ROUNDS];
    const char *kind;
} slot;

static slot *slots; /* those of the forward half in order, then those of the backward half */
static int num_forward, num_backward;
static slot *backward_slots;
static int batch, threads;

static double now(void) {
    return threads == 1 ? bench_cpu() : bench_now();
}

/* Activations are memory of their own; gradients take turns, as in a step that plans its memory. */
static void *ring[RING];
static int next_ring;

static void *gradient_memory(size_t size) {
    const size_t most = (size_t)batch * 115 * 115 * 64 * sizeof(float) + 4096;
    if (size > most)
        check(dnnl_out_of_memory, "the gradients' memory");
    void **at = &ring[next_ring++ % RING];
    if (*at == NULL)
        memset(*at = bench_alloc(most), 0, most);
    return *at;
}

static dnnl_memory_t wrap(const dnnl_memory_desc_t *md, void *data) {
    dnnl_memory_t m;
    CHECK(dnnl_memory_create(&m, md, engine, data));
    return m;
}

static dnnl_memory_t gradient(const dnnl_memory_desc_t *md) {
    return wrap(md, gradient_memory(dnnl_memory_desc_get_size(md)));
}

static slot *forward_slot(const char *kind) {
    slots[num_forward].kind = kind;
    return &slots[num_forward++];
}

static slot *backward_slot(const char *kind) {
    backward_slots[num_backward].kind = kind;
    return &backward_slots[num_backward++];
}

static step *add(slot *at, int layout, dnnl_primitive_desc_t pd) {
    step *s = &at->steps[layout][at->count[layout]++];
    CHECK(dnnl_primitive_create(&s->primitive, pd));
    return s;
}

static void reorder(slot *at, int layout, dnnl_memory_t from, dnnl_memory_t to) {
    const dnnl_memory_desc_t *is, *wanted;
    dnnl_primitive_desc_t pd;
    CHECK(dnnl_memory_get_memory_desc(from, &is));
    CHECK(dnnl_memory_get_memory_desc(to, &wanted));
    CHECK(dnnl_reorder_primitive_desc_create(&pd, is, engine, wanted, engine, NULL));
    step *s = add(at, layout, pd);
    give_to(s, DNNL_ARG_FROM, from);
    give_to(s, DNNL_ARG_TO, to);
}

/* A weight as the primitive wants it: a copy that the slot makes, or itself. */
static dnnl_memory_t wanted_weight(slot *at, int layout, dnnl_memory_t plain,
                                   const dnnl_memory_desc_t *wanted) {
    const dnnl_memory_desc_t *is;
    CHECK(dnnl_memory_get_memory_desc(plain, &is));
    if (dnnl_memory_desc_equal(is, wanted))
        return plain;
    dnnl_memory_t copy = gradient(wanted);
    reorder(at, layout, plain, copy);
    return copy;
}

/* Pixels between layers: one memory, seen in the layout of each of the two. */
typedef struct pixels {
    dnnl_dims_t dims;                     /* NCHW */
    dnnl_memory_desc_t form[NUM_LAYOUTS]; /* NHWC, and what convolutions of oneDNN's choice make */
    void *data;
} pixels;

static dnnl_format_tag_t blocked(const dnnl_dim_t *dims) {
    return dims[1] % 16 == 0 ? dnnl_nChw16c : dnnl_nhwc;
}

static pixels pixels_of(dnnl_dim_t side, dnnl_dim_t channels) {
    pixels p = {.dims = {batch, channels, side, side}};
    p.form[0] = describe(4, p.dims, dnnl_nhwc);
    p.form[1] = describe(4, p.dims, blocked(p.dims));
    dnnl_memory_t filled = memory(&p.form[0]);
    CHECK(dnnl_memory_get_data_handle(filled, &p.data));
    return p;
}

typedef struct convolution {
    pixels in, out;
    dnnl_dims_t weights, bias, strides, padding;
    bool first; /* its input is data, which has no gradient */
} convolution;

static void convolution_backward(const convolution *c, int layout, dnnl_primitive_desc_t hint,
                                 dnnl_memory_t plain, slot *to_filter, slot *to_input) {
    dnnl_memory_desc_t any = describe(4, c->weights, dnnl_format_tag_any);
    dnnl_memory_desc_t bias = describe(1, c->bias, dnnl_a);
    const dnnl_memory_desc_t *in = &c->in.form[layout], *out = &c->out.form[layout];
    dnnl_convolution_desc_t desc;
    if (!c->first) {
        CHECK(dnnl_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, in, &any,
                                                       out, c->strides, c->padding, c->padding));
        dnnl_primitive_desc_t pd = describe_primitive(&desc, NULL, hint);
        dnnl_memory_t used =
            wanted_weight(to_input, layout, plain, query(pd, dnnl_query_weights_md, 0));
        step *s = add(to_input, layout, pd);
        give_to(s, DNNL_ARG_DIFF_DST, gradient(out));
        give_to(s, DNNL_ARG_WEIGHTS, used);
        give_to(s, DNNL_ARG_DIFF_SRC, gradient(in));
    }
    CHECK(dnnl_convolution_backward_weights_desc_init(
        &desc, dnnl_convolution_direct, in, &any, &bias, out, c->strides, c->padding, c->padding));
    dnnl_primitive_desc_t pd = describe_primitive(&desc, NULL, hint);
    dnnl_memory_t made = gradient(query(pd, dnnl_query_diff_weights_md, 0));
    step *s = add(to_filter, layout, pd);
    give_to(s, DNNL_ARG_SRC, wrap(in, c->in.data));
    give_to(s, DNNL_ARG_DIFF_DST, gradient(out));
    give_to(s, DNNL_ARG_DIFF_WEIGHTS, made);
    give_to(s, DNNL_ARG_DIFF_BIAS, memory(&bias));
    reorder(to_filter, layout, made, plain);
}

static void add_convolution(const convolution *c) {
    slot *forward = forward_slot("conv"), *to_filter = backward_slot("conv filter");
    slot *to_input = c->first ? NULL : backward_slot("conv input");
    dnnl_memory_desc_t master = describe(4, c->weights, dnnl_hwio);
    dnnl_memory_desc_t any = describe(4, c->weights, dnnl_format_tag_any);
    dnnl_memory_desc_t bias = describe(1, c->bias, dnnl_a);
    dnnl_memory_t plain = memory(&master);
    for (int layout = 0; layout < NUM_LAYOUTS; layout++) {
        dnnl_convolution_desc_t desc;
        CHECK(dnnl_convolution_forward_desc_init(
            &desc, dnnl_forward_training, dnnl_convolution_direct, &c->in.form[layout], &any, &bias,
            &c->out.form[layout], c->strides, c->padding, c->padding));
        dnnl_primitive_desc_t pd = describe_primitive(&desc, NULL, NULL);
        dnnl_memory_t used =
            wanted_weight(forward, layout, plain, query(pd, dnnl_query_weights_md, 0));
        step *s = add(forward, layout, pd);
        give_to(s, DNNL_ARG_SRC, wrap(&c->in.form[layout], c->in.data));
        give_to(s, DNNL_ARG_WEIGHTS, used);
        give_to(s, DNNL_ARG_BIAS, memory(&bias));
        give_to(s, DNNL_ARG_DST, wrap(&c->out.form[layout], c->out.data));
        convolution_backward(c, layout, pd, plain, to_filter, to_input);
    }
}

/* Batch normalisation, with ReLU where `relu`; its gradient with it. */
static void add_norm(const pixels *in, const pixels *out, bool relu) {
    slot *forward = forward_slot("norm"), *back = backward_slot("norm");
    unsigned flags = dnnl_use_scale | dnnl_use_shift | (relu ? dnnl_fuse_norm_relu : 0);
    dnnl_dims_t channels = {in->dims[1]};
    dnnl_memory_desc_t vector = describe(1, channels, dnnl_a);
    dnnl_memory_t v[6];
    for (int i = 0; i < 6; i++)
        v[i] = memory(&vector);
    for (int layout = 0; layout < NUM_LAYOUTS; layout++) {
        const dnnl_memory_desc_t *form = &in->form[layout];
        dnnl_batch_normalization_desc_t desc;
        CHECK(dnnl_batch_normalization_forward_desc_init(&desc, dnnl_forward_training, form, 1e-5f,
                                                         flags));
        dnnl_primitive_desc_t hint = describe_primitive(&desc, NULL, NULL);
        dnnl_memory_t used = relu ? memory(query(hint, dnnl_query_workspace_md, 0)) : NULL;
        step *s = add(forward, layout, hint);
        give_to(s, DNNL_ARG_SRC, wrap(form, in->data));
        give_to(s, DNNL_ARG_DST, wrap(form, out->data));
        give_to(s, DNNL_ARG_MEAN, v[0]);
        give_to(s, DNNL_ARG_VARIANCE, v[1]);
        give_to(s, DNNL_ARG_SCALE, v[2]);
        give_to(s, DNNL_ARG_SHIFT, v[3]);
        if (relu)
            give_to(s, DNNL_ARG_WORKSPACE, used);
        CHECK(dnnl_batch_normalization_backward_desc_init(&desc, dnnl_backward, form, form, 1e-5f,
                                                          flags));
        s = add(back, layout, describe_primitive(&desc, NULL, hint));
        give_to(s, DNNL_ARG_SRC, wrap(form, in->data));
        give_to(s, DNNL_ARG_MEAN, v[0]);
        give_to(s, DNNL_ARG_VARIANCE, v[1]);
        give_to(s, DNNL_ARG_DIFF_DST, gradient(form));
        give_to(s, DNNL_ARG_DIFF_SRC, gradient(form));
        give_to(s, DNNL_ARG_SCALE, v[2]);
        give_to(s, DNNL_ARG_SHIFT, v[3]);
        give_to(s, DNNL_ARG_DIFF_SCALE, v[4]);
        give_to(s, DNNL_ARG_DIFF_SHIFT, v[5]);
        if (relu)
            give_to(s, DNNL_ARG_WORKSPACE, used);
    }
}

static void add_sum(slot *at, int layout, const dnnl_memory_desc_t *form, bool relu, void *a,
                    void *b, void *to) {
    dnnl_binary_desc_t desc;
    CHECK(dnnl_binary_desc_init(&desc, dnnl_binary_add, form, form, form));
    step *s = add(at, layout, describe_primitive(&desc, relu ? relu_after() : NULL, NULL));
    give_to(s, DNNL_ARG_SRC_0, wrap(form, a));
    give_to(s, DNNL_ARG_SRC_1, wrap(form, b));
    give_to(s, DNNL_ARG_DST, wrap(form, to));
}

/* The end of a block: shortcut + x with ReLU; back, ReLU's gradient, and both parts of the
 * gradient of what comes in (of `in`, whose form the shortcut has) added. */
static void add_end(const pixels *x, const pixels *shortcut, const pixels *out, const pixels *in) {
    slot *forward = forward_slot("add"), *sums = backward_slot("add");
    slot *back = backward_slot("relu");
    for (int layout = 0; layout < NUM_LAYOUTS; layout++) {
        const dnnl_memory_desc_t *form = &out->form[layout];
        size_t size = dnnl_memory_desc_get_size(form);
        dnnl_eltwise_desc_t desc;
        add_sum(forward, layout, form, true, x->data, shortcut->data, out->data);
        CHECK(dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training, dnnl_eltwise_relu, form,
                                             0, 0));
        dnnl_primitive_desc_t hint = describe_primitive(&desc, NULL, NULL);
        CHECK(dnnl_eltwise_backward_desc_init(&desc, dnnl_eltwise_relu_use_dst_for_bwd, form, form,
                                              0, 0));
        step *s = add(back, layout, describe_primitive(&desc, NULL, hint));
        give_to(s, DNNL_ARG_DST, wrap(form, out->data));
        give_to(s, DNNL_ARG_DIFF_DST, wrap(form, gradient_memory(size)));
        give_to(s, DNNL_ARG_DIFF_SRC, wrap(form, gradient_memory(size)));
        form = &in->form[layout];
        size = dnnl_memory_desc_get_size(form);
        add_sum(sums, layout, form, false, gradient_memory(size), gradient_memory(size),
                gradient_memory(size));
    }
}

static void add_pool(const pixels *in, const pixels *out, dnnl_alg_kind_t kind, int side,
                     int stride) {
    slot *forward = forward_slot("pool"), *back = backward_slot("pool");
    dnnl_dims_t kernel = {side, side}, strides = {stride, stride}, zero = {0, 0};
    for (int layout = 0; layout < NUM_LAYOUTS; layout++) {
        dnnl_pooling_desc_t desc;
        CHECK(dnnl_pooling_forward_desc_init(&desc, dnnl_forward_training, kind, &in->form[layout],
                                             &out->form[layout], strides, kernel, zero, zero));
        dnnl_primitive_desc_t hint = describe_primitive(&desc, NULL, NULL);
        const dnnl_memory_desc_t *form = query(hint, dnnl_query_workspace_md, 0);
        dnnl_memory_t used = kind == dnnl_pooling_max ? memory(form) : NULL;
        step *s = add(forward, layout, hint);
        give_to(s, DNNL_ARG_SRC, wrap(&in->form[layout], in->data));
        give_to(s, DNNL_ARG_DST, wrap(&out->form[layout], out->data));
        if (used != NULL)
            give_to(s, DNNL_ARG_WORKSPACE, used);
        CHECK(dnnl_pooling_backward_desc_init(&desc, kind, &in->form[layout], &out->form[layout],
                                              strides, kernel, zero, zero));
        s = add(back, layout, describe_primitive(&desc, NULL, hint));
        give_to(s, DNNL_ARG_DIFF_DST, gradient(&out->form[layout]));
        give_to(s, DNNL_ARG_DIFF_SRC, gradient(&in->form[layout]));
        if (used != NULL)
            give_to(s, DNNL_ARG_WORKSPACE, used);
    }
}

/* ---- the network ---- */

/* `side` of the result; padding such that a stride of 1 keeps the side, none for the first. */
static pixels convolve(const pixels *in, dnnl_dim_t filters, dnnl_dim_t kernel, dnnl_dim_t stride,
                       dnnl_dim_t side) {
    pixels out = pixels_of(side, filters);
    dnnl_dim_t padding = in->dims[1] == 3 ? 0 : kernel / 2;
    convolution c = {.in = *in,
                     .out = out,
                     .weights = {filters, in->dims[1], kernel, kernel},
                     .bias = {filters},
                     .strides = {stride, stride},
                     .padding = {padding, padding},
                     .first = in->dims[1] == 3};
    if (in->dims[1] % 16 != 0 || filters % 16 != 0) { /* blocks do not fit: oneDNN would crawl */
        c.in.form[1] = c.in.form[0];
        c.out.form[1] = c.out.form[0];
    }
    add_convolution(&c);
    return out;
}

static pixels normalise(const pixels *in, bool relu) {
    pixels out = pixels_of(in->dims[2], in->dims[1]);
    add_norm(in, &out, relu);
    return out;
}

static pixels block(const pixels *in, dnnl_dim_t filters, dnnl_dim_t stride, bool projects) {
    dnnl_dim_t side = in->dims[2] / stride;
    pixels shortcut = *in, x;
    if (projects) {
        x = convolve(in, 4 * filters, 1, stride, side);
        shortcut = normalise(&x, false);
    }
    x = convolve(in, filters, 1, stride, side);
    x = normalise(&x, true);
    x = convolve(&x, filters, 3, 1, side);
    x = normalise(&x, true);
    x = convolve(&x, 4 * filters, 1, 1, side);
    x = normalise(&x, false);
    pixels out = pixels_of(side, 4 * filters);
    add_end(&x, &shortcut, &out, in);
    return out;
}

static void build(void) {
    static const int blocks[4] = {3, 4, 6, 3};
    pixels x = pixels_of(230, 3);
    x = convolve(&x, 64, 7, 2, 112);
    x = normalise(&x, true);
    pixels padded = pixels_of(114, 64), pooled = pixels_of(56, 64);
    add_pool(&padded, &pooled, dnnl_pooling_max, 3, 2);
    x = pooled;
    for (int stack = 0; stack < 4; stack++)
        for (int i = 0; i < blocks[stack]; i++)
            x = block(&x, 64 << stack, stack > 0 && i == 0 ? 2 : 1, i == 0);
    pixels mean = pixels_of(1, 2048);
    add_pool(&x, &mean, dnnl_pooling_avg_exclude_padding, 7, 1);
    convolve(&mean, 1000, 1, 1, 1); /* the last layer, as a convolution of one pixel */
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void run_slots(slot *first, int count, int layout, int round) {
    for (int i = 0; i < count; i++) {
        double start = now();
        for (int k = 0; k < first[i].count[layout]; k++)
            run_step(&first[i].steps[layout][k]);
        CHECK(dnnl_stream_wait(stream));
        if (round >= 0)
            first[i].seconds[layout][round] = now() - start;
    }
}

/* The backward half was listed in the order of the layers. */
static void turn_round(void) {
    for (int i = 0; i < num_backward / 2; i++) {
        slot other = backward_slots[i];
        backward_slots[i] = backward_slots[num_backward - 1 - i];
        backward_slots[num_backward - 1 - i] = other;
    }
}

static double best_of(slot *first, int count, int rounds, double *of_layout) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double each[NUM_LAYOUTS];
        for (int layout = 0; layout < NUM_LAYOUTS; layout++) {
            each[layout] = median(first[i].seconds[layout], rounds);
            of_layout[layout] += each[layout];
        }
        sum += each[0] < each[1] ? each[0] : each[1];
        if (getenv("LEAT_BENCH_EXPLAIN") != NULL)
            fprintf(stderr, "%-12s %8.3f ms  %8.3f ms\n", first[i].kind, 1e3 * each[0],
                    1e3 * each[1]);
    }
    return sum;
}

int main(int argc, char **argv) {
    batch = argc == 4 ? atoi(argv[1]) : 0;
    threads = argc == 4 ? atoi(argv[2]) : 0;
    if (batch < 1 || threads < 1) {
        fprintf(stderr, "usage: limit_resnet50 BATCH THREADS SECONDS\n");
        return 2;
    }
    slots = calloc(MAX_SLOTS, sizeof *slots);
    backward_slots = calloc(MAX_SLOTS, sizeof *backward_slots);
    if (slots == NULL || backward_slots == NULL)
        return 2;
    open_engine(threads);
    build();
    turn_round();
    double start = 0, cpu = 0, of_layout[NUM_LAYOUTS] = {0};
    int round = -1; /* one to warm up */
    for (; round < 3 || (round < MAX_ROUNDS && bench_now() - start < atof(argv[3])); round++) {
        if (round == 0) {
            start = bench_now();
            cpu = bench_cpu();
        }
        for (int layout = 0; layout < NUM_LAYOUTS; layout++) {
            run_slots(slots, num_forward, layout, round);
            run_slots(backward_slots, num_backward, layout, round);
        }
    }
    bench_result result = {.unit = threads == 1 ? "steps/CPU s" : "steps/s", .units = 1};
    result.seconds = best_of(slots, num_forward, round, of_layout);
    result.seconds += best_of(backward_slots, num_backward, round, of_layout);
    result.cpu_seconds = (bench_cpu() - cpu) / round;
    fprintf(stderr, "NHWC %.1f ms, blocked %.1f ms, the best of each %.1f ms\n", 1e3 * of_layout[0],
            1e3 * of_layout[1], 1e3 * result.seconds);
    bench_print(&result);
    return 0;
}
