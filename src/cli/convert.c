/* Record files made of pictures.
 *
 * Happy path: pictures are put in order, all files of the result are opened, each picture is read,
 * decoded to see that it is whole, and written as a tf.train.Example to the file whose part of the
 * order it is in; then all files are closed, which puts them under their names. Failure modes: a
 * file that is there already; a picture that cannot be read or decoded, which names it (with
 * skip_bad one that cannot be decoded is a line on standard error); writing. Nothing appears then;
 * only where closing itself fails, the files before stay. No locks. */
#include "cli/convert.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "file/index.h"
#include "image/codec.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct conversion {
    const leati_convert_options *options;
    leat_compression compression;
    leati_convert_pictures pictures;
    leati_paths names;              /* of the record files */
    leat_tfrecord_writer **writers; /* one for each name */
    int64_t *written;               /* records of each */
    leati_image_decoder *decoder;
    leat_example *example;
    uint8_t *pixels; /* of the largest picture so far */
    size_t pixel_bytes;
};

static void conversion_fini(struct conversion *c) {
    for (size_t i = 0; c->writers != NULL && i < c->names.count; i++)
        leat_tfrecord_writer_discard(c->writers[i]);
    leati_free((void *)c->writers);
    leati_free(c->written);
    leati_free(c->pixels);
    leati_image_decoder_free(c->decoder);
    leat_example_free(c->example);
    leati_fs_paths_fini(&c->names);
    leati_convert_pictures_fini(&c->pictures);
}

/* ---- the plan ---- */

/* An order that the seed decides (Fisher and Yates). */
static void shuffle(leati_convert_pictures *pictures, int64_t seed) {
    leati_words words = leati_words_new((uint64_t)seed, 0);
    for (size_t left = pictures->count; left > 1; left--) {
        uint64_t number = leati_words_next(&words);
        /* 64 bits: the remainder of 32 would favour some places where there are many pictures. */
        size_t chosen = (size_t)((number << 32 | leati_words_next(&words)) % left);
        leati_picture last = pictures->values[left - 1];
        pictures->values[left - 1] = pictures->values[chosen];
        pictures->values[chosen] = last;
    }
}

static leat_status name_files(struct conversion *c, const char *out, leat_error *err) {
    leati_text text = {0};
    leat_status status = LEAT_OK;
    for (int64_t i = 0; i < c->options->shards && status == LEAT_OK; i++) {
        text.size = 0;
        leati_text_addf(&text, "%s-%05" PRId64 "-of-%05" PRId64 ".tfrecord", out, i,
                        c->options->shards);
        status = text.failed ? leati_no_memory(err)
                             : leati_fs_paths_add(&c->names, text.data, text.size, err);
        leati_stat stat;
        /* Asked for all files before any picture is read. */
        if (status == LEAT_OK && !c->options->force &&
            leati_fs_stat(c->names.values[i], &stat, &(leat_error){0}) == LEAT_OK)
            status = leati_fail(err, LEAT_ALREADY_EXISTS,
                                "%.300s is there already; choose another name or use --force",
                                text.data);
    }
    leati_text_fini(&text);
    return status;
}

static leat_status open_files(struct conversion *c, leat_error *err) {
    size_t count = c->names.count;
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                            .compression = c->compression};
    c->writers = leati_alloc_zero(count, sizeof *c->writers);
    c->written = leati_alloc_zero(count, sizeof *c->written);
    if (c->writers == NULL || c->written == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        /* Open to the end, because each file gets its name only when all of them are written. */
        c->writers[i] = leat_tfrecord_writer_open(c->names.values[i], &options, err);
        if (c->writers[i] == NULL)
            return err->code;
    }
    c->decoder = leati_image_decoder_new(err);
    c->example = c->decoder != NULL ? leat_example_new(err) : NULL;
    return c->example != NULL ? LEAT_OK : err->code;
}

/* ---- pictures ---- */

