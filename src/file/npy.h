/* The header of numpy's .npy files: dtype, order and shape of the one array that follows it. */
#ifndef LEATI_FILE_NPY_H
#define LEATI_FILE_NPY_H

#include <leat/core.h>

/* A longer header is taken for damage; numpy's own limit is 10,000 bytes. */
#define LEATI_NPY_MOST (64u << 10)

typedef struct leati_npy {
    leat_dtype dtype;
    leat_shape shape;
    bool swapped; /* values have the other byte order than this machine */
    bool fortran; /* the first dimension varies fastest */
    size_t size;  /* bytes of the header: where the values start */
} leati_npy;

/* Reads the header at the start of a file whose first `size` bytes are `data`. OK with *need == 0:
 * `out` is set. OK with *need > size: give at least so many bytes; where the file has no more it is
 * cut. DATA_LOSS with the byte for what is no header; UNIMPLEMENTED for arrays of what leat has no
 * dtype for (objects, records, text, dates, complex numbers) and .npz archives. */
LEAT_WARN_UNUSED leat_status leati_npy_read(const uint8_t *data, size_t size, size_t *need,
                                            leati_npy *out, leat_error *err);

#endif
