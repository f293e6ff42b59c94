/* Files read by ranges; see remote.h.
 *
 * Happy path: opening asks for the first megabyte, whose answer says how large the file is and
 * which version. Who then reads on where they stopped has pieces of four megabytes asked for ahead,
 * one more each time up to as many as there may be connections; who reads elsewhere gets what they
 * ask for. Every later answer must be of the same version and size.
 * Where the server gives no ranges the first answer is the whole file, which is kept.
 * With a folder for it (remote_cache.h) pieces are its blocks: those that it has are read there,
 * and others are put into it once they have come; opening a file that it knows asks for one byte.
 * Failures: those of the request, whose piece is then forgotten, so that another read asks anew.
 * Memory: pieces of all files together hold MOST_BYTES, beyond which nothing is asked for ahead.
 *
 * Locks: the file's, for its pieces; requests have their own (net.h). Nobody waits with it held. */
#include "file/remote.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/minmax.h"
#include "base/text.h"
#include "file/remote_cache.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    FIRST_BYTES = LEATI_REMOTE_FIRST_BYTES,
    PIECE_BYTES = LEATI_NET_PIECE_BYTES,
    LEAST_BYTES = 256 << 10,
    SPARE_PIECES = 4
};
#define MOST_BYTES (INT64_C(256) << 20)

static atomic_llong bytes_together; /* of the pieces of all files */

/* [from, from + size) of the file. */
typedef struct piece {
    leati_net_request *request; /* that it comes by, or */
    leat_buffer *kept;          /* what the cache had of it; both NULL: the place is free */
    int64_t from, size;
    uint64_t used;  /* when it was last */
    bool is_stored; /* the cache has it */
} piece;

/* A piece in use: what read_piece holds of it. */
typedef struct hold {
    leati_net_request *request;
    leat_buffer *kept;
    int64_t from, size;
} hold;

typedef struct remote_file {
    leati_file base;
    char *url;
    leati_net_signer signer; /* owned texts; the token is the lock's where it is renewed */
    const char *rights;
    leati_remote_renewal renew;
    char version[LEATI_NET_VERSION_BYTES];
    leati_remote_cache *cache; /* owned; NULL: none */
    pthread_mutex_t lock;      /* guards what follows */
    int64_t next;              /* where who reads on goes on */
    int ahead;                 /* pieces that are asked for ahead */
    uint64_t uses;
    int num_pieces;
    piece *pieces;
} remote_file;

char *leati_remote_path(const leati_fs *fs, const char *rest) {
    leati_text text = {0};
    leati_text_addf(&text, "%s://%s", fs->scheme, rest);
    return leati_text_take(&text);
}

/* ---- pieces; with the lock held ---- */

static bool is_free(const piece *p) {
    return p->request == NULL && p->kept == NULL;
}

static void drop_piece(piece *p) {
    if (is_free(p))
        return;
    atomic_fetch_sub(&bytes_together, p->size);
    leati_net_unref(p->request);
    leat_buffer_unref(p->kept);
    *p = (piece){0};
}

static piece *find_piece(remote_file *file, int64_t offset) {
    for (int i = 0; i < file->num_pieces; i++) {
        piece *p = &file->pieces[i];
        /* What the parent of a fork had asked for does not come to its child. */
        if (p->request != NULL && leati_net_is_lost(p->request))
            drop_piece(p);
        if (!is_free(p) && offset >= p->from && offset < p->from + p->size)
            return p;
    }
    return NULL;
}

/* A free place, or that of what was used longest ago. */
static piece *take_place(remote_file *file) {
    piece *oldest = &file->pieces[0];
    for (int i = 0; i < file->num_pieces; i++) {
        piece *p = &file->pieces[i];
        if (is_free(p))
            return p;
        if (p->used < oldest->used)
            oldest = p;
    }
    drop_piece(oldest);
    return oldest;
}

