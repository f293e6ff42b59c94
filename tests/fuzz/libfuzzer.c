/* libFuzzer's entry points: the target is the one that LEAT_FUZZ_TARGET names.
 *
 * Inputs that are JSON are changed as trees half of the time, else as bytes. Failure: an unknown
 * target ends the program. */
#include "fuzz.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static const fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    const char *name = getenv("LEAT_FUZZ_TARGET");
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
    return made > 0 ? made : LLVMFuzzerMutate(data, size, most);
}
