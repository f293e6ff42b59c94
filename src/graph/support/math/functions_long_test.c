/* The vectorised functions over each 37th of all floats; see functions_test.c. */
#include "support/cmocka.h"

#include "support/functions.h"

int main(void) {
    return check_functions(37);
}
