/* What the environment says of requests; see net.h. It is read for each file, so that a program can
 * set it while it runs. A text that is no such number is INVALID_ARGUMENT. Locks: none. */
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
