/* Heads, tables and greetings as bytes; see bulk_wire.h. Every number of a head has its limits
 * here, by kind, so that who goes on with a head need not ask again. No locks. */
#include "service/transport/bulk_wire.h"

#include "base/error.h"
#include "file/wire.h"

void leati_bulk_put_head(const leati_bulk_head *head, uint8_t out[LEATI_BULK_HEAD]) {
    memset(out, 0, LEATI_BULK_HEAD);
    out[0] = (uint8_t)head->kind;
    leati_wire_store32(out + 4, head->count);
    leati_wire_store64(out + 8, head->size);
    leati_wire_store64(out + 16, head->total);
    leati_wire_store64(out + 24, head->number);
}

void leati_bulk_put_piece(const leati_bulk_piece *piece, uint8_t out[LEATI_BULK_PIECE]) {
    leati_wire_store64(out, piece->segment);
    leati_wire_store64(out + 8, piece->offset);
    leati_wire_store64(out + 16, piece->size);
    leati_wire_store64(out + 24, piece->at);
}

static leat_status damaged(leat_error *err, const char *what) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "a stream of the service carries %s; is the other side leat of this version?",
                      what);
}

/* The most that a number of a head may be, by kind. */
typedef struct limits {
    uint64_t count, size, total;
    bool numbered;
} limits;

static const limits most[LEATI_BULK_NUM_KINDS] = {
    [LEATI_BULK_OPEN] = {UINT32_MAX, LEATI_BULK_MOST_OPEN, 0, false},
    [LEATI_BULK_MESSAGE] = {LEATI_BULK_MOST_PIECES, LEATI_BULK_MOST_TOTAL, LEATI_BULK_MOST_TOTAL,
                            false},
    [LEATI_BULK_END] = {0, LEATI_BULK_MOST_END, 0, false},
    [LEATI_BULK_SEGMENT] = {0, 0, LEATI_BULK_MOST_TOTAL, true},
    [LEATI_BULK_FORGET] = {0, 0, 0, true},
    [LEATI_BULK_RELEASE] = {LEATI_BULK_MOST_RELEASED, 8 * LEATI_BULK_MOST_RELEASED, 0, false},
    [LEATI_BULK_WELCOME] = {0, 0, 0, false},
};

static bool fits(const leati_bulk_head *h) {
    const limits *l = &most[h->kind];
    if (h->count > l->count || h->size > l->size || h->total > l->total ||
        (h->number != 0 && !l->numbered))
        return false;
    switch (h->kind) {
    case LEATI_BULK_MESSAGE: return h->count > 0 ? h->size <= h->total : h->size == h->total;
    case LEATI_BULK_SEGMENT: return h->total > 0;
    case LEATI_BULK_RELEASE: return h->count > 0 && h->size == 8 * (uint64_t)h->count;
    default: return true;
    }
}

leat_status leati_bulk_get_head(const uint8_t in[LEATI_BULK_HEAD], leati_bulk_head *out,
                                leat_error *err) {
    if (in[0] == 0 || in[0] >= LEATI_BULK_NUM_KINDS || in[1] != 0 || in[2] != 0 || in[3] != 0)
        return damaged(err, "a record of a kind that is not known");
    leati_bulk_head head = {.kind = (leati_bulk_kind)in[0],
                            .count = leati_wire_load32(in + 4),
                            .size = leati_wire_load64(in + 8),
                            .total = leati_wire_load64(in + 16),
                            .number = leati_wire_load64(in + 24)};
    if (!fits(&head))
        return damaged(err, "a record with a number that cannot be");
    *out = head;
    return LEAT_OK;
}

/* ---- greetings ---- */

enum { LENGTH = 4, NO_TOKEN = 1 };

size_t leati_bulk_greeting_size(const leati_bulk_greeting *g) {
    return 1 + 4 * LENGTH + g->secret.size + g->token.size + g->method.size + g->request.size;
}

static uint8_t *put_text(uint8_t *out, leat_string text) {
    leati_wire_store32(out, (uint32_t)text.size);
    if (text.size > 0)
        memcpy(out + LENGTH, text.data, text.size);
    return out + LENGTH + text.size;
}

void leati_bulk_put_greeting(const leati_bulk_greeting *g, uint8_t *out) {
    *out++ = g->token.data == NULL ? NO_TOKEN : 0;
    out = put_text(out, g->secret);
    out = put_text(out, g->token);
    out = put_text(out, g->method);
    (void)put_text(out, g->request);
}

static bool get_text(const uint8_t **at, size_t *left, leat_string *out) {
    size_t size = *left >= LENGTH ? leati_wire_load32(*at) : SIZE_MAX;
    if (size > *left || size + LENGTH > *left)
        return false;
    *out = (leat_string){(char *)(uintptr_t)(*at + LENGTH), size};
    *at += LENGTH + size;
    *left -= LENGTH + size;
    return true;
}

leat_status leati_bulk_get_greeting(const void *bytes, size_t size, leati_bulk_greeting *out,
                                    leat_error *err) {
    const uint8_t *at = bytes;
    leati_bulk_greeting g = {0};
    bool good = size > 0 && at[0] <= NO_TOKEN;
    bool none = good && at[0] == NO_TOKEN;
    size_t left = good ? size - 1 : 0;
    at++;
    good = good && get_text(&at, &left, &g.secret) && get_text(&at, &left, &g.token) &&
           get_text(&at, &left, &g.method) && get_text(&at, &left, &g.request) && left == 0;
    if (!good || (none && g.token.size > 0))
        return damaged(err, "a greeting that is none");
    if (none)
        g.token.data = NULL;
    *out = g;
    return LEAT_OK;
}
