/* Regions of StableHLO: branches and loops.
 *
 * Happy path: the program's text is put aside while a region is appended, and the region's text
 * becomes a part of its operation. Numbers of values go on, so that a region can name what is
 * outside. Failures: memory, which the program's flag says. No locks. */
#include "exec/pjrt/hlo.h"

#include "base/alloc.h"
#include "core/spec.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void leati_hlo_region_begin(leati_hlo *hlo, leati_hlo_region *region) {
    region->outside = hlo->text;
    hlo->text = (leati_text){0};
}

static void add_values(leati_text *text, const leati_hlo *hlo, const leati_hlo_value *values,
                       int count, bool named) {
    for (int i = 0; i < count; i++) {
        leati_hlo_type type = leati_hlo_type_of(hlo, values[i]);
        leati_text_addf(text, i > 0 ? ", " : "");
        if (named)
            leati_text_addf(text, "%%v%d: ", values[i]);
        leati_hlo_add_type(text, type.dtype, &type.shape);
    }
}

void leati_hlo_region_end(leati_hlo *hlo, leati_hlo_region *region, leati_hlo_value first,
                          int count, const leati_hlo_value *results, int num_results,
                          leati_text *regions) {
    leati_text *text = &hlo->text;
    leati_text_addf(regions, regions->size > 0 ? ", {" : "{");
    if (count > 0)
        leati_text_addf(regions, " ^bb0(");
    for (int i = 0; i < count; i++) {
        leati_hlo_value argument = first + i;
        leati_text_addf(regions, i > 0 ? ", " : "");
        add_values(regions, hlo, &argument, 1, true);
    }
    leati_text_addf(regions, count > 0 ? "):\n" : "\n");
    leati_text_addf(text, "    \"stablehlo.return\"(");
    for (int i = 0; i < num_results; i++)
        leati_text_addf(text, "%s%%v%d", i > 0 ? ", " : "", results[i]);
    leati_text_addf(text, ") : (");
    add_values(text, hlo, results, num_results, false);
    leati_text_addf(text, ") -> ()\n    }");
    hlo->failed = hlo->failed || text->failed;
    if (!hlo->failed)
        leati_text_add(regions, text->data, text->size);
    leati_text_fini(text);
    *text = region->outside;
}

leati_hlo_value leati_hlo_if(leati_hlo *hlo, leati_hlo_value condition, leati_text *regions,
                             const leati_hlo_type *types, int count) {
    hlo->failed = hlo->failed || regions->failed;
    leati_hlo_value out =
        leati_hlo_add_several(hlo, "if", &condition, 1, regions->data, NULL, types, count);
    leati_text_fini(regions);
    return out;
}

/* ---- loops ---- */

/* Arguments of a region, of the carried values' types. */
static void add_arguments(leati_hlo *hlo, leati_hlo_loop *loop) {
    loop->first = (leati_hlo_value)hlo->num_values;
    for (int i = 0; i < loop->count; i++) {
        leati_hlo_type type = leati_hlo_type_of(hlo, loop->starts[i]);
        (void)leati_hlo_argument(hlo, type.dtype, &type.shape);
    }
}

void leati_hlo_loop_begin(leati_hlo *hlo, leati_hlo_loop *loop, const leati_hlo_value *starts,
                          int count) {
    *loop = (leati_hlo_loop){.starts = starts, .count = count};
    leati_hlo_region_begin(hlo, &loop->region);
    add_arguments(hlo, loop);
}

void leati_hlo_loop_body(leati_hlo *hlo, leati_hlo_loop *loop, leati_hlo_value condition) {
    leati_hlo_region_end(hlo, &loop->region, loop->first, loop->count, &condition, 1,
                         &loop->regions);
    leati_hlo_region_begin(hlo, &loop->region);
    add_arguments(hlo, loop);
}

leati_hlo_value leati_hlo_loop_end(leati_hlo *hlo, leati_hlo_loop *loop,
                                   const leati_hlo_value *next) {
    leati_hlo_region_end(hlo, &loop->region, loop->first, loop->count, next, loop->count,
                         &loop->regions);
    leati_hlo_type *types = leati_alloc((size_t)loop->count + 1, sizeof *types);
    hlo->failed = hlo->failed || types == NULL || loop->regions.failed;
    leati_hlo_value out = 0;
    for (int i = 0; types != NULL && i < loop->count; i++)
        types[i] = leati_hlo_type_of(hlo, loop->starts[i]);
    if (!hlo->failed)
        out = leati_hlo_add_several(hlo, "while", loop->starts, loop->count, loop->regions.data,
                                    NULL, types, loop->count);
    leati_free(types);
    leati_text_fini(&loop->regions);
    return out;
}

/* ---- rows ---- */

leati_hlo_value leati_hlo_number(leati_hlo *hlo, int64_t number) {
    return leati_hlo_fill(hlo, (double)number, LEAT_INT32, &LEAT_SCALAR);
}

/* x, or x and a row, then where the row is along each dimension; their number. */
static int at_row(leati_hlo *hlo, leati_hlo_value at, int32_t rank, leati_hlo_value *operands,
                  int count) {
    leati_hlo_value zero = rank > 1 ? leati_hlo_number(hlo, 0) : at;
    for (int32_t d = 0; d < rank; d++)
        operands[count++] = d == 0 ? at : zero;
    return count;
}

leati_hlo_value leati_hlo_row(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value at) {
    char attributes[LEATI_HLO_ATTRIBUTES], sizes[LEATI_HLO_ATTRIBUTES / 2];
    leati_hlo_value operands[1 + LEAT_MAX_RANK] = {x};
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    leat_shape row = type.shape, rest = {.rank = 0};
    row.dims[0] = 1;
    for (int32_t d = 1; d < row.rank; d++)
        rest.dims[rest.rank++] = row.dims[d];
    int count = at_row(hlo, at, row.rank, operands, 1);
    snprintf(attributes, sizeof attributes, "slice_sizes = %s",
             leati_hlo_array(sizes, sizeof sizes, row.dims, row.rank));
    leati_hlo_value out =
        leati_hlo_add(hlo, "dynamic_slice", operands, count, NULL, attributes, type.dtype, &row);
    return leati_hlo_reshape(hlo, out, &rest);
}

leati_hlo_value leati_hlo_set_row(leati_hlo *hlo, leati_hlo_value x, leati_hlo_value at,
                                  leati_hlo_value row) {
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    leat_shape one = type.shape;
    one.dims[0] = 1;
    leati_hlo_value operands[2 + LEAT_MAX_RANK] = {x, leati_hlo_reshape(hlo, row, &one)};
    int count = at_row(hlo, at, type.shape.rank, operands, 2);
    return leati_hlo_add(hlo, "dynamic_update_slice", operands, count, NULL, NULL, type.dtype,
                         &type.shape);
}
