/* The command line tool as one call, for the program (main.c) and for the Python package, whose
 * script `leat` has the tool inside of the extension. */
#ifndef LEATI_CLI_TOOL_H
#define LEATI_CLI_TOOL_H

/* Runs the command line texts[0] to texts[count - 1], of which the first is the tool's name, and
 * returns the exit status. `path` is what starts the tool once more, for commands that do; NULL:
 * this process's own program. Borrowed, for as long as the process lives. Once at a time. */
int leati_tool_run(int count, char **texts, const char *path);

/* That path, or NULL. */
const char *leati_tool_path(void);

#endif
