/* Chunks of outcomes and lists of them, ascending by position; see task.h. Failures:
 * RESOURCE_EXHAUSTED. No locks: the caller's. */
#include "base/alloc.h"
#include "base/debug.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/worker/task.h"

void leati_worker_chunks_add(leati_worker_chunks *list, leati_worker_chunk *chunk) {
    chunk->next = NULL;
    if (list->last == NULL)
        list->first = chunk;
    else
        list->last->next = chunk;
    list->last = chunk;
    list->outcomes += leati_worker_chunk_outcomes(chunk);
    list->bytes += chunk->bytes;
}

leati_worker_chunk *leati_worker_chunks_pop(leati_worker_chunks *list) {
    leati_worker_chunk *chunk = list->first;
    if (chunk == NULL)
        return NULL;
    list->first = chunk->next;
    if (list->first == NULL)
        list->last = NULL;
    list->outcomes -= leati_worker_chunk_outcomes(chunk);
    list->bytes -= chunk->bytes;
    chunk->next = NULL;
    return chunk;
}

void leati_worker_chunks_insert(leati_worker_chunks *list, leati_worker_chunk *chunk) {
    leati_worker_chunk **link = &list->first;
    while (*link != NULL && (*link)->position < chunk->position)
        link = &(*link)->next;
    chunk->next = *link;
    *link = chunk;
    if (chunk->next == NULL)
        list->last = chunk;
    list->outcomes += leati_worker_chunk_outcomes(chunk);
    list->bytes += chunk->bytes;
}

void leati_worker_chunk_free(leati_worker_chunk *chunk) {
    if (chunk == NULL)
        return;
    leati_block_fini(&chunk->block);
    leati_free(chunk->error);
    leati_free(chunk);
}

void leati_worker_chunks_free(leati_worker_chunks *list) {
    for (leati_worker_chunk *chunk; (chunk = leati_worker_chunks_pop(list)) != NULL;)
        leati_worker_chunk_free(chunk);
}

int64_t leati_worker_chunk_share(const leati_worker_chunk *chunk, int64_t n) {
    int64_t all = leati_worker_chunk_outcomes(chunk);
    return all == n ? chunk->bytes : (int64_t)((double)chunk->bytes * (double)n / (double)all);
}

leati_worker_chunk *leati_worker_chunk_part(const leati_worker_chunk *chunk, int64_t from,
                                            int64_t n, leat_error *err) {
    leati_worker_chunk *part = leati_alloc_zero(1, sizeof *part);
    if (part == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    part->position = chunk->position + from;
    part->bytes = leati_worker_chunk_share(chunk, n);
    leat_status status = LEAT_OK;
    if (chunk->error == NULL) {
        status = leati_block_slice(&chunk->block, from, n, &part->block, err);
    } else {
        part->error = leati_alloc(1, sizeof *part->error);
        if (part->error != NULL)
            *part->error = *chunk->error;
        else
            status = leati_no_memory(err);
    }
    if (status != LEAT_OK) {
        leati_worker_chunk_free(part);
        return NULL;
    }
    return part;
}

void leati_worker_chunk_skip(leati_worker_chunk *chunk, int64_t n) {
    int64_t bytes = leati_worker_chunk_share(chunk, n);
    /* In place, a slice only moves pointers on. */
    leat_status status =
        leati_block_slice(&chunk->block, n, chunk->block.n - n, &chunk->block, &(leat_error){0});
    LEATI_ASSERT(status == LEAT_OK);
    chunk->position += n;
    chunk->bytes -= bytes;
}

leat_status leati_worker_chunk_without(leati_worker_chunk *chunk, const leati_ranges *ranges,
                                       leati_worker_chunks *kept, leati_worker_chunks *dropped,
                                       leat_error *err) {
    int64_t end = chunk->position + leati_worker_chunk_outcomes(chunk), until = 0;
    if (!leati_ranges_look(ranges, chunk->position, &until) && until >= end) {
        leati_worker_chunks_add(kept, chunk);
        return LEAT_OK;
    }
    leat_status status = LEAT_OK;
    for (int64_t at = chunk->position; at < end && status == LEAT_OK; at = until) {
        bool out = leati_ranges_look(ranges, at, &until);
        until = LEATI_MIN(until, end);
        if (out)
            continue;
        leati_worker_chunk *part =
            leati_worker_chunk_part(chunk, at - chunk->position, until - at, err);
        if (part != NULL)
            leati_worker_chunks_add(kept, part);
        else
            status = LEAT_RESOURCE_EXHAUSTED;
    }
    leati_worker_chunks_add(dropped, chunk);
    return status;
}
