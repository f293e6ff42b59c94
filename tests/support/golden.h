/* Recorded cases: what the parts of the runner share, and the conformance suite of datasets too.
 *
 * A part (tfdata.c, distribute.c, nn.c, image.c) reads the case files of its folder and gives a
 * verdict on each case. A case is skipped only because a name in it is missing from the library's
 * tables. Everything runs on one thread, with the recorded folder as working directory; memory that
 * the runner takes for a part is released at its end, but a broken folder ends the part at once. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "core/json.h"
#include "data/plan/dataset.h"
#include <jansson.h>
#include <leat/leat.h>
#include <stdio.h>

/* How the pipelines of the part tfdata are run; each mode has a bit. */
enum {
    GOLDEN_PLAIN = 1,
    GOLDEN_THREADS_1 = 2,
    GOLDEN_THREADS_2 = 4,
    GOLDEN_THREADS_8 = 8,
    GOLDEN_VERIFY = 16,
    GOLDEN_NO_REWRITES = 32,
    GOLDEN_ROUND_TRIP = 64, /* through the JSON text of the plan */
    GOLDEN_RESTORE = 128,   /* saved at each outcome, restored over the same dataset object */
    GOLDEN_RESUME = 256     /* saved at each outcome, restored over a dataset built anew */
};

typedef struct golden_run {
    uint32_t modes;
    uint64_t seed;      /* of verification mode */
    bool verbose;       /* name each skipped case */
    const char *one;    /* NULL, or the name of the one case to run */
    const char *device; /* that layers, losses, optimizers and metrics run on; NULL: the host */
    int passed, failed, skipped;
    /* Owned; NULL: none. The list of tests/golden/deviations.json. */
    json_t *deviations;
    int deviated;       /* cases that gave what that list says instead of TensorFlow's answer */
    int broken;         /* files that are missing or of an unknown kind */
    json_t *reasons;    /* object: missing name -> number of cases skipped for it */
    json_t *exclusions; /* object: mode and reason -> number of cases not run in that mode */
} golden_run;

/* The case that is being judged. */
typedef struct golden_case {
    golden_run *run;
    const char *file; /* relative to the folder */
    char name[200];
    char missing[200]; /* the first name that the tables lack; empty: none */
    const char *mode;  /* NULL, or how the pipeline is being run */
    bool failed;
    bool deviates; /* the answer is the list's */
} golden_case;

/* ---- verdicts (golden_report.c) ---- */

/* Begins a case; false if the options leave it out. */
bool golden_begin(golden_case *c, golden_run *run, const char *file, const char *name);
/* Says what was expected and what was found; a case may fail in several places. A failure for want
 * of a library that the build left out is something missing. */
void golden_fail(golden_case *c, const char *format, ...) LEAT_PRINTF(2, 3);
/* Names what the tables lack; only the first name of a case counts. */
void golden_missing(golden_case *c, const char *format, ...) LEAT_PRINTF(2, 3);
/* Says why the case is not run in its mode. */
void golden_exclude(golden_case *c, const char *format, ...) LEAT_PRINTF(2, 3);
/* Counts the case. A missing name skips it, whatever else was found. */
void golden_end(golden_case *c);
/* A file that is missing or not understood. */
void golden_broken(golden_run *run, const char *format, ...) LEAT_PRINTF(2, 3);
void golden_summary(const golden_run *run);

/* ---- where leat deviates on purpose (golden_deviations.c) ---- */

/* Reads the list for the run; golden_broken if it cannot. */
void golden_read_deviations(golden_run *run, const char *path);
/* `json`, or the same with the answer that the list has for this case. Owned. */
json_t *golden_deviate(golden_case *c, const json_t *json);

/* ---- files and values (golden_values.c) ---- */

/* A whole file. Owned; NULL after golden_broken. */
json_t *golden_read_json(golden_run *run, const char *file);
/* The cases of a file: a list (owned), either bare or the member "cases". NULL after
 * golden_broken. */
json_t *golden_read_cases(golden_run *run, const char *file);
/* The names of the .json files of a folder, sorted; NULL after golden_broken. */
json_t *golden_list(golden_run *run, const char *folder);
/* Runs each case file of `folder` by its line in a table: `count` lines of `size` bytes that begin
 * with the file's name. A file without a line is broken. */
void golden_run_files(golden_run *run, const char *folder, const void *files, size_t count,
                      size_t size, void (*run_file)(golden_run *run, const void *file));

const char *golden_text(const json_t *object, const char *key); /* "" if absent */
int64_t golden_int(const json_t *object, const char *key, int64_t absent);
bool golden_bool(const json_t *object, const char *key, bool absent);

