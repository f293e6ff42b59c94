/* What the files of the part image share. */
#ifndef GOLDEN_IMAGE_H
#define GOLDEN_IMAGE_H

#include "graph/graph.h"
#include "support/golden.h"

/* A file's bytes. */
leat_status golden_image_contents(const char *file, leat_tensor *out, leat_error *err);
/* An input by the name that cases give it, which may say what is made of another one. */
leat_status golden_image_input(const json_t *inputs, const char *name, leat_tensor *out,
                               leat_error *err);
/* x, or x and x upside down, stacked. */
leat_status golden_image_geometry(const json_t *inputs, bool batch, leat_tensor *out,
                                  leat_error *err);

#endif
