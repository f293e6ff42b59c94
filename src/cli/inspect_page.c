/* A page about record files.
 *
 * Rows are added to one text as records come; of each feature the number of its values, their range
 * and mean, and a histogram of the first of them are kept until its file ends. Failure modes:
 * memory that is short is remembered and told when the page is written. No locks. */
#include "cli/inspect_page.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/text.h"
#include "cli/say.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    PAGE_BYTES = 2 << 20,     /* behind which rows are left out */
    PICTURE_BYTES = 48 << 10, /* of a picture that is shown */
    TEXT_BYTES = 300,
    VALUES = 8,
    FEATURES = 128, /* that are counted */
    NAME_BYTES = 100,
    SAMPLES = 8192, /* numbers of a feature for its histogram */
    READ = 1024,    /* values of one record that are counted */
    BARS = 24,
};

/* What a feature's values have in common. */
struct counted {
    char name[NAME_BYTES];
    size_t name_size;
    int64_t records, fewest, most; /* values of a record */
    int64_t values;
    double low, high, sum;
    float samples[SAMPLES];
    int num_samples;
    leat_dtype dtype;
};

struct leati_inspect_page {
    leati_text text;
    leati_text rows; /* of the records of this file */
    struct counted *counted[FEATURES];
    int num_counted;
    bool left_out, failed;
};

leati_inspect_page *leati_inspect_page_new(void) {
    return leati_alloc_zero(1, sizeof(leati_inspect_page));
}

static void forget(leati_inspect_page *page) {
    for (int i = 0; i < page->num_counted; i++)
        leati_free(page->counted[i]);
    page->num_counted = 0;
    page->left_out = false;
    leati_text_fini(&page->rows);
}

void leati_inspect_page_free(leati_inspect_page *page) {
    if (page == NULL)
        return;
    forget(page);
    leati_text_fini(&page->text);
    leati_free(page);
}

/* ---- text ---- */

/* Bytes as a reader sees them, the first of many. */
static void add_escaped(leati_text *text, const char *bytes, size_t size) {
    leati_text_add_markup(text, bytes, LEATI_MIN(size, TEXT_BYTES));
    if (size > TEXT_BYTES)
        leati_text_addf(text, "...");
}

static void add_picture(leati_inspect_page *page, leat_string value, const char *kind) {
    size_t letters = leati_base64_letters(value.size);
    char *encoded = leati_alloc(letters, 1);
    if (encoded == NULL) {
        page->failed = true;
        return;
    }
    leati_base64_encode(value.data, value.size, encoded);
    /* That is for names and addresses; pages have two other letters, and an end. */
    for (size_t i = 0; i < letters; i++)
        encoded[i] = (char)(encoded[i] == '-' ? '+' : encoded[i] == '_' ? '/' : encoded[i]);
    leati_text_addf(&page->rows, "<img alt=\"\" src=\"data:image/%s;base64,", kind);
    leati_text_add(&page->rows, encoded, letters);
    leati_text_addf(&page->rows, "%s\"> ", &"=="[letters % 4 == 0 ? 2 : letters % 4 - 2]);
    leati_free(encoded);
}

static void add_bytes(leati_inspect_page *page, leat_string value) {
    /* The signatures that both formats begin with. */
    const char *kind = value.size >= 8 && memcmp(value.data, "\x89PNG\r\n\x1a\n", 8) == 0 ? "png"
                       : value.size >= 3 && memcmp(value.data, "\xff\xd8\xff", 3) == 0    ? "jpeg"
                                                                                          : NULL;
    if (kind != NULL && value.size <= PICTURE_BYTES)
        add_picture(page, value, kind);
    leati_text_addf(&page->rows, "%zu bytes ", value.size);
    if (kind != NULL)
        leati_text_addf(&page->rows, "of %s", kind);
    else
        add_escaped(&page->rows, value.data, value.size);
    leati_text_addf(&page->rows, "<br>");
}

/* ---- records ---- */

static void show_feature(leati_inspect_page *page, const leat_feature *feature) {
    union {
        int64_t ints[VALUES];
        float floats[VALUES];
        leat_string texts[VALUES];
        /* One array for all types: feature->dtype says which one was read. */
    } values;
    int64_t count = leat_feature_read(feature, &values, VALUES);
    leati_text_addf(&page->rows, "<b>");
    add_escaped(&page->rows, feature->name.data, feature->name.size);
    leati_text_addf(&page->rows, "</b> [%" PRId64 "] ", feature->count);
    for (int64_t i = 0; i < count; i++)
        if (feature->dtype == LEAT_INT64)
            leati_text_addf(&page->rows, "%" PRId64 " ", values.ints[i]);
        else if (feature->dtype == LEAT_FLOAT32)
            leati_text_addf(&page->rows, "%.9g ", (double)values.floats[i]);
        else
            add_bytes(page, values.texts[i]);
    leati_text_addf(&page->rows, "%s<br>", count < feature->count ? "..." : "");
}

