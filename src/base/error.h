/* Writing errors: what failed is said by whoever decides it (leati_fail), where it was is added as
 * data by whoever knows it (leati_error_at_*), and both are put into one sentence here.
 *
 *     map "decode" (user.c:41): element 17 of train-03.tfrecord at byte 9312: not a JPEG
 *     `------- place -------------------------------------------------------´ `- message -´
 *
 * Context in front of it (leati_prefix) stays in front. Nobody reads a text to decide something.
 * Inside of the library `err` is never NULL (tools/check_errors.py): public functions have a door,
 * and an internal call whose error nobody wants is given `&(leat_error){0}`. */
#ifndef LEATI_BASE_ERROR_H
#define LEATI_BASE_ERROR_H

#include <leat/base.h>

/* Writes code and message, and forgets what the record said before; returns the code. */
leat_status leati_fail(leat_error *err, leat_status code, const char *format, ...)
    LEAT_PRINTF(3, 4);
/* The same with a reason. */
leat_status leati_fail_for(leat_error *err, leat_status code, leat_reason reason,
                           const char *format, ...) LEAT_PRINTF(4, 5);
/* INVALID_ARGUMENT with a reason. */
#define leati_refuse(err, reason, ...)                                                             \
    leati_fail_for(err, LEAT_INVALID_ARGUMENT, LEAT_REASON_##reason, __VA_ARGS__)

/* What is wrong with a file: `byte` -1 for all of it; `decompressed` where the byte counts in what
 * the file unpacks to. The text need not name the file. */
leat_status leati_fail_in_file(leat_error *err, leat_status code, const char *path, int64_t byte,
                               bool decompressed, const char *format, ...) LEAT_PRINTF(6, 7);

/* OUT_OF_RANGE after the last element, in TensorFlow's words. */
leat_status leati_fail_end(leat_error *err);
bool leati_error_is_end(const leat_error *err);

/* Hands a failure on with all that it knows; returns its code. */
leat_status leati_error_pass(leat_error *err, const leat_error *failure);
/* The failure of a user's function, which may have written no more than a code and a text: `kind`
 * and `name` ("callback", its name or NULL) are put in front. */
leat_status leati_fail_callback(leat_error *err, leat_status status, const leat_error *failure,
                                const char *kind, const char *name);
/* Makes `record`, of whatever content, one without a failure; returns it. Cheaper than {0}, which
 * writes all of the texts: for calls per element whose error nobody wants. */
leat_error *leati_error_unwanted(leat_error *record);
/* The first line of every public function with `err`: NULL becomes a record of the call's own. */
#define LEATI_ERROR_DOOR(err)                                                                      \
    leat_error record_of_call;                                                                     \
    err = err != NULL ? err : leati_error_unwanted(&record_of_call)

/* Is a number from outside the code of a failure? */
static inline bool leati_error_is_code(int64_t code) {
    return code > LEAT_OK && code <= LEAT_UNAUTHENTICATED;
}

/* Puts the formatted text and ": " before the text of a failure, and returns its code. */
leat_status leati_prefix(leat_error *err, const char *format, ...) LEAT_PRINTF(2, 3);
/* The failure gets another code, and `before` and ": " in front of its message, behind its place.
 */
void leati_error_wrap(leat_error *err, leat_status code, const char *before);

/* Returns from the calling function with the status of a failed call. */
#define LEATI_TRY(call)                                                                            \
    do {                                                                                           \
        leat_status try_status = (call);                                                           \
        if (try_status != LEAT_OK)                                                                 \
            return try_status;                                                                     \
    } while (0)

/* The code or reason of a name; false for another word. */
bool leati_status_from_name(const char *name, leat_status *out);
bool leati_reason_from_name(const char *name, leat_reason *out);

/* ---- the place ---- */

/* Each does nothing where that part of the place is known already, or the operator is: the
 * innermost place counts. */
/* `size` bytes of a path; `byte` -1 where it is not known. */
void leati_error_at_file(leat_error *err, const char *path, size_t size, int64_t byte,
                         bool decompressed);
/* The user's function ("" is none). It is shown once the operator is known. */
void leati_error_at_function(leat_error *err, const char *function);
/* The operator, and the number of its outcome. */
void leati_error_at_operator(leat_error *err, const char *name, int64_t element);
bool leati_error_has_operator(const leat_error *err);
/* What is said so far, an operator's place included, becomes the message of what failed outside of
 * that operator: a function that ran through a dataset. */
void leati_error_settle(leat_error *err);

/* The failure of this thread's last allocation, whose size it names and forgets
 * (leati_alloc_refused), or of another library's: RESOURCE_EXHAUSTED. It does not forget the size
 * for an unwanted record. */
leat_status leati_no_memory(leat_error *err);

#endif
