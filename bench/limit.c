/* What the hardware allows: the bare work of each case in C, without any framework around it.
 *
 *   limit jpeg    LIST THREADS SECONDS [full|ifast|plain|rrc|rrcscale]     LIST names files
 *   limit jpegrec LIST THREADS SECONDS                                     record files of pictures
 *   limit records LIST THREADS SECONDS                                     record files
 *   limit gzip    LIST THREADS SECONDS                                     gzip'd record files
 *   limit gather  ROWS COLUMNS BATCH SECONDS
 *   limit service BYTES SECONDS                          a socket pair between two threads
 *
 * jpeg: read, decode, resize to 224 x 224 bilinearly with half-pixel centres, flip at random,
 * divide by 255 into a batch of floats. full: accurate DCT and fancy upsampling, TensorFlow's
 * INTEGER_ACCURATE; ifast: the fast DCT, TensorFlow's default; plain: that with merged upsampling;
 * rrc: a random resized crop, decoding only its rows and columns; rrcscale: that, with the inverse
 * DCT scaled by 1/2, 1/4 or 1/8 while the crop stays at least 224 wide and high. Records are
 * checked by CRC32C and copied; of gzip'd ones the stream is inflated, nothing more. A damaged file
 * ends the program: then there is nothing to compare with. */
#include <fcntl.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

#include <jpeglib.h>

enum { SIDE = 224, BATCH = 64, PIXELS = SIDE * SIDE * 3, MAX_THREADS = 64 };

static char **list;
static size_t list_count;
static double seconds, start, deadline, start_cpu;
static atomic_size_t next_index, total_units, total_bytes;
static _Atomic int64_t sum_micro; /* of the means of the first pictures of each thread */
static const char *variant = "full";

/* The clock starts when the work does, after tables and lists are made. */
static void start_clock(void) {
    start = bench_now();
    start_cpu = bench_cpu();
    deadline = start + seconds;
}

static void stop(const char *what) {
    fprintf(stderr, "limit: %s\n", what);
    exit(2);
}

static void read_list(const char *path) {
    FILE *f = fopen(path, "r");
    char line[4096];
    if (f == NULL)
        stop("cannot open the list of files");
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        list = realloc(list, (list_count + 1) * sizeof *list);
        if (list == NULL || (list[list_count++] = strdup(line)) == NULL)
            stop("no memory");
    }
    fclose(f);
    if (list_count == 0)
        stop("the list names no file");
}

static uint32_t rng_next(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 32);
}

static double rng_unit(uint64_t *s) {
    return rng_next(s) * (1.0 / 4294967296.0);
}

/* ---- decode and resize ---- */

/* A place in decoded pixels: the crop goes to SIDE x SIDE. */
typedef struct area {
    double x, y, width, height;
} area;

/* Columns of the output: the two source bytes each is mixed from, and how. */
typedef struct columns {
    int left[SIDE], right[SIDE];
    float fraction[SIDE];
} columns;

static void find_columns(const area *crop, int width, int flip, columns *c) {
    for (int i = 0; i < SIDE; i++) {
        double x = (i + 0.5) * crop->width / SIDE - 0.5 + crop->x;
        x = x < 0 ? 0 : x > width - 1 ? width - 1 : x;
        int o = flip ? SIDE - 1 - i : i;
        c->left[o] = 3 * (int)x;
        c->right[o] = (int)x + 1 < width ? 3 * ((int)x + 1) : c->left[o];
        c->fraction[o] = (float)(x - (int)x);
    }
}

static void mix_columns(const columns *c, const uint8_t *source, float *row) {
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < 3; k++) {
            float a = source[c->left[i] + k], b = source[c->right[i] + k];
            row[3 * i + k] = a + (b - a) * c->fraction[i];
        }
}

