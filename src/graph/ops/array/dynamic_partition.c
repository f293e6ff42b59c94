/* dynamic_partition: the slices of a tensor, dealt out by numbers (tf.dynamic_partition). Inputs:
 * data, partitions, whose shape is that of the first dimensions of data.
 *
 * Output p has the slices whose number is p, in their order. How many is data, so rows run one at a
 * time. Fails where a number is no partition. No state, no locks. */
#include "base/isa.h"
#include "base/stop.h"
#include "graph/support/support.h"

#include <string.h>

struct dynamic_partition_args {
    int64_t num_partitions;
};

static const leati_row dynamic_partition_rows[] = {
    {.name = "num_partitions",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct dynamic_partition_args, num_partitions),
     .minimum = 1,
     .maximum = LEAT_MAX_OUTPUTS,
     .doc = "How many outputs there are."},
    {0},
};

/* The shape of `count` slices. */
static leat_status slices_of(const leat_shape *data, const leat_shape *numbers, int64_t count,
                             leat_shape *out, leat_error *err) {
    char texts[2][128];
    bool fits = numbers->rank <= data->rank;
    for (int32_t d = 0; fits && d < numbers->rank; d++)
        fits = data->dims[d] == numbers->dims[d] || data->dims[d] == LEAT_UNKNOWN_DIM ||
               numbers->dims[d] == LEAT_UNKNOWN_DIM;
    if (!fits)
        return leati_refuse(
            err, SHAPE,
            "partitions have shape %s and data %s; expected the first dimensions of "
            "data",
            leati_shape_text(numbers, texts[0]), leati_shape_text(data, texts[1]));
    *out = (leat_shape){.rank = 1, .dims = {count}};
    for (int32_t d = numbers->rank; d < data->rank; d++)
        out->dims[out->rank++] = data->dims[d];
    return LEAT_OK;
}

static leat_status dynamic_partition_infer(leati_infer_call *call, leat_error *err) {
    const struct dynamic_partition_args *args = call->args;
    const leat_shape *data = &call->inputs[0].shape, *numbers = &call->inputs[1].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    LEATI_TRY(leati_support_want_values(call, 0, err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_INT32, "the partitions", err));
    if (data->rank >= 0 && numbers->rank >= 0)
        LEATI_TRY(slices_of(data, numbers, LEAT_UNKNOWN_DIM, &shape, err));
    for (int64_t p = 0; p < args->num_partitions; p++)
        LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err));
    return LEAT_OK;
}

/* Each slice goes behind the last one of its number; a constant size is a load and a store. */
LEATI_ALWAYS_INLINE void deal(char **to, const int32_t *number, const char *from, int64_t count,
                              size_t bytes) {
    int64_t done = 0;
    for (int64_t i = 0; i < count && !leati_stop_look_after((int64_t)bytes / 4 + 1, &done); i++) {
        memcpy(to[number[i]], from + (size_t)i * bytes, bytes);
        to[number[i]] += bytes;
    }
}

static leat_status dynamic_partition_kernel(leati_kernel_call *call, leat_error *err) {
    const struct dynamic_partition_args *args = call->args;
    const leati_operand *data = &call->inputs[0], *numbers = &call->inputs[1];
    const int32_t *number = (const int32_t *)(const void *)numbers->data;
    leat_shape from = leati_support_operand_shape(data),
               list = leati_support_operand_shape(numbers), shape;
    int64_t counts[LEAT_MAX_OUTPUTS] = {0};
    char *to[LEAT_MAX_OUTPUTS];
    /* A first pass counts, because outputs need their shapes before anything is written. */
    for (int64_t i = 0; i < numbers->count; i++) {
        if (number[i] < 0 || number[i] >= args->num_partitions)
            return leati_refuse(err, VALUE, "partitions[%lld] = %d is not in [0, %lld)",
                                (long long)i, (int)number[i], (long long)args->num_partitions);
        counts[number[i]]++;
    }
    for (int p = 0; p < call->num_outputs; p++) {
        LEATI_TRY(slices_of(&from, &list, counts[p], &shape, err));
        LEATI_TRY(leati_support_output_like(call, p, &shape, err));
        to[p] = call->outputs[p].data;
    }
    size_t bytes = leat_dtype_size(data->dtype);
    for (int32_t d = list.rank; d < from.rank; d++)
        bytes *= (size_t)from.dims[d];
    /* Slices without values leave outputs that may have no memory. */
    switch (bytes) {
    case 0: break;
    case 4: deal(to, number, data->data, numbers->count, 4); break;
    case 8: deal(to, number, data->data, numbers->count, 8); break;
    default: deal(to, number, data->data, numbers->count, bytes);
    }
    for (int p = 0; p < call->num_outputs && data->dtype == LEAT_STRING; p++)
        LEATI_TRY(leati_op_kernel_hold(call, p, 0, err));
    return LEAT_OK;
}

/* Each slice's place, dealt out in the same way, says where its gradient belongs. */
static leat_status dynamic_partition_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value data = call->inputs[0], numbers = call->inputs[1], parts[LEAT_MAX_OUTPUTS];
    int count = call->num_outputs;
    /* The stitch below takes a list of places and a tensor for each partition. */
    if (2 * count > LEAT_MAX_OUTPUTS)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no gradient of more than %d partitions; found %d", LEAT_MAX_OUTPUTS / 2,
                          count);
    /* The number of each slice, in the shape of the partitions. */
    leat_value places = leat_op_range(
        leati_support_number(data.graph, LEAT_INT32, 0), leat_op_size(numbers, LEAT_INT32),
        leati_support_number(data.graph, LEAT_INT32, 1), LEAT_INVALID);
    places = leat_op_reshape_like(places, numbers);
    int32_t both[] = {places.id, numbers.id};
    int32_t first = places.id < 0 ? -1
                                  : leati_graph_add(data.graph, &leati_tensor_op_dynamic_partition,
                                                    call->args, both, 2);
    if (first < 0)
        return LEAT_OK; /* the graph keeps the error */
    for (int p = 0; p < count; p++) {
        /* First the places, then the gradients: what dynamic_stitch expects. */
        parts[p] = (leat_value){.graph = data.graph, .id = first + p};
        parts[count + p] = call->output_gradients[p].id >= 0 ? call->output_gradients[p]
                                                             : leat_op_zeros_like(call->outputs[p]);
    }
    /* Each slice went to one partition, so all places are named once and none is left as zeros. */
    leat_value stitched =
        leati_graph_build_many(&leati_tensor_op_dynamic_stitch, NULL, parts, 2 * count);
    call->input_gradients[0] = leat_op_reshape_like(stitched, data);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_dynamic_partition = {
    .name = "dynamic_partition",
    .version = 1,
    .doc = "The slices of a tensor, dealt out by numbers (tf.dynamic_partition).",
    .names = "dynamic_partition",
    .inputs = "data partitions",
    .types = "T int32",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = dynamic_partition_rows,
    .args_size = sizeof(struct dynamic_partition_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = dynamic_partition_infer,
    .kernel = dynamic_partition_kernel,
    .gradient = dynamic_partition_gradient,
};
