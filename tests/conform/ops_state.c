#include "conform.h"
int conform_ops_state(void) {
    return 0;
}