/* Two rows, mixed along x, are kept: most output rows share one with the row before. */
static void resize(const uint8_t *source, size_t stride, const area *crop, int width, int height,
                   int flip, float *out) {
    columns c;
    float rows[2][SIDE * 3];
    float *row[2] = {rows[0], rows[1]};
    int held[2] = {-1, -1};
    find_columns(crop, width, flip, &c);
    for (int j = 0; j < SIDE; j++, out += (size_t)SIDE * 3) {
        double y = (j + 0.5) * crop->height / SIDE - 0.5 + crop->y;
        y = y < 0 ? 0 : y > height - 1 ? height - 1 : y;
        int want[2] = {(int)y, (int)y + 1 < height ? (int)y + 1 : (int)y};
        float fraction = (float)(y - (int)y);
        if (held[1] == want[0]) {
            float *t = row[0];
            row[0] = row[1], row[1] = t, held[0] = want[0], held[1] = -1;
        }
        for (int k = 0; k < 2; k++)
            if (held[k] != want[k]) {
                mix_columns(&c, source + (size_t)want[k] * stride, row[k]);
                held[k] = want[k];
            }
        for (int i = 0; i < SIDE * 3; i++)
            out[i] = (row[0][i] + (row[1][i] - row[0][i]) * fraction) * (1.0f / 255);
    }
}

struct failure {
    struct jpeg_error_mgr base;
    jmp_buf jump;
};

static void fail(j_common_ptr c) {
    longjmp(((struct failure *)(void *)c->err)->jump, 1);
}

/* Inception's crop: 8 % to 100 % of the area, ratio 3/4 to 4/3; the whole picture after 10 tries.
 */
static void choose_crop(struct jpeg_decompress_struct *d, uint64_t *rng, area *crop) {
    for (int attempt = 0; attempt < 10; attempt++) {
        double size = (0.08 + 0.92 * rng_unit(rng)) * d->image_width * d->image_height;
        double ratio = exp(log(0.75) + rng_unit(rng) * (log(4.0 / 3) - log(0.75)));
        double w = floor(sqrt(size * ratio)), h = floor(sqrt(size / ratio));
        if (w <= d->image_width && h <= d->image_height) {
            crop->width = w, crop->height = h;
            crop->x = floor(rng_unit(rng) * (d->image_width - w));
            crop->y = floor(rng_unit(rng) * (d->image_height - h));
            break;
        }
    }
    if (strcmp(variant, "rrcscale") == 0)
        for (d->scale_num = d->scale_denom = 1; d->scale_denom < 8; d->scale_denom *= 2)
            if (crop->width / (d->scale_denom * 2) < SIDE ||
                crop->height / (d->scale_denom * 2) < SIDE)
                break;
    crop->x /= d->scale_denom, crop->y /= d->scale_denom;
    crop->width /= d->scale_denom, crop->height /= d->scale_denom;
}

/* Asks the decoder for the rows and columns of the crop only; returns how many rows to read. The
 * crop becomes relative to what is read. */
static JDIMENSION start_crop(struct jpeg_decompress_struct *d, area *crop) {
    JDIMENSION x = (JDIMENSION)crop->x, w = (JDIMENSION)ceil(crop->width) + 1;
    JDIMENSION y = (JDIMENSION)crop->y, h = (JDIMENSION)ceil(crop->height) + 1;
    w = x + w > d->output_width ? d->output_width - x : w;
    jpeg_crop_scanline(d, &x, &w);
    h = y + h > d->output_height ? d->output_height - y : h;
    if (y > 0)
        jpeg_skip_scanlines(d, y);
    crop->x -= x, crop->y -= y;
    return h;
}

/* A decoder's own memory, kept between pictures. */
typedef struct scratch {
    uint64_t rng;
    uint8_t *pixels;
    size_t capacity;
} scratch;

static void read_rows(struct jpeg_decompress_struct *d, scratch *s, size_t stride, JDIMENSION h) {
    if (s->capacity < stride * h) {
        free(s->pixels);
        s->pixels = bench_alloc(s->capacity = stride * h);
    }
    for (JDIMENSION r = 0; r < h;) {
        JSAMPROW rows[8];
        JDIMENSION n = h - r < 8 ? h - r : 8;
        for (JDIMENSION i = 0; i < n; i++)
            rows[i] = s->pixels + (size_t)(r + i) * stride;
        r += jpeg_read_scanlines(d, rows, n);
    }
}