/* Decodes a picture, to be sure that others will be able to. */
static leat_status check_picture(struct conversion *c, const leat_buffer *file,
                                 leati_image_info *info, leat_error *err) {
    leat_status status =
        leati_image_begin(c->decoder, leat_buffer_data(file), leat_buffer_size(file),
                          &leati_decode_defaults, info, err);
    if (status != LEAT_OK)
        return status;
    size_t stride = (size_t)info->width * (size_t)info->channels, bytes = 0;
    if (!leati_mul_size(stride, (size_t)info->height, &bytes))
        return leati_no_memory(err);
    void *pixels = c->pixels;
    /* One buffer for all pictures, as large as the largest. */
    if (!leati_grow(&pixels, &c->pixel_bytes, bytes, 1))
        return leati_no_memory(err);
    c->pixels = pixels;
    return leati_image_read(c->decoder, pixels, stride, err);
}

static leat_status add_text(leat_example *example, const char *key, const char *text,
                            leat_error *err) {
    leat_string value = {text, strlen(text)};
    return leat_example_add_bytes(example, key, &value, 1, err);
}

static leat_status add_number(leat_example *example, const char *key, int64_t number,
                              leat_error *err) {
    return leat_example_add_int64(example, key, &number, 1, err);
}

/* The keys that TensorFlow's own converters write. */
static leat_status make_example(struct conversion *c, const leati_picture *picture,
                                const leat_buffer *file, const leati_image_info *info,
                                leat_error *err) {
    leat_example *example = c->example;
    leat_string bytes = {leat_buffer_data(file), leat_buffer_size(file)};
    const char *slash = strrchr(picture->path, '/');
    leat_example_clear(example);
    leat_status status = leat_example_add_bytes(example, "image/encoded", &bytes, 1, err);
    char format[8] = "";
    for (size_t i = 0; i + 1 < sizeof format && info->format[i] != '\0'; i++)
        format[i] = (char)tolower((unsigned char)info->format[i]);
    if (status == LEAT_OK)
        status = add_text(example, "image/format", format, err);
    if (status == LEAT_OK)
        status = add_number(example, "image/height", info->height, err);
    if (status == LEAT_OK)
        status = add_number(example, "image/width", info->width, err);
    if (status == LEAT_OK)
        status = add_number(example, "image/class/label", picture->label, err);
    if (status == LEAT_OK)
        status =
            add_text(example, "image/class/text", c->pictures.classes.values[picture->label], err);
    return status != LEAT_OK ? status
                             : add_text(example, "image/filename",
                                        slash != NULL ? slash + 1 : picture->path, err);
}

/* Makes the example of one picture; *bad: it is none, and *err says why. */
static leat_status read_picture(struct conversion *c, const leati_picture *picture, bool *bad,
                                leat_error *err) {
    leat_buffer *file = NULL;
    leati_image_info info = {0};
    leat_status status = leati_file_read_all(picture->path, &file, err);
    if (status != LEAT_OK)
        return status;
    status = check_picture(c, file, &info, err);
    if (status != LEAT_OK) {
        /* Not a lack of memory, say, which no other picture would pass either. */
        *bad = status == LEAT_INVALID_ARGUMENT;
        leati_prefix(err, "%.200s", picture->path);
    } else {
        status = make_example(c, picture, file, &info, err);
    }
    leat_buffer_unref(file);
    return status;
}

static leat_status write_picture(struct conversion *c, size_t number, leat_error *err) {
    bool bad = false;
    leat_error own = {0};
    leat_string record;
    /* File s has pictures [s * count / shards, (s + 1) * count / shards). */
    size_t shard = ((number + 1) * c->names.count - 1) / c->pictures.count;
    leat_status status = read_picture(c, &c->pictures.values[number], &bad, &own);
    if (bad && c->options->skip_bad) {
        leati_convert_pictures_skip(&c->pictures, own.text);
        return LEAT_OK;
    }
    if (status != LEAT_OK)
        return leati_fail(err, status, "%s%s", own.text,
                          bad ? "; take it away, or use --skip-bad" : "");
    status = leat_example_serialize(c->example, &record, err);
    if (status == LEAT_OK)
        status = leat_tfrecord_writer_write(c->writers[shard], record.data, record.size, err);
    c->written[shard] += status == LEAT_OK;
    return status;
}

