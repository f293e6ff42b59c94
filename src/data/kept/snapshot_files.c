/* The files of a distributed snapshot: see snapshot_files.h.
 *
 * Happy path: each file appears whole (file/atomic), the metadata last; chunks are listed by their
 * names. Texts are protocol buffers' text form, of which lines `name: value` are read. Failures:
 * those of the file system, naming the path; DATA_LOSS for metadata that are none. No locks. */
#include "data/kept/snapshot_files.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "data/kept/saved_files.h"
#include "file/atomic.h"
#include "file/fs.h"
#include "file/tensor_proto.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char done_name[] = "DONE", error_name[] = "ERROR", chunks_name[] = "chunks";

/* ---- lines `name: value` ---- */

/* As C and TensorFlow write bytes: printable ASCII as it is, the rest in octal. */
static void add_literal(leati_text *out, const void *data, size_t size) {
    const unsigned char *bytes = data;
    leati_text_add(out, "\"", 1);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '\n')
            leati_text_add(out, "\\n", 2);
        else if (bytes[i] == '"' || bytes[i] == '\\' || bytes[i] == '\'')
            leati_text_addf(out, "\\%c", bytes[i]);
        else if (bytes[i] >= ' ' && bytes[i] < 0x7f)
            leati_text_addf(out, "%c", bytes[i]);
        else
            leati_text_addf(out, "\\%03o", bytes[i]);
    leati_text_add(out, "\"\n", 2);
}

/* The value of an escape, whose first character behind the backslash is **at. */
static int read_escape(const char **at) {
    static const char letters[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    char c = *(*at)++;
    const char *letter = c == '\0' ? NULL : strchr(letters, c);
    int value = 0, digits = 1;
    if (letter != NULL)
        return values[letter - letters];
    if (c == 'x' || c == 'X') {
        for (digits = 0; digits < 2 && isxdigit((unsigned char)**at); digits++)
            value = value * 16 +
                    (isdigit((unsigned char)**at) ? *(*at)++ - '0' : (*(*at)++ | 0x20) - 'a' + 10);
        return value;
    }
    if (c < '0' || c > '7')
        return c;
    for (value = c - '0'; digits < 3 && **at >= '0' && **at <= '7'; digits++)
        value = value * 8 + *(*at)++ - '0';
    return value;
}

/* The bytes of the literal at `at`, which begins with a quote. False where it has no end. */
static bool read_literal(const char *at, leati_text *out) {
    const char quote = *at++;
    while (*at != quote && *at != '\0' && *at != '\n') {
        bool escaped = *at == '\\' && at[1] != '\0';
        int value = escaped ? (at++, read_escape(&at)) : *at++;
        char byte = (char)value;
        leati_text_add(out, &byte, 1);
    }
    return *at == quote;
}

/* What stands behind `name:` at the begin of a line; NULL: nothing does. */
static const char *find_field(const char *text, const char *name) {
    size_t size = strlen(name);
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, name, size) == 0 && line[size] == ':')
            return line + size + 1 + strspn(line + size + 1, " \t");
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return NULL;
}

/* The literal of a field; true where there is none, too. */
static bool read_field(const char *text, const char *name, leati_text *out) {
    const char *at = find_field(text, name);
    return at == NULL || ((*at == '"' || *at == '\'') && read_literal(at, out));
}

/* The file as a terminated text, which ends at its first byte 0; *out is NULL where it is not
 * there. Owned. */
static leat_status read_text(const char *path, char **out, leat_error *err) {
    leat_buffer *buffer = NULL;
    leat_error local = {0};
    leat_status status = leati_file_read_all(path, &buffer, &local);
    *out = NULL;
    if (status != LEAT_OK)
        return status == LEAT_NOT_FOUND ? LEAT_OK : leati_error_pass(err, &local);
    *out = leati_strndup(leat_buffer_data(buffer), leat_buffer_size(buffer));
    leat_buffer_unref(buffer);
    return *out == NULL ? leati_no_memory(err) : LEAT_OK;
}

/* ---- the metadata ---- */

void leati_snapshot_info_fini(leati_snapshot_info *info) {
    leat_spec_unref(info->spec);
    leati_free(info->compression);
    *info = (leati_snapshot_info){0};
}

