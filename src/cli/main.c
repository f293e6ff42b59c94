/* The program `leat`: tool.h. */
#include "cli/tool.h"

#include <stddef.h>

int main(int count, char **texts) {
    return leati_tool_run(count, texts, NULL);
}
