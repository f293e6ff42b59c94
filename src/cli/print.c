/* Printing of bytes and elements, and reading of texts. Lines are written by one call each, so that
 * Ctrl-C does not cut them. Failures: memory, and what the file system says. No locks. */
#include "cli/print.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

void leati_print_bytes(const char *data, size_t size, size_t limit) {
    leati_text text = {0};
    leati_text_add_quoted(&text, data, LEATI_MIN(size, limit));
    printf("%s%s", text.failed || text.data == NULL ? "" : text.data, size > limit ? "..." : "");
    leati_text_fini(&text);
}

leat_status leati_print_element(const leat_element *element, leat_error *err) {
    char small[512];
    /* Most elements fit, and printing one takes no memory then; the last byte is for the
     * newline. */
    size_t size = leat_element_print(element, small, sizeof small - 1);
    if (size < sizeof small - 1) {
        small[size] = '\n';
        (void)fwrite(small, 1, size + 1, stdout);
        return LEAT_OK;
    }
    char *text = leati_alloc(size + 2, 1);
    if (text == NULL)
        return leati_no_memory(err);
    (void)leat_element_print(element, text, size + 1);
    text[size] = '\n';
    (void)fwrite(text, 1, size + 1, stdout);
    leati_free(text);
    return LEAT_OK;
}

static leat_status read_all(FILE *file, const char *path, size_t limit, leati_text *text,
                            leat_error *err) {
    char part[16384];
    size_t got;
    while ((got = fread(part, 1, sizeof part, file)) > 0) {
        leati_text_add(text, part, got);
        if (text->failed)
            return leati_no_memory(err);
        /* Standard input has no size that could be asked for before. */
        if (text->size > limit)
            return leati_refuse(err, VALUE, "%s: more than %zu bytes", path, limit);
    }
    if (ferror(file))
        return leati_fail(err, LEAT_UNKNOWN, "%s: %s", path, strerror(errno));
    /* An empty file is an empty text, and not none. */
    leati_text_add(text, "", 0);
    return text->failed ? leati_no_memory(err) : LEAT_OK;
}

char *leati_print_read_text(const char *path, size_t limit, leat_error *err) {
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (file == NULL) {
        leati_fail(err, errno == ENOENT ? LEAT_NOT_FOUND : LEAT_UNKNOWN, "%s: %s", path,
                   strerror(errno));
        return NULL;
    }
    leati_text text = {0};
    leat_status status = read_all(file, standard ? "standard input" : path, limit, &text, err);
    if (!standard)
        (void)fclose(file);
    if (status == LEAT_OK)
        return leati_text_take(&text);
    leati_text_fini(&text);
    return NULL;
}
