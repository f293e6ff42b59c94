/* Runs whose writers are gone, and which nobody can go on with. */
#ifndef LEATI_DATA_KEPT_SAVED_SWEEP_H
#define LEATI_DATA_KEPT_SAVED_SWEEP_H

#include "file/lock.h"

/* Who may go on with a run that is not finished: nobody; saved states of iterators; or, any other
 * text, who reads the checkpoint of that path. */
#define LEATI_RUN_OF_NOBODY NULL
#define LEATI_RUN_OF_STATES ""

/* Holds run folder `run` as its writer: until the lock is freed nobody removes it. NULL where that
 * cannot be, and *why: ALREADY_EXISTS, another writer, or who sweeps, holds it; NOT_FOUND, the
 * folder is gone; anything else, and the run is never removed by others. */
leati_lock *leati_saved_hold_run(const char *run, const char *successor, leat_status *why);
/* Removes from `folder` the runs that leati_saved_hold_run's callers have left unfinished, unless
 * somebody holds them, can go on with them, or the metadata speak of them; others are left alone.
 * What fails stays for the next time. */
void leati_saved_sweep(const char *folder);

#endif
