/* Names of files by patterns, as tf.data.Dataset.list_files and tf.io.gfile.glob find them. */
#ifndef LEATI_FILE_GLOB_H
#define LEATI_FILE_GLOB_H

#include "file/fs.h"

/* Replaces `out` ({0} or a list) by what `count` patterns match, all together sorted bytewise; what
 * two patterns match comes twice. '*', '?' and '[set]' stay within one level of the path and match
 * a leading dot too; folders match like files; a backslash takes the next character as it is. A
 * pattern whose first wildcard stands in its first level gives names that begin with "./", as in
 * TensorFlow. Folders that are missing or may not be read match nothing; any other failure to list
 * one is reported. Without a match `out` is empty, or with `required` the call is INVALID_ARGUMENT
 * naming the patterns. */
LEAT_WARN_UNUSED leat_status leati_glob(const char *const *patterns, size_t count, bool required,
                                        leati_paths *out, leat_error *err);

#endif