/* A recorded array, its numbers inline or in a .npy file of `folder`. Owned. */
LEAT_WARN_UNUSED leat_status golden_array(const char *folder, const json_t *json, leat_tensor *out,
                                          leat_error *err);
/* A whole .npy file of `folder`. Owned. */
LEAT_WARN_UNUSED leat_status golden_npy(const char *folder, const char *name, leat_tensor *out,
                                        leat_error *err);
/* Compares two tensors: dtype, shape, and values within `relative` of the expected array's largest
 * magnitude plus `absolute`. False after golden_fail. */
bool golden_close(golden_case *c, const char *what, const leat_tensor *expected,
                  const leat_tensor *found, double relative, double absolute);
/* Value `index` as a number; float16 and bfloat16 too. */
double golden_number(const leat_tensor *tensor, int64_t index);

/* Equal, where numbers under "dtype": "float32" are compared as float32. */
bool golden_json_equal(const json_t *expected, const json_t *found);
/* One line of text, cut to `size`. */
void golden_json_text(const json_t *json, char *text, size_t size);

/* The code of a recorded {"type": ..., "text": ...}; LEAT_OK for an unknown class. */
leat_status golden_code_of_class(const char *type);

/* The elements of a dataset value: a list of one iteration, at most 100. */
json_t *golden_dataset_value(void *context, leat_object *object, leat_error *err);

/* A fresh empty folder, and its removal (golden_folder.c). */
bool golden_folder_make(char *path, size_t size);
void golden_folder_remove(const char *path);
/* `json` with `folder` in place of "$TMP" in all strings. Owned. */
json_t *golden_with_folder(const json_t *json, const char *folder);

/* ---- functions of the cases (golden_functions.c) ---- */

/* The named function for arguments of `input`. Owned; NULL with err, UNIMPLEMENTED if an operation
 * that it needs is not in the table. */
leat_function *golden_function(const char *name, const leat_spec *input, leat_error *err);
/* Is the name in the list, and what does the table of operations lack for it (NULL: nothing)? */
bool golden_function_known(const char *name, const char **lacks);

/* Registers the named generators, before any allocation is made to fail, and forgets them: returns
 * how many of their runs were never closed. */
void golden_generators_begin(void);
int golden_generators_end(void);

/* ---- pipelines of tfdata (golden_pipeline.c, golden_restore.c, golden_tfdata.c) ---- */

/* A case as it is built: the dataset and the named ones it may refer to. */
typedef struct golden_pipeline {
    leat_dataset *dataset;
    json_t *named; /* object: name -> place in `lets` */
    leat_dataset **lets;
    size_t num_lets;
} golden_pipeline;

/* Names the first operator, argument or function of a node that the tables lack. */
void golden_check_names(golden_case *c, const json_t *node);
/* Sets the global seed, builds `let`, runs `before`, builds the pipeline. On failure the error of
 * the first of these that failed. */
LEAT_WARN_UNUSED leat_status golden_build(const json_t *json, golden_pipeline *out,
                                          leat_error *err);
void golden_pipeline_fini(golden_pipeline *pipeline);
/* The dataset of the JSON text of the plan in place of the dataset. */
LEAT_WARN_UNUSED leat_status golden_round_trip(golden_pipeline *pipeline, leat_error *err);

/* Appends up to `limit` outcomes of an iterator (negative: all, `most` at most) to `outcomes`:
 * elements and {"error": CODE}. At the end asks once more. False after golden_fail. */
bool golden_iterate(golden_case *c, leat_iterator *iterator, int64_t limit, size_t most,
                    json_t *outcomes);
/* Compares lists of outcomes, as multisets if `unordered`. False after golden_fail. */
bool golden_compare(golden_case *c, const char *what, const json_t *expected, const json_t *found,
                    bool unordered);
/* Runs the case's first iteration, saves at each outcome and compares what follows. */
void golden_restore(golden_case *c, const json_t *json, bool anew);

/* Terminal operations that give an element (golden_terminal.c): is that one, and its result. */
bool golden_terminal_known(const char *op);
LEAT_WARN_UNUSED leat_status golden_terminal(leat_dataset *dataset, const json_t *terminal,
                                             leat_element *out, leat_error *err);

/* Judges one case of tfdata in the run's modes. */
void golden_tfdata_case(golden_run *run, const char *file, const json_t *json);

/* ---- parts ---- */
void golden_tfdata(golden_run *run);
void golden_distribute(golden_run *run);
void golden_nn(golden_run *run);
void golden_image(golden_run *run);

#endif
