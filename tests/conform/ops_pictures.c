#include "conform.h"
int conform_ops_pictures(void) {
    return 0;
}
