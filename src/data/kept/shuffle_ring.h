/* The inside of shuffle, shared by data/ops/shuffle.c (arguments, pulling),
 * data/kept/shuffle_ring.c (the ring and its filling) and data/kept/shuffle_state.c (saving).
 *
 * The ring is a sequence of slices, one for each epoch of the input that has elements in it or is
 * being read. Plain shuffle has one slice; fused with repeat the epochs behind the front one are
 * read ahead into free places, but elements are only ever drawn from the front slice. While the
 * front slice's epoch is being read it is the only slice. */
#ifndef LEATI_DATA_KEPT_SHUFFLE_RING_H
#define LEATI_DATA_KEPT_SHUFFLE_RING_H

#include "base/random.h"
#include "data/plan/seed_generator.h"
#include "data/run/input.h"
#include "data/values/reservoir.h"

/* TensorFlow begins a further epoch only while three slices or fewer are in the ring; of the
 * fourth it reads one outcome. */
enum { LEATI_SHUFFLE_SLICES = 4 };

typedef struct leati_shuffle_slice {
    int64_t end;      /* position in the ring behind its last element */
    int64_t consumed; /* outcomes of the input in this epoch */
    int64_t *errors;  /* which of them were errors, ascending */
    size_t num_errors, error_capacity;
    bool finished;         /* the input's end was seen */
    leati_writer snapshot; /* the input's state at the start of the epoch; empty where the input
                              cannot be replayed */
} leati_shuffle_slice;

typedef struct leati_shuffle_ring {
    leati_input input;
    leati_seed_generator *generator; /* borrowed from the dataset */
    int64_t size;                    /* places; INT64_MAX: no bound */
    int64_t epochs;                  /* -1: forever */
    bool input_open;                 /* `input` was opened at least once */
    bool epoch_open;                 /* the input stands in the epoch of the last slice */
    bool produced;                   /* an element has come since the first epoch began */
    bool shared;                     /* other workers may have had all of an epoch */
    bool last;                       /* forever, but an epoch gave nothing: no further one */
    int64_t epoch;                   /* number of the last slice's */
    int64_t owed;                    /* seed pairs to draw before the next element is */
    uint64_t pair[2];                /* of the front slice's epoch, unless pairs are owed */
    leati_words words;               /* of the pair */
    int64_t start;                   /* position of the front slice's first element */
    int64_t emitted;                 /* elements drawn from the front slice */
    leati_shuffle_slice slices[LEATI_SHUFFLE_SLICES];
    int num_slices; /* at least 1 after begin */
    leati_reservoir reservoir;
    uint32_t *slots; /* place of the ring -> slot of the reservoir */
    size_t slot_capacity;
} leati_shuffle_ring;

/* The slice that is being filled. */
static inline leati_shuffle_slice *leati_shuffle_back(leati_shuffle_ring *ring) {
    return &ring->slices[ring->num_slices - 1];
}

/* Elements in the ring. */
static inline int64_t leati_shuffle_held(const leati_shuffle_ring *ring) {
    return ring->slices[ring->num_slices - 1].end - ring->start;
}

/* Empties the ring before the first epoch and draws its pair. The input is opened or reset by the
 * first fill. */
void leati_shuffle_begin(leati_shuffle_ring *ring);
void leati_shuffle_close(leati_shuffle_ring *ring);
/* Makes the slice empty; its memory is kept. */
void leati_shuffle_slice_clear(leati_shuffle_slice *slice, int64_t end);
/* Opens the input for the last slice's epoch or resets it, and notes where the epoch starts. */
LEAT_WARN_UNUSED leat_status leati_shuffle_open_epoch(leati_node_state *node,
                                                      leati_shuffle_ring *ring, leat_error *err);
/* The reservoir's slot behind place `at`, which may be one beyond what was used so far. */
LEAT_WARN_UNUSED leat_status leati_shuffle_slot(leati_shuffle_ring *ring, int64_t at,
                                                uint32_t *slot, leat_error *err);
/* Notes that outcome number slice->consumed is an error. */
LEAT_WARN_UNUSED leat_status leati_shuffle_note_error(leati_shuffle_slice *slice, leat_error *err);
/* Fills the ring until an element can be drawn: MORE, END where none is left, or ERROR for an
 * error of the input. `more` is how many elements beyond a full ring the pull will need. */
leati_tail leati_shuffle_ready(leati_node_state *node, leati_shuffle_ring *ring, int64_t more,
                               leat_error *err);
/* Draws up to n elements, the first of which the ring is ready for, into the rows of `out`, which
 * is prepared. The tail is what came after them. */
leati_tail leati_shuffle_draw(leati_node_state *node, leati_shuffle_ring *ring, int64_t n,
                              leati_block *out, leat_error *err);

LEAT_WARN_UNUSED leat_status leati_shuffle_save(leati_node_state *node, leati_shuffle_ring *ring,
                                                leati_writer *out, leati_save_cost *cost,
                                                leat_error *err);
LEAT_WARN_UNUSED leat_status leati_shuffle_restore(leati_node_state *node, leati_shuffle_ring *ring,
                                                   leati_reader *in, leat_error *err);

#endif
