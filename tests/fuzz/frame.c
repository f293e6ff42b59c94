/* Frames of the data service: bytes that are read as one are a block of the spec, which is the same
 * when it is sent again, packed or not. The first byte chooses the spec. */
#include "service/wire/frame.h"
#include "core/verify.h"
#include "elements.h"
#include "fuzz.h"
#include <string.h>

static leat_buffer *message_of(const void *data, size_t size) {
    leat_error err = {0};
    leat_buffer *message = leat_buffer_new(size, &err);
    if (message != NULL && size > 0)
        memcpy(leat_buffer_data(message), data, size);
    return message;
}

static leat_buffer *join(const leati_frame *frame) {
    leat_buffer *message = leat_buffer_new(leati_frame_bytes(frame), &(leat_error){0});
    char *at = message == NULL ? NULL : leat_buffer_data(message);
    for (int i = 0; message != NULL && i < frame->num_parts; i++) {
        if (frame->parts[i].size > 0)
            memcpy(at, frame->parts[i].data, frame->parts[i].size);
        at += frame->parts[i].size;
    }
    return message;
}

static void check_again(const leati_block *block, const leat_spec *spec, int64_t position,
                        leati_frame_compression compression) {
    leati_frame frame = {0};
    leati_frame_view view;
    leati_block again = {0};
    leat_error err = {0};
    leat_status status =
        leati_frame_of_block(block, 0, block->n, position, compression, &frame, &err);
    leat_buffer *message = status == LEAT_OK ? join(&frame) : NULL;
    if (message != NULL) {
        status = leati_frame_read(message, spec, &view, &again, &err);
        if (status != LEAT_OK && status != LEAT_RESOURCE_EXHAUSTED)
            fuzz_broken("a frame that was written cannot be read: %s", err.text);
        if (status == LEAT_OK &&
            (view.position != position || again.n != block->n ||
             (block->n <= 4096 && leati_block_checksum(&again) != leati_block_checksum(block))))
            fuzz_broken("%lld rows came back as %lld or others", (long long)block->n,
                        (long long)again.n);
    } else if (status != LEAT_OK && status != LEAT_RESOURCE_EXHAUSTED &&
               status != LEAT_UNIMPLEMENTED) {
        fuzz_broken("a block that was read cannot be written: %s", err.text);
    }
    leat_buffer_unref(message);
    leati_block_fini(&again);
    leati_frame_fini(&frame);
}

static void run(const uint8_t *data, size_t size) {
    leat_error err = {0};
    leati_block block = {0};
    leati_frame_view view;
    leati_frame_credit credit;
    if (size == 0)
        return;
    leat_spec *spec = fuzz_elements_spec(data[0]);
    leat_buffer *message = message_of(data + 1, size - 1);
    leat_status status =
        message == NULL ? LEAT_OK : leati_frame_read(message, spec, &view, &block, &err);
    fuzz_check_error("leati_frame_read", status, &err);
    if (status == LEAT_OK && block.n > 0) {
        if (block.n <= 4096 && leati_block_check(&block, spec, &err) != LEAT_OK)
            fuzz_broken("%s", err.text);
        for (int c = LEATI_FRAME_PLAIN; c <= LEATI_FRAME_ZSTD && block.n <= 4096; c++)
            check_again(&block, spec, view.position, (leati_frame_compression)c);
    }
    status = leati_frame_get_credit(data + 1, size - 1, &credit, &err);
    fuzz_check_error("leati_frame_get_credit", status, &err);
    leat_buffer_unref(message);
    leati_block_fini(&block);
    leat_spec_unref(spec);
}

static void seed_frame(uint8_t choice, const leati_frame *frame) {
    leat_buffer *message = join(frame);
    uint8_t bytes[4096] = {choice};
    if (message == NULL || leat_buffer_size(message) >= sizeof bytes)
        fuzz_broken("a frame to start from is too large");
    memcpy(bytes + 1, leat_buffer_data(message), leat_buffer_size(message));
    fuzz_seed(bytes, leat_buffer_size(message) + 1);
    leat_buffer_unref(message);
}

/* Plain as it is, packed as 300 rows that are all the same. */
static void seed(uint8_t choice, const leati_block *block) {
    leat_error err = {0};
    leati_frame frame = {0};
    leati_block many = {0};
    if (leati_frame_of_block(block, 0, block->n, 7, LEATI_FRAME_PLAIN, &frame, &err) != LEAT_OK)
        fuzz_broken("%s", err.text);
    seed_frame(choice, &frame);
    leati_frame_fini(&frame);
    for (int i = 0; i < 300; i++)
        if (leati_block_append(&many, block, &err) != LEAT_OK)
            fuzz_broken("%s", err.text);
    for (int c = LEATI_FRAME_SNAPPY; c <= LEATI_FRAME_ZSTD; c++) {
        if (leati_frame_of_block(&many, 0, many.n, 0, (leati_frame_compression)c, &frame, &err) ==
                LEAT_OK &&
            leati_frame_bytes(&frame) < 4000)
            seed_frame(choice, &frame);
        leati_frame_fini(&frame);
    }
    leati_block_fini(&many);
}

static void seeds(void) {
    fuzz_elements_seeds(seed);
    leat_error err = {0}, why = {0};
    leati_frame frame = {0};
    leat_error_set(&why, LEAT_DATA_LOSS, "a wrong checksum");
    for (int kind = LEATI_FRAME_ERROR; kind <= LEATI_FRAME_WHOLE; kind++) {
        bool told = kind == LEATI_FRAME_ERROR || kind == LEATI_FRAME_GONE;
        if (leati_frame_of_event((leati_frame_kind)kind, 3, told ? &why : NULL, &frame, &err) !=
            LEAT_OK)
            fuzz_broken("%s", err.text);
        seed_frame(0, &frame);
        leati_frame_fini(&frame);
    }
}

const fuzz_target fuzz_frame = {
    .name = "frame",
    .doc = "frames of elements and events of the data service",
    .run = run,
    .most = 4096,
    .seeds = seeds,
};
