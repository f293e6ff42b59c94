/* libFuzzer's entry points: the target is the one that the program was built for, or that
 * LEAT_FUZZ_TARGET names.
 *
 * Inputs that are JSON are changed as trees half of the time, else as bytes. Targets run in a
 * scratch folder, so paths in libFuzzer's arguments are made absolute first, and what breaks
 * something is written where the program was started. Failure: an unknown target ends the program.
 */
#include "fuzz.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
/* Other engines than libFuzzer have none, and do not ask for a mutator either. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#ifndef FUZZ_TARGET
#define FUZZ_TARGET NULL
#endif
static const char *const built_for = FUZZ_TARGET;

static const fuzz_target *target;

enum { MOST_ARGUMENTS = 64 };

/* An argument that is a path, or a flag with one (-dict=words), without a relative one. */
static char *absolute(char *argument) {
    static char texts[MOST_ARGUMENTS][PATH_MAX + 64];
    static int used;
    char *equals = argument[0] == '-' ? strchr(argument, '=') : NULL, found[PATH_MAX];
    char *path = argument[0] != '-' ? argument : equals != NULL ? equals + 1 : NULL;
    if (path == NULL || path[0] == '/' || isdigit((unsigned char)path[0]) ||
        realpath(path, found) == NULL || used == MOST_ARGUMENTS)
        return argument;
    snprintf(texts[used], sizeof texts[used], "%.*s%s%s", (int)(path - argument), argument, found,
             path[strlen(path) - 1] == '/' ? "/" : "");
    return texts[used++];
}

/* The arguments as they are meant in the folder where the program was started. */
static void keep_paths(int *argc, char ***argv) {
    static char *list[MOST_ARGUMENTS + 2];
    static char prefix[PATH_MAX + 32] = "-artifact_prefix=";
    const size_t size = strlen(prefix);
    bool given = false;
    if (*argc > MOST_ARGUMENTS)
        return;
    for (int i = 0; i < *argc; i++) {
        given = given || strncmp((*argv)[i], prefix, size) == 0;
        list[i] = i == 0 ? (*argv)[0] : absolute((*argv)[i]);
    }
    if (!given && getcwd(prefix + size, sizeof prefix - size - 1) != NULL) {
        strcat(prefix, "/");
        list[(*argc)++] = prefix;
    }
    *argv = list;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    keep_paths(argc, argv);
    const char *name = built_for != NULL ? built_for : getenv("LEAT_FUZZ_TARGET");
    target = name != NULL ? fuzz_find(name) : NULL;
    if (target == NULL) {
        fprintf(stderr, "fuzz: LEAT_FUZZ_TARGET names no target\n");
        exit(2);
    }
    fuzz_begin();
    atexit(fuzz_end);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    target->run(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    size_t made = target->form == FUZZ_BYTES || seed % 2 == 0
                      ? 0
                      : fuzz_mutate_json(data, size, most, (uint32_t)seed / 2);
    if (made > 0 || LLVMFuzzerMutate == NULL)
        return made > 0 ? made : size;
    return LLVMFuzzerMutate(data, size, most);
}
