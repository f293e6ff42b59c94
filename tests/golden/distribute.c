/* The part distribute. */
#include "golden.h"

void golden_distribute(golden_run *run) {
    golden_broken(run, "distribute is not read");
}
