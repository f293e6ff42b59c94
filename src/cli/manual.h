/* What other programs read of the table of commands: the manual page and completion. */
#ifndef LEATI_CLI_MANUAL_H
#define LEATI_CLI_MANUAL_H

/* Prints leat.1 to standard output: every command with its options, as its help tells them. */
void leati_manual_print(void);

/* Prints a script for bash that completes commands, options and file names. */
void leati_manual_print_bash_completion(void);

#endif