/* From the header to the floats; leaves by longjmp where the picture is damaged. */
static void decode_started(struct jpeg_decompress_struct *d, scratch *s, float *out) {
    jpeg_read_header(d, TRUE);
    int plain = strcmp(variant, "plain") == 0, cropped = strncmp(variant, "rrc", 3) == 0;
    d->out_color_space = JCS_RGB;
    d->do_fancy_upsampling = !plain;
    d->dct_method = plain || strcmp(variant, "ifast") == 0 ? JDCT_IFAST : JDCT_ISLOW;
    area crop = {0, 0, d->image_width, d->image_height};
    if (cropped)
        choose_crop(d, &s->rng, &crop);
    jpeg_start_decompress(d);
    JDIMENSION h = cropped ? start_crop(d, &crop) : d->output_height;
    int width = (int)d->output_width;
    read_rows(d, s, (size_t)width * 3, h);
    resize(s->pixels, (size_t)width * 3, &crop, width, (int)h, rng_next(&s->rng) & 1, out);
}

static int decode(const uint8_t *data, size_t size, scratch *s, float *out) {
    struct jpeg_decompress_struct d;
    struct failure e;
    d.err = jpeg_std_error(&e.base);
    e.base.error_exit = fail;
    jpeg_create_decompress(&d);
    int failed = setjmp(e.jump);
    if (!failed) {
        jpeg_mem_src(&d, data, size);
        decode_started(&d, s, out);
    }
    jpeg_destroy_decompress(&d);
    return failed ? -1 : 0;
}

static double mean_of(const float *picture) {
    double sum = 0;
    for (int i = 0; i < PIXELS; i++)
        sum += picture[i];
    return sum / PIXELS;
}

static void *jpeg_worker(void *arg) {
    scratch s = {.rng = 88172645463325252u + (uintptr_t)arg};
    uint8_t *file = NULL;
    size_t capacity = 0, bytes = 0, units = 0;
    float *batch = bench_alloc((size_t)BATCH * PIXELS * sizeof(float));
    double sum = 0;
    while (bench_now() < deadline) {
        const char *path = list[atomic_fetch_add(&next_index, 1) % list_count];
        int fd = open(path, O_RDONLY);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) != 0)
            stop("cannot open a picture of the list");
        size_t size = (size_t)st.st_size;
        if (capacity < size) {
            free(file);
            file = bench_alloc(capacity = size);
        }
        ssize_t n = read(fd, file, size);
        close(fd);
        float *slot = batch + (units % BATCH) * PIXELS;
        if (n != st.st_size || decode(file, size, &s, slot) != 0)
            stop("a picture of the list is damaged");
        sum += units < BATCH ? mean_of(slot) : 0;
        units++, bytes += size;
    }
    atomic_fetch_add(&total_units, units);
    atomic_fetch_add(&total_bytes, bytes);
    if (units > 0)
        atomic_fetch_add(&sum_micro,
                         (int64_t)(1e6 * sum / (double)(units < BATCH ? units : BATCH)));
    free(batch);
    free(file);
    free(s.pixels);
    return NULL;
}

/* ---- records ---- */

static int with_pictures;

static uint32_t masked(const uint8_t *p, size_t n) {
    uint32_t c = crc32_iscsi((unsigned char *)(uintptr_t)p, (int)n, 0xFFFFFFFFu) ^ 0xFFFFFFFFu;
    return ((c >> 15) | (c << 17)) + 0xA282EAD8u;
}

/* The picture of a serialised Example, without parsing: from its first JPEG marker to the end. */
static void decode_record(const uint8_t *p, size_t n, scratch *s, float *out) {
    const uint8_t *first = memmem(p, n, "\xFF\xD8\xFF", 3);
    if (first == NULL || decode(first, (size_t)(p + n - first), s, out) != 0)
        stop("a record holds no picture");
}

/* Checks the record at m + o and returns the size of its data. */
static size_t check_record(const uint8_t *m, size_t o, size_t size) {
    uint64_t n;
    uint32_t crc;
    memcpy(&n, m + o, 8);
    memcpy(&crc, m + o + 8, 4);
    if (masked(m + o, 8) != crc || n > size - o - 16)
        stop("a record's length is damaged");
    memcpy(&crc, m + o + 12 + n, 4);
    if (masked(m + o + 12, n) != crc)
        stop("a record is damaged");
    return n;
}

