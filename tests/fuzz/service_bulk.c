/* Records of streams by shared memory and by TCP: what a stranger can send, and share. The first
 * byte chooses whose records they are (a greeting, a worker's, a client's), the second the spec of
 * the frames. The segment that a worker shares has the input's own bytes. A message in pieces is
 * read as the same bytes in one block are; every piece that came is given back. */
#include "core/verify.h"
#include "elements.h"
#include "fuzz.h"
#include "service/transport/bulk_wire.h"
#include "service/transport/ends.h"
#include "service/wire/frame.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SEGMENT_BYTES = 8192, MOST = 4096, GREETING = 0, WORKER = 1 };

typedef struct heard {
    const uint8_t *data;
    size_t size, at;
    leat_spec *spec;
    int pieces, unused;
} heard;

/* One for all runs, which each fills anew. */
static int segment_of(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0) {
        file = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (file < 0 || ftruncate(file, SEGMENT_BYTES) != 0 ||
            fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
            fuzz_broken("no memory to share");
    }
    if (pwrite(file, data, size, 0) != (ssize_t)size)
        fuzz_broken("no memory to share");
    return file;
}

static leat_status read_bytes(void *context, void *out, size_t size, leat_error *err) {
    heard *h = context;
    if (size > h->size - h->at)
        return leat_error_set(err, LEAT_UNAVAILABLE, "the bytes are over");
    if (size > 0)
        memcpy(out, h->data + h->at, size);
    h->at += size;
    return LEAT_OK;
}

static int take_file(void *context) {
    heard *h = context;
    return dup(segment_of(h->data, h->size));
}

/* All of the message in one block. */
static leat_buffer *join(leat_buffer *rest, const leati_transport_piece *pieces, int n) {
    size_t size = leat_buffer_size(rest), at = 0;
    for (int i = 0; i < n; i++)
        size += leat_buffer_size(pieces[i].bytes);
    leat_buffer *whole = leat_buffer_new(size, &(leat_error){0});
    if (whole == NULL)
        return NULL;
    char *to = leat_buffer_data(whole);
    const char *from = leat_buffer_data(rest);
    for (int i = 0; i < n; i++) {
        memcpy(to + at, from, pieces[i].at - at);
        from += pieces[i].at - at;
        memcpy(to + pieces[i].at, leat_buffer_data(pieces[i].bytes),
               leat_buffer_size(pieces[i].bytes));
        at = pieces[i].at + leat_buffer_size(pieces[i].bytes);
    }
    if (size > at)
        memcpy(to + at, from, size - at);
    return whole;
}

static void compare(heard *h, leat_buffer *rest, const leati_transport_piece *pieces, int n) {
    leati_block a = {0}, b = {0};
    leati_frame_view view_a, view_b;
    leat_error err = {0};
    leat_buffer *whole = join(rest, pieces, n);
    if (whole == NULL)
        return;
    leat_status in_one = leati_frame_read(whole, h->spec, &view_a, &a, &err);
    fuzz_check_error("leati_frame_read", in_one, &err);
    leat_status in_pieces = leati_frame_read_pieces(rest, pieces, n, h->spec, &view_b, &b, &err);
    fuzz_check_error("leati_frame_read_pieces", in_pieces, &err);
    bool limited = in_one == LEAT_RESOURCE_EXHAUSTED || in_pieces == LEAT_RESOURCE_EXHAUSTED;
    if (!limited && (in_one == LEAT_OK) != (in_pieces == LEAT_OK))
        fuzz_broken("%s in one block, %s in %d pieces", leat_status_name(in_one),
                    leat_status_name(in_pieces), n);
    if (!limited && in_one == LEAT_OK &&
        (view_a.kind != view_b.kind || view_a.position != view_b.position || a.n != b.n ||
         (a.n > 0 && a.n <= 4096 && leati_block_checksum(&a) != leati_block_checksum(&b))))
        fuzz_broken("other elements in %d pieces than in one block", n);
    leati_block_fini(&a);
    leati_block_fini(&b);
    leat_buffer_unref(whole);
}

static leat_status hear_message(void *context, leat_buffer *message,
                                const leati_transport_piece *pieces, int num_pieces,
                                leat_error *err) {
    (void)err;
    compare(context, message, pieces, num_pieces);
    leat_buffer_unref(message);
    for (int i = 0; i < num_pieces; i++)
        leat_buffer_unref(pieces[i].bytes);
    return LEAT_OK;
}

static leat_status hear_end(void *context, const void *body, size_t size, leat_error *err) {
    leat_error why = {0};
    (void)context;
    (void)err;
    if (size > 0)
        leati_transport_get_error(body, size, &why);
    if (size > 0 && why.code == LEAT_OK)
        fuzz_broken("a failure of %zu bytes without a code", size);
    return LEAT_OK;
}

static leat_status hear_released(void *context, const uint64_t *numbers, int count,
                                 leat_error *err) {
    (void)context;
    (void)numbers;
    (void)err;
    if (count < 1 || count > LEATI_BULK_MOST_RELEASED)
        fuzz_broken("%d numbers released", count);
    return LEAT_OK;
}

static leat_status keep(void *holder, leat_error *err) {
    (void)err;
    ((heard *)holder)->pieces++;
    return LEAT_OK;
}