/* ---- the result ---- */

static leat_status close_files(struct conversion *c, leat_error *err) {
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < c->names.count && status == LEAT_OK; i++) {
        leat_tfrecord_writer *writer = c->writers[i];
        /* Closing takes it, also where it fails: it must not be discarded again. */
        c->writers[i] = NULL;
        status = leat_tfrecord_writer_close(writer, err);
    }
    return status;
}

/* Writes the index of a file, or takes away the one of the file that was replaced. */
static leat_status renew_index(const struct conversion *c, const char *path, leat_error *err) {
    if (c->options->index)
        return leat_index_write(path, NULL, err);
    leati_text text = {0};
    leat_error own = {0};
    leati_text_addf(&text, "%s%s", path, LEATI_INDEX_ENDING);
    leat_status status = text.failed ? leati_no_memory(&own) : leati_fs_remove(text.data, &own);
    leati_text_fini(&text);
    /* There need not have been one. */
    return status == LEAT_OK || status == LEAT_NOT_FOUND ? LEAT_OK : leati_error_pass(err, &own);
}

static void report(const struct conversion *c) {
    int64_t total = 0;
    char text[32];
    for (size_t i = 0; i < c->names.count; i++) {
        printf("%s: %s records\n", c->names.values[i], leati_say_count(c->written[i], text));
        total += c->written[i];
    }
    printf("%s pictures", leati_say_count(total, text));
    printf(" of %s classes", leati_say_count((int64_t)c->pictures.classes.count, text));
    if (c->pictures.skipped > 0)
        printf(", %s skipped", leati_say_count(c->pictures.skipped, text));
    /* leat train takes two classes at least. */
    printf("; leat train reads them with --label-key image/class/label --classes %zu\n",
           LEATI_MAX(c->pictures.classes.count, 2));
}

static leat_status prepare(struct conversion *c, const char *folder, const char *out,
                           leat_error *err) {
    leat_status status = leat_compression_from_name(c->options->compression, &c->compression, err);
    /* What can be refused without reading a picture is refused first. */
    if (status == LEAT_OK && c->options->index && c->compression != LEAT_COMPRESSION_NONE)
        status = leati_refuse(err, VALUE,
                              "--index and --compression: a compressed file cannot have an index");
    if (status == LEAT_OK)
        status = name_files(c, out, err);
    if (status == LEAT_OK)
        status = leati_convert_pictures_find(folder, c->options->skip_bad, &c->pictures, err);
    if (status == LEAT_OK && (uint64_t)c->options->shards > c->pictures.count)
        status =
            leati_refuse(err, VALUE, "--shards is %" PRId64 ", but %.200s has only %zu pictures",
                         c->options->shards, folder, c->pictures.count);
    if (status == LEAT_OK && c->options->shuffle)
        shuffle(&c->pictures, c->options->seed.value);
    return status != LEAT_OK ? status : open_files(c, err);
}

leat_status leati_convert(const char *folder, const char *out, const leati_convert_options *options,
                          leat_error *err) {
    struct conversion c = {.options = options};
    leati_progress progress;
    leat_status status = prepare(&c, folder, out, err);
    leati_progress_start(&progress, "pictures", (int64_t)c.pictures.count);
    for (size_t i = 0; i < c.pictures.count && status == LEAT_OK; i++) {
        status = write_picture(&c, i, err);
        leati_progress_at(&progress, (int64_t)i + 1);
    }
    leati_progress_hide();
    if (status == LEAT_OK)
        status = close_files(&c, err);
    for (size_t i = 0; i < c.names.count && status == LEAT_OK; i++)
        status = renew_index(&c, c.names.values[i], err);
    if (status == LEAT_OK)
        report(&c);
    conversion_fini(&c);
    return status;
}
