/* Regular expressions by PCRE2; see regex.h. Locks: none. */
#include "graph/support/text/regex.h"

#include "base/stop.h"

#include <string.h>

#ifdef LEATI_HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct leati_regex {
    pcre2_general_context *memory; /* all below are allocated by it */
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    uint32_t groups;
    bool whole;
};

/* So PCRE2's memory counts as the library's own, and a test can make it fail. */
static void *allocate(PCRE2_SIZE size, void *context) {
    (void)context;
    return leati_alloc(1, size);
}

static void release(void *memory, void *context) {
    (void)context;
    leati_free(memory);
}

/* The options that make PCRE2 read as RE2 does: UTF-8 with wild bytes between, only a newline ends
 * a line, "$" is the end and "^" also behind the last newline. */
static leat_status compile(leati_regex *r, const char *pattern, const leati_writer *text,
                           bool often, leat_error *err) {
    /* Told to the compiler, as the machine code of a pattern cannot be told by a search. */
    uint32_t anchors = r->whole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0;
    int code = 0;
    PCRE2_SIZE at = 0;
    PCRE2_UCHAR reason[120];
    pcre2_compile_context *options = pcre2_compile_context_create(r->memory);
    if (options == NULL)
        return leati_no_memory(err);
    pcre2_set_newline(options, PCRE2_NEWLINE_LF);
    r->code =
        pcre2_compile((PCRE2_SPTR)(text->size > 0 ? (const char *)text->data : ""), text->size,
                      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY |
                          PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_BACKSLASH_C | anchors,
                      &code, &at, options);
    pcre2_compile_context_free(options);
    if (r->code == NULL && code == PCRE2_ERROR_HEAP_FAILED)
        return leati_no_memory(err);
    if (r->code == NULL) {
        (void)pcre2_get_error_message(code, reason, sizeof reason);
        return leati_refuse(err, VALUE, "invalid pattern: %.80s, error: %s", pattern,
                            (const char *)reason);
    }
    if (often)
        (void)pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE); /* else it is interpreted */
    r->match = pcre2_match_data_create_from_pattern(r->code, r->memory);
    r->limits = pcre2_match_context_create(r->memory);
    if (r->match == NULL || r->limits == NULL)
        return leati_no_memory(err);
    (void)pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->groups);
    return LEAT_OK;
}

leati_regex *leati_regex_new(const char *pattern, bool often, bool whole, leat_error *err) {
    leati_regex *r = leati_alloc_zero(1, sizeof *r);
    leati_writer text = {0};
    if (r == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    r->whole = whole;
    leat_status status = leati_regex_translate(pattern, &text, err);
    r->memory = status == LEAT_OK ? pcre2_general_context_create(allocate, release, NULL) : NULL;
    if (status == LEAT_OK && r->memory == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK)
        status = compile(r, pattern, &text, often, err);
    leati_writer_fini(&text);
    if (status == LEAT_OK)
        return r;
    /* Whatever of it there is: PCRE2 frees NULL, too. */
    leati_regex_free(r);
    return NULL;
}

void leati_regex_free(leati_regex *r) {
    if (r == NULL)
        return;
    pcre2_match_context_free(r->limits);
    pcre2_match_data_free(r->match);
    pcre2_code_free(r->code);
    pcre2_general_context_free(r->memory);
    leati_free(r);
}

int leati_regex_groups(const leati_regex *r) {
    return (int)r->groups;
}

int leati_regex_search(leati_regex *r, leat_string text, size_t from, leat_error *err) {
    /* Each search may be as long as its text, and a text may have as many as bytes. */
    if (leati_stop_look_often() && leati_stop_check(err) != LEAT_OK)
        return -1;
    /* An empty text may have no address, and PCRE2 is given no NULL. */
    int found = pcre2_match(r->code, (PCRE2_SPTR)(text.size > 0 ? text.data : ""), text.size, from,
                            0, r->match, r->limits);
    if (found == PCRE2_ERROR_NOMATCH)
        return 0;
    if (found >= 0) { /* where bytes are no UTF-8, the ends of what lies between count as ends */
        const PCRE2_SIZE *places = pcre2_get_ovector_pointer(r->match);
        /* ENDANCHORED is also met before a wild byte, so the places are asked once more. */
        return !r->whole || (places[0] == from && places[1] == text.size);
    }
    if (found == PCRE2_ERROR_NOMEMORY)
        (void)leati_no_memory(err);
    else
        /* What is left are PCRE2's limits on steps, depth and the machine code's stack. */
        (void)leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                         "a regular expression goes back too often in a text of %zu bytes; nested "
                         "repetition like (a+)+ does that: write it without",
                         text.size);
    return -1;
}

bool leati_regex_group(const leati_regex *r, int group, size_t *begin, size_t *end) {
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(r->match);
    /* The places of a group that took no part are PCRE2_UNSET, which is no index. */
    if ((uint32_t)group > r->groups || places[2 * group] == PCRE2_UNSET)
        return false;
    *begin = places[2 * group];
    *end = places[2 * group + 1];
    return true;
}

#else

leati_regex *leati_regex_new(const char *pattern, bool often, bool whole, leat_error *err) {
    (void)pattern;
    (void)often;
    (void)whole;
    (void)leati_fail(err, LEAT_UNIMPLEMENTED,
                     "regular expressions need the library PCRE2, which this build lacks: install "
                     "libpcre2-dev and build again");
    return NULL;
}

void leati_regex_free(leati_regex *r) {
    (void)r;
}

int leati_regex_groups(const leati_regex *r) {
    (void)r;
    return 0;
}

int leati_regex_search(leati_regex *r, leat_string text, size_t from, leat_error *err) {
    (void)r;
    (void)text;
    (void)from;
    (void)err;
    return 0;
}

bool leati_regex_group(const leati_regex *r, int group, size_t *begin, size_t *end) {
    (void)r;
    (void)group;
    (void)begin;
    (void)end;
    return false;
}
#endif
