/* Tar: headers of 512 bytes, each followed by its member's data in whole blocks.
 *
 * A member's path and size may come from extension members before it: GNU's long name ('L') and
 * pax records ('x'; those of the whole archive, 'g', say nothing that is needed here). Two blocks
 * of zeros end an archive, one is enough. A header with a wrong check sum, a number that is none,
 * and data that end early are DATA_LOSS with the byte; untrusted sizes are capped before anything
 * is kept in memory. No locks. */
#include "file/tar.h"
#include "base/error.h"
#include <string.h>

/* Extension members are held in memory whole. */
enum { MOST_EXTENSION = 1 << 20 };

/* Where the fields of a header stand. */
enum {
    NAME_AT = 0,
    NAME_SIZE = 100,
    SIZE_AT = 124,
    SIZE_SIZE = 12,
    SUM_AT = 148,
    SUM_SIZE = 8,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX_SIZE = 155
};

void leati_tar_fini(leati_tar_member *member) {
    leati_text_fini(&member->name);
}

bool leati_tar_sample(const leati_text *path, size_t *key_size, const char **extension) {
    const char *slash = path->size > 0 ? memrchr(path->data, '/', path->size) : NULL;
    const char *base = slash != NULL ? slash + 1 : path->data;
    size_t base_size = path->size - (size_t)(base - path->data);
    const char *dot = base_size > 0 ? memchr(base, '.', base_size) : NULL;
    /* WebDataset's rule: the key is the path up to the base name's first dot. */
    if (dot == NULL || dot == base || strncmp(base, "__", 2) == 0)
        return false;
    *key_size = (size_t)(dot - path->data);
    *extension = dot + 1;
    return true;
}

static leati_tar_outcome damaged(const leati_chunks *chunks, leat_error *err, const char *what) {
    leati_fail_in_file(err, LEAT_DATA_LOSS, chunks->stream.file->path, chunks->position,
                       chunks->stream.unpacker != NULL,
                       "%s; the rest of the archive is left out: was it cut short or is it no tar "
                       "file?",
                       what);
    return LEATI_TAR_DAMAGED;
}

/* An octal number with blanks around, or GNU's binary form; -1 if it is neither or does not fit. */
static int64_t number_of(const uint8_t *field, size_t size) {
    uint64_t value = 0;
    /* GNU's form: the bit marks it, the rest is the number in base 256. */
    if (field[0] == 0x80) {
        for (size_t i = 1; i < size; i++) {
            /* The next byte would shift bits out of 63. */
            if (value >> 55 != 0)
                return -1;
            value = value << 8 | field[i];
        }
        return (int64_t)value;
    }
    size_t at = 0;
    while (at < size && field[at] == ' ')
        at++;
    for (; at < size && field[at] >= '0' && field[at] <= '7'; at++)
        /* Twelve octal digits are 36 bits at most. */
        value = value << 3 | (uint64_t)(field[at] - '0');
    while (at < size && (field[at] == ' ' || field[at] == '\0'))
        at++;
    return at == size ? (int64_t)value : -1;
}

/* Both sums that writers have used, of unsigned and of signed bytes, are taken. */
static bool sum_fits(const uint8_t *header) {
    int64_t expected = number_of(header + SUM_AT, SUM_SIZE), plain = 0, with_sign = 0;
    for (int i = 0; i < LEATI_TAR_BLOCK; i++) {
        bool in_sum = i >= SUM_AT && i < SUM_AT + SUM_SIZE;
        plain += in_sum ? ' ' : header[i];
        /* The sum is made with blanks in its own place. */
        with_sign += in_sum ? ' ' : (int8_t)header[i];
    }
    return expected == plain || expected == with_sign;
}

static bool is_zero(const uint8_t *header) {
    for (int i = 0; i < LEATI_TAR_BLOCK; i++)
        if (header[i] != 0)
            return false;
    return true;
}

static leat_status set_name(leati_text *name, const char *text, size_t size, leat_error *err) {
    name->size = 0;
    leati_text_add(name, text, size);
    return name->failed ? leati_no_memory(err) : LEAT_OK;
}

static leat_status name_of(const uint8_t *header, leati_text *name, leat_error *err) {
    const char *base = (const char *)header + NAME_AT, *prefix = (const char *)header + PREFIX_AT;
    /* GNU's older format has "ustar " there, and other fields where the prefix stands. */
    bool prefixed = memcmp(header + MAGIC_AT, "ustar\0", 6) == 0 && prefix[0] != '\0';
    leat_status status = set_name(name, prefix, prefixed ? strnlen(prefix, PREFIX_SIZE) : 0, err);
    if (status == LEAT_OK && prefixed)
        leati_text_add(name, "/", 1);
    leati_text_add(name, base, strnlen(base, NAME_SIZE));
    return name->failed ? leati_no_memory(err) : LEAT_OK;
}

/* What extension members said of the next one. */
struct extension {
    bool named;
    int64_t size; /* -1: nothing */
};

/* A number in digits; -1: it is none, or too large. */
static int64_t read_number(const char *text, const char *end) {
    int64_t number = 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || number > (INT64_MAX - 9) / 10)
            return -1;
        number = number * 10 + (*text - '0');
    }
    return number;
}

