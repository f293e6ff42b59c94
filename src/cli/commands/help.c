/* leat help: what there is, and how each command is used. Fails only for a name that is no command.
 * No locks. */
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/say.h"

struct help_options {
    bool man;
};

static leati_exit run_help(void *options, char **arguments, int count) {
    const struct help_options *o = options;
    if (o->man && count > 0) {
        leati_say_error("help: --man prints one page about all commands; leave %s out",
                        arguments[0]);
        return LEATI_EXIT_USAGE;
    }
    if (o->man) {
        leati_manual_print();
        return LEATI_EXIT_OK;
    }
    if (count == 0) {
        leati_command_help_overview();
        return LEATI_EXIT_OK;
    }
    const leati_command *command = leati_command_find(arguments[0]);
    if (command != NULL && count > 1 && command->parts == NULL) {
        leati_say_error("help: %s has no commands of its own, found \"%s\"", command->name,
                        arguments[1]);
        return LEATI_EXIT_USAGE;
    }
    if (command != NULL && count > 1)
        command = leati_command_find_part(command, arguments[1]);
    /* Whoever found nothing has said what is wrong. */
    if (command == NULL)
        return LEATI_EXIT_USAGE;
    leati_command_print_help(command);
    return LEATI_EXIT_OK;
}

static const leati_option help_rows[] = {
    {.name = "man",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct help_options, man),
     .doc = "Print the manual page leat(1), in troff."},
    {0},
};

const leati_command leati_command_help = {
    .name = "help",
    .summary = "show the commands, or how one is used",
    .arguments = "[COMMAND [PART]]",
    .description =
        "Shows the list of commands, or what COMMAND does and its options. Some commands\n"
        "consist of parts: leat help service worker.",
    .max_arguments = 2,
    .options = help_rows,
    .size = sizeof(struct help_options),
    .run = run_help,
};
