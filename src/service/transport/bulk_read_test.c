/* Records of streams by shared memory and by TCP that no sender writes are refused, and what came
 * with them is given back. */
#include "support/cmocka.h"

#include "base/error.h"
#include "service/transport/bulk_wire.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct script {
    uint8_t bytes[512];
    size_t size, at;
    int file;
    int pieces, unused;
    size_t got;
} script;

static leat_status read_script(void *context, void *out, size_t size, leat_error *err) {
    script *s = context;
    if (size > s->size - s->at)
        return leati_fail(err, LEAT_UNAVAILABLE, "the script is over");
    memcpy(out, s->bytes + s->at, size);
    s->at += size;
    return LEAT_OK;
}

static int take_script_file(void *context) {
    return ((script *)context)->file < 0 ? -1 : dup(((script *)context)->file);
}

static leat_status hear_message(void *context, leat_buffer *message,
                                const leati_transport_piece *pieces, int num_pieces,
                                leat_error *err) {
    script *s = context;
    (void)err;
    s->got = leat_buffer_size(message);
    leat_buffer_unref(message);
    for (int i = 0; i < num_pieces; i++) {
        s->got += leat_buffer_size(pieces[i].bytes);
        leat_buffer_unref(pieces[i].bytes);
    }
    return LEAT_OK;
}

static leat_status hear_end(void *context, const void *body, size_t size, leat_error *err) {
    (void)context, (void)body, (void)size, (void)err;
    return LEAT_OK;
}

static leat_status hear_released(void *context, const uint64_t *numbers, int count,
                                 leat_error *err) {
    (void)context, (void)numbers, (void)count, (void)err;
    return LEAT_OK;
}

static leat_status keep_piece(void *holder, leat_error *err) {
    (void)err;
    ((script *)holder)->pieces++;
    return LEAT_OK;
}

static void note_unused(void *holder, uint64_t number, size_t size) {
    (void)number, (void)size;
    ((script *)holder)->unused++;
}

static void add_head(script *s, leati_bulk_head head) {
    leati_bulk_put_head(&head, s->bytes + s->size);
    s->size += LEATI_BULK_HEAD;
}

static void add_piece(script *s, leati_bulk_piece piece) {
    leati_bulk_put_piece(&piece, s->bytes + s->size);
    s->size += LEATI_BULK_PIECE;
}

/* Reads until the script ends; everything that came was given back. */
static leat_status run(script *s, bool shares) {
    leati_bulk_reader reader = {.shares = shares};
    const leati_bulk_source source = {read_script, take_script_file, s};
    const leati_bulk_listener listener = {hear_message, hear_end, hear_released, s, keep_piece,
                                          note_unused,  s};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && s->at < s->size)
        status = leati_bulk_read(&reader, &source, &listener, &err);
    leati_bulk_reader_fini(&reader);
    assert_int_equal(s->pieces, s->unused);
    return status;
}

enum { SEGMENT_BYTES = 128 << 10 };

static int make_file(size_t size, int seals) {
    int file = memfd_create("leat", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)size), 0);
    assert_int_equal(fcntl(file, F_ADD_SEALS, seals), 0);
    return file;
}

static leat_status message_with(leati_bulk_piece piece, uint64_t total, uint64_t size) {
    script s = {.file = make_file(SEGMENT_BYTES, F_SEAL_SHRINK)};
    add_head(&s,
             (leati_bulk_head){.kind = LEATI_BULK_SEGMENT, .total = SEGMENT_BYTES, .number = 5});
    add_head(&s, (leati_bulk_head){
                     .kind = LEATI_BULK_MESSAGE, .count = 1, .size = size, .total = total});
    add_piece(&s, piece);
    s.size += (size_t)size;
    leat_status status = run(&s, true);
    if (status == LEAT_OK)
        assert_int_equal(s.got, total);
    close(s.file);
    return status;
}