static leat_status start_piece(remote_file *file, int64_t from, int64_t size, piece **out,
                               leat_error *err) {
    leati_net_ask ask = {LEATI_NET_ASK, .path = file->base.path, .url = file->url,
                         .signer = file->signer.kind != LEATI_NET_UNSIGNED ? &file->signer : NULL,
                         .from = from};
    if (file->rights != NULL)
        ask.rights = file->rights;
    ask.size = size;
    ask.version = file->version;
    ask.whole = file->base.size;
    ask.most = leati_limits_max_record();
    piece *p = take_place(file);
    if (file->cache != NULL)
        p->kept = leati_remote_cache_get(file->cache, from, size);
    if (p->kept == NULL)
        LEATI_TRY(leati_net_start(&ask, &p->request, err));
    if (p->kept == NULL && file->cache != NULL)
        leati_remote_cache_missed(size);
    p->from = from;
    p->size = size;
    p->used = ++file->uses;
    atomic_fetch_add(&bytes_together, size);
    *out = p;
    return LEAT_OK;
}

/* Asks for what follows `now`, as far as there is room. What fails here fails when it is wanted. */
static void ask_ahead(remote_file *file, const piece *now) {
    int64_t from = now->from + now->size;
    for (int i = 0; i < file->ahead && from < file->base.size; i++) {
        piece *p = find_piece(file, from);
        if (p == NULL) {
            int64_t size = LEATI_MIN(PIECE_BYTES, file->base.size - from);
            if (file->cache != NULL)
                leati_remote_cache_block(from, file->base.size, &from, &size);
            /* What is on the disk is soon there when it is wanted. */
            if (file->cache != NULL && leati_remote_cache_has(file->cache, from)) {
                from += size;
                continue;
            }
            if (atomic_load(&bytes_together) + size > MOST_BYTES ||
                start_piece(file, from, size, &p, &(leat_error){0}) != LEAT_OK)
                return;
        }
        from = p->from + p->size;
    }
}

/* Frees what who reads on has behind them. */
static void drop_passed(remote_file *file, int64_t offset) {
    for (int i = 0; i < file->num_pieces; i++)
        if (file->pieces[i].from + file->pieces[i].size <= offset)
            drop_piece(&file->pieces[i]);
}

/* Starts the piece that who reads at `offset` needs. */
static leat_status start_wanted(remote_file *file, int64_t offset, int64_t want, piece **out,
                                leat_error *err) {
    int64_t from = offset, size = LEATI_MIN(want, file->base.size - offset);
    if (file->cache != NULL)
        leati_remote_cache_block(offset, file->base.size, &from, &size);
    return start_piece(file, from, size, out, err);
}

/* The piece with the byte at `offset`; a hand on it. */
static leat_status hold_piece(remote_file *file, int64_t offset, size_t size, hold *out,
                              leat_error *err) {
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&file->lock);
    bool goes_on = offset == file->next;
    bool is_large = size > PIECE_BYTES;
    piece *p = find_piece(file, offset);
    if (goes_on)
        drop_passed(file, offset);
    if (p == NULL) {
        int64_t want = goes_on || is_large ? PIECE_BYTES : LEATI_MAX((int64_t)size, LEAST_BYTES);
        status = start_wanted(file, offset, want, &p, err);
    }
    if (status == LEAT_OK) {
        /* Who looks at the first bytes alone has nothing asked for ahead. */
        bool is_far = p->from > 0 || offset + (int64_t)size > p->size / 2;
        p->used = ++file->uses;
        if (is_large)
            file->ahead = file->num_pieces - SPARE_PIECES;
        if (is_large || (goes_on && is_far))
            ask_ahead(file, p);
        if (goes_on && is_far)
            file->ahead = LEATI_MIN(file->ahead + 1, file->num_pieces - SPARE_PIECES);
        *out = (hold){.kept = p->kept, .from = p->from, .size = p->size};
        if (p->kept != NULL)
            leat_buffer_ref(p->kept);
        else
            out->request = leati_net_ref(p->request);
    }
    pthread_mutex_unlock(&file->lock);
    return status;
}

static void forget_piece(remote_file *file, const leati_net_request *request) {
    pthread_mutex_lock(&file->lock);
    for (int i = 0; i < file->num_pieces; i++)
        if (file->pieces[i].request == request)
            drop_piece(&file->pieces[i]);
    pthread_mutex_unlock(&file->lock);
}

