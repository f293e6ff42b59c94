/* cmocka.h, and before it what it wants to have been included. */
#ifndef LEAT_TESTS_CMOCKA_H
#define LEAT_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
