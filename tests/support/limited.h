/* An allocator for tests whose input is damaged: sizes that stand in it are refused, not filled. */
#ifndef LIMITED_H
#define LIMITED_H

#include <leat/base.h>

/* From now on the library holds at most so many bytes, and what would be more fails; before any
 * other function, or when no object of the library is alive. leat_allocator_set(NULL) ends it. */
void limited_memory(size_t most);

#endif