static leat_status parse_info(const char *path, const char *text, leati_snapshot_info *out,
                              leat_error *err) {
    leati_text spec = {0}, compression = {0};
    leat_error local = {0};
    bool good =
        read_field(text, "element_spec", &spec) && read_field(text, "compression", &compression);
    const uint8_t *bytes = (const uint8_t *)spec.data;
    if (good && spec.size > 0)
        out->spec = leati_tensor_proto_spec((leati_wire){bytes, bytes + spec.size}, &local);
    out->compression =
        leati_strndup(compression.data == NULL ? "" : compression.data, compression.size);
    bool memory = !spec.failed && !compression.failed && out->compression != NULL;
    leati_text_fini(&spec);
    leati_text_fini(&compression);
    if (!memory)
        return leati_no_memory(err);
    if (out->spec != NULL)
        return LEAT_OK;
    return local.code == LEAT_UNIMPLEMENTED
               ? leati_error_pass(err, &local)
               : leati_fail_in_file(err, LEAT_DATA_LOSS, path, -1, false,
                                    "not the metadata of a snapshot: its element_spec is damaged; "
                                    "save the dataset again");
}

leat_status leati_snapshot_info_read(const char *folder, leati_snapshot_info *out, bool *found,
                                     leat_error *err) {
    char *path = leati_saved_path(folder, LEATI_SAVED_METADATA, err), *text = NULL;
    *out = (leati_snapshot_info){0};
    *found = false;
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = read_text(path, &text, err);
    *found = text != NULL && find_field(text, "element_spec") != NULL;
    if (*found)
        status = parse_info(path, text, out, err);
    if (status != LEAT_OK)
        leati_snapshot_info_fini(out);
    leati_free(text);
    leati_free(path);
    return status;
}

static leat_status write_in(const char *folder, const char *name, const void *data, size_t size,
                            leat_error *err) {
    char *path = leati_saved_path(folder, name, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_atomic_write_file(path, data, size, err);
    leati_free(path);
    return status;
}

leat_status leati_snapshot_prepare(const char *folder, const leat_spec *spec, leat_error *err) {
    static const char *const folders[] = {chunks_name, "streams"};
    leati_writer bytes = {0};
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && status == LEAT_OK; i++) {
        char *path = leati_saved_path(folder, folders[i], err);
        status = path == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_fs_mkdirs(path, err);
        leati_free(path);
    }
    if (status == LEAT_OK)
        status = leati_tensor_proto_put_spec(&bytes, spec, err);
    if (status == LEAT_OK)
        status = write_in(folder, LEATI_SAVED_SPEC, bytes.data, bytes.size, err);
    leati_writer_fini(&bytes);
    return status;
}

leat_status leati_snapshot_info_write(const char *folder, const leat_spec *spec,
                                      const char *compression, leat_error *err) {
    leati_writer bytes = {0};
    leati_text text = {0};
    leat_status status = leati_tensor_proto_put_spec(&bytes, spec, err);
    leati_text_addf(&text, "element_spec: ");
    if (status == LEAT_OK)
        add_literal(&text, bytes.data, bytes.size);
    if (compression[0] != '\0') {
        leati_text_addf(&text, "compression: ");
        add_literal(&text, compression, strlen(compression));
    }
    if (status == LEAT_OK)
        status = text.failed ? leati_no_memory(err)
                             : write_in(folder, LEATI_SAVED_METADATA, text.data, text.size, err);
    leati_text_fini(&text);
    leati_writer_fini(&bytes);
    return status;
}

/* ---- its end ---- */

/* The failure that ERROR tells, whose text is TensorFlow's StatusProto. */
static leat_status parse_error(const char *text, leat_error *why, leat_error *err) {
    leati_text message = {0};
    leat_status code = LEAT_UNKNOWN;
    const char *at = find_field(text, "code");
    size_t size = at == NULL ? 0 : strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    char *name = leati_strndup(at == NULL ? "" : at, size);
    bool good = name != NULL && read_field(text, "message", &message) && !message.failed;
    if (good && (!leati_status_from_name(name, &code) || code == LEAT_OK))
        code = LEAT_UNKNOWN;
    leati_free(name);
    if (name == NULL || message.failed) {
        leati_text_fini(&message);
        return leati_no_memory(err);
    }
    (void)leati_fail(why, code, "%s", message.data == NULL || !good ? text : message.data);
    leati_text_fini(&message);
    return LEAT_OK;
}

static leat_status is_there(const char *folder, const char *name, bool *out, leat_error *err) {
    char *path = leati_saved_path(folder, name, err);
    leati_stat stat;
    leat_error local = {0};
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_fs_stat(path, &stat, &local);
    leati_free(path);
    *out = status == LEAT_OK;
    return status == LEAT_OK || status == LEAT_NOT_FOUND ? LEAT_OK : leati_error_pass(err, &local);
}

