/* The threads that a kernel may share its work with.
 *
 * Who runs kernels on a thread of the user's or of a replica's says how many threads they may have
 * (leati_crew_enter); tasks of the pool have one, as others run beside them. The threads are
 * OpenMP's, which oneDNN's primitives use too, so no second team contends for the cores. */
#ifndef LEATI_RUN_CREW_H
#define LEATI_RUN_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calling thread's kernels may have up to `threads` threads, that one included, from now on.
 * Returns how many it was before, for leave. A thread begins with 1. */
int leati_crew_enter(int threads);
void leati_crew_leave(int before);
/* How many that is now. */
int leati_crew_size(void);

typedef void leati_crew_piece(void *data, int64_t piece);

/* Runs pieces 0 to count - 1, each once, on as many of the crew's threads as `ns`, what all take
 * one thread roughly, is worth; returns when all are done. Which thread runs which piece is left to
 * chance: results must not depend on it. Pieces are cut by sizes alone, so that bits do not depend
 * on the number of threads, and take 10 us to 1 ms. Once the caller is asked to stop (base/stop.h)
 * the pieces not begun are left out. Without oneDNN, and under the thread sanitizer, which does not
 * see how libgomp's threads wait, there is one thread. */
void leati_crew_share(double ns, int64_t count, leati_crew_piece *run, void *data);
/* The same on `threads` threads. */
void leati_crew_share_among(int threads, int64_t count, leati_crew_piece *run, void *data);

/* Memory of at least so many bytes for what the calling thread does now: a multiple of 64 bytes,
 * what lies in it is left over. The thread keeps it for the next call, which may move it, and gives
 * it back when it ends. NULL: there is none. Pieces that run other pieces must not both use it. */
void *leati_crew_scratch(size_t size);

/* Not so in a child of a process that had a team: libgomp would wait for threads that are not
 * there. Then there is one thread, and whatever else uses OpenMP must be left alone. */
bool leati_crew_is_whole(void);

/* Before oneDNN's threads work beside a pipeline: theirs give up spinning soon. Once per process.
 */
void leati_crew_share_cores(void);

#endif
