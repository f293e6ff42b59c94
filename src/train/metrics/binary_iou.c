/* BinaryIoU: IoU of two classes, of which predictions from a threshold on are the second
 * (keras.metrics.BinaryIoU). Failures are those of its arguments, and the graph's.
 * No locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/support/iou.h"

static const leati_row binary_iou_rows[] = {
    LEATI_IOU_ROW(target_class_ids, INTS,
                  .doc = "The classes whose mean is the result: 0, 1, or both."),
    LEATI_IOU_ROW(threshold, FLOAT, .default_number = 0.5,
                  .doc = "From which on a prediction is class 1."),
    LEATI_IOU_DTYPE_ROW,
    LEATI_METRIC_ROWS,
    {0},
};

static void binary_iou_update(const leati_pass *pass) {
    const struct leati_iou_args *args = pass->args;
    leat_value predictions = leat_op_cast(pass->inputs[1], LEAT_FLOAT32);
    leat_value threshold = leati_loss_number_like(predictions, args->threshold);
    leati_iou_count(pass, pass->inputs[0], leat_op_greater_equal(predictions, threshold));
}

const leati_metric_kind leati_metric_binary_iou = {
    .kind =
        {
            .name = "BinaryIoU",
            .doc = "Intersection over union of two classes told apart by a threshold "
                   "(keras.metrics.BinaryIoU).",
            .rows = binary_iou_rows,
            .signature = "target_class_ids=[0,1] threshold name=null dtype=null",
            .args_size = sizeof(struct leati_iou_args),
            .check = leati_iou_check,
        },
    .prefix = "binary_io_u",
    .num_values = 2,
    .takes = "labels and predictions",
    .keeps_dtypes = true,
    .states = leati_iou_states,
    .update = binary_iou_update,
    .result = leati_iou_result,
};
