/* Log lines: rare by contract. In tests an unexpected line fails the run (leat_log_set).
 *
 * Two kinds: what a user should know anyway (leati_log), and decisions of the library
 * (LEATI_TELL), which are silent until LEAT_LOG or leat_log_set_levels asks for them. */
#ifndef LEATI_BASE_LOG_H
#define LEATI_BASE_LOG_H

#include <leat/base.h>

typedef enum leati_log_category {
#define X(upper, lower, doc) LEATI_LOG_##upper,
#include "base/log.def"
#undef X
    LEATI_LOG_NUM_CATEGORIES
} leati_log_category;

/* A line of the table log.def. */
typedef struct leati_log_category_info {
    const char *name, *doc;
} leati_log_category_info;
extern const leati_log_category_info leati_log_categories[LEATI_LOG_NUM_CATEGORIES];

void leati_log(leat_log_level level, const char *format, ...) LEAT_PRINTF(2, 3);

/* Logs once per process for each distinct `*flag` (a static atomic_flag-like int, 0 at first). */
void leati_log_once(int *flag, leat_log_level level, const char *format, ...) LEAT_PRINTF(3, 4);

/* Tells a decision where it was asked for; otherwise this is one comparison and no argument is
 * evaluated. For what happens once per job, iterator or step (LEAT_LOG_INFO), per file, thread or
 * trial (LEAT_LOG_DEBUG), never per element. No lock may be held, since the user's function is
 * called. */
#define LEATI_TELL(category, level, ...)                                                           \
    do {                                                                                           \
        if (leati_log_wants(LEATI_LOG_##category, LEAT_LOG_##level))                               \
            leati_log_decision(LEATI_LOG_##category, LEAT_LOG_##level, __VA_ARGS__);               \
    } while (0)

/* LEATI_TELL once per process for each distinct `*flag`. */
#define LEATI_TELL_ONCE(flag, category, level, ...)                                                \
    do {                                                                                           \
        if (leati_log_wants(LEATI_LOG_##category, LEAT_LOG_##level) &&                             \
            __atomic_exchange_n(flag, 1, __ATOMIC_RELAXED) == 0)                                   \
            leati_log_decision(LEATI_LOG_##category, LEAT_LOG_##level, __VA_ARGS__);               \
    } while (0)

/* The least level told of each category, and behind them of leati_log; atomic. All are 0 until the
 * environment was read, so that the first question finds its way to leati_log_ask. */
extern int leati_log_least[LEATI_LOG_NUM_CATEGORIES + 1];
bool leati_log_ask(int category, leat_log_level level);
void leati_log_decision(leati_log_category category, leat_log_level level, const char *format, ...)
    LEAT_PRINTF(3, 4);

static inline bool leati_log_wants(leati_log_category category, leat_log_level level) {
    return (int)level >= __atomic_load_n(&leati_log_least[category], __ATOMIC_RELAXED) &&
           leati_log_ask((int)category, level);
}

#endif
