/* OneHotMeanIoU: MeanIoU of labels that are a value for each class
 * (keras.metrics.OneHotMeanIoU). Failures are those of its arguments, and the graph's.
 * No locks. */
#include "train/support/iou.h"

static const leati_row one_hot_mean_iou_rows[] = {
    LEATI_IOU_CLASSES_ROW,
    LEATI_IOU_DTYPE_ROW,
    LEATI_IOU_IGNORE_ROW,
    LEATI_IOU_PRED_ROW(0),
    LEATI_IOU_AXIS_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

const leati_metric_kind leati_metric_one_hot_mean_iou = {
    .kind =
        {
            .name = "OneHotMeanIoU",
            .doc = "Intersection over union, the mean of all classes, with a value for each in the "
                   "labels "
                   "(keras.metrics.OneHotMeanIoU).",
            .rows = one_hot_mean_iou_rows,
            .signature = "num_classes name=null dtype=null ignore_class=null sparse_y_pred axis",
            .args_size = sizeof(struct leati_iou_args),
            .check = leati_iou_check,
        },
    .prefix = "one_hot_mean_io_u",
    .num_values = 2,
    .takes = "labels and predictions",
    .keeps_dtypes = true,
    .states = leati_iou_states,
    .update = leati_iou_update,
    .result = leati_iou_result,
};
