/* Options of a command by table: `--name VALUE`, `--name=VALUE`, `-x VALUE`, `-xVALUE`. Options and
 * arguments may be mixed; `--` ends the options and `-` is an argument. */
#ifndef LEATI_CLI_OPTIONS_H
#define LEATI_CLI_OPTIONS_H

#include <leat/data.h>

typedef enum leati_option_type {
    LEATI_OPTION_END = 0,
    LEATI_OPTION_FLAG,  /* bool, takes no value */
    LEATI_OPTION_INT,   /* int64_t */
    LEATI_OPTION_FLOAT, /* double */
    LEATI_OPTION_TEXT,  /* const char *, borrowed from the command line */
    LEATI_OPTION_SEED   /* leat_seed: any int64 */
} leati_option_type;

typedef struct leati_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    leati_option_type type;
    size_t offset;           /* in the options' struct */
    const char *value;       /* how help names the value, such as "N" */
    double minimum, maximum; /* of numbers, both included */
    const char *doc;         /* one sentence; help puts it beside the name */
} leati_option;

typedef enum leati_parsed {
    LEATI_PARSED = 0,
    LEATI_PARSED_HELP, /* --help or -h was there */
    LEATI_PARSED_WRONG /* a message was written */
} leati_parsed;

/* Reads `count` texts: options fill `values` by the rows of `options` (may be NULL), everything
 * else is moved to the front of `texts`, and *arguments is their number. `command` is for messages.
 */
leati_parsed leati_options_parse(const leati_option *options, const char *command, char **texts,
                                 int count, void *values, int *arguments);

/* Prints the rows for help, one line each. */
void leati_options_print(const leati_option *options);

#endif
