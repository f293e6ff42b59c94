/* What the metrics share that count which class was predicted for which: intersections over unions.
 */
#ifndef LEATI_TRAIN_SUPPORT_IOU_H
#define LEATI_TRAIN_SUPPORT_IOU_H

#include "train/frame/metric.h"

#define LEATI_MOST_CLASSES 4096

struct leati_iou_args {
    struct leati_metric_args shared;
    leat_dtype dtype;                  /* of the counts */
    int64_t num_classes;               /* 0: two */
    leati_ints target_class_ids;       /* whose mean is the result; none: all */
    leati_ints ignore_class;           /* none, or one label that does not count */
    bool sparse_y_true, sparse_y_pred; /* numbers of classes, not a value for each class */
    int64_t axis;                      /* of these values */
    double threshold;                  /* from which a prediction is class 1; only of BinaryIoU */
};

#define LEATI_IOU_ROW(MEMBER, TYPE, ...)                                                           \
    {                                                                                              \
        .name = #MEMBER, .type = LEATI_ROW_##TYPE,                                                 \
        .offset = offsetof(struct leati_iou_args, MEMBER), __VA_ARGS__                             \
    }
#define LEATI_IOU_CLASSES_ROW                                                                      \
    LEATI_IOU_ROW(num_classes, INT, .flags = LEATI_REQUIRED, .minimum = 1,                         \
                  .maximum = LEATI_MOST_CLASSES, .doc = "How many classes there are.")
#define LEATI_IOU_TARGETS_ROW                                                                      \
    LEATI_IOU_ROW(target_class_ids, INTS, .flags = LEATI_REQUIRED,                                 \
                  .doc = "The classes whose mean is the result.")
#define LEATI_IOU_TRUE_ROW                                                                         \
    LEATI_IOU_ROW(sparse_y_true, BOOL, .default_number = 1,                                        \
                  .doc = "Whether labels are numbers of classes, not a value for each.")
#define LEATI_IOU_PRED_ROW(STANDARD)                                                               \
    LEATI_IOU_ROW(sparse_y_pred, BOOL, .default_number = STANDARD,                                 \
                  .doc = "Whether predictions are numbers of classes, not a value for each.")
#define LEATI_IOU_IGNORE_ROW                                                                       \
    LEATI_IOU_ROW(ignore_class, INTS, .doc = "A label that does not count; none by default.")
#define LEATI_IOU_AXIS_ROW                                                                         \
    LEATI_IOU_ROW(axis, INT, .default_number = -1, .minimum = -LEAT_MAX_RANK,                      \
                  .maximum = LEAT_MAX_RANK - 1, .doc = "The dimension of values for each class.")
#define LEATI_IOU_DTYPE_ROW                                                                        \
    LEATI_IOU_ROW(dtype, DTYPE, .default_number = LEAT_INT64,                                      \
                  .doc = "Of the counts; weights become integers where it is one.")

/* The slots of the kinds. */
LEAT_WARN_UNUSED leat_status leati_iou_check(const void *args, leat_error *err);
void leati_iou_states(const void *args, leati_weights *out);
void leati_iou_update(const leati_pass *pass);
leat_value leati_iou_result(const void *args, const leat_value *states);
/* leati_iou_update of these labels and predictions, numbers of classes. */
void leati_iou_count(const leati_pass *pass, leat_value labels, leat_value predictions);

#endif
