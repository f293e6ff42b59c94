/* leat service: the processes of a data service and who looks after them. Every part is a command
 * of its own; this one tells which there are. No locks. */
#include "cli/command.h"
#include "cli/say.h"

#define X(name) extern const leati_command leati_command_service_##name;
#include "cli/service.def"
#undef X

static const leati_command *const parts[] = {
#define X(name) &leati_command_service_##name,
#include "cli/service.def"
#undef X
    NULL};

static leati_exit run_service(void *options, char **arguments, int count) {
    (void)options;
    (void)arguments;
    (void)count;
    leati_say_error("service: no command was given; 'leat help service' lists them");
    return LEATI_EXIT_USAGE;
}

const leati_command leati_command_service = {
    .name = "service",
    .parts = parts,
    .summary = "input pipelines on other processes and machines",
    .arguments = "COMMAND [ARGUMENT]...",
    .description =
        "A dispatcher knows datasets, jobs and workers; workers run the pipelines; programs read\n"
        "what comes out (tf.data.experimental.service). 'leat help service COMMAND' tells more.\n"
        "\n"
        "Where nothing else is said, the dispatcher is the one at LEAT_SERVICE_ADDRESS, the token\n"
        "that of LEAT_SERVICE_TOKEN, and the certificates those of LEAT_SERVICE_TLS_CERT,\n"
        "LEAT_SERVICE_TLS_KEY and LEAT_SERVICE_TLS_CA. Without token and certificates a server is\n"
        "reached from its own machine only.",
    .max_arguments = 0,
    .run = run_service,
};
