/* Reading what Dataset.save and snapshot wrote, as a plan: a dataset of the shards' datasets, and
 * a function, or the default interleave, that makes one dataset of them. */
#ifndef LEATI_DATA_KEPT_SAVED_READER_H
#define LEATI_DATA_KEPT_SAVED_READER_H

#include "data/kept/saved_files.h"
#include "data/plan/dataset.h"
#include "data/run/state.h"

/* The spec of reader_func's argument for elements of `spec`: a dataset of datasets. Owned. */
leat_spec *leati_saved_reader_input(const leat_spec *spec, leat_error *err);

/* Does `function` (NULL: the default), argument reader_func of `op`, take the shards of elements of
 * `spec` and return a dataset of such elements? INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_saved_check_reader(const char *op, const leat_object *function,
                                                      const leat_spec *spec, leat_error *err);

/* Does `function` (NULL: none), argument shard_func of `op`, take elements of `spec` and return an
 * int64 scalar? INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_saved_check_shard(const char *op, const leat_object *function,
                                                     const leat_spec *spec, leat_error *err);

/* The numbers of the shards of rows [begin, begin + n) of `block`, by calling `program` for
 * outcomes `ordinal` and on: `out` (one column) gets at least one, and maybe fewer than n, or the
 * failure of the first row. `node` counts calls; NULL: nobody does. */
LEAT_WARN_UNUSED leat_status leati_saved_shards(leati_node_state *node,
                                                const leati_program *program,
                                                leati_scratch *scratch, const leati_block *block,
                                                int64_t begin, int64_t n, int64_t ordinal,
                                                leati_block *out, leat_error *err);

/* How many shards the default reads in turns: the machine's processors, as in TensorFlow. */
int64_t leati_saved_cycle(void);

/* The plan that reads run `run` of `folder`. `reader_func` NULL: an interleave of `cycle_length`.
 * Of a run without elements it is an empty dataset, also where the run's folder is gone. NOT_FOUND
 * or DATA_LOSS, naming the path and the numbers of elements, where folders or files are gone, or
 * are too many, as far as the metadata say how many there are. Owned. */
leat_dataset *leati_saved_plan(const char *folder, const char *run, leat_compression compression,
                               const leat_spec *spec, const leat_object *reader_func,
                               int64_t cycle_length, leat_error *err);
/* The elements of the datasets that `shards` (given) gives, as reader_func makes one of them; NULL:
 * an interleave of `cycle_length`. Owned. */
leat_dataset *leati_saved_read(leat_dataset *shards, const leat_object *reader_func,
                               int64_t cycle_length, leat_error *err);

#endif