static struct counted *find_counted(leati_inspect_page *page, const leat_feature *feature) {
    size_t size = LEATI_MIN(feature->name.size, NAME_BYTES);
    for (int i = 0; i < page->num_counted; i++)
        if (page->counted[i]->name_size == size &&
            memcmp(page->counted[i]->name, feature->name.data, size) == 0)
            return page->counted[i];
    if (page->num_counted == FEATURES)
        return NULL;
    struct counted *made = leati_alloc_zero(1, sizeof *made);
    if (made == NULL) {
        page->failed = true;
        return NULL;
    }
    memcpy(made->name, feature->name.data, size);
    made->name_size = size;
    made->fewest = INT64_MAX;
    made->dtype = feature->dtype;
    made->low = INFINITY;
    made->high = -INFINITY;
    page->counted[page->num_counted++] = made;
    return made;
}

static void count_number(struct counted *counted, double number) {
    if (!isfinite(number))
        return;
    counted->values++;
    counted->sum += number;
    counted->low = LEATI_MIN(counted->low, number);
    counted->high = LEATI_MAX(counted->high, number);
    if (counted->num_samples < SAMPLES)
        counted->samples[counted->num_samples++] = (float)number;
}

/* Numbers are counted as such, texts by their lengths. */
static void count_feature(leati_inspect_page *page, const leat_feature *feature) {
    static union {
        int64_t ints[READ];
        float floats[READ];
        leat_string texts[READ];
        /* As above; static, because it is large and one thread inspects. */
    } values;
    struct counted *counted = find_counted(page, feature);
    if (counted == NULL)
        return;
    counted->records++;
    counted->fewest = LEATI_MIN(counted->fewest, feature->count);
    counted->most = LEATI_MAX(counted->most, feature->count);
    if (counted->dtype == LEAT_INVALID)
        counted->dtype = feature->dtype;
    int64_t count = leat_feature_read(feature, &values, READ);
    for (int64_t i = 0; i < count && feature->dtype == counted->dtype; i++)
        count_number(counted, feature->dtype == LEAT_INT64     ? (double)values.ints[i]
                              : feature->dtype == LEAT_FLOAT32 ? (double)values.floats[i]
                                                               : (double)values.texts[i].size);
}

void leati_inspect_page_record(leati_inspect_page *page, int64_t index, int64_t offset,
                               leat_string record, bool shown) {
    size_t position = 0;
    leat_error own = {0};
    bool full = page->text.size + page->rows.size > PAGE_BYTES;
    page->left_out = page->left_out || (shown && full);
    shown = shown && !full;
    if (shown)
        leati_text_addf(&page->rows,
                        "<tr><th>%" PRId64 "</th><td>%zu bytes at byte %" PRId64 "</td><td>", index,
                        record.size, offset);
    for (;;) {
        leat_feature feature;
        bool end = false;
        if (leat_example_next(record, &position, &feature, &end, &own) != LEAT_OK) {
            if (shown) {
                leati_text_addf(&page->rows, "no tf.train.Example: ");
                add_escaped(&page->rows, record.data, record.size);
            }
            break;
        }
        if (end)
            break;
        count_feature(page, &feature);
        if (shown)
            show_feature(page, &feature);
    }
    if (shown)
        leati_text_addf(&page->rows, "</td></tr>\n");
}

/* ---- files ---- */

void leati_inspect_page_begin(leati_inspect_page *page, const char *path) {
    forget(page);
    leati_text_addf(&page->text, "<h2>");
    add_escaped(&page->text, path, strlen(path));
    leati_text_addf(&page->text, "</h2>\n");
}

