/* Makes the corpora of the benchmarks without a network.
 *
 *   make_data images OUT COUNT           OUT/class_K/img_NNNN.jpg, K = NNNN modulo 10
 *   make_data records OUT COUNT SHARDS   OUT/small-SSSSS-of-NNNNN.tfrecord: examples of id and
 * label (int64), x (16 floats) and data (100 bytes), 224 bytes each
 *   make_data large OUT COUNT SHARDS     OUT/large-...: examples of data (100,000 bytes), label
 *
 * The pictures stand in for photographs: fractal noise in layers of colour, hard edges, a sensor's
 * grain, ImageNet's mix of sizes, about half a byte per pixel at quality 92; 5 % progressive, 2 %
 * grey, 3 % with full chroma. The same arguments give the same bytes. A failed write ends the
 * program. */
#include <errno.h>
#include <isa-l/crc.h>
#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "bench.h"

#include <jpeglib.h>

enum { CLASSES = 10, PATH_SIZE = 4096 };

static void stop(const char *what, const char *path) {
    fprintf(stderr, "make_data: %s %s: %s\n", what, path, strerror(errno));
    exit(2);
}

static FILE *create(const char *path) {
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        stop("cannot create", path);
    return f;
}

static void finish(FILE *f, const char *path) {
    if (ferror(f) | fclose(f))
        stop("cannot write", path);
}

static void make_folder(const char *path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        stop("cannot make folder", path);
}

static uint32_t rng_next(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 32);
}

static float rng_unit(uint64_t *s) {
    return (float)(rng_next(s) * (1.0 / 4294967296.0));
}

/* ---- pictures ---- */

/* One picture in the making: floats 0..255, three to a pixel. */
typedef struct picture {
    int width, height;
    float *pixels;
    uint64_t rng;
} picture;

/* Adds smooth noise of one scale: random values on a lattice, mixed bilinearly, in a random colour.
 */
static void add_octave(picture *p, float cell, float strength) {
    int columns = (int)((float)p->width / cell) + 2, rows = (int)((float)p->height / cell) + 2;
    float *lattice = bench_alloc((size_t)columns * (size_t)rows * sizeof(float)), tint[3];
    for (int i = 0; i < columns * rows; i++)
        lattice[i] = rng_unit(&p->rng) - 0.5f;
    for (int c = 0; c < 3; c++)
        tint[c] = strength * (0.6f + 0.8f * rng_unit(&p->rng));
    for (int y = 0; y < p->height; y++) {
        float fy = (float)y / cell;
        const float *low = lattice + (size_t)(int)fy * (size_t)columns, *high = low + columns;
        fy -= floorf(fy);
        for (int x = 0; x < p->width; x++) {
            float fx = (float)x / cell;
            int i = (int)fx;
            fx -= (float)i;
            float top = low[i] + (low[i + 1] - low[i]) * fx;
            float value = top + (high[i] + (high[i + 1] - high[i]) * fx - top) * fy;
            float *pixel = p->pixels + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
            for (int c = 0; c < 3; c++)
                pixel[c] += value * tint[c];
        }
    }
    free(lattice);
}

/* Paints an ellipse over part of the picture: the hard edges of things. */
static void add_thing(picture *p) {
    float x0 = rng_unit(&p->rng) * (float)p->width, y0 = rng_unit(&p->rng) * (float)p->height;
    float a = (0.03f + 0.2f * rng_unit(&p->rng)) * (float)p->width;
    float b = (0.03f + 0.2f * rng_unit(&p->rng)) * (float)p->height, colour[3];
    for (int c = 0; c < 3; c++)
        colour[c] = 160 * (rng_unit(&p->rng) - 0.5f);
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            float u = ((float)x - x0) / a, v = ((float)y - y0) / b;
            if (u * u + v * v < 1)
                for (int c = 0; c < 3; c++)
                    p->pixels[3 * ((size_t)y * (size_t)p->width + (size_t)x) + (size_t)c] +=
                        colour[c] * (1 - 0.3f * u);
        }
}

