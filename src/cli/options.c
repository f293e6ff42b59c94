/* The parser of command lines.
 *
 * Happy path: each text is an option of the table, whose value is checked and stored, or an
 * argument. Failure modes: an unknown option, a missing, unwanted, ill-formed or out-of-range
 * value; each writes one message that names the option and what was expected. No locks: the tool
 * parses before it starts threads. */
#include "cli/options.h"

#include "cli/say.h"
#include "cli/suggest.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option as it was typed: its row, its value if one was attached, and its text for messages. */
struct typed {
    const leati_option *row;
    const char *value;
    char name[80];
};

static const leati_option help_row = {
    .name = "help", .letter = 'h', .type = LEATI_OPTION_FLAG, .doc = "Show this help."};

static const leati_option *find_name(const leati_option *options, const char *name, size_t size) {
    for (const leati_option *row = options; row != NULL && row->type; row++)
        if (strlen(row->name) == size && memcmp(row->name, name, size) == 0)
            return row;
    /* Behind the command's own rows, which may have an option of that name or letter. */
    return size == 4 && memcmp(name, "help", 4) == 0 ? &help_row : NULL;
}

static const leati_option *find_letter(const leati_option *options, char letter) {
    for (const leati_option *row = options; row != NULL && row->type; row++)
        if (row->letter == letter)
            return row;
    return letter == 'h' ? &help_row : NULL;
}

static void unknown_option(const leati_option *options, const char *command,
                           const struct typed *typed) {
    leati_suggestion best = {.text = typed->name + 2};
    /* Of a single letter nothing can be guessed. */
    if (strncmp(typed->name, "--", 2) == 0) {
        leati_suggest(&best, "help");
        for (const leati_option *row = options; row != NULL && row->type; row++)
            leati_suggest(&best, row->name);
    }
    if (best.found != NULL)
        leati_say_error("%s: unknown option %s; did you mean --%s?", command, typed->name,
                        best.found);
    else
        leati_say_error("%s: unknown option %s; 'leat help %s' lists them", command, typed->name,
                        command);
}

/* Splits one text that begins with a dash. */
static void read_option(const leati_option *options, const char *text, struct typed *typed) {
    *typed = (struct typed){0};
    if (text[1] == '-') {
        size_t size = strcspn(text + 2, "=");
        typed->row = find_name(options, text + 2, size);
        /* "--name=" has a value, an empty one. */
        typed->value = text[2 + size] ? text + 2 + size + 1 : NULL;
        (void)snprintf(typed->name, sizeof typed->name, "--%.*s", (int)(size < 60 ? size : 60),
                       text + 2);
        return;
    }
    typed->row = find_letter(options, text[1]);
    typed->value = text[2] ? text + 2 : NULL;
    (void)snprintf(typed->name, sizeof typed->name, "-%c", text[1]);
}

static bool read_int(const struct typed *typed, const char *command, int64_t *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoll(typed->value, &end, 10);
    if (end != typed->value && !*end && !errno)
        return true;
    leati_say_error("%s: %s: expected a whole number, found \"%s\"", command, typed->name,
                    typed->value);
    return false;
}

static bool store_int(const struct typed *typed, const char *command, void *at) {
    const leati_option *row = typed->row;
    int64_t number;
    if (!read_int(typed, command, &number))
        return false;
    /* Limits are far below 2^53, so doubles hold them and what is near them exactly. */
    if ((double)number < row->minimum || (double)number > row->maximum) {
        leati_say_error("%s: %s: expected %.0f to %.0f, found %" PRId64, command, typed->name,
                        row->minimum, row->maximum, number);
        return false;
    }
    *(int64_t *)at = number;
    return true;
}

static bool store_seed(const struct typed *typed, const char *command, void *at) {
    leat_seed seed = {.given = true};
    if (!read_int(typed, command, &seed.value))
        return false;
    *(leat_seed *)at = seed;
    return true;
}

static bool store_float(const struct typed *typed, const char *command, void *at) {
    const leati_option *row = typed->row;
    char *end = NULL;
    double number = strtod(typed->value, &end);
    if (end == typed->value || *end || !isfinite(number)) {
        leati_say_error("%s: %s: expected a number, found \"%s\"", command, typed->name,
                        typed->value);
        return false;
    }
    if (number < row->minimum || number > row->maximum) {
        leati_say_error("%s: %s: expected %g to %g, found %g", command, typed->name, row->minimum,
                        row->maximum, number);
        return false;
    }
    *(double *)at = number;
    return true;
}

static bool store(const struct typed *typed, const char *command, void *values) {
    void *at = (char *)values + typed->row->offset;
    switch (typed->row->type) {
    case LEATI_OPTION_FLAG: *(bool *)at = true; return true;
    case LEATI_OPTION_INT: return store_int(typed, command, at);
    case LEATI_OPTION_FLOAT: return store_float(typed, command, at);
    case LEATI_OPTION_SEED: return store_seed(typed, command, at);
    case LEATI_OPTION_TEXT: *(const char **)at = typed->value; return true;
    default: return false;
    }
}

/* Takes one option; *next moves on where the value is the following text. */
static leati_parsed take_option(const leati_option *options, const char *command, char **texts,
                                int count, int *next, void *values) {
    struct typed typed;
    read_option(options, texts[*next], &typed);
    ++*next;
    if (typed.row == NULL) {
        unknown_option(options, command, &typed);
        return LEATI_PARSED_WRONG;
    }
    if (typed.row->type == LEATI_OPTION_FLAG && typed.value != NULL) {
        leati_say_error("%s: %s takes no value, found \"%s\"", command, typed.name, typed.value);
        return LEATI_PARSED_WRONG;
    }
    /* Whatever else is wrong behind it: who asks for help gets it. */
    if (typed.row == &help_row)
        return LEATI_PARSED_HELP;
    if (typed.row->type != LEATI_OPTION_FLAG && typed.value == NULL) {
        if (*next == count) {
            leati_say_error("%s: %s needs a value: %s %s", command, typed.name, typed.name,
                            typed.row->value);
            return LEATI_PARSED_WRONG;
        }
        /* Also where it begins with a dash: -5 is a value. */
        typed.value = texts[(*next)++];
    }
    return store(&typed, command, values) ? LEATI_PARSED : LEATI_PARSED_WRONG;
}

leati_parsed leati_options_parse(const leati_option *options, const char *command, char **texts,
                                 int count, void *values, int *arguments) {
    int kept = 0, next = 0;
    bool only_arguments = false;
    while (next < count) {
        char *text = texts[next];
        /* Arguments move to the front over options that have been read, so the order among them
         * stays. */
        if (only_arguments || text[0] != '-' || text[1] == 0) {
            texts[kept++] = texts[next++];
        } else if (strcmp(text, "--") == 0) {
            only_arguments = true;
            next++;
        } else {
            leati_parsed parsed = take_option(options, command, texts, count, &next, values);
            if (parsed != LEATI_PARSED)
                return parsed;
        }
    }
    if (kept < count)
        texts[kept] = NULL; /* a program that is run takes them as its own */
    *arguments = kept;
    return LEATI_PARSED;
}

static void print_row(const leati_option *row) {
    char left[80];
    char letter[8] = "    ";
    if (row->letter)
        (void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
    (void)snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name,
                   row->value != NULL ? " " : "", row->value != NULL ? row->value : "");
    printf("%-28s  %s\n", left, row->doc);
}

void leati_options_print(const leati_option *options) {
    for (const leati_option *row = options; row != NULL && row->type; row++)
        print_row(row);
    print_row(&help_row);
}
