/* Looking into CSV files before they are read: rows as Python's csv module gives them, and the
 * dtype that TensorFlow infers from their fields (make_csv_dataset). */
#ifndef LEATI_DATA_SOURCE_CSV_PROBE_H
#define LEATI_DATA_SOURCE_CSV_PROBE_H

#include "base/text.h"
#include "file/stream.h"

typedef struct leati_csv_probe {
    leati_stream stream;
    char *buffer;
    size_t begin, end;
    char delimiter;
    bool quotes;
    bool translate; /* '\r' and "\r\n" end a line too, as where Python decompresses */
    bool was_cr;    /* the last byte was '\r', which was given out as a line's end */
    bool ended;
    leati_text text; /* the fields of the present row, one after the other */
    size_t *ends;    /* where each of them ends */
    size_t count, capacity;
} leati_csv_probe;

/* Opens `path`; {0} before. */
LEAT_WARN_UNUSED leat_status leati_csv_probe_open(leati_csv_probe *probe, const char *path,
                                                  leat_compression compression, char delimiter,
                                                  bool quotes, leat_error *err);
void leati_csv_probe_close(leati_csv_probe *probe); /* {0} is allowed */
/* The next row; *end where there is none. A line that goes on behind its end is
 * INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_csv_probe_row(leati_csv_probe *probe, bool *end,
                                                 leat_error *err);
/* Field `index` of the present row. Borrowed until the next. */
leat_string leati_csv_probe_field(const leati_csv_probe *probe, size_t index);

/* The narrowest of int32, int64, float32, float64 and string that `text` is, but none before
 * `known` (LEAT_INVALID: nothing known). Empty text and `na` tell nothing. */
leat_dtype leati_csv_infer(leat_string text, leat_string na, leat_dtype known);

#endif
