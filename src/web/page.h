/* The files of the page, made of src/web/page/ when leat is built (cmake/page.cmake). */
#ifndef LEATI_WEB_PAGE_H
#define LEATI_WEB_PAGE_H

#include <stddef.h>

typedef struct leati_web_page_file {
    const char *name;          /* "page.js" */
    const unsigned char *text; /* `size` bytes and a zero byte */
    size_t size;
} leati_web_page_file;

/* Ended by one without a name. */
extern const leati_web_page_file leati_web_page_files[];

#endif