/* Keeps a piece once all of it has come. */
static void store_piece(remote_file *file, const hold *h) {
    bool is_due = false;
    if (file->cache == NULL || leati_net_size(h->request) != (size_t)h->size)
        return;
    pthread_mutex_lock(&file->lock);
    for (int i = 0; i < file->num_pieces; i++) {
        piece *p = &file->pieces[i];
        if (p->request == h->request && !p->is_stored)
            is_due = p->is_stored = true;
    }
    pthread_mutex_unlock(&file->lock);
    if (is_due)
        leati_remote_cache_put(file->cache, h->from, leati_net_data(h->request), h->size);
}

/* ---- reading ---- */

/* Reads from one piece: *got > 0 bytes. */
static leat_status read_piece(remote_file *file, int64_t offset, void *data, size_t size,
                              size_t *got, leat_error *err) {
    hold h = {0};
    LEATI_TRY(hold_piece(file, offset, size, &h, err));
    leati_net_request *request = h.request;
    size_t skipped = (size_t)(offset - h.from);
    size_t want = LEATI_MIN(size, (size_t)h.size - skipped);
    if (h.kept != NULL) {
        memcpy(data, leat_buffer_data(h.kept) + skipped, want);
        leat_buffer_unref(h.kept);
        *got = want;
        return LEAT_OK;
    }
    leat_status status = leati_net_wait(request, skipped + want, err);
    if (status == LEAT_OK && leati_net_size(request) < skipped + want)
        status = leati_fail_in_file(err, LEAT_DATA_LOSS, file->base.path, offset, false,
                                    "the server gave fewer bytes than it has; read it again");
    if (status == LEAT_OK) {
        memcpy(data, leati_net_data(request) + skipped, want);
        *got = want;
        store_piece(file, &h);
    } else if (status != LEAT_CANCELLED) {
        forget_piece(file, request);
    }
    leati_net_unref(request);
    return status;
}

/* Tokens end after an hour; a file may be read for longer. */
static leat_status renew(remote_file *file, leat_error *err) {
    char *now = NULL;
    LEATI_TRY(file->renew(&now, err));
    pthread_mutex_lock(&file->lock);
    char *before = (char *)(uintptr_t)file->signer.token;
    file->signer.token = now;
    pthread_mutex_unlock(&file->lock);
    leati_free(before);
    return LEAT_OK;
}

leat_status leati_remote_read_at(leati_file *base, int64_t offset, void *data, size_t size,
                                 size_t *got, leat_error *err) {
    remote_file *file = (remote_file *)base;
    size_t done = 0;
    *got = 0;
    if (offset >= base->size)
        return LEAT_OK;
    if (file->renew != NULL)
        LEATI_TRY(renew(file, err));
    size = (size_t)LEATI_MIN((int64_t)LEATI_MIN(size, (size_t)INT64_MAX), base->size - offset);
    while (done < size) {
        size_t part = 0;
        LEATI_TRY(
            read_piece(file, offset + (int64_t)done, (char *)data + done, size - done, &part, err));
        done += part;
        pthread_mutex_lock(&file->lock);
        file->next = offset + (int64_t)done;
        pthread_mutex_unlock(&file->lock);
    }
    *got = done;
    return LEAT_OK;
}

/* ---- opening ---- */

static void free_file(remote_file *file) {
    for (int i = 0; file->pieces != NULL && i < file->num_pieces; i++)
        drop_piece(&file->pieces[i]);
    pthread_mutex_destroy(&file->lock);
    leati_free(file->pieces);
    leati_free(file->base.path);
    leati_free(file->url);
    leati_net_signer_fini(&file->signer);
    leati_remote_cache_free(file->cache);
    leati_free(file);
}

static bool copy_place(remote_file *file, const leati_remote_place *place, int connections) {
    file->base.path = leati_strdup(place->path);
    file->url = leati_strdup(place->url);
    file->num_pieces = connections + SPARE_PIECES;
    file->pieces = leati_alloc_zero((size_t)file->num_pieces, sizeof(piece));
    if (file->base.path == NULL || file->url == NULL || file->pieces == NULL)
        return false;
    file->rights = place->rights;
    file->renew = place->renew;
    return place->signer == NULL || leati_net_signer_copy(&file->signer, place->signer);
}