static void paint(picture *p) {
    size_t count = 3 * (size_t)p->width * (size_t)p->height;
    for (size_t i = 0; i < count; i++)
        p->pixels[i] = 118;
    float cell = (float)(p->width > p->height ? p->width : p->height) / 2, strength = 220;
    for (; cell > 1.5f; cell /= 2, strength *= 0.62f)
        add_octave(p, cell, strength);
    for (int i = 6 + (int)(rng_next(&p->rng) % 8); i > 0; i--)
        add_thing(p);
    float grain = 6 + 26 * rng_unit(&p->rng);
    for (size_t i = 0; i < count; i += 3) {
        float noise = grain * (rng_unit(&p->rng) + rng_unit(&p->rng) + rng_unit(&p->rng) - 1.5f);
        for (size_t c = 0; c < 3; c++)
            p->pixels[i + c] += noise;
    }
}

/* How a picture is stored; grey and full chroma are exclusive. */
typedef struct encoding {
    int quality;
    bool progressive, grey, full_chroma;
} encoding;

static encoding choose_encoding(uint64_t *rng) {
    float kind = rng_unit(rng), spread = rng_unit(rng) + rng_unit(rng) + rng_unit(rng) - 1.5f;
    int quality = (int)(92 + 8 * spread);
    return (encoding){.quality = quality > 97 ? 97 : quality,
                      .progressive = kind < 0.05f,
                      .grey = kind >= 0.05f && kind < 0.07f,
                      .full_chroma = kind >= 0.07f && kind < 0.10f};
}

static void encode(const picture *p, const encoding *e, const char *path) {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    FILE *f = create(path);
    JSAMPLE *row = bench_alloc(3 * (size_t)p->width);
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_stdio_dest(&c, f);
    c.image_width = (JDIMENSION)p->width;
    c.image_height = (JDIMENSION)p->height;
    c.input_components = e->grey ? 1 : 3;
    c.in_color_space = e->grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, e->quality, TRUE);
    if (e->progressive)
        jpeg_simple_progression(&c);
    if (e->full_chroma)
        c.comp_info[0].h_samp_factor = c.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&c, TRUE);
    size_t step = e->grey ? 3 : 1, values = 3 * (size_t)p->width / step;
    while (c.next_scanline < c.image_height) {
        const float *from = p->pixels + 3 * (size_t)c.next_scanline * (size_t)p->width;
        for (size_t i = 0; i < values; i++) {
            float v = from[i * step];
            row[i] = (JSAMPLE)(v < 0 ? 0 : v > 255 ? 255 : v);
        }
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(row);
    finish(f, path);
}

static void make_images(const char *out, int count) {
    static const struct {
        int weight, width, height;
    } shapes[] = {{30, 500, 375}, {14, 375, 500}, {18, 500, 333}, {8, 333, 500},
                  {8, 400, 300},  {6, 500, 500},  {4, 640, 480},  {3, 300, 225},
                  {3, 250, 250},  {3, 800, 600},  {2, 1024, 768}, {1, 500, 281}};
    char path[PATH_SIZE];
    make_folder(out);
    for (int n = 0; n < count; n++) {
        picture p = {.rng = 77 + 1000003u * (uint64_t)n};
        int shape = 0, pick = (int)(rng_next(&p.rng) % 100);
        while (pick >= shapes[shape].weight)
            pick -= shapes[shape++].weight;
        p.width = shapes[shape].width;
        p.height = shapes[shape].height;
        p.pixels = bench_alloc(3 * sizeof(float) * (size_t)p.width * (size_t)p.height);
        paint(&p);
        encoding e = choose_encoding(&p.rng);
        snprintf(path, sizeof path, "%s/class_%d", out, n % CLASSES);
        make_folder(path);
        snprintf(path, sizeof path, "%s/class_%d/img_%04d.jpg", out, n % CLASSES, n);
        encode(&p, &e, path);
        free(p.pixels);
    }
}

/* ---- records ---- */

enum { SMALL = 100, LARGE = 100000 }; /* bytes of the feature data */

/* A growing message; the records here fit easily. */
typedef struct message {
    uint8_t bytes[LARGE + 500];
    size_t size;
} message;

