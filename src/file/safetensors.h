/* .safetensors files: named tensors and notes in one file (the format of that name; little-endian
 * values behind a header of JSON). */
#ifndef LEATI_FILE_SAFETENSORS_H
#define LEATI_FILE_SAFETENSORS_H

#include <leat/core.h>

/* A longer header is taken for damage. */
#define LEATI_SAFETENSORS_MOST ((uint64_t)100 << 20)

typedef struct leati_named_tensor {
    const char *name;
    leat_tensor tensor;
} leati_named_tensor;

/* Text about the file, such as {"format", "..."}. */
typedef struct leati_note {
    const char *key, *text;
} leati_note;

/* Writes the file whole or not at all. INVALID_ARGUMENT for tensors of strings or objects, for
 * names that come twice, and for "__metadata__", the name of the notes. */
LEAT_WARN_UNUSED leat_status leati_safetensors_write(const char *path,
                                                     const leati_named_tensor *tensors, int count,
                                                     const leati_note *notes, int num_notes,
                                                     leat_error *err);

/* A file that was read. */
typedef struct leati_safetensors leati_safetensors;

/* DATA_LOSS naming the file for what is no such file: a header that is cut or no JSON, places
 * outside of the file, that overlap or do not fit dtype and shape. Owned
 * (leati_safetensors_free). */
LEAT_WARN_UNUSED leat_status leati_safetensors_read(const char *path, leati_safetensors **out,
                                                    leat_error *err);
void leati_safetensors_free(leati_safetensors *file);
/* Borrowed; NULL: there is none of that name. Its values may lie unaligned. */
const leat_tensor *leati_safetensors_find(const leati_safetensors *file, const char *name);
/* Borrowed; NULL: there is none. */
const char *leati_safetensors_note(const leati_safetensors *file, const char *key);
int leati_safetensors_count(const leati_safetensors *file);

#endif