static void *record_worker(void *arg) {
    scratch s = {.rng = 99991 + (uintptr_t)arg};
    uint8_t *copy = bench_alloc((size_t)64 << 20);
    float *out = bench_alloc(PIXELS * sizeof(float));
    size_t units = 0, bytes = 0;
    while (bench_now() < deadline) {
        int fd = open(list[atomic_fetch_add(&next_index, 1) % list_count], O_RDONLY);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) != 0)
            stop("cannot open a record file of the list");
        size_t size = (size_t)st.st_size;
        uint8_t *m = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        close(fd);
        if (m == MAP_FAILED)
            stop("cannot map a record file of the list");
        for (size_t o = 0, n; o + 16 <= size; o += 16 + n) {
            n = check_record(m, o, size);
            if (with_pictures)
                decode_record(m + o + 12, n, &s, out);
            else
                memcpy(copy + (bytes & 0xFFFFFF), m + o + 12, n);
            units++, bytes += n;
            if ((with_pictures || (units & 1023) == 0) && bench_now() >= deadline)
                break;
        }
        munmap(m, size);
    }
    atomic_fetch_add(&total_units, units);
    atomic_fetch_add(&total_bytes, bytes);
    free(copy);
    free(out);
    free(s.pixels);
    return NULL;
}

/* ---- gzip ---- */

/* A whole file in memory; *size is its size. */
static uint8_t *read_file(const char *path, size_t *size) {
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        stop("cannot open a file of the list");
    uint8_t *data = bench_alloc((size_t)st.st_size);
    for (*size = 0; *size < (size_t)st.st_size;) {
        ssize_t n = read(fd, data + *size, (size_t)st.st_size - *size);
        if (n <= 0)
            stop("cannot read a file of the list");
        *size += (size_t)n;
    }
    close(fd);
    return data;
}

/* Inflates `size` bytes piece by piece; counts the records in them, which costs a look at each
 * length, unless `records` is NULL. */
static void inflate_file(uint8_t *data, size_t size, uint8_t *out, size_t room, size_t *records) {
    static _Thread_local struct inflate_state state;
    size_t next = 0, done = 0; /* of the record's length, of what came out before */
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    state.next_in = data;
    state.avail_in = (uint32_t)size;
    do {
        /* A length may lie across two pieces: eight bytes of the one before are kept. */
        if (done > 0)
            memcpy(out - 8, out + room - 8, 8);
        state.next_out = out;
        state.avail_out = (uint32_t)room;
        if (isal_inflate(&state) < 0)
            stop("a gzip file is damaged");
        size_t got = room - state.avail_out;
        for (uint64_t n; records != NULL && next + 8 <= done + got; next += 16 + n, ++*records)
            memcpy(&n, out + (ptrdiff_t)(next - done), 8);
        done += got;
    } while (state.block_state != ISAL_BLOCK_FINISH);
}

static size_t file_records[1 << 10];

static void count_gzip_records(void) {
    uint8_t *out = bench_alloc(8 + (256 << 10));
    if (list_count > sizeof file_records / sizeof *file_records)
        stop("too many files");
    for (size_t i = 0; i < list_count; i++) {
        size_t size;
        uint8_t *data = read_file(list[i], &size);
        inflate_file(data, size, out + 8, 256 << 10, &file_records[i]);
        free(data);
    }
    free(out);
}

static void *gzip_worker(void *arg) {
    (void)arg;
    uint8_t *out = bench_alloc(8 + (256 << 10));
    size_t units = 0, bytes = 0;
    while (bench_now() < deadline) {
        size_t i = atomic_fetch_add(&next_index, 1) % list_count, size;
        uint8_t *data = read_file(list[i], &size);
        inflate_file(data, size, out + 8, 256 << 10, NULL);
        units += file_records[i];
        bytes += size;
        free(data);
    }
    atomic_fetch_add(&total_units, units);
    atomic_fetch_add(&total_bytes, bytes);
    free(out);
    return NULL;
}

/* ---- gather ---- */

static void permute(uint32_t *order, size_t rows, uint64_t *rng) {
    for (size_t i = rows - 1; i > 0; i--) {
        size_t j = ((uint64_t)rng_next(rng) * (i + 1)) >> 32;
        uint32_t t = order[i];
        order[i] = order[j], order[j] = t;
    }
}

