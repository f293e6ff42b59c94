/* What errno means to those who ask for a file: TensorFlow's code, and what to do. Locks: none. */
#include "base/error.h"
#include "file/fs_local.h"
#include <errno.h>
#include <string.h>

static leat_status code_of_errno(int number) {
    switch (number) {
    case ENOENT:
    case ENODEV:
    case ENXIO: return LEAT_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS: return LEAT_PERMISSION_DENIED;
    case EEXIST: return LEAT_ALREADY_EXISTS;
    case EINVAL:
    case ENAMETOOLONG:
    case ESPIPE: return LEAT_INVALID_ARGUMENT;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBADF:
    case EBUSY:
    case EPIPE:
    case ETXTBSY: return LEAT_FAILED_PRECONDITION;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return LEAT_RESOURCE_EXHAUSTED;
    case EFBIG:
    case EOVERFLOW: return LEAT_OUT_OF_RANGE;
    case ENOSYS:
    case ENOTSUP:
    case EXDEV: return LEAT_UNIMPLEMENTED;
    case EAGAIN: return LEAT_UNAVAILABLE;
    case ESTALE: return LEAT_ABORTED;
    default: return LEAT_UNKNOWN;
    }
}

static const char *advice_of_errno(int number) {
    switch (number) {
    case ENOENT: return "; check the spelling and the folder you are in";
    case EACCES:
    case EPERM: return "; check its permissions and those of its folders";
    case EROFS: return "; choose a folder that can be written";
    case EISDIR: return "; name a file in it";
    case ENOTDIR: return "; a part of the path is a file";
    case ENOSPC:
    case EDQUOT: return "; free some space or choose another folder";
    case EMFILE:
    case ENFILE: return "; read fewer files at once or raise the limit (ulimit -n)";
    default: return "";
    }
}

leat_status leati_fs_local_fail(leat_error *err, int number, const char *path, const char *what) {
    char text[128];
    leat_status status =
        leati_fail_in_file(err, code_of_errno(number), path, -1, false, "cannot %s: %s%s", what,
                           strerror_r(number, text, sizeof text), advice_of_errno(number));
    errno = number;
    return status;
}
