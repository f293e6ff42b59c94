/* Records of a data service's streams, and failures as bytes: what a stranger can send. The
 * messages that are read do not depend on how the bytes lie in slices, none is longer than what
 * came, and a failure that is read is one. The first byte of the input cuts the rest. */
#include "fuzz.h"
#include "service/transport/chunk.h"
#include "service/transport/ends.h"
#include <stdlib.h>
#include <string.h>

typedef struct heard {
    uint64_t hash;
    size_t messages, controls;
} heard;

static void add(heard *h, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        h->hash = (h->hash ^ bytes[i]) * UINT64_C(1099511628211);
    h->hash ^= size;
}

static leat_status hear_message(void *context, leat_buffer *message, leat_error *err) {
    heard *h = context;
    (void)err;
    add(h, leat_buffer_data(message), leat_buffer_size(message));
    h->messages++;
    leat_buffer_unref(message);
    return LEAT_OK;
}

static leat_status hear_control(void *context, leati_chunk_kind kind, const void *body, size_t size,
                                leat_error *err) {
    heard *h = context;
    leat_error why = {0};
    (void)err;
    (void)kind;
    add(h, body, size);
    h->controls++;
    leati_transport_get_error(body, size, &why);
    if (why.code == LEAT_OK || why.text[0] == '\0')
        fuzz_broken("a failure of %zu bytes without a code or text", size);
    return LEAT_OK;
}

static leat_status read_cut(const uint8_t *data, size_t size, size_t cut, heard *h) {
    leati_chunk_reader reader = {0};
    leati_grpc_bytes slices[64];
    const leati_chunk_listener listener = {hear_message, hear_control, h};
    leat_error err = {0};
    size_t n = 0;
    for (size_t at = 0; at < size && n < 64; n++) {
        size_t bytes = n == 63 || cut == 0 || cut > size - at ? size - at : cut;
        slices[n] = (leati_grpc_bytes){data + at, bytes};
        at += bytes;
    }
    leat_status status = leati_chunk_read(&reader, slices, n, &listener, &err);
    leati_chunk_reader_fini(&reader);
    if (status != LEAT_OK)
        fuzz_check_error("records", status, &err);
    return status;
}

static void run(const uint8_t *data, size_t size) {
    if (size == 0)
        return;
    heard whole = {0}, cut = {0};
    leat_status a = read_cut(data + 1, size - 1, 0, &whole);
    leat_status b = read_cut(data + 1, size - 1, data[0], &cut);
    if (a == LEAT_RESOURCE_EXHAUSTED || b == LEAT_RESOURCE_EXHAUSTED)
        return;
    if (a != b || whole.hash != cut.hash || whole.messages != cut.messages ||
        whole.controls != cut.controls)
        fuzz_broken("%s and %zu messages in one slice, %s and %zu in slices of %d bytes",
                    leat_status_name(a), whole.messages, leat_status_name(b), cut.messages,
                    data[0]);
}

static size_t put(uint8_t *out, leati_chunk_kind kind, const char *body, uint64_t total) {
    const leati_chunk_head head = {kind, (uint32_t)strlen(body), total};
    leati_chunk_put_head(&head, out);
    memcpy(out + LEATI_CHUNK_HEAD, body, strlen(body));
    return LEATI_CHUNK_HEAD + strlen(body);
}

static void seeds(void) {
    uint8_t bytes[4096] = {5};
    size_t size = 1;
    size += put(bytes + size, LEATI_CHUNK_FIRST, "a message", 9);
    fuzz_seed(bytes, size);
    size += put(bytes + size, LEATI_CHUNK_FIRST, "a message in", 18);
    size += put(bytes + size, LEATI_CHUNK_MORE, " parts", 0);
    size += put(bytes + size, LEATI_CHUNK_END, "", 0);
    fuzz_seed(bytes, size);
    leati_writer failure = {0};
    leat_error why = {0};
    (void)leat_error_set(&why, LEAT_NOT_FOUND, "no such task");
    leati_transport_put_error(&failure, &why);
    const leati_chunk_head head = {LEATI_CHUNK_END, (uint32_t)failure.size, 0};
    leati_chunk_put_head(&head, bytes + 1);
    memcpy(bytes + 1 + LEATI_CHUNK_HEAD, failure.data, failure.size);
    fuzz_seed(bytes, 1 + LEATI_CHUNK_HEAD + failure.size);
    leati_writer_fini(&failure);
}

const fuzz_target fuzz_service_records = {
    .name = "service_records",
    .doc = "records of a data service's streams",
    .run = run,
    .most = 4096,
    .seeds = seeds,
};
