/* leat inspect: what TFRecord files hold.
 *
 * Happy path: each file is read once, all checksums are checked, the features of its first records
 * and then a summary are printed. Failure modes: a file that cannot be read or is damaged is one
 * message with file and byte; the next file is still inspected and the exit status is 1. No
 * locks. */
#include "base/minmax.h"
#include "cli/command.h"
#include "cli/inspect_page.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "file/fs.h"
#include "file/remote_cache.h"
#include <inttypes.h>
#include <leat/file.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct inspect_options {
    int64_t records;
    const char *compression;
    const char *html;
};

static const leati_option inspect_rows[] = {
    {.name = "records",
     .letter = 'n',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct inspect_options, records),
     .value = "N",
     .maximum = 1e15,
     .doc = "Show the features of the first N records of each file (3)."},
    {.name = "compression",
     .letter = 'c',
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(struct inspect_options, compression),
     .value = "TYPE",
     .doc = "NONE, GZIP, ZLIB, ZSTD, LZ4 or SNAPPY; else by its first bytes."},
    {.name = "html",
     .type = LEATI_OPTION_TEXT,
     .offset = offsetof(struct inspect_options, html),
     .value = "PAGE.html",
     .doc = "Write a page with pictures, texts, ranges and histograms."},
    {0},
};

static void inspect_defaults(void *options) {
    ((struct inspect_options *)options)->records = 3;
}

/* What a value of bytes seems to be, from its first bytes; NULL if nothing is known of it. */
static const char *kind_of(leat_string value) {
    /* The signatures that both formats begin with. */
    if (value.size >= 8 && memcmp(value.data, "\x89PNG\r\n\x1a\n", 8) == 0)
        return "PNG";
    if (value.size >= 3 && memcmp(value.data, "\xff\xd8\xff", 3) == 0)
        return "JPEG";
    return NULL;
}

#define SHOWN_VALUES 8
#define SHOWN_BYTES 40

static void print_values(const leat_feature *feature) {
    union {
        int64_t ints[SHOWN_VALUES];
        float floats[SHOWN_VALUES];
        leat_string texts[SHOWN_VALUES];
        /* One array for all types: feature->dtype says which one was read. */
    } values;
    /* No more than are shown are unpacked; feature->count knows how many there are. */
    int64_t count = leat_feature_read(feature, &values, SHOWN_VALUES);
    for (int64_t i = 0; i < count; i++) {
        if (feature->dtype == LEAT_INT64) {
            printf(" %" PRId64, values.ints[i]);
        } else if (feature->dtype == LEAT_FLOAT32) {
            /* Nine digits tell any two float32 apart. */
            printf(" %.9g", (double)values.floats[i]);
        } else {
            const char *kind = kind_of(values.texts[i]);
            printf(" %zu bytes%s%s ", values.texts[i].size, kind != NULL ? " of " : "",
                   kind != NULL ? kind : "");
            leati_print_bytes(values.texts[i].data, values.texts[i].size, SHOWN_BYTES);
        }
    }
    puts(count < feature->count ? " ..." : "");
}

/* The type of a feature as tf.train.Feature calls it. */
static const char *list_name(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_STRING: return "bytes";
    case LEAT_INT64: return "int64";
    case LEAT_FLOAT32: return "float";
    default: return "empty";
    }
}

static void print_record(int64_t index, int64_t offset, leat_string record) {
    char size[32], at[32];
    printf("record %" PRId64 ": %s bytes at byte %s\n", index,
           leati_say_count((int64_t)record.size, size), leati_say_count(offset, at));
    size_t position = 0;
    for (;;) {
        leat_feature feature;
        leat_error err = {0};
        bool end = false;
        if (leat_example_next(record, &position, &feature, &end, &err) != LEAT_OK) {
            /* Records may hold anything; the bytes are shown, and the file is still checked. */
            printf("  no tf.train.Example (%s): ", err.text);
            leati_print_bytes(record.data, record.size, SHOWN_BYTES);
            puts("");
            return;
        }
        if (end)
            return;
        printf("  %-20.*s %s[%" PRId64 "]", (int)LEATI_MIN(feature.name.size, 200),
               feature.name.data, list_name(feature.dtype), feature.count);
        print_values(&feature);
    }
}

struct inspection {
    const struct inspect_options *options;
    leati_inspect_page *page; /* NULL: none is written */
    leati_progress progress;
    bool in_bytes; /* progress is; else it is in records, and nobody knows of how many */
};

static leat_status show_record(void *context, int64_t index, int64_t offset, leat_string record,
                               leat_error *err) {
    (void)err;
    struct inspection *inspection = context;
    /* The others are read, too: their checksums are what inspecting is for. */
    if (index < inspection->options->records)
        print_record(index, offset, record);
    if (inspection->page != NULL)
        leati_inspect_page_record(inspection->page, index, offset, record,
                                  index < inspection->options->records);
    leati_progress_at(&inspection->progress, inspection->in_bytes ? offset : index);
    return LEAT_OK;
}

