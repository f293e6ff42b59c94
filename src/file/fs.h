/* File systems behind one vtable. A path "scheme://rest" goes to the row of fs.def with that
 * scheme, any other path to the local file system; nobody else in the library opens a file.
 *
 * Everything here is thread-safe except that a leati_file or leati_file_sink belongs to one thread
 * at a time (leati_file_read_at may be called from several where `seekable`). All errors name the
 * path; codes are TensorFlow's for the same errno. */
#ifndef LEATI_FILE_FS_H
#define LEATI_FILE_FS_H

#include <leat/core.h>

typedef struct leati_fs leati_fs;

typedef enum leati_path_kind {
    LEATI_PATH_FILE = 0,
    LEATI_PATH_FOLDER,
    LEATI_PATH_OTHER, /* a pipe, a device */
    LEATI_PATH_UNKNOWN
} leati_path_kind;

typedef struct leati_stat {
    leati_path_kind kind; /* never UNKNOWN; links are followed */
    int64_t size;         /* -1 where unknown */
    int64_t changed;      /* seconds since 1970; -1 where unknown */
} leati_stat;

/* A growing list of texts. {0} is empty. */
typedef struct leati_paths {
    char **values; /* owned, each by leati_free */
    size_t count;
    size_t capacity;
} leati_paths;

/* A file open for reading; an implementation's struct starts with it. */
typedef struct leati_file {
    const leati_fs *fs;
    char *path;    /* as the caller gave it, for errors */
    int64_t size;  /* at open; -1 where unknown */
    bool seekable; /* else offsets must follow one another */
} leati_file;

/* A file open for writing from its start; an implementation's struct starts with it. */
typedef struct leati_file_sink {
    const leati_fs *fs;
    char *path;
} leati_file_sink;

/* Receives one name of a folder ("." and ".." left out). */
typedef leat_status (*leati_list_function)(void *context, const char *name, leati_path_kind kind,
                                           leat_error *err);

/* What is done with a file while it is open; the file is not kept. */
typedef leat_status (*leati_file_user)(void *context, leati_file *file, leat_error *err);

/* Slots may be NULL, but those for reading: the calls by path below then refuse it by name. There
 * are three kinds:
 *
 *   a disk           has names that move: a file is written under another name (claim) and put in
 *                    its place; folders are made, locks and atomic exchanges are there
 *   an object store  has none, no folders and no locks: what `create` begins is seen by nobody
 *                    before `put`, and then whole (claim is NULL)
 *   a web server     can only be read (create is NULL), and lists nothing */
struct leati_fs {
    const char *scheme; /* "file" also serves paths without a scheme */
    const char *doc;
    leat_status (*open)(const leati_fs *fs, const char *path, leati_file **out, leat_error *err);
    /* Opens, calls and closes, and takes no memory for it. */
    leat_status (*use)(const leati_fs *fs, const char *path, leati_file_user use, void *context,
                       leat_error *err);
    /* Reads up to `size` bytes; *got < size only at the end of the file. */
    leat_status (*read_at)(leati_file *file, int64_t offset, void *data, size_t size, size_t *got,
                           leat_error *err);
    void (*close)(leati_file *file);
    leat_status (*stat)(const leati_fs *fs, const char *path, leati_stat *out, leat_error *err);
    leat_status (*list)(const leati_fs *fs, const char *path, leati_list_function function,
                        void *context, leat_error *err);
    /* The name behind links, for the part of the path that exists; `last`: also of the last name,
     * else of its folder alone. *out owned. NULL where there are no links. */
    leat_status (*resolve)(const leati_fs *fs, const char *path, bool last, char **out,
                           leat_error *err);
    /* Writing. `exclusive`: ALREADY_EXISTS if it is there; UNIMPLEMENTED in an object store. */
    leat_status (*create)(const leati_fs *fs, const char *path, bool exclusive,
                          leati_file_sink **out, leat_error *err);
    leat_status (*write)(leati_file_sink *sink, const void *data, size_t size, leat_error *err);
    /* Makes a temporary file that its sink holds until it is closed, or its process ends. One whose
     * writer is gone is removed first; ALREADY_EXISTS where its writer lives, or cannot be asked.
     */
    leat_status (*claim)(const leati_fs *fs, const char *path, leati_file_sink **out,
                         leat_error *err);
    /* Removes a temporary file whose writer is gone; nothing else, and nothing that fails matters.
     */
    void (*sweep)(const leati_fs *fs, const char *path);
    /* Brings what was written to the disk, and reports what closing would report. */
    leat_status (*settle)(leati_file_sink *sink, leat_error *err);
    /* Gives the file of `sink` the name `to`, replacing what has it; ABORTED where the file is no
     * longer under its own name. In an object store `to` is its own name, by which it is seen from
     * now on. The sink stays open; one that is closed without it was never there. */
    leat_status (*put)(leati_file_sink *sink, const char *to, leat_error *err);
    /* Brings the names of the folder of `path` to the disk, where the file system can. */
    void (*sync_folder)(const leati_fs *fs, const char *path);
    /* `sink` is given, also on failure. */
    leat_status (*close_sink)(leati_file_sink *sink, leat_error *err);
    leat_status (*remove)(const leati_fs *fs, const char *path, leat_error *err);
    /* Gives a file another name, replacing what has it. */
    leat_status (*move)(const leati_fs *fs, const char *from, const char *to, leat_error *err);
    /* Two files or folders take each other's names at one moment. */
    leat_status (*exchange)(const leati_fs *fs, const char *one, const char *other,
                            leat_error *err);
    /* Writes at the file's end by one call, so that several writers' texts do not mix; makes the
     * file. */
    leat_status (*append)(const leati_fs *fs, const char *path, const void *data, size_t size,
                          leat_error *err);
    /* Makes a folder; one that is there already is OK. */
    leat_status (*mkdir)(const leati_fs *fs, const char *path, leat_error *err);
    const struct leati_bucket_dialect *dialect; /* of an object store (bucket.h); NULL: none */
};

