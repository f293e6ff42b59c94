/* Rows of a memory cache: see cache_rows.h.
 *
 * A chunk grows by appending until it has CHUNK_BYTES, so that a cache of any size copies each row
 * a constant number of times and never needs twice its memory. Locks: a store's `lock` guards its
 * pointer; it is a leaf. Failures: RESOURCE_EXHAUSTED, and DATA_LOSS for damaged bytes. */
#include "data/kept/cache_rows.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "data/values/values.h"

enum { CHUNK_BYTES = 4 << 20 };

leati_cache_rows *leati_cache_rows_new(leat_error *err) {
    leati_cache_rows *rows = leati_alloc_zero(1, sizeof(*rows));
    if (rows == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    atomic_init(&rows->refs, 1);
    return rows;
}

leati_cache_rows *leati_cache_rows_ref(leati_cache_rows *rows) {
    atomic_fetch_add_explicit(&rows->refs, 1, memory_order_relaxed);
    return rows;
}

void leati_cache_rows_unref(leati_cache_rows *rows) {
    if (rows == NULL || atomic_fetch_sub_explicit(&rows->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < rows->count; i++)
        leati_block_fini(&rows->chunks[i]);
    leati_free(rows->chunks);
    leati_block_fini(&rows->piece);
    leati_writer_fini(&rows->origin);
    leati_free(rows);
}

/* The chunk to append to. */
static leati_block *open_chunk(leati_cache_rows *rows, leat_error *err) {
    /* A chunk may exceed the size by the last block that was appended to it. */
    if (rows->count > 0 && rows->chunk_bytes < CHUNK_BYTES)
        return &rows->chunks[rows->count - 1];
    if (!leati_grow((void **)&rows->chunks, &rows->capacity, rows->count + 1,
                    sizeof(*rows->chunks))) {
        leati_no_memory(err);
        return NULL;
    }
    rows->chunks[rows->count] = (leati_block){0};
    rows->chunk_bytes = 0;
    return &rows->chunks[rows->count++];
}

leat_status leati_cache_rows_add(leati_cache_rows *rows, const leati_block *block, int64_t begin,
                                 int64_t n, leat_error *err) {
    leati_block *chunk = open_chunk(rows, err);
    if (chunk == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_block *piece = &rows->piece;
    leat_status status = leati_block_slice(block, begin, n, piece, err);
    size_t bytes = 0;
    for (int c = 0; c < piece->num_columns && status == LEAT_OK; c++) {
        bytes += leati_column_bytes(&piece->columns[c], 0, n);
        /* Rows behind others are copied anyway. */
        if (chunk->n == 0 || piece->columns[c].form == LEATI_TENSORS)
            status = leati_column_compact(&piece->columns[c], n, err);
    }
    if (status == LEAT_OK)
        status = leati_block_append(chunk, piece, err);
    leati_block_clear(piece);
    if (status == LEAT_OK) {
        rows->rows += n;
        rows->bytes += (int64_t)bytes;
        rows->chunk_bytes += bytes;
    }
    return status;
}

leat_status leati_cache_rows_view(const leati_cache_rows *rows, leati_cache_cursor *cursor,
                                  int64_t at, int64_t want, leati_block *out, leat_error *err) {
    /* Whoever goes back looks from the front; all others go on from where they were. */
    if (at < cursor->first)
        *cursor = (leati_cache_cursor){0};
    while (cursor->chunk < rows->count && at - cursor->first >= rows->chunks[cursor->chunk].n)
        cursor->first += rows->chunks[cursor->chunk++].n;
    if (cursor->chunk == rows->count) {
        *cursor = (leati_cache_cursor){0};
        return leati_fail(err, LEAT_INTERNAL, "a cache of %lld rows has no row %lld",
                          (long long)rows->rows, (long long)at);
    }
    const leati_block *chunk = &rows->chunks[cursor->chunk];
    int64_t left = chunk->n - (at - cursor->first);
    return leati_block_slice(chunk, at - cursor->first, LEATI_MIN(left, want), out, err);
}

leat_status leati_cache_rows_save(const leati_cache_rows *rows, leati_writer *out,
                                  leat_error *err) {
    leat_status status = LEAT_OK;
    leati_put_uint(out, rows->count);
    for (size_t i = 0; i < rows->count && status == LEAT_OK; i++)
        status = leati_values_put_block(out, &rows->chunks[i], 0, rows->chunks[i].n, err);
    return status;
}

leat_status leati_cache_rows_load(leati_cache_rows *rows, const leat_spec *spec, leati_reader *in,
                                  leat_error *err) {
    uint64_t count = 0;
    leati_block block = {0};
    leat_status status = leati_get_uint(in, &count, err);
    for (uint64_t i = 0; i < count && status == LEAT_OK; i++) {
        status = leati_values_get_block(in, spec, &block, err);
        if (status == LEAT_OK && block.n > 0)
            status = leati_cache_rows_add(rows, &block, 0, block.n, err);
    }
    leati_block_fini(&block);
    return status;
}
