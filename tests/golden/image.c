/* The part image. */
#include "golden.h"

void golden_image(golden_run *run) {
    golden_broken(run, "image is not read");
}
