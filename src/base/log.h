/* Log lines: rare by contract. In tests an unexpected line fails the run (leat_set_log). */
#ifndef LEATI_BASE_LOG_H
#define LEATI_BASE_LOG_H

#include <leat/base.h>

void leati_log(leat_log_level level, const char *format, ...) LEAT_PRINTF(2, 3);

/* Logs once per process for each distinct `*flag` (a static atomic_flag-like int, 0 at first). */
void leati_log_once(int *flag, leat_log_level level, const char *format, ...) LEAT_PRINTF(3, 4);

#endif
