/* leat.1 and the completion script, made of the table of commands.
 *
 * A new command or option is in both without a line here. Texts of the table become troff by
 * leaving each as it is but for the signs that troff reads as its own: backslashes, quotes, and
 * periods that begin a line. No failures but those of standard output, which leati_say_finish
 * reports. No locks. */
#include "cli/manual.h"

#include "base/log.h"
#include "cli/command.h"
#include <stdio.h>
#include <string.h>

/* `size` bytes of a text as troff, from the margin on. */
static void print_part(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        /* troff takes a line that begins with a period for a request. */
        bool at_start = i == 0 || text[i - 1] == '\n';
        switch (text[i]) {
        case '.': fputs(at_start ? "\\&." : ".", stdout); break;
        case '\\': fputs("\\e", stdout); break;
        case '-': fputs("\\-", stdout); break; /* a bare one may become a typographic hyphen */
        case '\'': fputs("\\(aq", stdout); break;
        case '`': fputs("\\(ga", stdout); break;
        case '~': fputs("\\(ti", stdout); break;
        case '^': fputs("\\(ha", stdout); break;
        default: putchar(text[i]);
        }
    }
}

static void print_text(const char *text) {
    print_part(text, strlen(text));
}

/* The paragraphs of a description; between two stands an empty line. */
static void print_paragraphs(const char *text) {
    for (;;) {
        const char *end = strstr(text, "\n\n");
        puts(".PP");
        print_part(text, end != NULL ? (size_t)(end - text) : strlen(text));
        putchar('\n');
        if (end == NULL)
            return;
        text = end + 2;
    }
}

static void print_option(const leati_option *row) {
    puts(".TP");
    if (row->letter)
        printf("\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", stdout);
    print_text(row->name);
    fputs("\\fR", stdout);
    if (row->value != NULL)
        printf(" \\fI%s\\fR", row->value);
    putchar('\n');
    print_text(row->doc);
    putchar('\n');
}

static void print_command(const leati_command *command) { // NOLINT(misc-no-recursion): one level
    printf(".SS leat %s \\- ", command->name);
    print_text(command->summary);
    printf("\n.B leat %s\n[\\fIOPTION\\fR]... ", command->name);
    print_text(command->arguments);
    putchar('\n');
    print_paragraphs(command->description);
    for (const leati_option *row = command->options; row != NULL && row->type; row++)
        print_option(row);
    for (int i = 0; command->parts != NULL && command->parts[i] != NULL; i++)
        print_command(command->parts[i]);
}

void leati_manual_print(void) {
    /* Without a date, so that the same sources give the same page. */
    printf(".TH LEAT 1 \"\" \"leat %s\" \"User Commands\"\n", leat_version());
    puts(".nh\n.ad l\n.SH NAME\nleat \\- input pipelines and synchronous data\\-parallel training\n"
         ".SH SYNOPSIS\n.B leat\n.I COMMAND\n[\\fIARGUMENT\\fR]...\n"
         ".SH DESCRIPTION\n"
         "The tool of the library leat: it trains on record files and pictures, runs and explains\n"
         "pipelines, and looks into what it reads.\n"
         "Every command has the option \\fB\\-\\-help\\fR (\\fB\\-h\\fR); \\fB\\-\\-\\fR ends the "
         "options.\n"
         ".SH COMMANDS");
    const leati_command *command;
    for (int i = 0; (command = leati_command_at(i)) != NULL; i++)
        print_command(command);
    puts(
        ".SH ENVIRONMENT\n.TP\n.B LEAT_LOG\n"
        "Lines on standard error about what is decided: a level (debug, info, warning, error), or\n"
        "a level and categories, as in info:data,dist. The categories:");
    for (int i = 0; i < LEATI_LOG_NUM_CATEGORIES; i++) {
        printf(".RS\n.TP\n.B %s\n%s\n.RE\n", leati_log_categories[i].name,
               leati_log_categories[i].doc);
    }
    puts(".SH EXIT STATUS\n"
         "0, 1 if the work failed, 2 for a wrong command line, 130 after Ctrl\\-C.\n"
         "\\fBleat launch\\fR ends with the status of the first process that failed.");
}

static void print_words(const leati_option *options) {
    for (const leati_option *row = options; row != NULL && row->type; row++) {
        printf("--%s ", row->name);
        if (row->letter)
            printf("-%c ", row->letter);
    }
    fputs("--help -h", stdout);
}

/* The words behind a command that consists of parts. */
static void print_parts_words(const leati_command *command) {
    printf("        %s)\n            parts=\"", command->name);
    for (int i = 0; command->parts[i] != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", leati_command_word(command->parts[i]));
    puts("\"\n            words=\"--help -h\"\n            case ${COMP_WORDS[2]} in");
    for (int i = 0; command->parts[i] != NULL; i++) {
        printf("                %s) words=\"", leati_command_word(command->parts[i]));
        print_words(command->parts[i]->options);
        puts("\" ;;");
    }
    puts("            esac ;;");
}

static void print_command_words(const leati_command *command) {
    if (command->parts != NULL) {
        print_parts_words(command);
        return;
    }
    printf("        %s) words=\"", command->name);
    print_words(command->options);
    puts("\" ;;");
}

void leati_manual_print_bash_completion(void) {
    puts("# Completion of leat for bash, as `leat completion bash` prints it.\n"
         "_leat() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} words= parts=");
    fputs("    local commands=\"", stdout);
    const leati_command *command;
    for (int i = 0; (command = leati_command_at(i)) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", command->name);
    puts("\"\n"
         "    if ((COMP_CWORD == 1)); then\n"
         "        words=\"$commands --help --version\"\n"
         "    else\n"
         "        case ${COMP_WORDS[1]} in");
    for (int i = 0; (command = leati_command_at(i)) != NULL; i++)
        print_command_words(command);
    puts("        esac\n"
         "        if [[ $word != -* ]]; then\n"
         "            words=\n"
         "            ((COMP_CWORD == 2)) && words=$parts\n"
         "            [[ ${COMP_WORDS[1]} == help ]] && words=$commands\n"
         "            [[ ${COMP_WORDS[1]} == completion ]] && words=bash\n"
         "        fi\n"
         "    fi\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "# Where nothing is found, names of files.\n"
         "complete -o default -F _leat leat");
}
