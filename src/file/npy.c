/* numpy's .npy header, versions 1 to 3: six magic bytes, two of version, the length of the text in
 * two bytes (four from version 2 on), and the text, a Python dict:
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
 *
 * Happy path: the text is read once from left to right by a small parser of just such dicts; the
 * three keys may stand in any order, each once. Failures: DATA_LOSS, with the byte where the text
 * stops being one; UNIMPLEMENTED for dtypes that leat does not have. No locks. */
#include "file/npy.h"
#include "base/error.h"
#include "base/minmax.h"
#include <string.h>

struct parser {
    const uint8_t *data;
    size_t at, end; /* of the text that is left */
    bool failed;
    const char *expected; /* where it failed */
};

static const char magic[] = "\x93NUMPY";

/* ---- pieces of Python ---- */

static void fail(struct parser *p, const char *expected) {
    /* The first thing that was missing is what is told. */
    if (!p->failed) {
        p->failed = true;
        p->expected = expected;
    }
}

static void pass_blanks(struct parser *p) {
    while (p->at < p->end && (p->data[p->at] == ' ' || p->data[p->at] == '\n' ||
                              p->data[p->at] == '\t' || p->data[p->at] == '\r'))
        p->at++;
}

/* Is the next character `c`? Then it is passed. */
static bool accept(struct parser *p, char c) {
    pass_blanks(p);
    bool there = !p->failed && p->at < p->end && p->data[p->at] == (uint8_t)c;
    p->at += there;
    return there;
}

static void expect(struct parser *p, char c, const char *expected) {
    if (!accept(p, c))
        fail(p, expected);
}

static bool accept_word(struct parser *p, const char *word) {
    size_t size = strlen(word);
    pass_blanks(p);
    bool there = !p->failed && p->end - p->at >= size && memcmp(p->data + p->at, word, size) == 0;
    p->at += there ? size : 0;
    return there;
}

/* A string in quotes without escapes: a view. */
static leat_string read_string(struct parser *p) {
    leat_string text = {0};
    pass_blanks(p);
    char quote = p->at < p->end ? (char)p->data[p->at] : 0;
    if (quote != '\'' && quote != '"') {
        fail(p, "a string in quotes");
        return text;
    }
    p->at++;
    text.data = (const char *)p->data + p->at;
    /* An escape ends it: no header of numpy has one. */
    while (p->at < p->end && p->data[p->at] != (uint8_t)quote && p->data[p->at] != '\\' &&
           p->data[p->at] != '\n')
        p->at++;
    text.size = (size_t)((const char *)p->data + p->at - text.data);
    expect(p, quote, "the end of a string");
    return text;
}

/* A number without a sign; Python 2 wrote an L behind large ones. */
static int64_t read_number(struct parser *p) {
    int64_t number = 0;
    bool any = false;
    pass_blanks(p);
    for (; p->at < p->end && p->data[p->at] >= '0' && p->data[p->at] <= '9'; p->at++, any = true) {
        /* Dimensions come from outside. */
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, p->data[p->at] - '0', &number)) {
            fail(p, "a number below 2^63");
            return 0;
        }
    }
    if (!any)
        fail(p, "a dimension");
    else if (p->at < p->end && p->data[p->at] == 'L')
        p->at++;
    return number;
}

static void read_shape(struct parser *p, leat_shape *shape) {
    bool more = true;
    *shape = (leat_shape){0};
    expect(p, '(', "a tuple of dimensions");
    while (!p->failed && more && !accept(p, ')')) {
        int64_t size = read_number(p);
        if (shape->rank == LEAT_MAX_RANK) {
            fail(p, "at most 8 dimensions");
            return;
        }
        shape->dims[shape->rank++] = size;
        /* "(3)" is a number in Python, but taken for one dimension; "(3,)" is what numpy writes. */
        more = accept(p, ',');
        if (!more)
            expect(p, ')', "the end of the shape");
    }
}

/* ---- the header ---- */

static leat_dtype dtype_of(char kind, int size) {
    static const struct {
        char kind;
        int size;
        leat_dtype dtype;
    } dtypes[] = {{'b', 1, LEAT_BOOL},      {'i', 1, LEAT_INT8},       {'i', 2, LEAT_INT16},
                  {'i', 4, LEAT_INT32},     {'i', 8, LEAT_INT64},      {'u', 1, LEAT_UINT8},
                  {'u', 2, LEAT_UINT16},    {'u', 4, LEAT_UINT32},     {'u', 8, LEAT_UINT64},
                  {'f', 2, LEAT_FLOAT16},   {'f', 4, LEAT_FLOAT32},    {'f', 8, LEAT_FLOAT64},
                  {'c', 8, LEAT_COMPLEX64}, {'c', 16, LEAT_COMPLEX128}};
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (dtypes[i].kind == kind && dtypes[i].size == size)
            return dtypes[i].dtype;
    return LEAT_INVALID;
}

