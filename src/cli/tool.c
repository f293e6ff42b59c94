/* The command line tool but for its start: see tool.h.
 *
 * Happy path: the first argument names a command of the table; its options are read and it runs.
 * Failure modes: exit status 2 with a message and a hint where the command line is wrong, 1 where
 * the work or writing to standard output fails, 130 on Ctrl-C. No locks. */
#include "cli/command.h"

#include "base/alloc.h"
#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/say.h"
#include "cli/suggest.h"
#include "cli/tool.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define X(name) extern const leati_command leati_command_##name;
#include "cli/commands.def"
#undef X

static const leati_command *const table[] = {
#define X(name) &leati_command_##name,
#include "cli/commands.def"
#undef X
};

const leati_command *leati_command_at(int index) {
    return (size_t)index < sizeof table / sizeof table[0] ? table[index] : NULL;
}

const leati_command *leati_command_find(const char *name) {
    leati_suggestion best = {.text = name};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
        leati_suggest(&best, table[i]->name);
    }
    if (best.found != NULL)
        leati_say_error("there is no command %s; did you mean %s?", name, best.found);
    else
        leati_say_error("there is no command %s; 'leat help' lists them", name);
    return NULL;
}

const char *leati_command_word(const leati_command *part) {
    return strrchr(part->name, ' ') + 1;
}

const leati_command *leati_command_find_part(const leati_command *command, const char *word) {
    leati_suggestion best = {.text = word};
    for (int i = 0; command->parts[i] != NULL; i++) {
        if (strcmp(leati_command_word(command->parts[i]), word) == 0)
            return command->parts[i];
        leati_suggest(&best, leati_command_word(command->parts[i]));
    }
    if (best.found != NULL)
        leati_say_error("%s: there is no %s; did you mean %s?", command->name, word, best.found);
    else
        leati_say_error("%s: there is no %s; 'leat help %s' lists what there is", command->name,
                        word, command->name);
    return NULL;
}

void leati_command_help_overview(void) {
    puts("Usage: leat COMMAND [ARGUMENT]...\n\n"
         "Input pipelines and synchronous data-parallel training.\n\n"
         "Commands:");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        printf("  %-10s %s\n", table[i]->name, table[i]->summary);
    puts("\n'leat help COMMAND' tells more. 'leat --version' prints the version.\n"
         "Exit status: 0, 1 if the work failed, 2 for a wrong command line, 130 after Ctrl-C.\n\n"
         "The environment's LEAT_LOG, such as info or debug:data,dist, tells on standard error\n"
         "what is decided:");
    for (int i = 0; i < LEATI_LOG_NUM_CATEGORIES; i++)
        printf("  %-10s %s\n", leati_log_categories[i].name, leati_log_categories[i].doc);
}

void leati_command_print_help(const leati_command *command) {
    printf("Usage: leat %s [OPTION]... %s\n\n%s\n\n", command->name, command->arguments,
           command->description);
    for (int i = 0; command->parts != NULL && command->parts[i] != NULL; i++)
        printf("%s  %-11s %s\n", i == 0 ? "Commands:\n" : "", leati_command_word(command->parts[i]),
               command->parts[i]->summary);
    printf("%sOptions:\n", command->parts != NULL ? "\n" : "");
    leati_options_print(command->options);
}

/* Too few or too many arguments: what is there is not worth starting. */
static bool right_number(const leati_command *command, char **texts, int count) {
    if (count < command->min_arguments) {
        leati_say_error("%s: %s is missing; usage: leat %s [OPTION]... %s", command->name,
                        command->arguments, command->name, command->arguments);
        return false;
    }
    if (command->max_arguments >= 0 && count > command->max_arguments) {
        leati_say_error("%s: unexpected argument \"%s\"; usage: leat %s [OPTION]... %s",
                        command->name, texts[command->max_arguments], command->name,
                        command->arguments);
        return false;
    }
    return true;
}

static leati_exit run_command(const leati_command *command, char **texts, int count) {
    void *options = leati_alloc_zero(1, command->size ? command->size : 1);
    if (options == NULL) {
        leati_say_error("out of memory");
        return LEATI_EXIT_FAILURE;
    }
    if (command->defaults != NULL)
        command->defaults(options);
    leati_exit code = LEATI_EXIT_USAGE;
    int arguments = 0;
    leati_parsed parsed =
        leati_options_parse(command->options, command->name, texts, count, options, &arguments);
    if (parsed == LEATI_PARSED_HELP) {
        leati_command_print_help(command);
        code = LEATI_EXIT_OK;
    } else if (parsed == LEATI_PARSED && right_number(command, texts, arguments)) {
        /* Before the command starts a thread, which would get the signal otherwise. */
        if (!command->takes_signals) {
            leati_interrupt_watch();
            /* A limit on the size of files is an error of what writes, which names the file. */
            (void)signal(SIGXFSZ, SIG_IGN);
        }
        code = command->run(options, texts, arguments);
    }
    leati_free(options);
    return code;
}

/* The parts of a command have the options; the command itself only tells of its parts. */
static leati_exit dispatch_part(const leati_command *command, char **texts, int count) {
    if (count == 0 || texts[0][0] == '-')
        return run_command(command, texts, count);
    const leati_command *part = leati_command_find_part(command, texts[0]);
    return part != NULL ? run_command(part, texts + 1, count - 1) : LEATI_EXIT_USAGE;
}

static leati_exit dispatch(int count, char **texts) {
    if (count < 2) {
        leati_say_error("no command was given; 'leat help' lists them");
        return LEATI_EXIT_USAGE;
    }
    const char *first = texts[1];
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        printf("leat %s\n", leat_version());
        return LEATI_EXIT_OK;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        leati_command_help_overview();
        return LEATI_EXIT_OK;
    }
    if (first[0] == '-') {
        leati_say_error("unknown option %s; there are --help and --version, and each command has "
                        "its own after its name",
                        first);
        return LEATI_EXIT_USAGE;
    }
    const leati_command *command = leati_command_find(first);
    if (command != NULL && command->parts != NULL)
        return dispatch_part(command, texts + 2, count - 2);
    return command != NULL ? run_command(command, texts + 2, count - 2) : LEATI_EXIT_USAGE;
}

static const char *own_path;

const char *leati_tool_path(void) {
    return own_path;
}

int leati_tool_run(int count, char **texts, const char *path) {
    own_path = path;
    leati_exit code = dispatch(count, texts);
    /* A full disk or a closed pipe shows only when the last of the output is written. */
    if (!leati_say_finish() && code == LEATI_EXIT_OK)
        code = LEATI_EXIT_FAILURE;
    return (int)code;
}
