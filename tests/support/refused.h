/* What a test asks of a failure: its code, its reason and one keyword; never its sentence, which
 * is free to improve. Where it happened stands in the fields of leat_error: compare these.
 *
 * A keyword is the name of an argument, operation, layer, file, dtype and the like, a number or a
 * shape; it stands as a whole word in the message, in the names of operator and function, or in
 * the path. NULL where the failure has nothing to name. Header only: include it after <cmocka.h>.
 */
#ifndef REFUSED_H
#define REFUSED_H

#include <ctype.h>
#include <leat/base.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool refused_joins(char a, char b) {
    return (isalnum((unsigned char)a) || a == '_') && (isalnum((unsigned char)b) || b == '_');
}

/* `word` stands in `text`, and not as a part of a longer one. */
static inline bool refused_names(const char *text, const char *word) {
    size_t size = strlen(word);
    for (const char *at = text; size > 0 && (at = strstr(at, word)) != NULL; at++)
        if ((at == text || !refused_joins(at[-1], word[0])) &&
            !refused_joins(word[size - 1], at[size]))
            return true;
    return false;
}

/* Several words are a sentence; only a shape has blanks, behind its commas. */
static inline bool refused_is_keyword(const char *word) {
    for (const char *at = word; (at = strchr(at, ' ')) != NULL; at++)
        if (at == word || at[-1] != ',')
            return false;
    return true;
}

static inline bool is_refused(const leat_error *err, leat_status code, leat_reason reason,
                              const char *keyword) {
    bool named = keyword == NULL || refused_names(leat_error_message(err), keyword) ||
                 refused_names(err->op, keyword) || refused_names(err->function, keyword) ||
                 refused_names(err->file, keyword);
    if (err->code == code && err->reason == reason && named &&
        (keyword == NULL || refused_is_keyword(keyword)))
        return true;
    print_message("expected %s, %s, keyword \"%s\"; found %s, %s: %s\n", leat_status_name(code),
                  leat_reason_name(reason), keyword != NULL ? keyword : "",
                  leat_status_name(err->code), leat_reason_name(err->reason), err->text);
    return false;
}

#define assert_refused(err, code, reason, keyword)                                                 \
    assert_true(is_refused(err, code, reason, keyword))

#endif
