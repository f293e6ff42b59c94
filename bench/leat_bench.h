/* What leat's side of the benchmarks shares: errors that end the program, lists of files, the
 * functions that several cases map, the CNN. */
#ifndef LEAT_BENCH_H
#define LEAT_BENCH_H

#include "bench.h"
#include <leat/leat.h>

/* Ends the program with the error: a benchmark that failed has no result. */
static inline void bench_check(int good, const char *what, const leat_error *err) {
    if (!good) {
        fprintf(stderr, "%s: %s: %s\n", what, leat_status_name(err->code), err->text);
        exit(1);
    }
}

/* The names in the file `list`, one a line. */
static inline char **bench_names(const char *list, int *count) {
    FILE *file = fopen(list, "r");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be read\n", list);
        exit(2);
    }
    char **names = NULL, line[4096];
    *count = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0')
            continue;
        names = realloc(names, (size_t)(*count + 1) * sizeof(*names));
        names[(*count)++] = strdup(line);
    }
    fclose(file);
    return names;
}

/* A dataset of the names as string scalars. */
static inline leat_dataset *bench_name_dataset(char **names, int count, leat_error *err) {
    leat_string *strings = bench_alloc((size_t)count * sizeof(*strings));
    for (int i = 0; i < count; i++)
        strings[i] = (leat_string){.data = names[i], .size = strlen(names[i])};
    leat_tensor tensor = {0};
    leat_element element = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(count), err);
    bench_check(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(count), strings, &tensor, err) ==
                    LEAT_OK,
                "names", err);
    bench_check(leat_element_set(&element, spec, &tensor, err) == LEAT_OK, "names", err);
    leat_dataset *dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    free(strings);
    return dataset;
}

/* Takes `step` units at a time from an iterator until the time is up; the first unit is start-up.
 */
static inline bench_result bench_drain(leat_iterator *iterator, double seconds, const char *unit) {
    leat_error err = {0};
    leat_element element = {0};
    bench_result result = {.unit = unit};
    bench_check(leat_iterator_next(iterator, &element, &err) == LEAT_OK, "first batch", &err);
    const leat_tensor *first = &element.tensors[0];
    if (first->dtype == LEAT_FLOAT32 || first->dtype == LEAT_INT64) {
        int64_t count = leat_tensor_count(first);
        for (int64_t i = 0; i < count; i++)
            result.mean += first->dtype == LEAT_FLOAT32 ? ((float *)first->data)[i]
                                                        : (double)((int64_t *)first->data)[i];
        result.mean /= (double)count;
    }
    double start = bench_now(), cpu = bench_cpu();
    while (bench_now() - start < seconds) {
        bench_check(leat_iterator_next(iterator, &element, &err) == LEAT_OK, "next", &err);
        result.units += (double)element.tensors[0].dims[0];
    }
    result.seconds = bench_now() - start;
    result.cpu_seconds = bench_cpu() - cpu;
    leat_element_fini(&element);
    return result;
}

/* Mirrors now and then, and divides by 255. */
static inline leat_value bench_flip_and_scale(leat_graph *graph, leat_value picture) {
    leat_tensor half = leat_scalar_float32(0.5f), scale = leat_scalar_float32(1 / 255.0f);
    leat_value draw = leat_op_random_uniform(graph, LEAT_SCALAR, NULL);
    leat_value flip = leat_op_less(draw, leat_graph_tensor(graph, &half));
    leat_value chosen = leat_op_select(flip, leat_op_flip_left_right(picture), picture);
    leat_value scaled = leat_op_multiply(chosen, leat_graph_tensor(graph, &scale));
    leat_tensor_unref(&half);
    leat_tensor_unref(&scale);
    return scaled;
}

/* The map of the picture cases: a file's name to its picture, decoded by the accurate DCT, 224 x
 * 224, flipped now and then, as floats. */
static inline int bench_load_picture(void *context, leat_graph *graph, leat_value *outputs,
                                     int capacity) {
    (void)context;
    leat_value contents = leat_op_read_file(leat_graph_argument(graph, 0)), decoded = {0};
    if (leat_graph_call(graph, "decode_jpeg",
                        "{\"channels\": 3, \"dct_method\": \"INTEGER_ACCURATE\"}", &contents, 1,
                        &decoded, 1) != 1)
        return -1;
    outputs[0] =
        bench_flip_and_scale(graph, leat_op_resize(decoded, (int64_t[]){224, 224}, 2, NULL));
    return 1;
}

/* The program of a picture case: SECONDS THREADS LIST [QUALITY], the files through `load` to
 * batches of 64. */
static inline int bench_pictures(int argc, char **argv, const char *name, leat_tracer load) {
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: leat_%s SECONDS THREADS LIST [exact|balanced|fast]\n", name);
        return 2;
    }
    leat_error err = {0};
    int count = 0;
    char **names = bench_names(argv[3], &count);
    leat_dataset *ds = leat_dataset_repeat(bench_name_dataset(names, count, &err), -1, &err);
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS,
                                         .num_parallel_calls = atoi(argv[2])};
    leat_function *function = LEAT_TRACE(load, NULL, leat_dataset_spec(ds), &err);
    bench_check(function != NULL, name, &err);
    ds = leat_dataset_map(ds, function, &parallel, &err);
    ds = leat_dataset_batch(ds, 64, NULL, &err);
    ds = leat_dataset_with_options(
        ds,
        &(leat_dataset_options){LEAT_DATASET_DEFAULTS,
                                .picture_quality = argc == 5 ? argv[4] : NULL},
        &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = atoi(argv[2])};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, name, &err);
    bench_result result = bench_drain(iterator, atof(argv[1]), "images/s");
    bench_print(&result);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    return 0;
}

