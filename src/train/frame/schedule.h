/* The inside of learning rate schedules: the descriptors that the files of train/schedules/ end in.
 */
#ifndef LEATI_TRAIN_FRAME_SCHEDULE_H
#define LEATI_TRAIN_FRAME_SCHEDULE_H

#include "train/frame/kind.h"
#include <leat/train.h>

/* The first member of every schedule's arguments. */
struct leati_schedule_args {
    double initial_learning_rate, decay_steps;
    char *name;
};

typedef struct leati_schedule_kind {
    leati_kind kind;
    /* The rate, a float32 scalar, at this step, one too. */
    leat_value (*rate)(const void *args, leat_value step);
} leati_schedule_kind;

/* The descriptors of the table. */
#define X(file, name) extern const leati_schedule_kind leati_schedule_##name;
#include "train/schedules.def"
#undef X

/* The rate at a step of any number type. */
leat_value leati_schedule_rate(const leati_schedule_kind *kind, const void *args, leat_value step);

/* ---- for the files of schedules ---- */

/* For check: decay_steps is positive. */
LEAT_WARN_UNUSED leat_status leati_schedule_check(const void *args, leat_error *err);

/* x^y, a number to the power of a value. */
leat_value leati_schedule_number_power(double base, leat_value exponent);

#define LEATI_SCHEDULE_ROW(STRUCT, MEMBER, TYPE, ...)                                              \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_##TYPE, .offset = offsetof(struct STRUCT, MEMBER),      \
        __VA_ARGS__                                                                                \
    }
#define LEATI_SCHEDULE_START                                                                       \
    LEATI_SCHEDULE_ROW(leati_schedule_args, initial_learning_rate, FLOAT, .flags = LEATI_REQUIRED, \
                       .doc = "The rate at step 0.")
#define LEATI_SCHEDULE_STEPS(DOC)                                                                  \
    LEATI_SCHEDULE_ROW(leati_schedule_args, decay_steps, FLOAT, .flags = LEATI_REQUIRED, .doc = DOC)
#define LEATI_SCHEDULE_NAME(NAME)                                                                  \
    LEATI_SCHEDULE_ROW(leati_schedule_args, name, STRING, .default_text = NAME,                    \
                       .doc = "Name of the schedule.")

#endif
