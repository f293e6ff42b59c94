/* Modules for src/base/module_test.c: of this version, of another one, and one without a table. */
#include "base/module.h"

#ifdef LEATI_MODULE_FOR
LEATI_MODULE_SHOWN const leati_module_head LEATI_MODULE_TABLE = {LEATI_MODULE_FOR,
                                                                 sizeof(leati_module_head)};
#endif
