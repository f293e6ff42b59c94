/* yiq_to_rgb: the inverse of rgb_to_yiq (tf.image.yiq_to_rgb).
 *
 * Computed in float32. Fails on other types than floats and other numbers of channels than 3. No
 * state, no locks. */
#include "graph/support/picture/colour.h"

LEATI_COLOUR_MATRIX(yiq_to_rgb, "YIQ", "RGB",
                    {1.0F, 1.0F, 1.0F, 0.95598634F, -0.27201283F, -1.10674021F, 0.6208248F,
                     -0.64720424F, 1.70423049F});
