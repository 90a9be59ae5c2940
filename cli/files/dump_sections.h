/* SPDX-License-Identifier: MIT */
/* The texts of a trace.dat, section by section, as trace-cmd dump prints them. */
#ifndef CLI_DUMP_SECTIONS_H
#define CLI_DUMP_SECTIONS_H

#include <stdbool.h>

#include "format/dat/dat_read.h"

struct dump_sections {
	bool head_page;
	bool head_event;
	bool ftrace_events;
	bool systems;
	bool events;
	bool kallsyms;
	bool printk;
	bool cmd_lines;
};

/* Whether a text was requested. */
bool dump_sections_any(const struct dump_sections *sections);

/* Print the requested texts, in the order of version 6. */
void dump_sections(const struct dump_sections *sections, const struct dat_file *file);

/* Prints the contents of an option of trace-cmd 3.4, indented: lines of text, or the sizes in a BTF header. */
void dump_part(const struct dat_part *part, bool big, bool escapes);

#endif
