/* Runs all conformance suites, or those named: `conform_test [--part I/N] [SUITE...]`.
 *
 * Suites that take minutes deal their cases to N parts and run those of part I, from 1 on; together
 * the parts run what is run without. */
#include "conform.h"

#include <stdio.h>
#include <string.h>

static unsigned part = 1, parts = 1;

bool conform_mine(size_t *dealt) {
    return (*dealt)++ % parts == part - 1;
}

static const struct {
    const char *name;
    int (*run)(void);
} suites[] = {
    {"ops", conform_ops},
    {"ops_fields", conform_ops_fields},
    {"ops_devices", conform_ops_devices},
    {"ops_pjrt", conform_ops_pjrt},
    {"ops_state", conform_ops_state},
    {"ops_pictures", conform_ops_pictures},
    {"signatures", conform_signatures},
    {"census", conform_census},
    {"data", conform_data},
    {"data_at", conform_data_at},
    {"data_memory", conform_data_memory},
    {"data_service", conform_data_service},
    {"arguments", conform_arguments},
    {"descriptors", conform_descriptors},
    {"states", conform_states},
    {"types", conform_types},
};

static int named(int argc, char **argv, const char *name) {
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 1;
}

int main(int argc, char **argv) {
    int failed = 0, ran = 0;
    argc--;
    argv++;
    if (argc > 1 && strcmp(argv[0], "--part") == 0) {
        if (sscanf(argv[1], "%u/%u", &part, &parts) != 2 || part < 1 || part > parts) {
            fprintf(stderr, "conform: --part wants I/N, not \"%s\"\n", argv[1]);
            return 2;
        }
        argc -= 2;
        argv += 2;
    }
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        if (!named(argc, argv, suites[i].name))
            continue;
        failed += suites[i].run();
        ran++;
    }
    if (ran == 0)
        fprintf(stderr, "conform: no suite of that name\n");
    return failed > 0 || ran == 0;
}
