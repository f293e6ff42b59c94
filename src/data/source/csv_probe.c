/* Rows and dtypes of CSV files: see csv_probe.h. Python's reader is a machine that is fed byte by
 * byte and told where each line ends; it is followed here. No locks. */
#include "data/source/csv_probe.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/number.h"
#include <math.h>
#include <string.h>

enum { CHUNK = 64 << 10, LINE_END = -1, FILE_END = -2 };

leat_status leati_csv_probe_open(leati_csv_probe *probe, const char *path,
                                 leat_compression compression, char delimiter, bool quotes,
                                 leat_error *err) {
    probe->delimiter = delimiter;
    probe->quotes = quotes;
    /* Python decompresses to text, where the three line ends have become one. */
    probe->translate = compression != LEAT_COMPRESSION_NONE;
    probe->buffer = leati_alloc(CHUNK, 1);
    if (probe->buffer == NULL)
        return leati_no_memory(err);
    return leati_stream_open(&probe->stream, path, compression, err);
}

void leati_csv_probe_close(leati_csv_probe *probe) {
    leati_stream_close(&probe->stream);
    leati_free(probe->buffer);
    leati_free(probe->ends);
    leati_text_fini(&probe->text);
    memset(probe, 0, sizeof(*probe));
}

/* The next byte, or FILE_END. */
static leat_status next_byte(leati_csv_probe *probe, int *byte, leat_error *err) {
    for (;;) {
        if (probe->begin == probe->end) {
            leat_status status =
                leati_stream_read(&probe->stream, probe->buffer, CHUNK, &probe->end, err);
            probe->begin = 0;
            if (status != LEAT_OK || probe->end == 0) {
                *byte = FILE_END;
                return status;
            }
        }
        *byte = (unsigned char)probe->buffer[probe->begin++];
        bool second = probe->was_cr && *byte == '\n';
        probe->was_cr = probe->translate && *byte == '\r';
        if (second)
            continue; /* of "\r\n", which was given out as one */
        *byte = probe->was_cr ? '\n' : *byte;
        return LEAT_OK;
    }
}

static leat_status save_field(leati_csv_probe *probe, leat_error *err) {
    if (!leati_grow((void **)&probe->ends, &probe->capacity, probe->count + 1,
                    sizeof(*probe->ends)))
        return leati_no_memory(err);
    probe->ends[probe->count++] = probe->text.size;
    return LEAT_OK;
}

enum place { RECORD_START, FIELD_START, PLAIN, QUOTED, AFTER_QUOTE, RECORD_END };

/* Feeds a byte or LINE_END. */
static leat_status feed(leati_csv_probe *probe, enum place *place, int byte, leat_error *err) {
    bool line_end = byte == '\n' || byte == '\r' || byte == LINE_END;
    char c = (char)byte;
    switch (*place) {
    case RECORD_END:
        if (!line_end) {
            return leati_refuse(
                err, VALUE, "a line goes on behind '\\r'; expected '\\n' or \"\\r\\n\" line ends");
        }
        *place = byte == LINE_END ? RECORD_START : RECORD_END;
        return LEAT_OK;
    case RECORD_START:
        if (line_end) {
            *place = byte == LINE_END ? RECORD_START : RECORD_END;
            return LEAT_OK;
        }
        break;
    case QUOTED:
        if (byte == '"')
            *place = AFTER_QUOTE;
        else if (byte != LINE_END)
            leati_text_add(&probe->text, &c, 1);
        return LEAT_OK;
    default: break;
    }
    if (line_end) {
        *place = byte == LINE_END ? RECORD_START : RECORD_END;
        return save_field(probe, err);
    }
    bool at_start = *place == RECORD_START || *place == FIELD_START;
    if (*place == AFTER_QUOTE && byte == '"') {
        leati_text_add(&probe->text, &c, 1);
        *place = QUOTED;
    } else if (at_start && probe->quotes && byte == '"') {
        *place = QUOTED;
    } else if (c == probe->delimiter) {
        *place = FIELD_START;
        return save_field(probe, err);
    } else {
        leati_text_add(&probe->text, &c, 1);
        *place = PLAIN;
    }
    return LEAT_OK;
}

