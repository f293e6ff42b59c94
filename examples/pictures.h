/* What the programs that train on pictures share: the files of a folder whose sub-folders are the
 * classes, a dataset of their paths and labels, and reading one of them. Header only. */
#ifndef EXAMPLES_PICTURES_H
#define EXAMPLES_PICTURES_H

#define _DEFAULT_SOURCE /* of scandir */
#include <dirent.h>
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PICTURES 100000
#define PICTURES_UNUSED __attribute__((unused))

struct pictures {
    char **paths;
    int64_t *labels;
    int64_t count, classes;
    int64_t size; /* width and height that they are brought to */
};

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static leat_status out_of_memory(leat_error *err) {
    err->code = LEAT_RESOURCE_EXHAUSTED;
    snprintf(err->text, sizeof err->text, "no memory for the names of the pictures");
    return err->code;
}

static leat_status add_picture(struct pictures *pictures, const char *folder, const char *name,
                               leat_error *err) {
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path == NULL)
        return out_of_memory(err);
    snprintf(path, room, "%s/%s", folder, name);
    pictures->paths[pictures->count] = path;
    pictures->labels[pictures->count++] = pictures->classes;
    return LEAT_OK;
}

static leat_status add_class(struct pictures *pictures, const char *folder, leat_error *err) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_visible, alphasort);
    leat_status status = LEAT_OK;
    for (int i = 0; i < count; i++) {
        if (status == LEAT_OK && pictures->count < MAX_PICTURES)
            status = add_picture(pictures, folder, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    pictures->classes += count > 0; /* files that lie beside the classes are none */
    return status;
}

static void pictures_fini(struct pictures *pictures) {
    for (int64_t i = 0; i < pictures->count; i++)
        free(pictures->paths[i]);
    free(pictures->paths);
    free(pictures->labels);
}

/* Finds the pictures; release with pictures_fini, also after a failure. */
static leat_status pictures_find(struct pictures *pictures, const char *folder, leat_error *err) {
    pictures->paths = calloc(MAX_PICTURES, sizeof *pictures->paths);
    pictures->labels = calloc(MAX_PICTURES, sizeof *pictures->labels);
    if (pictures->paths == NULL || pictures->labels == NULL)
        return out_of_memory(err);
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_visible, alphasort);
    leat_status status = LEAT_OK;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (status == LEAT_OK)
            status = add_class(pictures, path, err);
        free(entries[i]);
    }
    free(entries);
    if (status == LEAT_OK && pictures->count == 0) {
        err->code = status = LEAT_NOT_FOUND;
        snprintf(err->text, sizeof err->text, "%.300s: no pictures in sub-folders", folder);
    }
    return status;
}

/* (path, label) of every `every`-th picture from number `first` on, or of all others. Owned. */
static leat_dataset *pictures_dataset(const struct pictures *pictures, int64_t first, int64_t every,
                                      bool others, leat_error *err) {
    leat_string *paths = calloc((size_t)pictures->count + 1, sizeof *paths);
    int64_t *labels = calloc((size_t)pictures->count + 1, sizeof *labels);
    leat_dataset *dataset = NULL;
    leat_element element = {0};
    leat_tensor tensors[2] = {{0}, {0}};
    int64_t count = 0;
    for (int64_t i = 0; paths != NULL && labels != NULL && i < pictures->count; i++) {
        if ((i % every == first) == others)
            continue;
        paths[count] = (leat_string){pictures->paths[i], strlen(pictures->paths[i])};
        labels[count++] = pictures->labels[i];
    }
    leat_spec *spec =
        leat_spec_tuple((leat_spec *[]){leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(count), err),
                                        leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(count), err)},
                        2, err);
    if (spec != NULL && count > 0 &&
        leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(count), paths, &tensors[0], err) == LEAT_OK &&
        leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(count), labels, &tensors[1], err) == LEAT_OK &&
        leat_element_set(&element, spec, tensors, err) == LEAT_OK)
        dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_spec_unref(spec);
    free(paths);
    free(labels);
    return dataset;
}

/* map: (path, label) -> (picture of 3 channels from 0 to 1, label). */
static int pictures_load(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    const struct pictures *pictures = context;
    leat_tensor most = leat_scalar_float32(255);
    leat_value bytes = leat_op_decode_image(leat_op_read_file(leat_graph_argument(graph, 0)), 3,
                                            LEAT_UINT8, false);
    leat_value picture =
        leat_op_resize(bytes, (int64_t[]){pictures->size, pictures->size}, 2, NULL);
    outputs[0] = leat_op_divide(picture, leat_graph_tensor(graph, &most));
    outputs[1] = leat_graph_argument(graph, 1);
    leat_tensor_unref(&most);
    return 2;
}

/* The pictures of a dataset (given) of paths and labels, loaded in parallel. Owned. */
static leat_dataset *pictures_loaded(struct pictures *pictures, leat_dataset *paths,
                                     leat_error *err) {
    if (paths == NULL)
        return NULL;
    leat_function *load = LEAT_TRACE(pictures_load, pictures, leat_dataset_spec(paths), err);
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS};
    parallel.num_parallel_calls = LEAT_AUTOTUNE;
    return leat_dataset_map(paths, load, &parallel, err);
}

/* A small convolutional network for pictures of this size. Owned. */
PICTURES_UNUSED static leat_model *pictures_model(const struct pictures *pictures,
                                                  leat_error *err) {
    leat_layer_conv2d_options relu = {LEAT_LAYER_CONV2D_DEFAULTS, .activation = LEAT_RELU};
    leat_layer_dense_options softmax = {LEAT_LAYER_DENSE_DEFAULTS, .activation = LEAT_SOFTMAX};
    leat_layer *layers[] = {leat_layer_conv2d(16, 3, 3, &relu, err),
                            leat_layer_max_pooling2d(NULL, err),
                            leat_layer_max_pooling2d(NULL, err), leat_layer_flatten(NULL, err),
                            leat_layer_dense((int)pictures->classes, &softmax, err)};
    leat_model *model = leat_model_sequential(layers, (int)(sizeof layers / sizeof layers[0]), err);
    leat_shape input = LEAT_SHAPE(pictures->size, pictures->size, 3);
    if (model != NULL && leat_model_build(model, input, err) != LEAT_OK) {
        leat_model_free(model);
        return NULL;
    }
    return model;
}

#endif
