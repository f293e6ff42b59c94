/* The smallest program that uses an installed leat: it prints the version it runs with. */
#include <leat/leat.h>
#include <stdio.h>

int main(void) {
    printf("%s\n", leat_version());
    return 0;
}
