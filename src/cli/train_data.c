/* The datasets of a corpus.
 *
 * Happy path: records -> parse example -> decode -> cast and scale -> cache, or picture files ->
 * read -> decode -> resize -> cast and scale -> cache. The first picture is decoded once before, as
 * it decides the channels and, without --image-size, the size. Without a test part every fifth row,
 * chosen by the seed, becomes one: of the records together, or of each class folder.
 *
 * Failure modes: those of the operators, which name file, element and cause; a corpus too small to
 * split. No locks. */
#include "cli/train.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/random.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Pictures of a folder may be large and of many sizes: without --image-size they are scaled to the
 * size of the first one, but not beyond this. */
#define LARGEST_SIDE 128

/* What the traced functions need to know. */
struct reading {
    const leati_train_options *options;
    leat_spec *features; /* of a record; NULL: the elements are (path, label) */
    int channels;        /* 0: as in the file */
    leat_shape image;    /* rank 0: not known yet */
    bool resize;
};

/* ---- functions of the maps ---- */

static int trace_parse(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct reading *reading = context;
    int count = leat_op_parse_example(leat_graph_argument(graph, 0), reading->features, NULL,
                                      outputs, capacity);
    if (count == 2 && strcmp(reading->options->image_key, reading->options->label_key) > 0) {
        leat_value label = outputs[0]; /* features come by sorted keys */
        outputs[0] = outputs[1];
        outputs[1] = label;
    }
    return count;
}

static int trace_load(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)capacity;
    outputs[0] = leat_op_read_file(leat_graph_argument(graph, 0));
    outputs[1] = leat_graph_argument(graph, 1);
    return 2;
}

static leat_value constant(leat_graph *graph, float number) {
    /* Without memory it has no dtype, which leat_graph_tensor reports. */
    leat_tensor tensor = leat_scalar_float32(number);
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

static int trace_decode(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    const struct reading *reading = context;
    leat_value image =
        leat_op_decode_image(leat_graph_argument(graph, 0), reading->channels, LEAT_UINT8, false);
    /* The model needs a static shape: pictures are given it, or must have it. The first picture
     * decides it and is decoded without one. */
    if (reading->resize && reading->image.rank == 3)
        image = leat_op_resize(image, (int64_t[]){reading->image.dims[0], reading->image.dims[1]},
                               2, NULL);
    else if (reading->image.rank == 3)
        image = leat_op_ensure_shape(image, reading->image);
    outputs[0] = image;
    outputs[1] = leat_graph_argument(graph, 1);
    return 2;
}

static int trace_scale(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    (void)capacity;
    leat_value image = leat_op_cast(leat_graph_argument(graph, 0), LEAT_FLOAT32);
    outputs[0] = leat_op_divide(image, constant(graph, 255.0F));
    outputs[1] = leat_graph_argument(graph, 1);
    return 2;
}

static leat_dataset *map(leat_dataset *dataset, const char *label, leat_tracer tracer,
                         struct reading *reading, const leat_dataset_map_options *options,
                         leat_error *err) {
    leat_function *function = LEAT_TRACE(tracer, reading, leat_dataset_spec(dataset), err);
    return leat_dataset_label(leat_dataset_map(dataset, function, options, err), label, err);
}

/* ---- records ---- */

static leat_spec *record_features(const leati_train_options *options, leat_error *err) {
    const char *keys[2] = {options->image_key, options->label_key};
    leat_spec *specs[2] = {leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err), NULL};
    if (specs[0] != NULL)
        specs[1] = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    return leat_spec_dict(keys, specs, 2, err);
}

static leat_dataset *records_dataset(const leati_paths *paths, leat_error *err) {
    leat_compression compression;
    /* The files of one part are taken to be packed alike. */
    if (leat_compression_guess(paths->values[0], &compression, err) != LEAT_OK)
        return NULL;
    leat_dataset_tf_record_options options = {
        LEAT_DATASET_TF_RECORD_DEFAULTS, .compression_type = leat_compression_name(compression)};
    return leat_dataset_tf_record((const char *const *)paths->values, (int)paths->count, &options,
                                  err);
}

static leat_status count_records(const leati_paths *paths, int64_t *out, leat_error *err) {
    int64_t records = 0;
    for (size_t i = 0; i < paths->count; i++) {
        leat_compression compression;
        leat_record_summary summary;
        leat_status status = leat_compression_guess(paths->values[i], &compression, err);
        if (status == LEAT_OK)
            status = leat_records_inspect(paths->values[i], compression, NULL, NULL, &summary, err);
        if (status != LEAT_OK)
            return status;
        records += summary.records;
    }
    *out = records;
    return LEAT_OK;
}

/* The records in an order that the seed decides, the same in every epoch: its first fifth is the
 * test part, the rest trains. */
