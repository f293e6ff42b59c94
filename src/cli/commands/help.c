/* leat help: what there is, and how each command is used. Fails only for a name that is no command.
 * No locks. */
#include "cli/command.h"

static leati_exit run_help(void *options, char **arguments, int count) {
    (void)options;
    if (count == 0) {
        leati_help_overview();
        return LEATI_EXIT_OK;
    }
    const leati_command *command = leati_command_find(arguments[0]);
    if (!command)
        return LEATI_EXIT_USAGE;
    leati_help_command(command);
    return LEATI_EXIT_OK;
}

const leati_command leati_command_help = {
    .name = "help",
    .summary = "show the commands, or how one is used",
    .arguments = "[COMMAND]",
    .description = "Shows the list of commands, or what COMMAND does and its options.",
    .max_arguments = 1,
    .run = run_help,
};
