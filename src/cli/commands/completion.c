/* leat completion: a script that a shell reads to complete command lines. Fails only for a shell
 * that it has no script for. No locks. */
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/say.h"
#include <string.h>

static leati_exit run_completion(void *options, char **arguments, int count) {
    (void)options;
    (void)count;
    if (strcmp(arguments[0], "bash") != 0) {
        leati_say_error("completion: there is no script for %s; expected bash", arguments[0]);
        return LEATI_EXIT_USAGE;
    }
    leati_manual_print_bash_completion();
    return LEATI_EXIT_OK;
}

const leati_command leati_command_completion = {
    .name = "completion",
    .summary = "print a script that completes command lines",
    .arguments = "bash",
    .description = "Prints a script for bash that completes commands, options and names of files.\n"
                   "`make install` puts it where bash finds it; elsewhere\n"
                   "source <(leat completion bash) does the same for one shell.",
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_completion,
};
