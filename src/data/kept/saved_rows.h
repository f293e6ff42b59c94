/* Elements as the records of Dataset.save and snapshot: one serialised TensorProto per tensor leaf,
 * and one per ragged leaf that holds a variant, as TensorFlow has it. */
#ifndef LEATI_DATA_KEPT_SAVED_ROWS_H
#define LEATI_DATA_KEPT_SAVED_ROWS_H

#include "base/bytes.h"
#include "core/block.h"

/* How many records an element of `spec` takes. */
int leati_saved_records(const leat_spec *spec);

/* Have all leaves of `spec` a form in files? UNIMPLEMENTED for datasets, optionals and sparse
 * tensors, and for elements without any tensor. */
LEAT_WARN_UNUSED leat_status leati_saved_check(const char *op, const leat_spec *spec,
                                               leat_error *err);

/* Takes one record (borrowed for the call). */
typedef leat_status (*leati_record_sink)(void *context, const void *data, size_t size,
                                         leat_error *err);

/* Gives the records of element `row` to `sink`, in order; `scratch` is working memory. */
LEAT_WARN_UNUSED leat_status leati_saved_put(const leat_spec *spec, const leati_block *block,
                                             int64_t row, leati_writer *scratch,
                                             leati_record_sink sink, void *context,
                                             leat_error *err);

/* `out` (prepared by this call) becomes up to n elements out of the records that follow one
 * another; out->n are good. On a failure of an element after those its text names component and
 * reason: INVALID_ARGUMENT where a tensor does not fit `spec`, DATA_LOSS where a record is none.
 * Strings are views of the records, whose memory `holder` (borrowed, referenced) keeps. */
LEAT_WARN_UNUSED leat_status leati_saved_get(const leat_spec *spec, const leat_string *records,
                                             int64_t n, leat_buffer *holder, leati_block *out,
                                             leat_error *err);

#endif
