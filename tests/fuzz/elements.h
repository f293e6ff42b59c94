/* Specs that a target's first byte chooses from, and an element of each that has a simple one. */
#ifndef FUZZ_ELEMENTS_H
#define FUZZ_ELEMENTS_H

#include "core/block.h"

/* The spec of a byte, of any value. Owned. */
leat_spec *fuzz_elements_spec(uint8_t choice);
/* Calls `seed` with a block of one element for each choice that has a simple one. */
void fuzz_elements_seeds(void (*seed)(uint8_t choice, const leati_block *block));

#endif
