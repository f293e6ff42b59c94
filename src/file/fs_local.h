/* The file system of the machine itself. */
#ifndef LEATI_FILE_FS_LOCAL_H
#define LEATI_FILE_FS_LOCAL_H

#include "file/fs.h"

extern const leati_fs leati_fs_local;

/* Fails with the code that TensorFlow gives this errno and the text "PATH: cannot DO: REASON", with
 * an advice where there is one. */
leat_status leati_fs_local_fail(leat_error *err, int number, const char *path, const char *what);

#endif