/* The map of the record cases; the context is the spec of the features. */
static inline int bench_parse_record(void *context, leat_graph *graph, leat_value *outputs,
                                     int capacity) {
    return leat_op_parse_example(leat_graph_argument(graph, 0), context, NULL, outputs, capacity);
}

/* The features of a small record, or of a large one, which has the first and the third. */
static inline leat_spec *bench_record_features(bool small, leat_error *err) {
    const char *keys[] = {"data", "id", "label", "x"};
    leat_spec *children[] = {leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err),
                             leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                             leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                             leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(16), err)};
    if (!small) {
        leat_spec_unref(children[1]);
        leat_spec_unref(children[3]);
        keys[1] = keys[2];
        children[1] = children[2];
    }
    return leat_spec_dict(keys, children, small ? 4 : 2, err);
}

enum { BENCH_RARE = 100, BENCH_UNIT = 20000 };

/* Work of a fixed number of steps, which no compiler can shorten. */
static inline uint64_t bench_work(int64_t steps) {
    uint64_t x = 1;
    for (int64_t i = 0; i < steps; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        bench_touch(&x);
    }
    return x;
}

static inline int64_t bench_steps_of(int64_t element) {
    return element % BENCH_RARE == 37 ? BENCH_UNIT * BENCH_RARE : BENCH_UNIT;
}

static inline leat_status bench_uneven(void *context, const leat_element *in, leat_element *out,
                                       leat_error *err) {
    int64_t element = *(const int64_t *)in->tensors[0].data;
    (void)context;
    bench_touch(&(uint64_t){bench_work(bench_steps_of(element))});
    return leat_element_set(out, in->spec, in->tensors, err);
}

/* For elements of `input`: the identity, at an uneven cost. */
static inline leat_function *bench_uneven_function(const leat_dataset *input, leat_error *err) {
    leat_spec *spec = leat_spec_ref(leat_dataset_spec(input));
    return LEAT_CALLBACK(bench_uneven, NULL, NULL, NULL, LEAT_PURE, leat_spec_ref(spec), spec, err);
}

/* The demo's CNN, its optimizer and the traced step. */
typedef struct bench_trainer {
    leat_model *model;
    leat_optimizer *optimizer;
    int64_t global_batch;
} bench_trainer;

static inline int bench_train_step(void *context, leat_graph *graph, leat_value *outputs,
                                   int capacity) {
    bench_trainer *trainer = context;
    leat_value logits = leat_model_call(trainer->model, leat_graph_argument(graph, 0), true);
    leat_value losses =
        leat_loss_sparse_categorical_crossentropy(leat_graph_argument(graph, 1), logits, true);
    leat_value loss = leat_loss_average(losses, trainer->global_batch);
    int count = 0;
    leat_variable *const *variables = leat_model_trainable_variables(trainer->model, &count);
    leat_optimizer_minimize(trainer->optimizer, loss, variables, count);
    outputs[0] = loss;
    return 1;
}

static inline void bench_trainer_open(bench_trainer *trainer, leat_strategy *strategy,
                                      leat_shape input, int64_t batch) {
    leat_error err = {0};
    leat_layer_conv2d_options conv = {LEAT_LAYER_CONV2D_DEFAULTS, .activation = LEAT_RELU,
                                      .seed = LEAT_SEED(1)};
    leat_layer_dense_options hidden = {LEAT_LAYER_DENSE_DEFAULTS, .activation = LEAT_RELU,
                                       .seed = LEAT_SEED(2)};
    leat_layer_dense_options last = {LEAT_LAYER_DENSE_DEFAULTS, .seed = LEAT_SEED(3)};
    leat_layer *layers[] = {leat_layer_conv2d(32, 3, 3, &conv, &err),
                            leat_layer_max_pooling2d(NULL, &err), leat_layer_flatten(NULL, &err),
                            leat_layer_dense(64, &hidden, &err), leat_layer_dense(10, &last, &err)};
    bench_check(leat_strategy_enter(strategy, &err) == LEAT_OK, "scope", &err);
    trainer->global_batch = batch;
    trainer->model = leat_model_sequential(layers, 5, &err);
    bench_check(trainer->model != NULL, "model", &err);
    bench_check(leat_model_build(trainer->model, input, &err) == LEAT_OK, "build", &err);
    trainer->optimizer = leat_optimizer_adam(NULL, &err);
    bench_check(trainer->optimizer != NULL, "adam", &err);
    leat_strategy_exit(strategy);
}

static inline void bench_trainer_close(bench_trainer *trainer) {
    leat_optimizer_free(trainer->optimizer);
    leat_model_free(trainer->model);
}

#endif
