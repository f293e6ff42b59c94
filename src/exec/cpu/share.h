/* Work of a task in pieces, shared by the threads of the device. */
#ifndef LEATI_EXEC_CPU_SHARE_H
#define LEATI_EXEC_CPU_SHARE_H

#include <stdint.h>

typedef void leati_cpu_piece(void *data, int64_t piece);

/* Runs pieces 0 to count - 1, each once, on up to `threads` threads, of which the caller is one;
 * returns when all are done. Which thread runs which piece is left to chance: results must not
 * depend on it. Without oneDNN there is one thread. */
void leati_cpu_share(int threads, int64_t count, leati_cpu_piece *run, void *data);

#endif