/* The file system that a program registered for "scheme://", or `chained` "scheme::" (n bytes of
 * `scheme`); NULL: none (fs_registered.c). */
const leati_fs *leati_fs_registered(const char *scheme, size_t n, bool chained);
/* Asks for one (leat_filesystem_find). OK: look again. NOT_FOUND: there is none, without a text. */
LEAT_WARN_UNUSED leat_status leati_fs_find(const char *path, leat_error *err);

/* The file system of a path and the path as that file system wants it (a view of `path`). An
 * unknown scheme is UNIMPLEMENTED, naming the ones there are; another machine's is
 * PERMISSION_DENIED where the thread works for a stranger's plan (leati_stop_enter_local). */
LEAT_WARN_UNUSED leat_status leati_fs_of(const char *path, const leati_fs **out, const char **rest,
                                         leat_error *err);

/* Is the path one of another machine, whose every look costs a message? */
bool leati_fs_is_remote(const char *path);
/* UNIMPLEMENTED: "PATH: files of http:// cannot be WHAT; ADVICE". */
leat_status leati_fs_refuse(leat_error *err, const leati_fs *fs, const char *rest, const char *what,
                            const char *advice);

/* The calls of the vtable by path. */
LEAT_WARN_UNUSED leat_status leati_file_open(const char *path, leati_file **out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_file_read_at(leati_file *file, int64_t offset, void *data,
                                                size_t size, size_t *got, leat_error *err);
void leati_file_close(leati_file *file); /* NULL is allowed */
/* Calls `use` with the file open, and returns what it returns. */
LEAT_WARN_UNUSED leat_status leati_file_use(const char *path, leati_file_user use, void *context,
                                            leat_error *err);
LEAT_WARN_UNUSED leat_status leati_fs_stat(const char *path, leati_stat *out, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_fs_list(const char *path, leati_list_function function,
                                           void *context, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_fs_mkdir(const char *path, leat_error *err);
/* The same with the folders above it that are missing. */
LEAT_WARN_UNUSED leat_status leati_fs_mkdirs(const char *path, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_fs_remove(const char *path, leat_error *err);
/* Gives a file of one file system another name in it, replacing what has that, and brings the name
 * to the disk. */
LEAT_WARN_UNUSED leat_status leati_fs_move(const char *from, const char *to, leat_error *err);
/* Two files or folders of one file system take each other's names at one moment, and the names are
 * brought to the disk. */
LEAT_WARN_UNUSED leat_status leati_fs_exchange(const char *one, const char *other, leat_error *err);
/* Removes a temporary file whose writer is gone; nothing else. */
void leati_fs_sweep(const char *path);
/* The path from the root, which means the same whoever changes the working folder; links stay as
 * they are. Owned; NULL without memory. */
char *leati_fs_whole(const char *path);
/* Appends by one write, which other writers' cannot come between; makes the file. */
LEAT_WARN_UNUSED leat_status leati_fs_append(const char *path, const void *data, size_t size,
                                             leat_error *err);

/* The whole of an open file of which nothing was read yet, in one new buffer. Owned. */
LEAT_WARN_UNUSED leat_status leati_file_read_whole(leati_file *file, leat_buffer **out,
                                                   leat_error *err);
/* The whole file in one new buffer (tf.io.read_file). Owned. */
LEAT_WARN_UNUSED leat_status leati_file_read_all(const char *path, leat_buffer **out,
                                                 leat_error *err);

/* Appends a copy of `size` bytes of `text`. */
LEAT_WARN_UNUSED leat_status leati_fs_paths_add(leati_paths *paths, const char *text, size_t size,
                                                leat_error *err);
/* Sorts bytewise. */
void leati_fs_paths_sort(leati_paths *paths);
void leati_fs_paths_fini(leati_paths *paths);

#define LEATI_MAX_PATH 65536

#endif
