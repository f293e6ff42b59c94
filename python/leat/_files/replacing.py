"""Files that appear whole or not at all."""

import os


def replace(path, content):
    """Writes a file beside its place and moves it there: a failure leaves what was there. OSError names the path."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        if os.path.exists(temporary):
            os.remove(temporary)
        if isinstance(error, OSError) and error.errno is not None:
            raise type(error)(error.errno, f"{os.strerror(error.errno)}: {path} could not be written; what was there "
                              "before is unchanged") from error
        raise