static void unused(void *holder, uint64_t number, size_t size) {
    heard *h = holder;
    if (number >= (uint64_t)h->pieces || size == 0)
        fuzz_broken("piece %llu of %zu bytes went", (unsigned long long)number, size);
    h->unused++;
}

static void greet(const uint8_t *data, size_t size) {
    leati_bulk_greeting g;
    leat_error err = {0};
    leat_status status = leati_bulk_get_greeting(data, size, &g, &err);
    fuzz_check_error("leati_bulk_get_greeting", status, &err);
    uint8_t again[MOST];
    if (status != LEAT_OK)
        return;
    if (leati_bulk_greeting_size(&g) != size)
        fuzz_broken("a greeting of %zu bytes is one of %zu", size, leati_bulk_greeting_size(&g));
    leati_bulk_put_greeting(&g, again);
    if (memcmp(again, data, size) != 0)
        fuzz_broken("a greeting that comes back as another one");
}

static void run(const uint8_t *data, size_t size) {
    if (size < 2 || size > MOST)
        return;
    if (data[0] % 3 == GREETING) {
        greet(data + 2, size - 2);
        return;
    }
    heard h = {.data = data, .size = size, .at = 2, .spec = fuzz_elements_spec(data[1])};
    leati_bulk_reader reader = {.shares = data[0] % 3 == WORKER};
    const leati_bulk_source source = {read_bytes, take_file, &h};
    const leati_bulk_listener listener = {.message = hear_message,
                                          .end = hear_end,
                                          .released = hear_released,
                                          .context = &h,
                                          .keep = keep,
                                          .unused = unused,
                                          .holder = &h};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && h.at < h.size)
        status = leati_bulk_read(&reader, &source, &listener, &err);
    fuzz_check_error("leati_bulk_read", status, &err);
    leati_bulk_reader_fini(&reader);
    if (h.pieces != h.unused)
        fuzz_broken("%d pieces came, %d went", h.pieces, h.unused);
    leat_spec_unref(h.spec);
}

static size_t put(uint8_t *out, leati_bulk_head head) {
    leati_bulk_put_head(&head, out);
    return LEATI_BULK_HEAD;
}

/* A frame whose last part is a piece, which stands behind the records. */
static void seed(uint8_t choice, const leati_block *block) {
    leat_error err = {0};
    leati_frame frame = {0};
    uint8_t bytes[MOST] = {WORKER, choice}, message[MOST];
    size_t size = 0, at = 2;
    if (leati_frame_of_block(block, 0, block->n, 7, LEATI_FRAME_PLAIN, &frame, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
    for (int i = 0; i < frame.num_parts && size + frame.parts[i].size < MOST / 2; i++) {
        memcpy(message + size, frame.parts[i].data, frame.parts[i].size);
        size += frame.parts[i].size;
    }
    leati_frame_fini(&frame);
    size_t piece = size > 128 ? 64 : size / 2, rest = size - piece;
    at += put(bytes + at,
              (leati_bulk_head){.kind = LEATI_BULK_SEGMENT, .total = SEGMENT_BYTES, .number = 1});
    at +=
        put(bytes + at,
            (leati_bulk_head){.kind = LEATI_BULK_MESSAGE, .count = 1, .size = rest, .total = size});
    const leati_bulk_piece entry = {1, at + LEATI_BULK_PIECE + rest, piece, rest};
    leati_bulk_put_piece(&entry, bytes + at);
    at += LEATI_BULK_PIECE;
    memcpy(bytes + at, message, size);
    fuzz_seed(bytes, at + size);
}

static void seeds(void) {
    uint8_t bytes[MOST] = {GREETING};
    const leati_bulk_greeting g = {
        .secret = {"abc", 3}, .token = {"t", 1}, .method = {"read", 4}, .request = {"{}", 2}};
    leati_bulk_put_greeting(&g, bytes + 2);
    fuzz_seed(bytes, 2 + leati_bulk_greeting_size(&g));
    size_t at = 2;
    bytes[0] = 2;
    memset(bytes + 2, 0, sizeof bytes - 2);
    at += put(bytes + at, (leati_bulk_head){.kind = LEATI_BULK_MESSAGE, .size = 40, .total = 40});
    at += 40;
    at += put(bytes + at, (leati_bulk_head){.kind = LEATI_BULK_RELEASE, .count = 2, .size = 16});
    at += 16;
    at += put(bytes + at, (leati_bulk_head){.kind = LEATI_BULK_END});
    fuzz_seed(bytes, at);
    bytes[0] = WORKER;
    at = 2;
    at += put(bytes + at,
              (leati_bulk_head){.kind = LEATI_BULK_SEGMENT, .total = SEGMENT_BYTES, .number = 1});
    at += put(bytes + at, (leati_bulk_head){.kind = LEATI_BULK_FORGET, .number = 1});
    fuzz_seed(bytes, at);
    fuzz_elements_seeds(seed);
}

const fuzz_target fuzz_service_bulk = {
    .name = "service_bulk",
    .doc = "records of a data service's streams by shared memory and TCP",
    .run = run,
    .most = MOST,
    .seeds = seeds,
};
