/* SPDX-License-Identifier: MIT */
/* Text from programs and files inside of XML. Whatever bytes it has, the result is well formed, in UTF-8. */
#ifndef CLI_XML_H
#define CLI_XML_H

#include <stddef.h>
#include <stdio.h>

/* Writes the content of an element, or of an attribute in quotes. Characters that XML cannot have become U+FFFD. */
void xml_text(FILE *out, const char *text, size_t size);

#endif
