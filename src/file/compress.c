/* The table of codecs, and the names of compressions as TensorFlow spells them.
 *
 * Everything about one codec lies in its own file; here are the lookups and what all have in
 * common. Failures: an unknown name or number, a codec that was left out of the build, a level that
 * the codec does not have. No state, no locks. */
#include "file/compress.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/stop.h"
#include <stdio.h>
#include <string.h>

#define X(name) extern const leati_compress_codec leati_codec_##name;
#include "file/compress.def"
#undef X

static const leati_compress_codec *const codecs[] = {
#define X(name) &leati_codec_##name,
#include "file/compress.def"
#undef X
};

/* Bytes from one look at whether to stop to the next. */
enum { AT_ONCE = 1 << 20 };

enum { NUM_CODECS = sizeof codecs / sizeof *codecs };

const leati_compress_codec *leati_compress_codec_of(leat_compression compression) {
    for (int i = 0; i < NUM_CODECS; i++)
        if (codecs[i]->compression == compression)
            return codecs[i];
    return NULL;
}

leat_compression leati_compress_codec_guess(const uint8_t *first, size_t size) {
    for (int i = 0; i < NUM_CODECS; i++)
        if (codecs[i]->looks != NULL && codecs[i]->looks(first, size))
            return codecs[i]->compression;
    /* None of the codecs knows the bytes: taken for uncompressed. */
    return LEAT_COMPRESSION_NONE;
}

const char *leat_compression_name(leat_compression compression) {
    const leati_compress_codec *codec = leati_compress_codec_of(compression);
    if (codec != NULL)
        return codec->name;
    return compression == LEAT_COMPRESSION_NONE ? "" : "unknown";
}

static leat_status left_out(const leati_compress_codec *codec, leat_error *err) {
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "compression_type \"%s\" was left out of this build, which found no %s; "
                      "install it and build again",
                      codec->name, codec->package);
}

static leat_status unknown_name(const char *text, leat_error *err) {
    char names[128] = "";
    size_t at = 0;
    for (int i = 0; i < NUM_CODECS; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s\"%s\"",
                               i < NUM_CODECS - 1 ? ", " : " or ", codecs[i]->name);
    return leati_refuse(err, VALUE, "compression_type is \"%.100s\"; expected \"\"%s", text, names);
}

leat_status leat_compression_from_name(const char *text, leat_compression *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (text == NULL || !*text) {
        *out = LEAT_COMPRESSION_NONE;
        return LEAT_OK;
    }
    for (int i = 0; i < NUM_CODECS; i++) {
        if (strcmp(text, codecs[i]->name) != 0)
            continue;
        /* A codec that was left out has its package's name in place of functions. */
        if (codecs[i]->package != NULL)
            return left_out(codecs[i], err);
        *out = codecs[i]->compression;
        return LEAT_OK;
    }
    return unknown_name(text, err);
}

/* The codec, if it can be used. */
static const leati_compress_codec *find_codec(leat_compression compression, leat_error *err) {
    const leati_compress_codec *codec = leati_compress_codec_of(compression);
    if (codec == NULL)
        leati_refuse(err, VALUE, "compression %d has no codec; expected a leat_compression",
                     (int)compression);
    else if (codec->package != NULL)
        left_out(codec, err);
    else
        return codec;
    return NULL;
}

/* ---- reading ---- */

leati_unpacker *leati_compress_unpacker_new(leat_compression compression, leat_error *err) {
    const leati_compress_codec *codec = find_codec(compression, err);
    if (codec == NULL)
        return NULL;
    /* The codec's own struct, which begins with a leati_unpacker. */
    leati_unpacker *unpacker = leati_alloc_zero(1, codec->unpacker_size);
    if (unpacker == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    unpacker->codec = codec;
    /* Freed as one that is open: closing takes what a failed opening left. */
    if (codec->unpacker_open != NULL && codec->unpacker_open(unpacker, err) != LEAT_OK) {
        leati_compress_unpacker_free(unpacker);
        return NULL;
    }
    leati_compress_unpacker_reset(unpacker);
    return unpacker;
}

void leati_compress_unpacker_free(leati_unpacker *unpacker) {
    if (unpacker != NULL && unpacker->codec->unpacker_close != NULL)
        unpacker->codec->unpacker_close(unpacker);
    leati_free(unpacker);
}

void leati_compress_unpacker_reset(leati_unpacker *unpacker) {
    unpacker->between = true;
    unpacker->codec->reset(unpacker);
}

leat_status leati_compress_unpacker_run(leati_unpacker *unpacker, const uint8_t **in,
                                        size_t *in_size, uint8_t **out, size_t *out_size,
                                        leat_error *err) {
    return unpacker->codec->run(unpacker, in, in_size, out, out_size, err);
}

leat_status leati_compress_no_header(const leati_unpacker *unpacker, leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "not %s data: no such header here; check compression_type",
                      unpacker->codec->name);
}

/* ---- writing ---- */

leati_packer *leati_compress_packer_new(leat_compression compression, int64_t level,
                                        leati_pack_sink sink, void *context, leat_error *err) {
    const leati_compress_codec *codec = find_codec(compression, err);
    if (codec == NULL)
        return NULL;
    /* Unset is the codec's default; 0 is no level of any. */
    if (level != LEAT_UNSET && (level < 1 || level > codec->max_level)) {
        leati_refuse(err, VALUE,
                     "the compression level is %lld; %s has 1 (fast) to %d (small), and %d if "
                     "there is none",
                     (long long)level, codec->name, codec->max_level, codec->default_level);
        return NULL;
    }
    leati_packer *packer = leati_alloc_zero(1, codec->packer_size);
    if (packer == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    *packer = (leati_packer){codec, sink, context};
    if (codec->packer_open(packer, level == LEAT_UNSET ? codec->default_level : (int)level, err) !=
        LEAT_OK) {
        leati_compress_packer_free(packer);
        return NULL;
    }
    return packer;
}

leat_status leati_compress_packer_write(leati_packer *packer, const void *data, size_t size,
                                        leat_error *err) {
    leat_status status = LEAT_OK;
    for (size_t done = 0; done < size && status == LEAT_OK; done += AT_ONCE) {
        if (done > 0)
            LEATI_TRY(leati_stop_check(err));
        status = packer->codec->write(packer, (const char *)data + done,
                                      LEATI_MIN(size - done, (size_t)AT_ONCE), err);
    }
    return status;
}

leat_status leati_compress_packer_finish(leati_packer *packer, leat_error *err) {
    return packer->codec->finish(packer, err);
}

void leati_compress_packer_free(leati_packer *packer) {
    if (packer != NULL && packer->codec->packer_close != NULL)
        packer->codec->packer_close(packer);
    leati_free(packer);
}

void *leati_compress_alloc(void *context, size_t size) {
    (void)context;
    return leati_alloc(1, size);
}

void leati_compress_free(void *context, void *memory) {
    (void)context;
    leati_free(memory);
}
