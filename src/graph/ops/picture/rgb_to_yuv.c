/* rgb_to_yuv: luma and two differences of colour (tf.image.rgb_to_yuv).
 *
 * Computed in float32. Fails on other types than floats and other numbers of channels than 3. No
 * state, no locks. */
#include "graph/support/picture/colour.h"

LEATI_COLOUR_MATRIX(rgb_to_yuv, "RGB", "YUV",
                    {0.299F, -0.14714119F, 0.61497538F, 0.587F, -0.28886916F, -0.51496512F, 0.114F,
                     0.43601035F, -0.10001026F});