/* A row whose quote is not closed would be the rest of the file. */
static leat_status too_long(const leati_csv_probe *probe, uint64_t most, leat_error *err) {
    const char *path = probe->stream.file->path;
    (void)leati_refuse(err, VALUE,
                       "a row has more than %llu bytes, the most that are allowed; is a quote not "
                       "closed? Else " LEATI_RAISE_LINES,
                       (unsigned long long)most);
    leati_error_at_file(err, path, strlen(path), -1, false);
    return err->code;
}

leat_status leati_csv_probe_row(leati_csv_probe *probe, bool *end, leat_error *err) {
    enum place place = RECORD_START;
    leat_status status = LEAT_OK;
    bool any = false;
    const uint64_t most = leati_limits_max_line();
    probe->count = 0;
    probe->text.size = 0;
    *end = false;
    for (bool done = false; !done && status == LEAT_OK;) {
        int byte = 0;
        status = next_byte(probe, &byte, err);
        if (status != LEAT_OK)
            break;
        if (byte == FILE_END) {
            *end = !any;
            /* What is left of an open quote is a field. */
            if (place == QUOTED)
                status = save_field(probe, err);
            else if (any && place != RECORD_START)
                status = feed(probe, &place, LINE_END, err);
            break;
        }
        any = true;
        status = feed(probe, &place, byte, err);
        if (status == LEAT_OK && probe->text.size + probe->count > most)
            status = too_long(probe, most, err);
        /* A line is fed with its end, and then told to have ended: within quotes the row goes
         * on. */
        if (byte == '\n' && status == LEAT_OK) {
            status = feed(probe, &place, LINE_END, err);
            done = place == RECORD_START;
        }
    }
    if (probe->text.failed)
        return leati_no_memory(err);
    return status;
}

leat_string leati_csv_probe_field(const leati_csv_probe *probe, size_t index) {
    size_t begin = index == 0 ? 0 : probe->ends[index - 1];
    return (leat_string){.data = probe->text.data + begin, .size = probe->ends[index] - begin};
}

/* ---- what a field is ---- */

/* The text without the white space that Python strips, and without underscores between digits;
 * false where an underscore stands elsewhere or the text is longer than any number of use. */
static bool strip(leat_string s, char *out, size_t size) {
    static const char spaces[] = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
    size_t n = 0;
    while (s.size > 0 && strchr(spaces, s.data[0]) != NULL && s.data[0] != '\0') {
        s.data++;
        s.size--;
    }
    while (s.size > 0 && s.data[s.size - 1] != '\0' && strchr(spaces, s.data[s.size - 1]) != NULL)
        s.size--;
    if (s.size == 0 || s.size >= size)
        return false;
    for (size_t i = 0; i < s.size; i++) {
        bool inside = i > 0 && i + 1 < s.size && s.data[i - 1] >= '0' && s.data[i - 1] <= '9' &&
                      s.data[i + 1] >= '0' && s.data[i + 1] <= '9';
        if (s.data[i] != '_')
            out[n++] = s.data[i];
        else if (!inside)
            return false;
    }
    out[n] = '\0';
    return true;
}

static bool is_integer(leat_string text, leat_dtype dtype) {
    char number[256];
    int64_t value = 0;
    return strip(text, number, sizeof(number)) &&
           leati_number_parse((leat_string){number, strlen(number)}, dtype, &value);
}

/* A number below infinity of this precision, as Python writes floats: neither NaN nor
 * hexadecimal. */
static bool is_float(leat_string text, leat_dtype dtype) {
    char number[256];
    double value = 0;
    if (!strip(text, number, sizeof(number)) || strpbrk(number, "xX(") != NULL ||
        !leati_number_parse((leat_string){number, strlen(number)}, LEAT_FLOAT64, &value))
        return false;
    /* Minus infinity is below, too: TensorFlow asks for nothing but "less than the largest". */
    return dtype == LEAT_FLOAT32 ? (double)(float)value < INFINITY : value < INFINITY;
}

leat_dtype leati_csv_infer(leat_string text, leat_string na, leat_dtype known) {
    static const leat_dtype order[] = {LEAT_INT32, LEAT_INT64, LEAT_FLOAT32, LEAT_FLOAT64};
    bool at_least = known == LEAT_INVALID;
    if (text.size == 0 || (text.size == na.size && memcmp(text.data, na.data, na.size) == 0))
        return known;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        at_least = at_least || known == order[i];
        /* The first two of the list are integers. */
        bool fits = i < 2 ? is_integer(text, order[i]) : is_float(text, order[i]);
        if (at_least && fits)
            return order[i];
    }
    return LEAT_STRING;
}
