/* The table of element types. Nothing here can fail; all functions are pure. */
#include <leat/core.h>

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[LEAT_NUM_DTYPES] = {
    [LEAT_INVALID] = {"invalid", 0},
    [LEAT_BOOL] = {"bool", 1},
    [LEAT_INT8] = {"int8", 1},
    [LEAT_INT16] = {"int16", 2},
    [LEAT_INT32] = {"int32", 4},
    [LEAT_INT64] = {"int64", 8},
    [LEAT_UINT8] = {"uint8", 1},
    [LEAT_UINT16] = {"uint16", 2},
    [LEAT_UINT32] = {"uint32", 4},
    [LEAT_UINT64] = {"uint64", 8},
    [LEAT_FLOAT16] = {"float16", 2},
    [LEAT_BFLOAT16] = {"bfloat16", 2},
    [LEAT_FLOAT32] = {"float32", 4},
    [LEAT_FLOAT64] = {"float64", 8},
    [LEAT_STRING] = {"string", sizeof(leat_string)},
    [LEAT_OBJECT] = {"object", sizeof(leat_object *)},
    [LEAT_COMPLEX64] = {"complex64", 8},
    [LEAT_COMPLEX128] = {"complex128", 16},
};

static bool is_dtype(leat_dtype dtype) {
    /* One comparison: a negative number becomes a large one. */
    return (unsigned)dtype < (unsigned)LEAT_NUM_DTYPES;
}

const char *leat_dtype_name(leat_dtype dtype) {
    return dtypes[is_dtype(dtype) ? dtype : LEAT_INVALID].name;
}

leat_dtype leat_dtype_from_name(const char *name) {
    for (int i = LEAT_INVALID + 1; name != NULL && i < LEAT_NUM_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return (leat_dtype)i;
    return LEAT_INVALID;
}

size_t leat_dtype_size(leat_dtype dtype) {
    return dtypes[is_dtype(dtype) ? dtype : LEAT_INVALID].size;
}
