/* Writing strings: operations whose results are new bytes.
 *
 * All bytes of a call lie in one piece that lives as long as the output: a first pass adds lengths,
 * a second writes. */
#ifndef LEATI_GRAPH_SUPPORT_TEXT_TEXTS_H
#define LEATI_GRAPH_SUPPORT_TEXT_TEXTS_H

#include "base/bytes.h"
#include "base/stop.h"
#include "graph/support/support.h"

/* A string is as much work as so many numbers: a look (base/stop.h) for each few hundred. */
enum { LEATI_TEXT_WORK = LEATI_STOP_WORK / 256 };

static inline leat_string *leati_text_strings_of(const leati_operand *operand, int64_t row) {
    return (leat_string *)(void *)leati_support_row_of(operand, row);
}

/* Writes value `index` of row `row` to `to`, or where that is NULL only computes; returns the
 * length. */
typedef size_t (*leati_text_function)(const leati_kernel_call *call, int64_t row, int64_t index,
                                      char *to);
/* Fills output 0, which has its memory. */
LEAT_WARN_UNUSED leat_status leati_text_write(leati_kernel_call *call, leati_text_function function,
                                              leat_error *err);

/* Appends value `index` of row `row` to `out`; may fail. */
typedef leat_status (*leati_text_writer)(const leati_kernel_call *call, int64_t row, int64_t index,
                                         void *context, leati_writer *out, leat_error *err);
/* The same for what is dear to compute or may fail: each value once, in a buffer that is copied. A
 * failure names its row. */
LEAT_WARN_UNUSED leat_status leati_text_collect(leati_kernel_call *call, leati_text_writer writer,
                                                void *context, leat_error *err);

/* FarmHash's 64-bit fingerprint, the same in every process and on every machine. */
uint64_t leati_text_fingerprint(const uint8_t *s, size_t size);

/* Infers values of `dtype`, as many as the run finds in a vector, and their row splits. */
LEAT_WARN_UNUSED leat_status leati_text_infer_parts(leati_infer_call *call, leat_dtype dtype,
                                                    leat_dtype splits, leat_error *err);

/* Is it a byte within a character of UTF-8, not its first? */
static inline bool leati_text_is_trail(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}
/* Takes one character off [at, end), which is not empty; returns its number of bytes. *point is -1
 * where they are no UTF-8: then as many as could have begun a character, at least one. */
size_t leati_text_utf8_next(const char *at, const char *end, int32_t *point);
/* Writes a code point up to 0x10ffff as 1 to 4 bytes; returns how many. */
size_t leati_text_utf8_put(int32_t point, char *to);

#endif