static void pieces_are_checked(void **state) {
    (void)state;
    const uint64_t all = SEGMENT_BYTES;
    assert_int_equal(message_with((leati_bulk_piece){5, 0, all, 0}, all, 0), LEAT_OK);
    assert_int_equal(message_with((leati_bulk_piece){5, all - 64, 64, 16}, 80, 16), LEAT_OK);
    const leati_bulk_piece wrong[] = {
        {6, 0, 64, 0},          {5, all, 64, 0},        {5, all - 63, 64, 0},
        {5, UINT64_MAX, 64, 0}, {5, 64, UINT64_MAX, 0}, {5, 0, 0, 0},
        {5, 0, 64, 1},          {5, 0, 64, UINT64_MAX}, {5, 0, 63, 0},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(message_with(wrong[i], 64, 0), LEAT_DATA_LOSS);
}

static leat_status segment_with(int file, uint64_t total, int times, bool shares) {
    script s = {.file = file};
    for (int i = 0; i < times; i++)
        add_head(&s, (leati_bulk_head){.kind = LEATI_BULK_SEGMENT, .total = total, .number = 5});
    leat_status status = run(&s, shares);
    if (file >= 0)
        close(file);
    return status;
}

static void segments_are_checked(void **state) {
    (void)state;
    int plain[2];
    const uint64_t all = SEGMENT_BYTES;
    assert_int_equal(segment_with(make_file(all, F_SEAL_SHRINK), all, 1, true), LEAT_OK);
    assert_int_equal(segment_with(make_file(all, F_SEAL_SHRINK), all, 2, true), LEAT_DATA_LOSS);
    assert_int_equal(segment_with(make_file(all, F_SEAL_SHRINK), all, 1, false), LEAT_DATA_LOSS);
    /* One that can be cut, one that is shorter than it says, none, and what is no memory. */
    assert_int_equal(segment_with(make_file(all, F_SEAL_GROW), all, 1, true), LEAT_DATA_LOSS);
    assert_int_equal(segment_with(make_file(all / 2, F_SEAL_SHRINK), all, 1, true), LEAT_DATA_LOSS);
    assert_int_equal(segment_with(-1, all, 1, true), LEAT_DATA_LOSS);
    assert_int_equal(pipe(plain), 0);
    assert_int_equal(segment_with(plain[0], all, 1, true), LEAT_DATA_LOSS);
    close(plain[1]);
}

static void heads_are_checked(void **state) {
    (void)state;
    const leati_bulk_head wrong[] = {
        {.kind = LEATI_BULK_NUM_KINDS},
        {.kind = LEATI_BULK_OPEN, .count = 1},
        {.kind = LEATI_BULK_MESSAGE, .size = 5, .total = 4},
        {.kind = LEATI_BULK_MESSAGE, .size = 4, .total = 5},
        {.kind = LEATI_BULK_MESSAGE, .count = LEATI_BULK_MOST_PIECES + 1, .total = 1},
        {.kind = LEATI_BULK_MESSAGE,
         .size = LEATI_BULK_MOST_TOTAL + 1,
         .total = LEATI_BULK_MOST_TOTAL + 1},
        {.kind = LEATI_BULK_END, .size = LEATI_BULK_MOST_END + 1},
        {.kind = LEATI_BULK_FORGET, .number = 9},
        {.kind = LEATI_BULK_RELEASE},
        {.kind = LEATI_BULK_RELEASE, .count = 2, .size = 8},
        {.kind = LEATI_BULK_RELEASE, .count = 65, .size = 520},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        script s = {.file = -1};
        add_head(&s, wrong[i]);
        assert_int_equal(run(&s, true), LEAT_DATA_LOSS);
    }
}

static void greetings_go_there_and_back(void **state) {
    (void)state;
    uint8_t bytes[64];
    const leati_bulk_greeting g = {
        .secret = {"abc", 3}, .method = {"read", 4}, .request = {"r", 1}};
    leati_bulk_greeting back;
    leat_error err = {0};
    size_t size = leati_bulk_greeting_size(&g);
    leati_bulk_put_greeting(&g, bytes);
    assert_int_equal(leati_bulk_get_greeting(bytes, size, &back, &err), LEAT_OK);
    assert_null(back.token.data);
    assert_int_equal(back.method.size, 4);
    assert_memory_equal(back.method.data, "read", 4);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(leati_bulk_get_greeting(bytes, cut, &back, &err), LEAT_DATA_LOSS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_checked),
        cmocka_unit_test(segments_are_checked),
        cmocka_unit_test(heads_are_checked),
        cmocka_unit_test(greetings_go_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
