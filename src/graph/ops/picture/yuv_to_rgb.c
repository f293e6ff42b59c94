/* yuv_to_rgb: the inverse of rgb_to_yuv (tf.image.yuv_to_rgb).
 *
 * Computed in float32. Fails on other types than floats and other numbers of channels than 3. No
 * state, no locks. */
#include "graph/support/picture/colour.h"

LEATI_COLOUR_MATRIX(yuv_to_rgb, "YUV", "RGB",
                    {1.0F, 1.0F, 1.0F, 0.0F, -0.394642334F, 2.03206185F, 1.13988303F, -0.58062185F,
                     0.0F});
