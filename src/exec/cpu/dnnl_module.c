/* The module libleat_dnnl.so: oneDNN's functions as a table (dnnl_module.h). */
#define LEATI_MODULE_ITSELF
#include "exec/cpu/dnnl_module.h"

LEATI_MODULE_SHOWN const leati_dnnl LEATI_MODULE_TABLE = {
    .head = {LEATI_MODULE_FOR, sizeof(leati_dnnl)},
#define X(name) .name = name,
    LEATI_DNNL_FUNCTIONS(X)
#undef X
};