leat_status leati_snapshot_state_read(const char *folder, leati_snapshot_state *out,
                                      leat_error *why, leat_error *err) {
    char *path = leati_saved_path(folder, error_name, err), *text = NULL;
    bool done = false;
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = read_text(path, &text, err);
    leati_free(path);
    *out = LEATI_SNAPSHOT_WRITING;
    if (status == LEAT_OK && text != NULL) {
        *out = LEATI_SNAPSHOT_FAILED;
        status = parse_error(text, why, err);
    } else if (status == LEAT_OK) {
        status = is_there(folder, done_name, &done, err);
        *out = done ? LEATI_SNAPSHOT_DONE : LEATI_SNAPSHOT_WRITING;
    }
    leati_free(text);
    return status;
}

leat_status leati_snapshot_done_write(const char *folder, leat_error *err) {
    return write_in(folder, done_name, "", 0, err);
}

leat_status leati_snapshot_error_write(const char *folder, const leat_error *failure,
                                       leat_error *err) {
    leati_text text = {0};
    leati_text_addf(&text, "code: %s\nmessage: ", leat_status_name(failure->code));
    add_literal(&text, failure->text, strlen(failure->text));
    leat_status status = text.failed ? leati_no_memory(err)
                                     : write_in(folder, error_name, text.data, text.size, err);
    leati_text_fini(&text);
    return status;
}

/* ---- the chunks ---- */

void leati_snapshot_chunk_name(const leati_snapshot_chunk *chunk,
                               char out[LEATI_SNAPSHOT_NAME_SIZE]) {
    (void)snprintf(out, LEATI_SNAPSHOT_NAME_SIZE, "chunk_%" PRId64 "_%" PRId64 "_%" PRId64,
                   chunk->stream, chunk->chunk, chunk->elements);
}

bool leati_snapshot_chunk_read(const char *name, leati_snapshot_chunk *out) {
    char again[LEATI_SNAPSHOT_NAME_SIZE];
    static const char prefix[] = "chunk_";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    char *end = NULL;
    out->stream = strtoll(name + sizeof prefix - 1, &end, 10);
    out->chunk = *end == '_' ? strtoll(end + 1, &end, 10) : -1;
    out->elements = *end == '_' ? strtoll(end + 1, &end, 10) : -1;
    /* A name has one form only. */
    leati_snapshot_chunk_name(out, again);
    return strcmp(name, again) == 0 && out->stream >= 0 && out->chunk >= 0 && out->elements >= -1;
}

struct listing {
    leati_snapshot_chunk *chunks;
    size_t count, capacity;
};

static leat_status note_chunk(void *context, const char *name, leati_path_kind kind,
                              leat_error *err) {
    struct listing *listing = context;
    leati_snapshot_chunk chunk;
    (void)kind;
    if (!leati_snapshot_chunk_read(name, &chunk))
        return LEAT_OK;
    void *chunks = listing->chunks;
    if (!leati_grow(&chunks, &listing->capacity, listing->count + 1, sizeof chunk))
        return leati_no_memory(err);
    listing->chunks = chunks;
    listing->chunks[listing->count++] = chunk;
    return LEAT_OK;
}

static int compare_chunks(const void *a, const void *b) {
    const leati_snapshot_chunk *x = a, *y = b;
    int by_chunk = (x->chunk > y->chunk) - (x->chunk < y->chunk);
    return by_chunk != 0 ? by_chunk : (x->stream > y->stream) - (x->stream < y->stream);
}

leat_status leati_snapshot_chunks_list(const char *folder, leati_snapshot_chunk **out,
                                       size_t *count, leat_error *err) {
    struct listing listing = {0};
    leat_error local = {0};
    char *path = leati_saved_path(folder, chunks_name, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_fs_list(path, note_chunk, &listing, &local);
    leati_free(path);
    /* TensorFlow makes the folder with its first chunk. */
    if (status != LEAT_OK && status != LEAT_NOT_FOUND) {
        leati_free(listing.chunks);
        return leati_error_pass(err, &local);
    }
    if (listing.count > 1)
        qsort(listing.chunks, listing.count, sizeof *listing.chunks, compare_chunks);
    *out = listing.chunks;
    *count = listing.count;
    return LEAT_OK;
}

char *leati_snapshot_chunk_path(const char *folder, const leati_snapshot_chunk *chunk,
                                leat_error *err) {
    char name[LEATI_SNAPSHOT_NAME_SIZE], below[LEATI_SNAPSHOT_NAME_SIZE + sizeof chunks_name];
    leati_snapshot_chunk_name(chunk, name);
    (void)snprintf(below, sizeof below, "%s/%s", chunks_name, name);
    return leati_saved_path(folder, below, err);
}

char *leati_snapshot_stream_path(const char *folder, int64_t stream, leat_error *err) {
    char below[LEATI_SNAPSHOT_NAME_SIZE];
    (void)snprintf(below, sizeof below, "streams/stream_%" PRId64, stream);
    return leati_saved_path(folder, below, err);
}
