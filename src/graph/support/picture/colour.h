/* What the operations on colours share: pictures of any number type become float32, a function
 * computes, and the result becomes what is wanted; some have a function of float64 beside it. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_COLOUR_H
#define LEATI_GRAPH_SUPPORT_PICTURE_COLOUR_H

#include "graph/support/picture/frames.h"

/* Computes the pictures of one row; in and out do not overlap. `context` is the caller's. */
typedef void leati_colour_function(const float *in, float *out, const leati_frames *frames,
                                   const void *context);

/* The same of float64, which float32 would take digits from. */
typedef void leati_colour_wide(const double *in, double *out, const leati_frames *frames,
                               const void *context);

typedef struct leati_colour {
    leati_colour_function *function;
    leati_colour_wide *wide; /* NULL: float64 is computed in float32, too */
    int32_t rank;            /* the least rank */
    bool by_pixel;           /* no pixel depends on others: height and width are counted together */
    int64_t in_channels;     /* that must be; 0: any */
    int64_t out_channels;    /* of the result; 0: the input's */
    leat_dtype dtype;        /* of the result; LEAT_BOOL: the input's */
    bool floats;             /* takes floats alone */
    bool saturate;           /* clips what an integer result cannot hold */
    bool unscaled;           /* integers stay what they are, instead of lying between 0 and 1 */
} leati_colour;

LEAT_WARN_UNUSED leat_status leati_colour_infer(leati_infer_call *call, const leati_colour *colour,
                                                leat_error *err);
LEAT_WARN_UNUSED leat_status leati_colour_kernel(leati_kernel_call *call,
                                                 const leati_colour *colour, const void *context,
                                                 leat_error *err);

/* An operand as float32 in the call's arena, scaled as convert_image_dtype does; float32 as it is.
 */
LEAT_WARN_UNUSED leat_status leati_colour_floats(leati_kernel_call *call, const leati_operand *in,
                                                 leati_operand *out, leat_error *err);

/* The one number of the adjusting operations; their rows name it. */
struct leati_adjust_args {
    double amount;
};
/* The attributes of adjust_jpeg_quality. */
struct leati_quality_args {
    int64_t jpeg_quality;
    char *dct_method;
};

#endif
