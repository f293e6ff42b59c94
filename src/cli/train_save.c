/* The file of `leat train --out`: weights and optimizer as safetensors, with notes that say of
 * which pictures and classes, and how many epochs are done.
 *
 * Happy path: every variable is written under its place ("weight/0", "optimizer/3"), because names
 * of layers are numbered by the process; a file is whole or not there. Failures: those of the file
 * system; INVALID_ARGUMENT where a file is of other pictures, classes or another network, which
 * says both. No locks. */
#include "cli/train.h"

#include "base/alloc.h"
#include "base/error.h"
#include "file/safetensors.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "leat train 1"
enum { NAME_SIZE = 32, NUM_NOTES = 5 };

/* All variables with their places in the file. */
typedef struct places {
    leat_variable *const *variables;
    int count;
    const char *kind;
} places;

static void find_places(const leati_trainer *trainer, places out[2]) {
    out[0].kind = "weight";
    out[0].variables = leat_model_trainable_variables(trainer->model, &out[0].count);
    out[1].kind = "optimizer";
    out[1].variables = leat_optimizer_variables(trainer->optimizer, &out[1].count);
}

static void write_name(char name[NAME_SIZE], const char *kind, int index) {
    (void)snprintf(name, NAME_SIZE, "%s/%d", kind, index);
}

/* ---- notes ---- */

/* The names of the classes as an array of JSON (free). NULL without memory, or for names that are
 * no UTF-8. */
static char *names_text(const leati_paths *names) {
    json_t *list = json_array();
    char *text = NULL;
    bool good = list != NULL;
    /* json_string refuses what is no UTF-8; names of folders may be any bytes. */
    for (size_t i = 0; good && i < names->count; i++)
        good = json_array_append_new(list, json_string(names->values[i])) == 0;
    if (good)
        text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    return text;
}

static leat_status read_names(const char *text, leati_paths *names, leat_error *err) {
    json_t *list = text != NULL ? json_loads(text, 0, NULL) : NULL;
    leat_status status = LEAT_OK;
    for (size_t i = 0; status == LEAT_OK && i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name != NULL)
            status = leati_fs_paths_add(names, name, strlen(name), err);
    }
    json_decref(list);
    return status;
}

/* ---- writing ---- */

static leat_status read_values(const places list[2], leati_named_tensor *tensors,
                               char (*names)[NAME_SIZE], leat_error *err) {
    leat_status status = LEAT_OK;
    for (int k = 0, n = 0; k < 2; k++) {
        for (int i = 0; status == LEAT_OK && i < list[k].count; i++, n++) {
            write_name(names[n], list[k].kind, i);
            tensors[n].name = names[n];
            status = leat_variable_read(list[k].variables[i], &tensors[n].tensor, err);
        }
    }
    return status;
}

static leat_status write_file(const leati_train_options *options, const leati_corpus *corpus,
                              const leati_named_tensor *tensors, int count, int64_t epochs,
                              leat_error *err) {
    char image[96], classes[32], done[32];
    (void)snprintf(image, sizeof image, "%" PRId64 "x%" PRId64 "x%" PRId64, corpus->image.dims[0],
                   corpus->image.dims[1], corpus->image.dims[2]);
    (void)snprintf(classes, sizeof classes, "%" PRId64, corpus->classes);
    (void)snprintf(done, sizeof done, "%" PRId64, epochs);
    char *names = names_text(corpus->names);
    if (names == NULL)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "the names of the classes are no UTF-8, or there is no memory");
    const leati_note notes[NUM_NOTES] = {{"format", FORMAT},
                                         {"image", image},
                                         {"classes", classes},
                                         {"names", names},
                                         {"epochs", done}};
    leat_status status =
        leati_safetensors_write(options->out, tensors, count, notes, NUM_NOTES, err);
    free(names);
    return status;
}

leat_status leati_train_trainer_save(const leati_train_options *options, const leati_corpus *corpus,
                                     const leati_trainer *trainer, int64_t epochs,
                                     leat_error *err) {
    places list[2];
    find_places(trainer, list);
    size_t count = (size_t)(list[0].count + list[1].count);
    leati_named_tensor *tensors = leati_alloc_zero(count, sizeof *tensors);
    char(*names)[NAME_SIZE] = leati_alloc(count, sizeof *names);
    leat_status status = tensors != NULL && names != NULL ? LEAT_OK : leati_no_memory(err);
    if (status == LEAT_OK)
        status = read_values(list, tensors, names, err);
    if (status == LEAT_OK)
        status = write_file(options, corpus, tensors, (int)count, epochs, err);
    for (size_t i = 0; tensors != NULL && i < count; i++)
        leat_tensor_unref(&tensors[i].tensor);
    leati_free(tensors);
    leati_free(names);
    return status;
}

/* ---- reading ---- */

