/* leat devices: what steps can run on.
 *
 * Happy path: one line per kind of devices, with their number and the plug-in that they are of.
 * Where a kind has none, its line says why, which is no failure. No locks. */
#include "cli/command.h"
#include <leat/dist.h>
#include <stddef.h>
#include <stdio.h>

static const leati_option devices_rows[] = {{0}};

static leati_exit run_devices(void *options, char **arguments, int count) {
    static const char *const kinds[] = {"CPU", "GPU", "TPU", "XLA_CPU"};
    (void)options, (void)arguments, (void)count;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        leat_device_description found;
        leat_error err = {0};
        if (leat_device_describe(kinds[k], &found, &err) != LEAT_OK)
            printf("%-8s 0  %s\n", kinds[k], err.text);
        else if (found.path[0] == '\0')
            printf("%-8s %d  this process's cores\n", kinds[k], found.num_devices);
        else
            printf("%-8s %d  %s, %s, %s\n", kinds[k], found.num_devices, found.platform,
                   found.version, found.path);
    }
    return LEATI_EXIT_OK;
}

const leati_command leati_command_devices = {
    .name = "devices",
    .summary = "list the devices that steps can run on",
    .arguments = "",
    .description =
        "Lists the kinds of devices: cores of this process, and what PJRT plug-ins bring\n"
        "(LEAT_PJRT_PLUGIN, $VIRTUAL_ENV), or why there is none.",
    .options = devices_rows,
    .run = run_devices,
};