static leat_dataset *split_records(const leati_paths *paths, int64_t seed, int64_t test_rows,
                                   bool test, leat_error *err) {
    leat_dataset_shuffle_options options = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(seed)};
    /* Training and test part are two iterations of one order; another order would mix them. */
    options.reshuffle_each_iteration = false;
    leat_dataset *dataset =
        leat_dataset_shuffle(records_dataset(paths, err), LEAT_UNKNOWN_CARDINALITY, &options, err);
    return test ? leat_dataset_take(dataset, test_rows, err)
                : leat_dataset_skip(dataset, test_rows, err);
}

static leat_status open_records(const leati_corpus_files *files, int64_t seed, leati_corpus *out,
                                leat_error *err) {
    if (files->test.count > 0) {
        out->train = records_dataset(&files->train, err);
        out->test = out->train != NULL ? records_dataset(&files->test, err) : NULL;
        (void)snprintf(out->text, sizeof out->text, "%zu training and %zu test record files",
                       files->train.count, files->test.count);
        return out->test != NULL ? LEAT_OK : err->code;
    }
    int64_t rows;
    LEATI_TRY(count_records(&files->train, &rows, err));
    if (rows < 5)
        return leati_refuse(
            err, VALUE,
            "%s: expected at least 5 records to split into training and test, found "
            "%" PRId64,
            files->train.values[0], rows);
    out->train = split_records(&files->train, seed, rows / 5, false, err);
    out->test = out->train != NULL ? split_records(&files->train, seed, rows / 5, true, err) : NULL;
    (void)snprintf(out->text, sizeof out->text,
                   "%" PRId64 " records, %" PRId64 " of them for the test", rows, rows / 5);
    return out->test != NULL ? LEAT_OK : err->code;
}

/* ---- class folders ---- */

/* Marks a fifth of each class, chosen by the seed, as test pictures. */
static int64_t choose_test(const leati_corpus_files *files, int64_t seed, bool *test) {
    leati_words words = leati_words_new((uint64_t)seed, 0);
    int64_t chosen = 0;
    size_t begin = 0;
    while (begin < files->pictures.count) {
        size_t end = begin;
        while (end < files->pictures.count && files->labels[end] == files->labels[begin])
            end++;
        size_t left = end - begin, wanted = left / 5;
        for (size_t i = begin; i < end; i++, left--) {
            /* Selection sampling (Knuth, algorithm S): each of the `left` is taken with probability
             * wanted / left, so exactly a fifth is. */
            test[i] = leati_words_next(&words) % left < wanted;
            wanted -= test[i];
            chosen += test[i];
        }
        begin = end;
    }
    return chosen;
}

/* The (path, label) pairs of one part. */
static leat_dataset *pictures_dataset(const leati_corpus_files *files, const bool *test, bool part,
                                      int64_t rows, leat_error *err) {
    leat_tensor tensors[2] = {{0}, {0}};
    leat_spec *specs[2] = {leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(rows), err), NULL};
    if (specs[0] != NULL)
        specs[1] = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(rows), err);
    leat_spec *spec = leat_spec_tuple(specs, 2, err);
    leat_string *paths = leati_alloc((size_t)rows, sizeof *paths);
    leat_element element = {0};
    leat_dataset *dataset = NULL;
    leat_status status = spec != NULL ? LEAT_OK : err->code;
    if (status == LEAT_OK && paths == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(rows), &tensors[1], err);
    for (size_t i = 0, n = 0; status == LEAT_OK && i < files->pictures.count; i++) {
        if (test[i] != part)
            continue;
        const char *path = files->pictures.values[i];
        paths[n] = (leat_string){path, strlen(path)};
        ((int64_t *)tensors[1].data)[n++] = files->labels[i];
    }
    if (status == LEAT_OK)
        status = leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(rows), paths, &tensors[0], err);
    if (status == LEAT_OK)
        status = leat_element_set(&element, spec, tensors, err);
    if (status == LEAT_OK)
        dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leati_free(paths);
    leat_spec_unref(spec);
    return dataset;
}

static leat_status open_pictures(const leati_corpus_files *files, int64_t seed, leati_corpus *out,
                                 leat_error *err) {
    size_t count = files->pictures.count;
    bool *test = leati_alloc(count, sizeof *test);
    if (test == NULL)
        return leati_no_memory(err);
    int64_t rows = choose_test(files, seed, test);
    if (rows == 0) {
        leati_free(test);
        return leati_refuse(err, VALUE,
                            "expected a class with at least 5 pictures to keep some for the test, "
                            "found %zu pictures in %zu classes",
                            count, files->classes.count);
    }
    out->train = pictures_dataset(files, test, false, (int64_t)count - rows, err);
    out->test = out->train != NULL ? pictures_dataset(files, test, true, rows, err) : NULL;
    leati_free(test);
    (void)snprintf(out->text, sizeof out->text,
                   "%zu pictures in %zu class folders, %" PRId64 " of them for the test", count,
                   files->classes.count, rows);
    return out->test != NULL ? LEAT_OK : err->code;
}

/* ---- both ---- */

