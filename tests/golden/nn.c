/* The part nn. */
#include "golden.h"

void golden_nn(golden_run *run) {
    golden_broken(run, "nn is not read");
}
