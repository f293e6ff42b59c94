/* PNG of every kind of sample, with and without transparent colours, interlaced and not: what
 * TensorFlow makes of it for each number of channels and bits, by checksum. */
#include "support/cmocka.h"

#include "image/codec.h"
#include "support/torture.h"
#include <zlib.h>

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6, ROOM = 1 << 15 };

typedef struct kind {
    int type, depth;
    bool transparent; /* a chunk tRNS */
} kind;

typedef struct bytes {
    uint8_t at[ROOM];
    size_t size;
} bytes;

static void put(bytes *b, const void *data, size_t size) {
    assert_true(b->size + size <= ROOM);
    memcpy(b->at + b->size, data, size);
    b->size += size;
}

static void put_u32(bytes *b, uint32_t value) {
    const uint8_t data[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    put(b, data, 4);
}

static void put_chunk(bytes *b, const char *name, const void *data, size_t size) {
    put_u32(b, (uint32_t)size);
    size_t from = b->size;
    put(b, name, 4);
    if (size > 0)
        put(b, data, size);
    put_u32(b, (uint32_t)crc32(0, b->at + from, (uInt)(b->size - from)));
}

static int samples_of(int type) {
    return type == RGB ? 3 : type == RGBA ? 4 : type == GREY_ALPHA ? 2 : 1;
}

/* Any values; equal ones are frequent, so that transparent colours occur. */
static unsigned sample(int x, int y, int c, int depth) {
    unsigned value = (unsigned)(x * 7 + y * 13 + c * 5 + (x ^ y) * 3) * 2654435761u >> 12;
    value = (x + y) % 3 == 0 ? 1 : value;
    return value & ((1u << depth) - 1);
}

/* One row of a pass, the pixels from x0 on in steps of dx, with no filter. */
static void put_row(bytes *raw, const kind *k, int width, int y, int x0, int dx) {
    uint8_t row[256] = {0};
    size_t bits = 8;
    for (int x = x0; x < width; x += dx) {
        for (int c = 0; c < samples_of(k->type); c++) {
            unsigned value = sample(x, y, c, k->depth);
            if (k->depth == 16) {
                row[bits / 8] = (uint8_t)(value >> 8);
                row[bits / 8 + 1] = (uint8_t)value;
            } else {
                row[bits / 8] |= (uint8_t)(value << (8 - (size_t)k->depth - bits % 8));
            }
            bits += (size_t)k->depth;
        }
    }
    put(raw, row, (bits + 7) / 8);
}

static void put_pixels(bytes *raw, const kind *k, int width, int height, bool interlaced) {
    static const int x0[] = {0, 4, 0, 2, 0, 1, 0}, y0[] = {0, 0, 4, 0, 2, 0, 1};
    static const int dx[] = {8, 8, 4, 4, 2, 2, 1}, dy[] = {8, 8, 8, 4, 4, 2, 2};
    for (int p = 0; p < (interlaced ? 7 : 1); p++) {
        int first = interlaced ? x0[p] : 0, step = interlaced ? dx[p] : 1;
        for (int y = interlaced ? y0[p] : 0; y < height && first < width;
             y += interlaced ? dy[p] : 1)
            put_row(raw, k, width, y, first, step);
    }
}

static void make_png(bytes *png, const kind *k, int width, int height, bool interlaced) {
    static bytes raw, head;
    static uint8_t packed[2 * ROOM];
    uLongf size = sizeof packed;
    raw.size = head.size = png->size = 0;
    put(png, "\x89PNG\r\n\x1a\n", 8);
    put_u32(&head, (uint32_t)width);
    put_u32(&head, (uint32_t)height);
    put(&head, (const uint8_t[]){(uint8_t)k->depth, (uint8_t)k->type, 0, 0, interlaced}, 5);
    put_chunk(png, "IHDR", head.at, head.size);
    head.size = 0;
    for (int i = 0; k->type == PALETTE && i < 3 << k->depth; i++)
        put(&head, (const uint8_t[]){(uint8_t)(i * 37 + 11)}, 1);
    if (k->type == PALETTE)
        put_chunk(png, "PLTE", head.at, head.size);
    head.size = 0;
    for (int i = 0; k->type == PALETTE && i < 1 << (k->depth - 1); i++)
        put(&head, (const uint8_t[]){(uint8_t)(i * 53)}, 1);
    for (int i = 0; k->type != PALETTE && i < samples_of(k->type); i++)
        put(&head, (const uint8_t[]){0, 1}, 2);
    if (k->transparent)
        put_chunk(png, "tRNS", head.at, head.size);
    put_pixels(&raw, k, width, height, interlaced);
    assert_int_equal(compress(packed, &size, raw.at, raw.size), Z_OK);
    put_chunk(png, "IDAT", packed, size);
    put_chunk(png, "IEND", NULL, 0);
}

typedef struct expectation {
    kind kind;
    uint32_t
        checksums[8]; /* CRC-32 of tf.io.decode_png's pixels: channels 0, 1, 3, 4 x 8, 16 bits */
} expectation;

static uint8_t *decode(leati_image_decoder *decoder, const bytes *png, int channels, int bits,
                       leati_image_info *info, size_t *size) {
    leat_error err = {0};
    leati_decode_options options = leati_decode_defaults;
    options.channels = channels;
    options.bits = bits;
    if (leati_image_begin(decoder, png->at, png->size, &options, info, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    /* Rows lie four bytes further apart than they need to; what is between them stays. */
    size_t row = (size_t)info->width * (size_t)info->channels * (size_t)(info->bits / 8);
    uint8_t *wide = malloc((row + 4) * (size_t)info->height);
    assert_non_null(wide);
    memset(wide, 0x5c, (row + 4) * (size_t)info->height);
    if (leati_image_read(decoder, wide, row + 4, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (size_t y = 0; y < (size_t)info->height; y++) {
        assert_memory_equal(wide + y * (row + 4) + row, "\x5c\x5c\x5c\x5c", 4);
        memmove(wide + y * row, wide + y * (row + 4), row);
    }
    *size = row * (size_t)info->height;
    return wide;
}

static const int all_channels[] = {0, 1, 3, 4};

static const expectation expected[] = {
    {{0, 1, false},
     {0x048befe8, 0xa0a2bb56, 0x048befe8, 0xa0a2bb56, 0xe6a53a71, 0x1e485822, 0x5cbd3e15,
      0x4654a393}},
    {{0, 1, true},
     {0x048befe8, 0xa0a2bb56, 0x048befe8, 0xa0a2bb56, 0xe6a53a71, 0x1e485822, 0x0c714f44,
      0x6ea1b31a}},
    {{0, 2, false},
     {0x73f70de4, 0x4e576a90, 0x73f70de4, 0x4e576a90, 0x647b313b, 0x2a3e436c, 0x1de4c572,
      0x1761186e}},
    {{0, 2, true},
     {0x73f70de4, 0x4e576a90, 0x73f70de4, 0x4e576a90, 0x647b313b, 0x2a3e436c, 0x79279018,
      0x0791b30a}},
    {{0, 4, false},
     {0xcc2a3b39, 0xd3d268e5, 0xcc2a3b39, 0xd3d268e5, 0x88d3d560, 0xbf39fc9a, 0x88cfc77f,
      0x4c8d0a96}},
    {{0, 4, true},
     {0xcc2a3b39, 0xd3d268e5, 0xcc2a3b39, 0xd3d268e5, 0x88d3d560, 0xbf39fc9a, 0x59e6a2e0,
      0x588cd75c}},
    {{0, 8, false},
     {0x86fd63cd, 0xcb939a24, 0x86fd63cd, 0xcb939a24, 0xecd1a301, 0xbabd9323, 0x5494e3f1,
      0x4838c597}},
    {{0, 8, true},
     {0x86fd63cd, 0xcb939a24, 0x86fd63cd, 0xcb939a24, 0xecd1a301, 0xbabd9323, 0x2d9da06f,
      0x43a1b0cd}},
    {{0, 16, false},
     {0x81659f7f, 0x155f43f8, 0x81659f7f, 0x155f43f8, 0x45648bbb, 0xe5626056, 0x3acca4de,
      0x0b0aa1d3}},
    {{0, 16, true},
     {0x81659f7f, 0x155f43f8, 0x81659f7f, 0x155f43f8, 0x45648bbb, 0xe5626056, 0x43c5e740,
      0x0093d489}},
    {{2, 8, false},
     {0xe3315379, 0x1c1ca800, 0x85c9a185, 0x7e81305d, 0xe3315379, 0x1c1ca800, 0x124dc0f5,
      0xa61e8a23}},
    {{2, 8, true},
     {0xe3315379, 0x1c1ca800, 0x85c9a185, 0x7e81305d, 0xe3315379, 0x1c1ca800, 0x6b44836b,
      0xad87ff79}},
    {{2, 16, false},
     {0xdffd2e6c, 0x602be986, 0x207d29a2, 0x90cd9785, 0xdffd2e6c, 0x602be986, 0xe2e81262,
      0x1aa7e2cb}},
    {{2, 16, true},
     {0xdffd2e6c, 0x602be986, 0x207d29a2, 0x90cd9785, 0xdffd2e6c, 0x602be986, 0x9be151fc,
      0x113e9791}},
    {{3, 1, false},
     {0xeb48719c, 0xf85340a8, 0x38458242, 0xf2fd24d4, 0xeb48719c, 0xf85340a8, 0x7175ed53,
      0x3b053393}},
    {{3, 1, true},
     {0x8bd7455f, 0xa069304d, 0x38458242, 0xf2fd24d4, 0xeb48719c, 0xf85340a8, 0x8bd7455f,
      0xa069304d}},
    {{3, 2, false},
     {0x5534a633, 0x0d3e0449, 0x22ef4ff7, 0x2852e592, 0x5534a633, 0x0d3e0449, 0x1ec8aed7,
      0x4d9fa5d1}},
    {{3, 2, true},
     {0x9923c690, 0xc38c8604, 0x22ef4ff7, 0x2852e592, 0x5534a633, 0x0d3e0449, 0x9923c690,
      0xc38c8604}},
    {{3, 4, false},
     {0xec70970a, 0xda3f174b, 0xc6597434, 0xb3d38cd7, 0xec70970a, 0xda3f174b, 0x37af14f3,
      0x3ff3731e}},
    {{3, 4, true},
     {0xf3b5c9ac, 0xddc27cc5, 0xc6597434, 0xb3d38cd7, 0xec70970a, 0xda3f174b, 0xf3b5c9ac,
      0xddc27cc5}},
    {{3, 8, false},
     {0xcbb7d590, 0xf9c85741, 0x3f2e284e, 0xc0ffbfef, 0xcbb7d590, 0xf9c85741, 0x6b842435,
      0x5d90c19e}},
    {{3, 8, true},
     {0x3e28c501, 0x69c098d3, 0x3f2e284e, 0xc0ffbfef, 0xcbb7d590, 0xf9c85741, 0x3e28c501,
      0x69c098d3}},
    {{4, 8, false},
     {0xf71cf486, 0x131a50fb, 0x86fd63cd, 0xcb939a24, 0xecd1a301, 0xbabd9323, 0x9f17b88d,
      0x1a4ff2d0}},
    {{4, 16, false},
     {0x9650484c, 0xfc20cfea, 0x81659f7f, 0x155f43f8, 0x45648bbb, 0xe5626056, 0xde2b15d7,
      0xfd38be1c}},
    {{6, 8, false},
     {0x5e221f27, 0x1e11b046, 0x85c9a185, 0x7e81305d, 0xe3315379, 0x1c1ca800, 0x5e221f27,
      0x1e11b046}},
    {{6, 16, false},
     {0xe4b11a41, 0x4d36b6cb, 0x207d29a2, 0x90cd9785, 0xdffd2e6c, 0x602be986, 0xe4b11a41,
      0x4d36b6cb}},
};

static void test_as_tensorflow(void **state) {
    (void)state;
    static bytes png;
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    for (size_t i = 0; i < 2 * sizeof expected / sizeof *expected; i++) {
        const expectation *e = &expected[i / 2];
        make_png(&png, &e->kind, 13, 11, i % 2 == 1);
        for (int k = 0; k < 8; k++) {
            leati_image_info info;
            size_t size;
            int bits = k % 2 ? 16 : 8;
            uint8_t *pixels = decode(decoder, &png, all_channels[k / 2], bits, &info, &size);
            if (crc32(0, pixels, (uInt)size) != e->checksums[k])
                fail_msg("type %d, depth %d, %s, case %d, %s", e->kind.type, e->kind.depth,
                         e->kind.transparent ? "transparent" : "opaque", k,
                         i % 2 ? "interlaced" : "not interlaced");
            assert_string_equal(info.format, "PNG");
            assert_int_equal(info.height, 11);
            assert_int_equal(info.width, 13);
            assert_int_equal(info.bits, bits);
            assert_int_equal(info.frames, 1);
            assert_int_equal(info.stored_bits, e->kind.depth);
            assert_int_equal(info.stored_channels, samples_of(e->kind.type));
            free(pixels);
        }
    }
    leati_image_decoder_free(decoder);
}

/* Sizes for which some of the seven passes have no pixel: as the same pixels in order. */
static void test_interlaced_sizes(void **state) {
    (void)state;
    static const kind kinds[] = {{GREY, 1, false},
                                 {PALETTE, 4, true},
                                 {RGB, 8, false},
                                 {GREY_ALPHA, 16, false},
                                 {GREY, 16, true}};
    static bytes png;
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    for (int i = 0; i < 5 * 9 * 9; i++) {
        int height = i % 9 + 1, width = i / 9 % 9 + 1;
        leati_image_info info;
        size_t sizes[2];
        uint8_t *pixels[2];
        for (int k = 0; k < 2; k++) {
            make_png(&png, &kinds[i / 81], width, height, k == 1);
            pixels[k] =
                decode(decoder, &png, all_channels[i % 4], i % 3 ? 8 : 16, &info, &sizes[k]);
        }
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(pixels[0], pixels[1], sizes[0]);
        free(pixels[0]);
        free(pixels[1]);
    }
    leati_image_decoder_free(decoder);
}

static leat_status decode_with_failures(void *context, leat_error *err) {
    const bytes *png = context;
    static uint8_t pixels[13 * 11 * 8];
    leati_image_info info;
    leati_image_decoder *decoder = leati_image_decoder_new(err);
    if (decoder == NULL)
        return torture_code(err);
    leat_status status =
        leati_image_begin(decoder, png->at, png->size, &leati_decode_defaults, &info, err);
    if (status == LEAT_OK)
        status = leati_image_read(decoder, pixels, 13 * 8, err);
    leati_image_decoder_free(decoder);
    return status;
}

static void test_every_allocation_failing(void **state) {
    (void)state;
    static bytes png;
    make_png(&png, &(kind){PALETTE, 2, true}, 13, 11, true);
    torture_run(decode_with_failures, &png);
}

#define COUNTED(test) cmocka_unit_test_setup_teardown(test, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        COUNTED(test_as_tensorflow),
        COUNTED(test_interlaced_sizes),
        COUNTED(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
