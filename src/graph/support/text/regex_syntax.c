/* RE2's syntax in the words of PCRE2; see regex.h.
 *
 * One walk copies the pattern piece by piece. What PCRE2 refuses as well (parentheses, ranges,
 * names of classes) is left to it. No locks. */
#include "base/minmax.h"
#include "graph/support/text/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct walk {
    const char *pattern, *at;
    leati_writer *out;
    leat_error *err;
    bool repeats; /* the last piece was a repetition */
} walk;

static leat_status refuse(const walk *w, const char *reason, const char *from, const char *to) {
    return leati_refuse(w->err, VALUE, "invalid pattern: %.80s, error: %s: %.*s", w->pattern,
                        reason, (int)LEATI_MIN(40, to - from), from);
}

static void put(walk *w, const char *text) {
    leati_put_raw(w->out, text, strlen(text));
}

static void take(walk *w, const char *to) {
    leati_put_raw(w->out, w->at, (size_t)(to - w->at));
    w->at = to;
}

/* Braces, as digits that follow in the pattern would otherwise join the code. */
static void put_code(walk *w, long code) {
    char text[24];
    (void)snprintf(text, sizeof text, "\\x{%lx}", code);
    put(w, text);
}

static bool is_digit(char c, int base) {
    return c >= '0' && c < '0' + base;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c) {
    return is_digit(c, 10) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* \123 and \0: up to three digits; a single one from 1 on would refer back. */
static leat_status take_octal(walk *w) {
    const char *digits = w->at + 1;
    long code = 0;
    int count = 0;
    while (count < 3 && is_digit(digits[count], 8))
        code = code * 8 + (digits[count++] - '0');
    /* RE2 refuses what others read as \1, and takes \0 and \12 as octal numbers. */
    if (count == 0 || (digits[0] != '0' && count == 1))
        return refuse(w, "invalid escape sequence", w->at, digits + 1);
    put_code(w, code);
    w->at = digits + count;
    return LEAT_OK;
}

/* \x41 and \x{1F600}. */
static leat_status take_hex(walk *w) {
    const char *digits = w->at + 2, *end;
    if (*digits == '{') {
        end = strchr(digits, '}');
        for (const char *c = digits + 1; end != NULL && c < end; c++)
            /* At most six digits, so that strtol cannot overflow. */
            end = is_hex(*c) && end - digits < 8 ? end : NULL;
        if (end == NULL || end == digits + 1 || strtol(digits + 1, NULL, 16) > 0x10ffff)
            return refuse(w, "invalid escape sequence", w->at, digits + 1);
        put_code(w, strtol(digits + 1, NULL, 16));
        w->at = end + 1;
        return LEAT_OK;
    }
    if (!is_hex(digits[0]) || !is_hex(digits[1]))
        return refuse(w, "invalid escape sequence", w->at, digits + (*digits != '\0'));
    take(w, digits + 2);
    return LEAT_OK;
}

/* \pL, \p{Lu}, \p{^Greek}. A script is one's own letters, without those it shares. PCRE2 would take
 * names in letters of any case. */
static leat_status take_property(walk *w) {
    static const char categories[] = "CLMNPSZ";
    const char *name = w->at + 2, *end;
    if (*name == '\0')
        return refuse(w, "invalid character class range", w->at, name);
    if (*name != '{') {
        if (strchr(categories, *name) == NULL)
            return refuse(w, "invalid character class range", w->at, name + 1);
        take(w, name + 1);
        return LEAT_OK;
    }
    end = strchr(name, '}');
    if (end == NULL)
        return refuse(w, "invalid character class range", w->at, w->at + strlen(w->at));
    const char *start = w->at;
    take(w, ++name);
    if (*name == '^')
        take(w, ++name);
    /* Categories have one letter or two; "Any" is neither a category nor a script. */
    bool script = end - name > 2 && strncmp(name, "Any", 3) != 0;
    if (script ? *name < 'A' || *name > 'Z' : strchr(categories, *name) == NULL && *name != 'A')
        return refuse(w, "invalid character class range", start, end + 1);
    if (script)
        put(w, "sc:");
    take(w, end + 1);
    return LEAT_OK;
}

/* A place between characters, `size` bytes of pattern: in a group it may be repeated, as RE2
 * allows. */
static void put_place(walk *w, size_t size) {
    put(w, "(?:");
    leati_put_raw(w->out, w->at, size);
    put(w, ")");
}

static leat_status take_escape(walk *w, bool in_class) {
    char c = w->at[1];
    if (c == '\0')
        return refuse(w, "trailing \\", w->at, w->at);
    if (c == 'x')
        return take_hex(w);
    if (c == 'p' || c == 'P')
        return take_property(w);
    if (is_digit(c, 10))
        return take_octal(w);
    if (c == 'C' && !in_class)
        return refuse(w, "a single byte is not supported", w->at, w->at + 2);
    if (is_letter(c) && strchr(in_class ? "afnrtvdDsSwW" : "afnrtvdDsSwWbBAz", c) == NULL)
        return refuse(w, "invalid escape sequence", w->at, w->at + 2);
    /* RE2's \v is the vertical tab alone, PCRE2's every vertical space. */
    if (c == 'v')
        put(w, "\\x0b");
    else if (c == 's')
        /* RE2's \s leaves out the vertical tab, which PCRE2's has; so \S must have it. */
        put(w, in_class ? "\\t\\n\\f\\r " : "[\\t\\n\\f\\r ]");
    else if (c == 'S')
        put(w, in_class ? "\\S\\x0b" : "[^\\t\\n\\f\\r ]");
    else if (!in_class && strchr("bBAz", c) != NULL)
        put_place(w, 2);
    else
        leati_put_raw(w->out, w->at, 2);
    w->at += 2;
    return LEAT_OK;
}

/* [...]; a bracket within that names no class is itself. */
static leat_status take_class(walk *w) {
    const char *start = w->at;
    take(w, w->at + (w->at[1] == '^' ? 2 : 1));
    /* A bracket that comes first is a member of the class, not its end. */
    if (*w->at == ']') {
        put(w, "\\]");
        w->at++;
    }
    while (*w->at != ']') {
        const char *end = w->at[0] == '[' && w->at[1] == ':' ? strstr(w->at, ":]") : NULL;
        if (*w->at == '\0')
            return refuse(w, "missing ]", start, w->at);
        if (*w->at == '\\') {
            LEATI_TRY(take_escape(w, true));
        } else if (end != NULL) {
            take(w, end + 2);
        } else if (*w->at == '[') {
            put(w, "\\[");
            w->at++;
        } else {
            take(w, w->at + 1);
        }
    }
    take(w, w->at + 1);
    return LEAT_OK;
}

/* The end of (?P<name>, (?: or (?flags: ; NULL for others. */
static const char *group_end(const char *at) {
    const char *c = at + 2;
    bool minus = false;
    if (c[0] == 'P' && c[1] == '<') {
        for (c += 2; is_letter(*c) || is_digit(*c, 10) || *c == '_';)
            c++;
        /* An empty name is none. */
        return *c == '>' && c > at + 4 ? c + 1 : NULL;
    }
    while (*c != '\0' && strchr("imsU-", *c) != NULL) {
        if (*c == '-' && minus)
            return NULL;
        minus = minus || *c == '-';
        c++;
    }
    if (*c == ':' || (*c == ')' && c > at + 2))
        return c[-1] == '-' ? NULL : c + 1;
    return NULL;
}

static leat_status take_group(walk *w) {
    if (w->at[1] == '*')
        return refuse(w, "no argument for repetition operator", w->at + 1, w->at + 2);
    if (w->at[1] != '?') {
        take(w, w->at + 1);
        return LEAT_OK;
    }
    const char *end = group_end(w->at);
    if (end == NULL)
        return refuse(w, "invalid perl operator", w->at, w->at + (w->at[2] == '\0' ? 2 : 3));
    take(w, end);
    return LEAT_OK;
}

/* Behind {n}, {n,} or {n,m}, or NULL where the brace is itself. *most gets the largest number. */
static const char *repetition_end(const char *at, long *most) {
    char *end;
    if (!is_digit(at[1], 10))
        return NULL;
    /* An overflow gives LONG_MAX, which is above every limit. */
    *most = strtol(at + 1, &end, 10);
    if (*end == ',' && is_digit(end[1], 10)) {
        long high = strtol(end + 1, &end, 10);
        *most = high > *most ? high : *most;
    } else if (*end == ',') {
        end++;
    }
    return *end == '}' ? end + 1 : NULL;
}

/* One repetition, also if it is lazy. */
static leat_status take_repetition(walk *w, const char *end) {
    if (w->repeats)
        return refuse(w, "bad repetition operator", w->at, end);
    take(w, end + (*end == '?'));
    w->repeats = true;
    return LEAT_OK;
}

static leat_status take_piece(walk *w) {
    long most = 0;
    const char *end;
    switch (*w->at) {
    case '\\':
        /* Quoted text goes through as it is: PCRE2 reads \Q and \E alike, also without an end. */
        if (w->at[1] == 'Q') {
            end = strstr(w->at, "\\E");
            take(w, end == NULL ? w->at + strlen(w->at) : end + 2);
            return LEAT_OK;
        }
        return take_escape(w, false);
    case '[': return take_class(w);
    case '(': return take_group(w);
    case '*':
    case '+':
    case '?': return take_repetition(w, w->at + 1);
    case '{':
        end = repetition_end(w->at, &most);
        if (end != NULL && most > 1000)
            return refuse(w, "invalid repetition size", w->at, end);
        if (end != NULL)
            return take_repetition(w, end);
        /* A brace that begins no repetition is itself, which PCRE2 need not read so. */
        put(w, "\\{");
        w->at++;
        return LEAT_OK;
    case '^':
    case '$':
        put_place(w, 1);
        w->at++;
        return LEAT_OK;
    default: take(w, w->at + 1); return LEAT_OK;
    }
}

leat_status leati_regex_translate(const char *pattern, leati_writer *out, leat_error *err) {
    walk w = {.pattern = pattern, .at = pattern, .out = out, .err = err};
    while (*w.at != '\0') {
        /* A piece that is no repetition leaves `repeats` as the one before set it. */
        bool repeated = w.repeats;
        LEATI_TRY(take_piece(&w));
        w.repeats = w.repeats && !repeated;
    }
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}