static void print_summary(const char *path, leat_compression compression,
                          const leat_record_summary *summary) {
    char text[4][32];
    const char *packed = leat_compression_name(compression);
    printf("%s: %s records", path, leati_say_count(summary->records, text[0]));
    if (summary->file_size >= 0)
        printf(" in %s bytes", leati_say_count(summary->file_size, text[1]));
    printf("%s%s, checksums good\n", packed[0] ? ", " : "", packed);
    printf("record size: min %s, mean %.1f, max %s bytes; together %s\n",
           leati_say_count(summary->min_size, text[0]), summary->mean_size,
           leati_say_count(summary->max_size, text[1]),
           leati_say_count(summary->data_bytes, text[2]));
    char line[512];
    if (leati_remote_cache_describe(line, sizeof line))
        printf("%s\n", line);
    if (summary->trailing_bytes > 0)
        leati_say_error("%s: %" PRId64 " bytes after the last record are too few for another one; "
                        "they are ignored",
                        path, summary->trailing_bytes);
}

/* What progress is measured in: a packed file does not say how much there is in it. */
static void start_progress(struct inspection *inspection, const char *path,
                           leat_compression compression) {
    leati_stat stat = {0};
    inspection->in_bytes = compression == LEAT_COMPRESSION_NONE &&
                           leati_fs_stat(path, &stat, &(leat_error){0}) == LEAT_OK;
    leati_progress_start(&inspection->progress, inspection->in_bytes ? "bytes" : "records",
                         inspection->in_bytes ? stat.size : 0);
}

static leat_status inspect_file(const char *path, struct inspection *inspection, leat_error *err) {
    const struct inspect_options *options = inspection->options;
    leat_compression compression = LEAT_COMPRESSION_NONE;
    leat_status status;
    if (options->compression != NULL)
        status = leat_compression_from_name(
            strcmp(options->compression, "NONE") == 0 ? "" : options->compression, &compression,
            err);
    else
        status = leat_compression_guess(path, &compression, err);
    if (status != LEAT_OK)
        return status;
    leat_record_summary summary;
    start_progress(inspection, path, compression);
    status = leat_records_inspect(path, compression, show_record, inspection, &summary, err);
    leati_progress_hide();
    if (status != LEAT_OK)
        return status;
    print_summary(path, compression, &summary);
    if (inspection->page != NULL)
        leati_inspect_page_end(inspection->page, &summary, compression);
    return LEAT_OK;
}

/* Writes the page and ends it; true where it is there, or none was wanted. */
static bool write_page(struct inspection *inspection) {
    leat_error err = {0};
    if (inspection->page == NULL)
        return true;
    leat_status status =
        leati_inspect_page_write(inspection->page, inspection->options->html, &err);
    leati_inspect_page_free(inspection->page);
    if (status != LEAT_OK)
        leati_say_failure(&err);
    return status == LEAT_OK;
}

/* A page by another name would be written over the record file that stands there. */
static bool is_page(const char *path) {
    size_t size = strlen(path);
    return size > 5 && strcmp(path + size - 5, ".html") == 0;
}

static leati_exit run_inspect(void *options, char **arguments, int count) {
    leati_exit code = LEATI_EXIT_OK;
    struct inspection inspection = {.options = options};
    if (inspection.options->html != NULL) {
        if (!is_page(inspection.options->html)) {
            leati_say_error("--html is %s; expected the page to write, PAGE.html",
                            inspection.options->html);
            return LEATI_EXIT_USAGE;
        }
        inspection.page = leati_inspect_page_new();
        if (inspection.page == NULL) {
            leati_say_error("%s: no memory for the page", inspection.options->html);
            return LEATI_EXIT_FAILURE;
        }
    }
    for (int i = 0; i < count; i++) {
        leat_error err = {0};
        if (i > 0)
            puts("");
        if (inspection.page != NULL)
            leati_inspect_page_begin(inspection.page, arguments[i]);
        if (inspect_file(arguments[i], &inspection, &err) == LEAT_OK)
            continue;
        leati_say_failure(&err);
        if (inspection.page != NULL)
            leati_inspect_page_fail(inspection.page, err.text);
        code = LEATI_EXIT_FAILURE;
    }
    return write_page(&inspection) ? code : LEATI_EXIT_FAILURE;
}

const leati_command leati_command_inspect = {
    .name = "inspect",
    .summary = "show what TFRecord files hold, and check them",
    .arguments = "FILE...",
    .description = "Reads TFRecord files, checks both checksums of every record, and prints the\n"
                   "number of records, their smallest, mean and largest size, and the features of\n"
                   "the first records. A damaged file is an error that names the byte. --html\n"
                   "writes the same, with pictures and histograms, as a page of one file that\n"
                   "loads and runs nothing.",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = inspect_rows,
    .size = sizeof(struct inspect_options),
    .defaults = inspect_defaults,
    .run = run_inspect,
};