static leat_status assign_places(const leati_safetensors *file, const char *path,
                                 const places *list, leat_error *err) {
    for (int i = 0; i < list->count; i++) {
        char name[NAME_SIZE];
        leat_variable *variable = list->variables[i];
        leat_shape wanted = leat_variable_shape(variable);
        write_name(name, list->kind, i);
        const leat_tensor *tensor = leati_safetensors_find(file, name);
        leat_shape found = tensor != NULL ? leat_tensor_shape(tensor) : wanted;
        if (tensor == NULL || tensor->dtype != leat_variable_dtype(variable) ||
            found.rank != wanted.rank ||
            memcmp(found.dims, wanted.dims, (size_t)wanted.rank * sizeof *wanted.dims) != 0)
            return leati_refuse(err, STRUCTURE,
                                "%s: %s \"%s\" for variable %s; the file is of another network",
                                path, tensor != NULL ? "another shape or dtype of" : "there is no",
                                name, leat_variable_name(variable));
        LEATI_TRY(leat_variable_assign(variable, tensor, err));
    }
    return LEAT_OK;
}

leat_status leati_train_weights_load(const leati_safetensors *file, const char *path,
                                     const leati_trainer *trainer, leat_error *err) {
    places list[2];
    find_places(trainer, list);
    /* The optimizer's values are for training alone. */
    return assign_places(file, path, &list[0], err);
}

leat_status leati_train_weights_open(const char *path, leati_corpus *corpus, leati_paths *names,
                                     leati_safetensors **file, leat_error *err) {
    leat_status status = leati_safetensors_read(path, file, err);
    if (status != LEAT_OK)
        return status;
    const char *format = leati_safetensors_note(*file, "format");
    const char *image = leati_safetensors_note(*file, "image");
    const char *classes = leati_safetensors_note(*file, "classes");
    *corpus = (leati_corpus){.names = names};
    *names = (leati_paths){0};
    int64_t *dims = corpus->image.dims;
    corpus->image.rank = 3;
    if (format == NULL || strcmp(format, FORMAT) != 0 || image == NULL || classes == NULL ||
        sscanf(image, "%" SCNd64 "x%" SCNd64 "x%" SCNd64, &dims[0], &dims[1], &dims[2]) != 3 ||
        sscanf(classes, "%" SCNd64, &corpus->classes) != 1)
        status = leati_refuse(
            err, VALUE, "%s: expected a file that `leat train --out` wrote; its notes are not",
            path);
    else
        status = read_names(leati_safetensors_note(*file, "names"), names, err);
    if (status != LEAT_OK) {
        leati_fs_paths_fini(names);
        leati_safetensors_free(*file);
        *file = NULL;
    }
    return status;
}

static leat_status compare(const char *path, const leati_corpus *wanted, const leati_corpus *found,
                           leat_error *err) {
    const int64_t *a = found->image.dims, *b = wanted->image.dims;
    bool alike = memcmp(a, b, 3 * sizeof *a) == 0 && found->classes == wanted->classes &&
                 found->names->count == wanted->names->count;
    for (size_t i = 0; alike && i < found->names->count; i++)
        alike = strcmp(found->names->values[i], wanted->names->values[i]) == 0;
    if (alike)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "%s is of pictures %" PRId64 "x%" PRId64 "x%" PRId64 " and %" PRId64
                        " classes, the data has %" PRId64 "x%" PRId64 "x%" PRId64 " and %" PRId64
                        ", or other names of classes; give another --out or the data of the file",
                        path, a[0], a[1], a[2], found->classes, b[0], b[1], b[2], wanted->classes);
}

/* The optimizer's own variables exist once it is built for the weights. */
static leat_status build_optimizer(const leati_trainer *trainer, leat_error *err) {
    int count = 0;
    leat_variable *const *variables = leat_model_trainable_variables(trainer->model, &count);
    leat_status status = leat_strategy_enter(trainer->strategy, err);
    if (status != LEAT_OK)
        return status;
    /* In the scope, so that they get a copy on each replica as the weights have. */
    status = leat_optimizer_build(trainer->optimizer, variables, count, err);
    leat_strategy_exit(trainer->strategy);
    return status;
}

leat_status leati_train_trainer_resume(const leati_train_options *options,
                                       const leati_corpus *corpus, leati_trainer *trainer,
                                       leat_error *err) {
    leati_stat stat;
    leati_corpus found;
    leati_paths names;
    leati_safetensors *file = NULL;
    places list[2];
    leat_status status = leati_fs_stat(options->out, &stat, err);
    if (status == LEAT_NOT_FOUND) {
        *err = (leat_error){0};
        return LEAT_OK; /* nothing is done yet */
    }
    if (status == LEAT_OK)
        status = leati_train_weights_open(options->out, &found, &names, &file, err);
    if (status != LEAT_OK)
        return status;
    status = compare(options->out, corpus, &found, err);
    if (status == LEAT_OK)
        status = build_optimizer(trainer, err);
    find_places(trainer, list);
    for (int k = 0; k < 2 && status == LEAT_OK; k++)
        status = assign_places(file, options->out, &list[k], err);
    const char *epochs = leati_safetensors_note(file, "epochs");
    /* The loop passes as many epochs of the shuffled order, so that training goes on as if it had
     * not stopped. */
    trainer->epochs = epochs != NULL ? strtoll(epochs, NULL, 10) : 0;
    if (status == LEAT_OK && leati_train_trainer_speaks(trainer))
        printf("%s: %" PRId64 " epochs are done\n", options->out, trainer->epochs);
    leati_fs_paths_fini(&names);
    leati_safetensors_free(file);
    return status;
}
