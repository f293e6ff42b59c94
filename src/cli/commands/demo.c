/* leat demo: `leat train` on the digits that come with leat. Fails where they were not installed,
 * and as `leat train` does. No locks. */
#include "base/module.h"
#include "cli/command.h"
#include "cli/say.h"
#include "cli/train.h"

enum { LONGEST_PATH = 4096 };

extern const leati_command leati_command_train;

static leati_exit run_demo(void *options, char **arguments, int count) {
    (void)options;
    (void)arguments;
    (void)count;
    leat_error err = {0};
    char folder[LONGEST_PATH];
    if (leati_module_data("digits", folder, sizeof folder, &err) != LEAT_OK) {
        leati_say_failure(&err);
        return LEATI_EXIT_FAILURE;
    }
    leati_train_options training = {0};
    leati_command_train.defaults(&training);
    char *data[] = {folder};
    return leati_command_train.run(&training, data, 1);
}

const leati_command leati_command_demo = {
    .name = "demo",
    .summary = "train a small network on the handwritten digits that come with leat",
    .arguments = "",
    .description =
        "Does what `leat train` does, with its defaults, on the digits that are installed\n"
        "with leat: half a minute. It ends with the test accuracy and a table that says\n"
        "where the time went.",
    .max_arguments = 0,
    .run = run_demo,
};
