/* A command of the tool: `leat NAME`. One command is one file commands/<name>.c, which ends in its
 * descriptor, and one line in commands.def; help, suggestions and dispatch read that table. A
 * command may consist of parts, `leat NAME PART`, each a command in a file of its own. */
#ifndef LEATI_CLI_COMMAND_H
#define LEATI_CLI_COMMAND_H

#include "cli/options.h"

/* What the process returns to the shell. */
typedef enum leati_exit {
    LEATI_EXIT_OK = 0,
    LEATI_EXIT_FAILURE = 1,      /* the work failed: a message says why */
    LEATI_EXIT_USAGE = 2,        /* the command line was wrong */
    LEATI_EXIT_INTERRUPTED = 130 /* Ctrl-C */
} leati_exit;

typedef struct leati_command {
    const char *name; /* of a part: with that of the command before it */
    /* Ended by NULL; then the first argument names one of them, and but for name, summary and
     * description this command has nothing. NULL: it has no parts. */
    const struct leati_command *const *parts;
    const char *summary;              /* one line for `leat help` */
    const char *arguments;            /* of the usage line, such as "FILE..." */
    const char *description;          /* paragraphs of `leat help NAME`, lines ready to print */
    int min_arguments, max_arguments; /* max -1: any number */
    const leati_option *options;      /* ended by {0}; NULL: only --help */
    size_t size;                      /* of the options' struct */
    bool takes_signals;               /* Ctrl-C is its own affair; else it ends the process */
    /* Fills the options' struct, which starts zeroed; NULL: nothing to do. */
    void (*defaults)(void *options);
    /* `arguments` are `count` texts of the command line. */
    leati_exit (*run)(void *options, char **arguments, int count);
} leati_command;

/* The command of that name; NULL after a message that suggests one. */
const leati_command *leati_command_find(const char *name);

/* The part of a command by the word behind the command's; NULL after a message. */
const leati_command *leati_command_find_part(const leati_command *command, const char *word);

/* The word of a part behind that of its command. Borrowed. */
const char *leati_command_word(const leati_command *part);

/* The commands in the order of the table; NULL behind the last. */
const leati_command *leati_command_at(int index);

/* Prints the overview, or the help of one command, to standard output. */
void leati_command_help_overview(void);
void leati_command_print_help(const leati_command *command);

#endif
