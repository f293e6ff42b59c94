/* What the environment says of requests, and by whom they are made; see net.h. It is read for each
 * file, so that a program can set it while it runs. A text that is no such number is
 * INVALID_ARGUMENT. Locks: none. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/net.h"
#include <stdlib.h>

/* Variables, and what they may be. */
static const struct variable {
    const char *name, *what;
    double least, most, usual;
} variables[] = {
    {"LEAT_REMOTE_CONNECTIONS", "a whole number", 1, LEATI_NET_MOST_CONNECTIONS, 8},
    {"LEAT_REMOTE_RETRIES", "a whole number", 0, 100, 5},
    {"LEAT_REMOTE_TIMEOUT", "seconds", 0.001, 86400, 30},
};

static leat_status read_variable(const struct variable *variable, bool whole, double *out,
                                 leat_error *err) {
    const char *text = getenv(variable->name);
    char *end = NULL;
    *out = variable->usual;
    if (text == NULL || *text == '\0')
        return LEAT_OK;
    double value = strtod(text, &end);
    /* What is no number is in no range. */
    bool good = *end == '\0' && value >= variable->least && value <= variable->most &&
                (!whole || value == (double)(int)value);
    if (!good)
        return leati_refuse(err, VALUE,
                            "the environment's %s is \"%.40s\"; expected %s from %g to %g",
                            variable->name, text, variable->what, variable->least, variable->most);
    *out = value;
    return LEAT_OK;
}

leat_status leati_net_settings_read(leati_net_settings *out, leat_error *err) {
    double connections = 0, retries = 0, timeout = 0;
    LEATI_TRY(read_variable(&variables[0], true, &connections, err));
    LEATI_TRY(read_variable(&variables[1], true, &retries, err));
    LEATI_TRY(read_variable(&variables[2], false, &timeout, err));
    *out = (leati_net_settings){(int)connections, (int)retries, (int64_t)(timeout * 1000)};
    return LEAT_OK;
}

/* ---- signers ---- */

static bool copy_text(const char **to, const char *from) {
    *to = leati_strdup(from);
    return from == NULL || *to != NULL;
}

bool leati_net_signer_copy(leati_net_signer *to, const leati_net_signer *from) {
    *to = (leati_net_signer){.kind = from->kind};
    return copy_text(&to->region, from->region) && copy_text(&to->key, from->key) &&
           copy_text(&to->secret, from->secret) && copy_text(&to->token, from->token);
}

void leati_net_signer_fini(leati_net_signer *signer) {
    leati_free((char *)(uintptr_t)signer->region);
    leati_free((char *)(uintptr_t)signer->key);
    leati_free((char *)(uintptr_t)signer->secret);
    leati_free((char *)(uintptr_t)signer->token);
    *signer = (leati_net_signer){0};
}