/* One pax record, "LENGTH KEY=VALUE\n", from the front of `text`; its length, 0 if it is none. */
static size_t read_record(const char *text, size_t size, leati_tar_member *member,
                          struct extension *extension, leat_error *err) {
    size_t length = 0, at = 0;
    for (; at < size && text[at] >= '0' && text[at] <= '9' && length <= size; at++)
        /* Ends once it is beyond `size`, so it cannot overflow. */
        length = length * 10 + (size_t)(text[at] - '0');
    if (at == 0 || at >= size || text[at] != ' ' || length <= at + 1 || length > size ||
        text[length - 1] != '\n')
        return 0;
    const char *key = text + at + 1, *end = text + length - 1;
    const char *equals = memchr(key, '=', (size_t)(end - key));
    if (equals == NULL)
        return 0;
    const char *value = equals + 1;
    if (equals - key == 4 && memcmp(key, "path", 4) == 0) {
        if (set_name(&member->name, value, (size_t)(end - value), err) != LEAT_OK)
            return 0;
        extension->named = true;
    } else if (equals - key == 4 && memcmp(key, "size", 4) == 0) {
        int64_t number = read_number(value, end);
        if (number < 0)
            return 0;
        extension->size = number;
    }
    return length;
}

static leati_tar_outcome read_pax(leati_chunks *chunks, size_t size, leati_tar_member *member,
                                  struct extension *extension, leat_error *err) {
    const char *text = (const char *)chunks->data + chunks->begin;
    for (size_t at = 0, length; at < size; at += length) {
        leat_error local = {0};
        length = read_record(text + at, size - at, member, extension, &local);
        if (length == 0 && local.code != LEAT_OK) {
            *err = local;
            return LEATI_TAR_FAILED;
        }
        if (length == 0)
            return damaged(chunks, err, "a pax record that is none");
    }
    return LEATI_TAR_MEMBER;
}

/* The window is made `size` bytes long. */
static leati_tar_outcome need(leati_chunks *chunks, size_t size, const char *what,
                              leat_error *err) {
    if (leati_chunks_need(chunks, size, err) != LEAT_OK)
        return LEATI_TAR_FAILED;
    if (chunks->end - chunks->begin >= size)
        return LEATI_TAR_MEMBER;
    if (leati_chunks_whole(chunks, err) != LEAT_OK)
        return LEATI_TAR_DAMAGED;
    return damaged(chunks, err, what);
}

/* Reads the data of an extension member, whose header has been taken, and passes over it. */
static leati_tar_outcome read_extension(leati_chunks *chunks, char type, int64_t size,
                                        leati_tar_member *member, struct extension *extension,
                                        leat_error *err) {
    if (type == 'x' || type == 'L') {
        if (size > MOST_EXTENSION)
            return damaged(chunks, err, "an extended header of more than 1 MiB");
        leati_tar_outcome outcome =
            need(chunks, (size_t)size, "the end within an extended header", err);
        if (outcome != LEATI_TAR_MEMBER)
            return outcome;
        const char *text = (const char *)chunks->data + chunks->begin;
        if (type == 'L') {
            if (set_name(&member->name, text, strnlen(text, (size_t)size), err) != LEAT_OK)
                return LEATI_TAR_FAILED;
            extension->named = true;
        } else if ((outcome = read_pax(chunks, (size_t)size, member, extension, err)) !=
                   LEATI_TAR_MEMBER) {
            return outcome;
        }
    }
    return leati_tar_pass(chunks, size, err);
}

leati_tar_outcome leati_tar_next(leati_chunks *chunks, leati_tar_member *member, leat_error *err) {
    struct extension extension = {.size = -1};
    member->at = chunks->position;
    for (;;) {
        leati_tar_outcome outcome =
            need(chunks, LEATI_TAR_BLOCK, "the end without the archive's end mark", err);
        if (outcome != LEATI_TAR_MEMBER)
            return outcome;
        const uint8_t *header = chunks->data + chunks->begin;
        if (is_zero(header))
            return LEATI_TAR_END;
        if (!sum_fits(header))
            return damaged(chunks, err, "a header whose check sum does not fit");
        int64_t size = number_of(header + SIZE_AT, SIZE_SIZE);
        /* Room for the padding, and for positions beyond it. */
        if (size < 0 || size > INT64_MAX / 4)
            return damaged(chunks, err, "a header whose size is no number");
        char type = (char)header[TYPE_AT];
        /* 'K' names the target of a link, which nobody reads; it is passed over. */
        bool extends = type == 'x' || type == 'g' || type == 'L' || type == 'K';
        if (!extends) {
            if (!extension.named && name_of(header, &member->name, err) != LEAT_OK)
                return LEATI_TAR_FAILED;
            /* A pax size stands in for one that does not fit into octal digits. */
            member->size = extension.size >= 0 ? extension.size : size;
            if (member->size > INT64_MAX / 4)
                return damaged(chunks, err, "a pax size that no archive has");
            member->is_file = type == '0' || type == '\0' || type == '7';
            leati_chunks_take(chunks, LEATI_TAR_BLOCK);
            return LEATI_TAR_MEMBER;
        }
        leati_chunks_take(chunks, LEATI_TAR_BLOCK);
        outcome = read_extension(chunks, type, size, member, &extension, err);
        if (outcome != LEATI_TAR_MEMBER)
            return outcome;
    }
}

leati_tar_outcome leati_tar_pass(leati_chunks *chunks, int64_t size, leat_error *err) {
    int64_t left = size + (LEATI_TAR_BLOCK - size % LEATI_TAR_BLOCK) % LEATI_TAR_BLOCK;
    while (left > 0) {
        leati_tar_outcome outcome = need(chunks, 1, "the end within a member", err);
        if (outcome != LEATI_TAR_MEMBER)
            return outcome;
        size_t have = chunks->end - chunks->begin;
        size_t n = have < (uint64_t)left ? have : (size_t)left;
        leati_chunks_take(chunks, n);
        left -= (int64_t)n;
    }
    return LEATI_TAR_MEMBER;
}