/* The first answer does not say how large the file is, and so has to be all of it. */
static leat_status measure(remote_file *file, const piece *first, leat_error *err) {
    LEATI_TRY(leati_net_wait(first->request, SIZE_MAX, err));
    file->base.size = (int64_t)leati_net_size(first->request);
    if (!leati_net_answer_of(first->request)->is_range || file->base.size < FIRST_BYTES)
        return LEAT_OK;
    return leati_fail_in_file(err, LEAT_UNIMPLEMENTED, file->base.path, -1, false,
                              "the server does not say how large it is; copy it to a file first");
}

/* Asks for one byte, whose answer says which version there is. True: it does, and what the cache
 * has of that serves. */
static bool ask_version(remote_file *file) {
    piece *first = NULL;
    leat_error ignored = {0};
    if (start_piece(file, 0, 1, &first, &ignored) != LEAT_OK)
        return false;
    bool good = leati_net_wait(first->request, 1, &ignored) == LEAT_OK;
    const leati_net_answer *answer = leati_net_answer_of(first->request);
    good = good && answer->is_range && answer->whole > 0 && answer->version[0] != '\0';
    if (good) {
        file->base.size = answer->whole;
        memcpy(file->version, answer->version, sizeof file->version);
        leati_remote_cache_identify(file->cache, file->version, file->base.size);
    }
    drop_piece(first);
    return good;
}

static leat_status read_head(remote_file *file, leat_error *err) {
    piece *first = NULL;
    if (file->cache != NULL && leati_remote_cache_is_known(file->cache) && ask_version(file))
        return LEAT_OK;
    LEATI_TRY(start_piece(file, 0, FIRST_BYTES, &first, err));
    leat_status status = leati_net_wait(first->request, 1, err);
    const leati_net_answer *answer = leati_net_answer_of(first->request);
    /* A file without bytes has no first one. */
    if (status == LEAT_OUT_OF_RANGE && answer->status == 416 && answer->whole <= 0) {
        file->base.size = 0;
        return LEAT_OK;
    }
    if (status == LEAT_OK) {
        file->base.size = answer->whole;
        memcpy(file->version, answer->version, sizeof file->version);
        if (!answer->is_range || answer->whole < 0)
            status = measure(file, first, err);
    }
    if (status != LEAT_OK)
        return status;
    /* What is kept of it: the bytes asked for, as far as there are any, or all. */
    int64_t kept = answer->is_range ? LEATI_MIN(first->size, file->base.size) : file->base.size;
    atomic_fetch_add(&bytes_together, kept - first->size);
    first->size = kept;
    /* A server that gives no ranges gives all of it each time. */
    if (file->cache != NULL && answer->is_range)
        leati_remote_cache_identify(file->cache, file->version, file->base.size);
    return LEAT_OK;
}

/* What the cache calls the file: its path, and the server's address without what may be secret. */
static leat_status open_cache(remote_file *file, leat_error *err) {
    leati_text source = {0};
    leati_text_addf(&source, "%s\n", file->base.path);
    leati_text_add(&source, file->url, strcspn(file->url, "?"));
    char *text = leati_text_take(&source);
    if (text == NULL)
        return leati_no_memory(err);
    leat_status status = leati_remote_cache_new(text, &file->cache, err);
    leati_free(text);
    return status;
}

leat_status leati_remote_open(const leati_fs *fs, const leati_remote_place *place, leati_file **out,
                              leat_error *err) {
    leati_net_settings settings;
    LEATI_TRY(leati_net_settings_read(&settings, err));
    remote_file *file = leati_alloc_zero(1, sizeof *file);
    if (file == NULL)
        return leati_no_memory(err);
    file->base = (leati_file){.fs = fs, .size = -1, .seekable = true};
    file->ahead = 1;
    pthread_mutex_init(&file->lock, NULL);
    leat_status status = copy_place(file, place, settings.connections) ? open_cache(file, err)
                                                                       : leati_no_memory(err);
    if (status == LEAT_OK)
        status = read_head(file, err);
    if (status != LEAT_OK)
        free_file(file);
    else
        *out = &file->base;
    return status;
}

void leati_remote_close(leati_file *file) {
    free_file((remote_file *)file);
}

leat_status leati_remote_use(const leati_fs *fs, const char *path, leati_file_user use,
                             void *context, leat_error *err) {
    leati_file *file = NULL;
    LEATI_TRY(fs->open(fs, path, &file, err));
    leat_status status = use(context, file, err);
    leati_remote_close(file);
    return status;
}
