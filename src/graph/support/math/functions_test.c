/* The vectorised functions against those of C in float64: their error in units of the last place
 * over floats of every size, and what becomes of NaN, infinities and zeros. functions_long_test
 * runs over many more. */
#include "support/cmocka.h"

#include "support/functions.h"

int main(void) {
    /* A prime, so that all exponents and digits come. */
    return check_functions(1009);
}
