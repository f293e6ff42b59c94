/* Regular expressions of RE2's syntax, which is TensorFlow's, searched by PCRE2.
 *
 * What RE2 refuses is refused: references back, looking around, possessive and nested repetition,
 * repetition above 1000, conditions, recursion, verbs. What both have and mean otherwise (\s, \v,
 * $, octal numbers, scripts) is rewritten. Text is UTF-8; bytes that are none match nothing. RE2
 * needs time linear in the text; here a search that goes back too often is RESOURCE_EXHAUSTED.
 * Where PCRE2 was left out of the build everything is UNIMPLEMENTED. */
#ifndef LEATI_GRAPH_SUPPORT_TEXT_REGEX_H
#define LEATI_GRAPH_SUPPORT_TEXT_REGEX_H

#include "graph/support/text/texts.h"

/* From so many texts, or bytes, on translating to machine code pays. Without it each search reads
 * its text to the end. */
#define LEATI_REGEX_OFTEN 64
#define LEATI_REGEX_LONG 4096

/* A compiled expression and the place of its last match: for one thread. */
typedef struct leati_regex leati_regex;

/* INVALID_ARGUMENT with RE2's reason. Owned; NULL on failure. `often`: will there be many texts, or
 * long ones? `whole`: searches are for a match of all of a text. */
leati_regex *leati_regex_new(const char *pattern, bool often, bool whole, leat_error *err);
void leati_regex_free(leati_regex *regex); /* NULL is allowed */
int leati_regex_groups(const leati_regex *regex);

/* Looks for the first match from byte `from` on, or for one of all the text behind it. 1 found, 0
 * not, -1 with the error set. */
int leati_regex_search(leati_regex *regex, leat_string text, size_t from, leat_error *err);
/* Group `group` of the last match (0: all of it) as [*begin, *end); false where it took no part. */
bool leati_regex_group(const leati_regex *regex, int group, size_t *begin, size_t *end);

/* Writes the pattern as PCRE2 has it; INVALID_ARGUMENT for what RE2 refuses. Does not need PCRE2.
 */
LEAT_WARN_UNUSED leat_status leati_regex_translate(const char *pattern, leati_writer *out,
                                                   leat_error *err);

#endif