static void put_bytes(message *m, const void *bytes, size_t size) {
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void put_varint(message *m, uint64_t n) {
    for (; n > 127; n >>= 7)
        m->bytes[m->size++] = (uint8_t)(n & 127) | 128;
    m->bytes[m->size++] = (uint8_t)n;
}

/* A length-delimited field of a protobuf message. */
static void put_field(message *m, int number, const void *bytes, size_t size) {
    put_varint(m, (uint64_t)number << 3 | 2);
    put_varint(m, size);
    put_bytes(m, bytes, size);
}

/* One entry of Features: a name and a Feature whose list (1 bytes, 2 floats, 3 int64) is `value`.
 */
static void put_feature(message *m, const char *name, int kind, const message *value) {
    static message list, feature, entry;
    list.size = feature.size = entry.size = 0;
    put_field(&list, 1, value->bytes, value->size);
    put_field(&feature, kind, list.bytes, list.size);
    put_field(&entry, 1, name, strlen(name));
    put_field(&entry, 2, feature.bytes, feature.size);
    put_field(m, 1, entry.bytes, entry.size);
}

static void make_example(int64_t id, size_t size, uint64_t *rng, message *out) {
    static message features, value;
    features.size = 0;
    value.size = size;
    for (size_t i = 0; i < value.size; i++)
        value.bytes[i] = (uint8_t)rng_next(rng);
    put_feature(&features, "data", 1, &value);
    value.size = 0;
    put_varint(&value, (uint64_t)id);
    if (size == SMALL)
        put_feature(&features, "id", 3, &value);
    value.size = 0;
    put_varint(&value, (uint64_t)(id * 7 % 100));
    put_feature(&features, "label", 3, &value);
    value.size = 0;
    for (int i = 0; i < 16; i++) {
        float x = 2 * rng_unit(rng) - 1;
        put_bytes(&value, &x, sizeof x);
    }
    if (size == SMALL)
        put_feature(&features, "x", 2, &value);
    out->size = 0;
    put_field(out, 1, features.bytes, features.size);
}

static uint32_t masked(const void *p, size_t n) {
    uint32_t c = crc32_iscsi((unsigned char *)(uintptr_t)p, (int)n, 0xFFFFFFFFu) ^ 0xFFFFFFFFu;
    return ((c >> 15) | (c << 17)) + 0xA282EAD8u;
}

static void write_record(FILE *f, const message *m) {
    uint64_t length = m->size;
    uint32_t head = masked(&length, sizeof length), tail = masked(m->bytes, m->size);
    fwrite(&length, sizeof length, 1, f);
    fwrite(&head, sizeof head, 1, f);
    fwrite(m->bytes, m->size, 1, f);
    fwrite(&tail, sizeof tail, 1, f);
}

static void make_records(const char *out, const char *name, size_t size, int count, int shards) {
    char path[PATH_SIZE];
    static message m;
    uint64_t rng = 3;
    make_folder(out);
    for (int shard = 0; shard < shards; shard++) {
        snprintf(path, sizeof path, "%s/%s-%05d-of-%05d.tfrecord", out, name, shard, shards);
        FILE *f = create(path);
        for (int i = shard; i < count; i += shards) {
            make_example(i, size, &rng, &m);
            write_record(f, &m);
        }
        finish(f, path);
    }
}

int main(int argc, char **argv) {
    int count = argc > 3 ? atoi(argv[3]) : 0, shards = argc > 4 ? atoi(argv[4]) : 0;
    if (argc == 4 && strcmp(argv[1], "images") == 0 && count > 0) {
        make_images(argv[2], count);
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "records") == 0 && count > 0 && shards > 0) {
        make_records(argv[2], "small", SMALL, count, shards);
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "large") == 0 && count > 0 && shards > 0) {
        make_records(argv[2], "large", LARGE, count, shards);
        return 0;
    }
    fprintf(stderr,
            "usage: make_data images OUT COUNT | make_data records|large OUT COUNT SHARDS\n");
    return 2;
}
