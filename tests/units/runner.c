/* The unit tests of one room in one program. cmake/tests.cmake gives each file's `main` a name.
 *
 *   units/<room> NAME     runs src/NAME.c (or tests/NAME.c) as if it were a program of its own
 *   units/<room>          lists the names
 *
 * Objects are linked once for a room instead of once for a file. A test still has a process to
 * itself, and one that starts itself again (tests/support/workers.h) finds its name in
 * LEAT_TEST_UNIT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(function, name) int function(void);
#include LEATI_UNITS
#undef X

static const struct {
    const char *name;
    int (*run)(void);
} units[] = {
#define X(function, name) {name, function},
#include LEATI_UNITS
#undef X
};

/* What gRPC, and c-ares below it, do not free when they end. Asked by the checker of leaks. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libcares.so\nleak:gpr_realloc\n";
}

int main(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[1] : getenv("LEAT_TEST_UNIT");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (wanted == NULL) {
            puts(units[i].name);
        } else if (strcmp(units[i].name, wanted) == 0) {
            (void)setenv("LEAT_TEST_UNIT", wanted, 1);
            return units[i].run();
        }
    }
    if (wanted != NULL)
        fprintf(stderr, "%s has no unit \"%s\"\n", argv[0], wanted);
    return wanted != NULL;
}