static void add_histogram(leati_text *text, const struct counted *counted) {
    int bars[BARS] = {0}, most = 1;
    double low = counted->low, width = counted->high - counted->low;
    if (!isfinite(width))
        return;
    for (int i = 0; i < counted->num_samples; i++) {
        int bar = width > 0 ? (int)(((double)counted->samples[i] - low) / width * BARS) : BARS / 2;
        /* The largest number ends the last bar, and a float32 may lie beside its double. */
        bar = LEATI_MAX(LEATI_MIN(bar, BARS - 1), 0);
        most = LEATI_MAX(most, ++bars[bar]);
    }
    leati_text_addf(text, "<svg width=\"%d\" height=\"38\" fill=\"#58a\">", BARS * 7);
    for (int i = 0; i < BARS; i++)
        leati_text_addf(text, "<rect x=\"%d\" y=\"%.1f\" width=\"6\" height=\"%.1f\"/>", i * 7,
                        36 - 36.0 * bars[i] / most, 36.0 * bars[i] / most);
    leati_text_addf(text, "</svg>");
}

static void add_counted(leati_inspect_page *page) {
    leati_text_addf(&page->text, "<table><tr><th>feature</th><th>type</th><th>records</th>"
                                 "<th>values of a record</th><th>range</th><th></th></tr>\n");
    for (int i = 0; i < page->num_counted; i++) {
        const struct counted *counted = page->counted[i];
        const char *type = counted->dtype == LEAT_INT64     ? "int64"
                           : counted->dtype == LEAT_FLOAT32 ? "float"
                           : counted->dtype == LEAT_STRING  ? "bytes"
                                                            : "empty";
        leati_text_addf(&page->text, "<tr><td>");
        add_escaped(&page->text, counted->name, counted->name_size);
        leati_text_addf(&page->text,
                        "</td><td>%s</td><td>%" PRId64 "</td><td>%" PRId64 " to %" PRId64
                        "</td><td>",
                        type, counted->records, counted->fewest, counted->most);
        if (counted->values > 0) {
            leati_text_addf(&page->text, "%.9g to %.9g, mean %.6g%s</td><td>", counted->low,
                            counted->high, counted->sum / (double)counted->values,
                            counted->dtype == LEAT_STRING ? " bytes" : "");
            add_histogram(&page->text, counted);
        } else {
            leati_text_addf(&page->text, "</td><td>");
        }
        leati_text_addf(&page->text, "</td></tr>\n");
    }
    leati_text_addf(&page->text, "</table>\n");
}

void leati_inspect_page_end(leati_inspect_page *page, const leat_record_summary *summary,
                            leat_compression compression) {
    char text[4][32];
    const char *packed = leat_compression_name(compression);
    leati_text_addf(&page->text,
                    "<p>%s records%s%s, checksums good; of %s to %s bytes, mean %.1f</p>\n",
                    leati_say_count(summary->records, text[0]), packed[0] ? ", " : "", packed,
                    leati_say_count(summary->min_size, text[1]),
                    leati_say_count(summary->max_size, text[2]), summary->mean_size);
    /* Also the sums of many files. */
    if (page->num_counted > 0 && page->text.size <= PAGE_BYTES)
        add_counted(page);
    if (page->rows.size > 0) {
        leati_text_addf(&page->text, "<table>\n");
        leati_text_add(&page->text, page->rows.data, page->rows.size);
        leati_text_addf(&page->text, "</table>\n");
    }
    if (page->left_out)
        leati_text_addf(&page->text, "<p><em>records are left out, the page is full</em></p>\n");
    page->failed = page->failed || page->rows.failed;
    forget(page);
}

void leati_inspect_page_fail(leati_inspect_page *page, const char *text) {
    leati_text_addf(&page->text, "<p><strong>");
    add_escaped(&page->text, text, strlen(text));
    leati_text_addf(&page->text, "</strong></p>\n");
    forget(page);
}

leat_status leati_inspect_page_write(leati_inspect_page *page, const char *path, leat_error *err) {
    static const char head[] =
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>leat inspect</title>"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
        "style-src 'unsafe-inline'\"><style>body{font:13px sans-serif}table{border-collapse:"
        "collapse}td,th{border:1px solid #99a;padding:4px 8px;text-align:left;vertical-align:top;"
        "overflow-wrap:anywhere}img{max-width:128px;max-height:128px;image-rendering:pixelated}"
        "</style></head><body>\n";
    static const char tail[] = "</body></html>\n";
    if (page->failed || page->text.failed)
        return leati_no_memory(err);
    const leat_file_piece pieces[] = {
        {head, sizeof head - 1}, {page->text.data, page->text.size}, {tail, sizeof tail - 1}};
    const leat_file_content content = {path, pieces, 3};
    return leat_files_replace(&content, 1, NULL, 0, err);
}