/* Records or paths as pictures with labels. */
static leat_dataset *decoded(leat_dataset *dataset, struct reading *reading, leat_error *err) {
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS};
    /* Reading files and decoding take time; parsing a record does not. */
    parallel.num_parallel_calls = LEAT_AUTOTUNE;
    if (reading->features != NULL)
        dataset = map(dataset, "parse", trace_parse, reading, NULL, err);
    else
        dataset = map(dataset, "read", trace_load, reading, &parallel, err);
    return map(dataset, "decode", trace_decode, reading, &parallel, err);
}

/* The size to train with, from the first picture and the options. */
static void choose_shape(leat_shape first, struct reading *reading) {
    int64_t height = first.dims[0], width = first.dims[1], size = reading->options->image_size;
    /* Both sides shrink by one factor, and none to 0. */
    int64_t side = LEATI_MAX(height, width);
    bool folders = reading->features == NULL;
    if (size > 0) {
        height = width = size;
    } else if (folders && side > LARGEST_SIDE) {
        height = height * LARGEST_SIDE / side > 0 ? height * LARGEST_SIDE / side : 1;
        width = width * LARGEST_SIDE / side > 0 ? width * LARGEST_SIDE / side : 1;
    }
    reading->resize = size > 0 || folders;
    reading->channels = first.dims[2] < 3 ? 1 : 3; /* without alpha */
    reading->image = LEAT_SHAPE(height, width, reading->channels);
}

/* Decodes the first picture of `dataset` (given). */
static leat_status peek(leat_dataset *dataset, struct reading *reading, leat_error *err) {
    dataset = decoded(dataset, reading, err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS};
    /* One element is read: nothing can be tuned by it. */
    options.autotune = false;
    leat_iterator *iterator = dataset != NULL ? leat_iterator_new(dataset, &options, err) : NULL;
    leat_dataset_unref(dataset);
    if (iterator == NULL)
        return err->code;
    leat_element element = {0};
    leat_status status = leat_iterator_next(iterator, &element, err);
    if (status == LEAT_OUT_OF_RANGE)
        status = leati_refuse(err, VALUE, "there are no training pictures");
    if (status == LEAT_OK)
        choose_shape(leat_tensor_shape(&element.tensors[0]), reading);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    return status;
}

static leat_dataset *finish(leat_dataset *dataset, struct reading *reading, leat_error *err) {
    dataset = decoded(dataset, reading, err);
    dataset = map(dataset, "scale", trace_scale, reading, NULL, err);
    /* Floats and not files: later epochs neither read nor decode. */
    return leat_dataset_cache(dataset, err);
}

leat_status leati_train_corpus_open(const leati_corpus_files *files,
                                    const leati_train_options *options, leati_corpus *out,
                                    leat_error *err) {
    *out = (leati_corpus){0};
    struct reading reading = {.options = options};
    bool records = files->train.count > 0;
    leat_status status = LEAT_OK;
    if (records && (reading.features = record_features(options, err)) == NULL)
        status = err->code;
    if (status == LEAT_OK)
        status = records ? open_records(files, options->seed.value, out, err)
                         : open_pictures(files, options->seed.value, out, err);
    /* A reference, because the dataset is used up and the corpus goes on with it. */
    if (status == LEAT_OK)
        status = peek(leat_dataset_take(leat_dataset_ref(out->train), 1, err), &reading, err);
    if (status == LEAT_OK) {
        out->image = reading.image;
        out->names = &files->classes;
        out->classes = options->classes       ? options->classes
                       : files->classes.count ? (int64_t)files->classes.count
                                              : 10;
        out->train = finish(out->train, &reading, err);
        out->test = finish(out->test, &reading, err);
        status = out->train != NULL && out->test != NULL ? LEAT_OK : err->code;
    }
    leat_spec_unref(reading.features);
    if (status != LEAT_OK)
        leati_train_corpus_fini(out);
    return status;
}

leat_dataset *leati_train_pictures_open(const leati_paths *pictures, leat_shape image,
                                        int64_t batch, leat_error *err) {
    /* Labels are all 0: what is predicted has none, and pairs keep the one way of reading. */
    leati_corpus_files files = {.pictures = *pictures};
    struct reading reading = {.channels = (int)image.dims[2], .image = image, .resize = true};
    bool *test = leati_alloc_zero(pictures->count, sizeof *test);
    leat_dataset *dataset = NULL;
    files.labels = leati_alloc_zero(pictures->count, sizeof *files.labels);
    if (test == NULL || files.labels == NULL)
        leati_no_memory(err);
    else
        dataset = pictures_dataset(&files, test, false, (int64_t)pictures->count, err);
    leati_free(test);
    leati_free(files.labels);
    if (dataset == NULL)
        return NULL;
    dataset = decoded(dataset, &reading, err);
    return leat_dataset_batch(map(dataset, "scale", trace_scale, &reading, NULL, err), batch, NULL,
                              err);
}

void leati_train_corpus_fini(leati_corpus *corpus) {
    leat_dataset_unref(corpus->train);
    leat_dataset_unref(corpus->test);
    *corpus = (leati_corpus){0};
}
