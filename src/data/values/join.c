/* Joining rows: see join.h. The columns are the reservoir's, which knows which rows have a fixed
 * size; headers of strings count as such. Memory is taken before rows are appended, so that rows
 * that were consumed cannot get lost. No locks. */
#include "data/values/join.h"
#include "base/minmax.h"

enum { MOST_ROWS = 4096, LARGE = LEATI_BYTE_TARGET / 8, LINE = 64, MOST_ASKED = 256 };

leat_status leati_join_init(leati_join *join, const leat_spec *spec, leat_error *err) {
    leat_status status = leati_reservoir_init(&join->columns, spec, err);
    for (int c = 0; c < join->columns.num_columns && status == LEAT_OK; c++) {
        leati_reservoir_column *column = &join->columns.columns[c];
        int64_t values = leati_shape_count(&column->shape);
        bool fixed = column->dtype == LEAT_STRING && values > 0 &&
                     values <= LEATI_RESERVOIR_ROW / (int64_t)sizeof(leat_string);
        column->row_bytes = fixed ? (size_t)values * sizeof(leat_string) : column->row_bytes;
        join->has_text = join->has_text || fixed;
    }
    return status;
}

void leati_join_fini(leati_join *join) {
    leati_reservoir_fini(&join->columns);
}

leat_status leati_join_begin(leati_join *join, int64_t want, leati_block *out, leat_error *err) {
    size_t row = 0;
    for (int c = 0; c < join->columns.num_columns; c++)
        row += join->columns.columns[c].row_bytes;
    /* Rows of unknown size count nothing here; for these MOST_ROWS is the bound. */
    int64_t n = out->byte_target == 0 || row == 0 ? want : (int64_t)(out->byte_target / row);
    n = LEATI_MAX(1, n);
    n = LEATI_MIN(want, n);
    /* Who offers destinations has memory for as many as he wants. */
    join->most = n < MOST_ROWS || out->destinations != NULL ? n : MOST_ROWS;
    leat_status status = leati_reservoir_begin(&join->columns, join->most, out, err);
    out->n = 0;
    join->blocks++;
    join->text = 0;
    join->full = false;
    return status;
}

/* Copies rows of fixed size. Asks for the row that will be read in the source's next turn: turns
 * are so far apart that it would have to be waited for, and there are so many sources that the
 * processor does not foresee it. */
static void copy_rows(const leati_column *from, int64_t begin, int64_t rows, int64_t n,
                      size_t bytes, char *to, int64_t stride) {
    leati_column_gather(from, begin, rows, to, stride);
    if (begin + rows < n) {
        const char *next = leati_column_row(from, begin + rows);
        for (size_t at = 0; at < bytes && at < MOST_ASKED; at += LINE)
            __builtin_prefetch(next + at);
    }
}

static void join_origins(leati_join *join, const leati_block *block, int64_t begin, int64_t n,
                         leati_block *out) {
    const leat_buffer *owner = block->origins.owner;
    /* A block without the one table of paths has origins that mean nothing here. */
    if (owner == NULL || owner->num_holds != 1)
        return;
    if (out->origins.data == NULL)
        leati_reservoir_begin_origins(&join->columns, owner->holds[0], join->most, out);
    if (out->origins.data != NULL && out->origins.owner->holds[0] == owner->holds[0]) {
        copy_rows(&block->origins, begin, n, block->n, sizeof(int64_t),
                  out->origins.data + out->n * (int64_t)sizeof(int64_t), sizeof(int64_t));
    }
}

static bool holds_text(const leati_join *join, int c) {
    const leati_reservoir_column *column = &join->columns.columns[c];
    return column->dtype == LEAT_STRING && column->row_bytes > 0;
}

/* Makes column c of the block, whose memory is `to`, keep alive what `source` keeps alive: the
 * headers of strings and the bytes behind them. */
static leat_status hold(leati_join *join, int c, leat_buffer *source, leat_buffer *to,
                        leat_error *err) {
    /* Fibonacci hashing: 2^64 divided by the golden ratio; the upper six bits are the place of
     * 64. */
    uint64_t key = ((uint64_t)(uintptr_t)source + (uint64_t)c) * 0x9E3779B97F4A7C15u;
    leati_join_source *entry = &join->held[key >> 58];
    bool known = entry->memory == source && entry->block == join->blocks && entry->column == c;
    if (source == NULL || known)
        return LEAT_OK;
    leat_status status = leati_buffer_hold(to, source, err);
    if (status == LEAT_OK)
        *entry = (leati_join_source){source, join->blocks, c};
    return status;
}

static leat_status hold_rows(leati_join *join, int c, const leati_column *from, int64_t begin,
                             int64_t n, leat_buffer *to, leat_error *err) {
    if (from->form != LEATI_TENSORS)
        return hold(join, c, from->owner, to, err);
    leat_status status = LEAT_OK;
    for (int64_t i = begin; i < begin + n && status == LEAT_OK; i++)
        status = hold(join, c, from->tensors[i].owner, to, err);
    return status;
}

static size_t text_bytes(const leati_join *join, const leati_block *block, int64_t row) {
    size_t bytes = 0;
    for (int c = 0; c < join->columns.num_columns; c++) {
        if (holds_text(join, c)) {
            const leat_string *strings = leati_column_row(&block->columns[c], row);
            size_t values = join->columns.columns[c].row_bytes / sizeof(*strings);
            for (size_t i = 0; i < values; i++)
                /* From LARGE on a string fills the block by itself: the minimum keeps the sum from
                 * overflowing. */
                bytes += LEATI_MIN(strings[i].size, LARGE);
        }
    }
    return bytes;
}

/* How many of n rows there is room for, and whether the block is full then. */
static int64_t count_rows(leati_join *join, const leati_block *block, int64_t begin, int64_t n) {
    int64_t rows = 0;
    while (rows < n && !join->full) {
        /* The row that fills the block belongs to it, so at least one is taken. */
        size_t bytes = text_bytes(join, block, begin + rows++);
        join->text += bytes;
        join->full = bytes >= LARGE || join->text >= LEATI_BYTE_TARGET;
    }
    return rows;
}

leat_status leati_join_rows(leati_join *join, const leati_block *block, int64_t begin, int64_t *n,
                            leati_block *out, leat_error *err) {
    for (int c = 0; c < join->columns.num_columns; c++) {
        leat_status status = !holds_text(join, c) ? LEAT_OK
                                                  : hold_rows(join, c, &block->columns[c], begin,
                                                              *n, out->columns[c].owner, err);
        if (status != LEAT_OK) {
            *n = 0;
            return status;
        }
    }
    int64_t rows = *n = join->has_text ? count_rows(join, block, begin, *n) : *n;
    for (int c = 0; c < join->columns.num_columns; c++) {
        const leati_column *from = &block->columns[c];
        leati_column *to = &out->columns[c];
        if (join->columns.columns[c].row_bytes > 0) {
            copy_rows(from, begin, rows, block->n, join->columns.columns[c].row_bytes,
                      to->data + out->n * to->stride, to->stride);
            continue;
        }
        leat_tensor *tensors = (leat_tensor *)(uintptr_t)to->tensors;
        for (int64_t i = 0; i < rows; i++)
            tensors[out->n + i] = leati_column_tensor(from, begin + i);
    }
    if (block->origins.data != NULL)
        join_origins(join, block, begin, rows, out);
    out->n += rows;
    return LEAT_OK;
}
