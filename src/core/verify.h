/* Verification mode: what is easy to get wrong about blocks, made visible. An operator that looks
 * at one column form only, reads beyond its rows, or writes into a block that was handed on, gives
 * other results when its input is re-encoded or fails the comparison of checksums. */
#ifndef LEATI_CORE_VERIFY_H
#define LEATI_CORE_VERIFY_H

#include "core/block.h"

/* `out` (another block; prepared here) gets the same rows as `block` in other column forms, chosen
 * by `seed`: a constant where there is one row, reversed row numbers over rows with poisoned gaps,
 * twice the stride over poisoned gaps, an array of tensors, or the columns as they are. Poison is
 * bytes of 0xA5, the text "poison" for strings, NULL for objects. */
LEAT_WARN_UNUSED leat_status leati_verify_reencode(const leati_block *block, uint64_t seed,
                                                   leati_block *out, leat_error *err);

/* A hash of all rows: dtypes, shapes and values (strings by content, objects by address). The same
 * for every form of the same rows. */
uint64_t leati_block_checksum(const leati_block *block);

/* Does the block fit the spec: one column per component, of its dtype, every row of a shape that it
 * allows? INTERNAL naming column and row otherwise. */
LEAT_WARN_UNUSED leat_status leati_block_check(const leati_block *block, const leat_spec *spec,
                                               leat_error *err);

#endif
