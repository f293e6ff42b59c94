/* What the two gradients of crop_and_resize share; see crop.h. Boxes and pixels are visited in
 * order, so sums do not depend on threads. No state, no locks. */
#include "graph/support/picture/crop.h"

leat_status leati_crop_back_infer(leati_infer_call *call, int like, leat_error *err) {
    LEATI_TRY(
        leati_support_want_dtype(call, LEATI_CROP_GRADIENT, LEAT_FLOAT32, "the gradient", err));
    LEATI_TRY(leati_support_want_rank(call, LEATI_CROP_GRADIENT, 4, "the gradient", err));
    LEATI_TRY(leati_support_want_rank(call, LEATI_CROP_IMAGES, 4, "image", err));
    LEATI_TRY(leati_support_want_dtype(call, LEATI_CROP_BOXES, LEAT_FLOAT32, "boxes", err));
    LEATI_TRY(leati_support_want_rank(call, LEATI_CROP_BOXES, 2, "boxes", err));
    LEATI_TRY(leati_support_want_index(call, LEATI_CROP_INDICES, "box_indices", err));
    LEATI_TRY(leati_crop_check(call->args, call->unknown == 0, err));
    return leati_op_infer_output(call, call->inputs[like].dtype, &call->inputs[like].shape, NULL,
                                 err);
}

static leat_status check_shapes(const leati_kernel_call *call, leat_error *err) {
    const struct leati_crop_args *args = call->args;
    const leati_operand *gradient = &call->inputs[LEATI_CROP_GRADIENT];
    const leati_operand *images = &call->inputs[LEATI_CROP_IMAGES];
    const leati_operand *boxes = &call->inputs[LEATI_CROP_BOXES];
    LEATI_TRY(leati_crop_check(args, true, err));
    if (gradient->rank == 4 && images->rank == 4 && boxes->rank == 2 && boxes->dims[1] == 4 &&
        gradient->dims[0] == boxes->dims[0] &&
        call->inputs[LEATI_CROP_INDICES].count == boxes->dims[0] &&
        gradient->dims[1] == args->crop_size.values[0] &&
        gradient->dims[2] == args->crop_size.values[1] && gradient->dims[3] == images->dims[3])
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "a gradient of %lld values for %lld boxes; expected [boxes, height, width, "
                        "channels] of the crops",
                        (long long)gradient->count,
                        (long long)(boxes->rank > 0 ? boxes->dims[0] : 0));
}

/* The samples of one box. */
static void walk_box(const leati_kernel_call *call, leati_crop_sample *sample, const float *box,
                     leati_crop_visit *visit, void *context) {
    const int64_t *crop = call->inputs[LEATI_CROP_GRADIENT].dims,
                  *picture = call->inputs[LEATI_CROP_IMAGES].dims;
    leati_crop_line y = leati_crop_line_of(box[0], box[2], picture[1], crop[1]);
    leati_crop_line x = leati_crop_line_of(box[1], box[3], picture[2], crop[2]);
    for (sample->y = 0; sample->y < crop[1]; sample->y++) {
        sample->from_y = y.first + (float)sample->y * y.step;
        bool inside = sample->from_y >= 0 && sample->from_y <= (float)y.last;
        for (sample->x = 0; sample->x < crop[2]; sample->x++, sample->gradient += crop[3]) {
            sample->from_x = x.first + (float)sample->x * x.step;
            if (inside && sample->from_x >= 0 && sample->from_x <= (float)x.last)
                visit(call, sample, context);
        }
    }
}

leat_status leati_crop_walk(leati_kernel_call *call, int64_t row, leati_crop_visit *visit,
                            void *context, leat_error *err) {
    const leati_operand *boxes = &call->inputs[LEATI_CROP_BOXES];
    leati_crop_sample sample = {.gradient = (const float *)(const void *)leati_support_row_of(
                                    &call->inputs[LEATI_CROP_GRADIENT], row)};
    LEATI_TRY(check_shapes(call, err));
    for (sample.box = 0; sample.box < boxes->dims[0]; sample.box++) {
        const float *box =
            (const float *)(const void *)leati_support_row_of(boxes, row) + 4 * sample.box;
        sample.image = leati_support_index_at(&call->inputs[LEATI_CROP_INDICES], row, sample.box);
        if (sample.image < 0 || sample.image >= call->inputs[LEATI_CROP_IMAGES].dims[0])
            return leati_refuse(err, VALUE,
                                "box %lld is of picture %lld; expected one of the %lld pictures",
                                (long long)sample.box, (long long)sample.image,
                                (long long)call->inputs[LEATI_CROP_IMAGES].dims[0]);
        walk_box(call, &sample, box, visit, context);
    }
    return LEAT_OK;
}