static void gather(size_t rows, size_t width, size_t batch) {
    float *table = bench_alloc(rows * width * sizeof(float));
    float *out = bench_alloc(batch * width * sizeof(float));
    int32_t *labels = bench_alloc(rows * sizeof *labels);
    int32_t *out_labels = bench_alloc(batch * sizeof *labels);
    uint32_t *order = bench_alloc(rows * sizeof *order);
    uint64_t rng = 1;
    size_t units = 0;
    for (size_t i = 0; i < rows * width; i++)
        table[i] = (float)i;
    for (size_t i = 0; i < rows; i++)
        order[i] = (uint32_t)i, labels[i] = (int32_t)i;
    start_clock();
    while (bench_now() < deadline) {
        permute(order, rows, &rng);
        for (size_t b = 0; b + batch <= rows; b += batch) {
            for (size_t k = 0; k < batch; k++) {
                const float *s = table + order[b + k] * width;
                for (size_t c = 0; c < width; c++)
                    out[k * width + c] = s[c] * 2 + 1;
                out_labels[k] = labels[order[b + k]];
            }
            bench_touch(out);
            bench_touch(out_labels);
            units += batch;
            if ((b / batch & 63) == 0 && bench_now() >= deadline)
                break;
        }
    }
    total_units = units;
    total_bytes = units * (width * sizeof(float) + sizeof(int32_t));
}

/* ---- one socket ---- */

static void *drain(void *arg) {
    int fd = *(int *)arg;
    char *buffer = bench_alloc(1 << 20);
    while (read(fd, buffer, 1 << 20) > 0) {
    }
    free(buffer);
    return NULL;
}

static void service(size_t size) {
    int pair[2];
    pthread_t thread;
    char *buffer = bench_alloc(size);
    memset(buffer, 0, size);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        pthread_create(&thread, NULL, drain, &pair[1]) != 0)
        stop("no socket pair or thread");
    start_clock();
    while (bench_now() < deadline) {
        for (size_t o = 0; o < size;) {
            ssize_t n = write(pair[0], buffer + o, size - o);
            if (n <= 0)
                stop("the socket broke");
            o += (size_t)n;
        }
        total_units++;
        total_bytes += size;
    }
    close(pair[0]);
    pthread_join(thread, NULL);
    free(buffer);
}

static void run_threads(void *(*worker)(void *), int threads) {
    pthread_t t[MAX_THREADS];
    if (threads < 1 || threads > MAX_THREADS)
        stop("expected 1 to 64 threads");
    start_clock();
    for (int i = 0; i < threads; i++)
        if (pthread_create(&t[i], NULL, worker, (void *)(intptr_t)i) != 0)
            stop("cannot start a thread");
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
}

static size_t number(const char *text) {
    return strtoul(text, NULL, 10);
}

int main(int argc, char **argv) {
    const char *what = argc > 3 ? argv[1] : "";
    bench_result r = {.unit = "elements/s"};
    int threads = 1;
    if (strcmp(what, "service") == 0) {
        seconds = atof(argv[3]);
        service(number(argv[2]));
    } else if (strcmp(what, "gather") == 0 && argc == 6) {
        seconds = atof(argv[5]);
        gather(number(argv[2]), number(argv[3]), number(argv[4]));
    } else if (argc == 5 && strcmp(what, "gzip") == 0) {
        read_list(argv[2]);
        threads = (int)number(argv[3]);
        seconds = atof(argv[4]);
        count_gzip_records();
        r.unit = "records/s";
        run_threads(gzip_worker, threads);
    } else if (argc >= 5 && (strncmp(what, "jpeg", 4) == 0 || strcmp(what, "records") == 0)) {
        read_list(argv[2]);
        threads = (int)number(argv[3]);
        seconds = atof(argv[4]);
        variant = argc > 5 ? argv[5] : variant;
        with_pictures = strcmp(what, "jpegrec") == 0;
        r.unit = strcmp(what, "jpeg") == 0 ? "images/s" : "records/s";
        run_threads(strcmp(what, "jpeg") == 0 ? jpeg_worker : record_worker, threads);
    } else {
        stop("see the top of limit.c for the arguments");
    }
    r.seconds = bench_now() - start;
    r.cpu_seconds = bench_cpu() - start_cpu;
    r.units = (double)total_units;
    r.bytes = (double)total_bytes;
    r.mean = (double)sum_micro / 1e6 / threads;
    bench_print(&r);
    return 0;
}
