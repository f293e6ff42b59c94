/* rgb_to_yiq: luma and two turned differences of colour (tf.image.rgb_to_yiq).
 *
 * Computed in float32. Fails on other types than floats and other numbers of channels than 3. No
 * state, no locks. */
#include "graph/support/picture/colour.h"

LEATI_COLOUR_MATRIX(rgb_to_yiq, "RGB", "YIQ",
                    {0.299F, 0.59590059F, 0.2115F, 0.587F, -0.27455667F, -0.52273617F, 0.114F,
                     -0.32134392F, 0.31119955F});