/* `descr` like "<f4": byte order, kind, bytes. */
static leat_status read_descr(const leat_string *descr, leati_npy *out, leat_error *err) {
    const uint16_t one = 1;
    /* Asked of the machine: values are swapped where the order of the file is the other one. */
    bool little = *(const uint8_t *)&one == 1;
    const char *text = descr->data;
    /* strchr would find the zero that ends its text. */
    bool wide = descr->size == 4 && text[2] == '1'; /* of 10 bytes and more: "<c16" */
    bool shaped = (descr->size == 3 || wide) && strchr("<>=|", text[0]) != NULL && text[0] != 0;
    int size = !shaped ? 0 : wide ? 10 + text[3] - '0' : text[2] - '0';
    out->dtype = shaped ? dtype_of(text[1], size) : LEAT_INVALID;
    if (out->dtype == LEAT_INVALID) {
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "an array of dtype '%.*s'%s; expected booleans or numbers: save "
                          "it as one of them",
                          (int)LEATI_MIN(descr->size, 40), text,
                          descr->size > 1 && text[1] == 'O' ? " (Python objects)" : "");
    }
    bool other = text[0] == (little ? '>' : '<');
    /* Single bytes have no order. */
    out->swapped = other && leat_dtype_size(out->dtype) > 1;
    return LEAT_OK;
}

static leat_status damaged(const struct parser *p, leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "byte %zu of the .npy header: expected %s; is the file damaged?", p->at,
                      p->expected);
}

/* The dict; `descr` becomes its string, or is empty where it is a list of fields. */
static void read_dict(struct parser *p, leati_npy *out, leat_string *descr) {
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    int seen = 0, before = -1;
    expect(p, '{', "a dict");
    while (!p->failed && !accept(p, '}')) {
        leat_string key = read_string(p);
        expect(p, ':', "a colon behind the key");
        before = seen;
        if (key.size == 5 && memcmp(key.data, "descr", 5) == 0) {
            seen |= DESCR;
            pass_blanks(p);
            if (p->at < p->end && (p->data[p->at] == '[' || p->data[p->at] == '('))
                return; /* a structured dtype: refused whatever follows */
            *descr = read_string(p);
        } else if (key.size == 13 && memcmp(key.data, "fortran_order", 13) == 0) {
            seen |= ORDER;
            out->fortran = accept_word(p, "True");
            if (!out->fortran && !accept_word(p, "False"))
                fail(p, "True or False");
        } else if (key.size == 5 && memcmp(key.data, "shape", 5) == 0) {
            seen |= SHAPE;
            read_shape(p, &out->shape);
        }
        /* A key that is unknown, or comes again, adds nothing. */
        if (seen == before)
            fail(p, "each of descr, fortran_order and shape once");
        if (!accept(p, ',')) {
            expect(p, '}', "a comma, or the end of the dict");
            break;
        }
    }
    if (seen != (DESCR | ORDER | SHAPE))
        fail(p, "descr, fortran_order and shape");
    pass_blanks(p);
    if (p->at < p->end)
        fail(p, "blanks to the header's end");
}

/* Finds the text; OK with *need > size where the bytes do not reach. */
static leat_status find_text(const uint8_t *data, size_t size, size_t *need, struct parser *p,
                             leat_error *err) {
    *need = 6;
    if (size < *need)
        return LEAT_OK;
    if (memcmp(data, "PK\3\4", 4) == 0) {
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "a .npz archive; expected a .npy file: unpack it, each array is one");
    }
    if (memcmp(data, magic, 6) != 0) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "byte 0: no .npy file, which starts with the bytes 93 4E 55 4D 50 59");
    }
    *need = 8;
    if (size < *need)
        return LEAT_OK;
    if (data[6] < 1 || data[6] > 3) {
        return leati_fail(err, LEAT_DATA_LOSS, "byte 6: version %d of .npy; expected 1 to 3",
                          data[6]);
    }
    bool wide = data[6] > 1;
    p->at = wide ? 12 : 10;
    *need = p->at;
    if (size < *need)
        return LEAT_OK;
    /* Little-endian, two bytes in version 1. */
    size_t text = data[8] | (size_t)data[9] << 8;
    text |= wide ? (size_t)data[10] << 16 | (size_t)data[11] << 24 : 0;
    if (text > LEATI_NPY_MOST) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "byte 8: a .npy header of %zu bytes; expected at most %u", text,
                          LEATI_NPY_MOST);
    }
    p->data = data;
    p->end = *need = p->at + text;
    return LEAT_OK;
}

leat_status leati_npy_read(const uint8_t *data, size_t size, size_t *need, leati_npy *out,
                           leat_error *err) {
    struct parser p = {0};
    leati_npy found = {0};
    leat_string descr = {0};
    leat_status status = find_text(data, size, need, &p, err);
    if (status != LEAT_OK || size < *need)
        return status;
    read_dict(&p, &found, &descr);
    if (p.failed)
        return damaged(&p, err);
    if (descr.data == NULL) {
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "an array of records (a structured dtype); expected booleans, integers "
                          "or floats: save each field as a file of its own");
    }
    status = read_descr(&descr, &found, err);
    if (status == LEAT_OK) {
        found.size = *need;
        *need = 0;
        *out = found;
    }
    return status;
}
