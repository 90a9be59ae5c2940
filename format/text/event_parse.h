/* SPDX-License-Identifier: MIT */
/*
 * Passes the blobs of a trace.dat to libtraceevent, with the plugins that trace-cmd loads. libtraceevent trusts format
 * texts and records. So texts that could exhaust its stack are not passed on, and fields beyond any record are
 * shortened. Before a record is printed, event_check() decides whether its print format may be evaluated.
 */
#ifndef FORMAT_EVENT_PARSE_H
#define FORMAT_EVENT_PARSE_H

#include "format/dat/dat_absent.h"
#include "format/dat/dat_process.h"
#include "format/dat/dat_read.h"
#include "format/io/function_list.h"
#include "format/io/number_map.h"
#include "format/text/event_names.h"

#include <event-parse.h>

/* The end of the furthest field in a record: offsets of dynamic fields have 16 bits, and so have their lengths. */
#define EVENT_FIELD_MAX 65536u

/*
 * The number of bytes, from the start of a record, that libtraceevent may read: those of a dynamic field after a
 * relative one, and a margin.
 */
#define EVENT_SLACK (6u * EVENT_FIELD_MAX)

struct event_type {
	struct tep_event *event;
	uint32_t need;	 /* end of its fixed fields; a record of kernel_stack may end before that */
	uint32_t open;	 /* offset of a field without a size, which extends to the record's end */
	bool has_sizes;	 /* its print format computes sizes, indices or quotients: event_check() */
	bool raw_only;	 /* its print format is never evaluated */
};

/* Formats of a file that were not read. */
struct event_left_out {
	uint32_t nr;
	char first[64]; /* "system:name" of the first one, with a ? for each character that no name has */
};

/* Ids have 16 bits. */
#define EVENT_NR_IDS 65536u

struct event_table {
	/*
	 * Only one thread at a time may look up functions in it, because it keeps the last result. It has those of
	 * `functions`, and no others.
	 */
	struct tep_handle *tep;
	struct tep_plugin_list *plugins;
	bool no_plugins;   /* no plugins were requested */
	bool no_overrides; /* print function events by their formats, not by plugins */
	bool big;	   /* byte order of the records */
	struct event_type **types; /* by id, EVENT_NR_IDS of them */
	struct event_type *all;
	uint32_t nr_events;
	struct event_left_out failed;	/* formats that libtraceevent could not parse in whole */
	struct event_left_out left_out; /* some of them: formats that it must not parse (event_probe.h) */
	uint32_t type_offset, type_size; /* where common_type is in a record; size 0: no event states it */
	uint32_t pid_offset, pid_size;
	uint32_t flags_offset, flags_size;
	struct dat_processes processes;
	struct event_names *names; /* NULL: threads have only their saved names */
	struct number_map other_pids; /* by thread: 1 if a program in another pid namespace has a thread of this id */
	/* when events were lost; empty: the file does not have these times */
	struct dat_losses kernel_losses, program_losses;
	struct dat_absent absent;
	const struct dat_text *later; /* EVENT_FUNCTIONS_LATER: the text of the functions, until it is parsed */
	struct function_list functions; /* once they are parsed, any number of threads may look them up */
};

#define EVENT_NO_PLUGINS    1u
#define EVENT_LOCAL_PLUGINS 2u /* only the user's own plugins */

/*
 * Parse the list of functions only when the first name is needed, because most commands need none, and it has 150,000
 * lines. The file must outlive the table.
 */
#define EVENT_FUNCTIONS_LATER 4u

/* Threads without a saved name get one from events (event_names.h). The file must outlive the table. */
#define EVENT_NAMES 8u

/*
 * The level of libtraceevent's own messages while it parses and when it is closed, from TEP_LOG_NONE, the default, to
 * TEP_LOG_ALL. It prints warnings on standard error, other messages on standard output.
 */
#define EVENT_LOG(level) ((unsigned int)(level) << 8)

/*
 * 0, or -ENOMEM, or the -errno of mmap or fork (event_probe.h). The file may be closed before the table, except with
 * EVENT_FUNCTIONS_LATER and EVENT_NAMES.
 */
int event_table_open(const struct dat_file *file, unsigned int flags, struct event_table **ret_table);

/* The functions, which are parsed now at the latest. */
const struct function_list *event_table_functions(struct event_table *table);

/* Adds the functions of a text in the form of /proc/kallsyms; before the first event is printed. 0; -ENOMEM. */
int event_table_add_symbols(struct event_table *table, const char *text, size_t size);

/* Takes NULL. Returns NULL. */
struct event_table *event_table_close(struct event_table *table);

/* common_flags: in a hard or soft interrupt. */
#define EVENT_IN_INTERRUPT 0x18

/* The type, thread and flags of a record that has size bytes; -1 for a value that it does not have. */
int event_id(const struct event_table *table, const void *data, uint32_t size);
int event_pid(const struct event_table *table, const void *data, uint32_t size);
int event_flags(const struct event_table *table, const void *data, uint32_t size);

/* Whether the id is one of programs' events (docs/ARCHITECTURE.md); all others are the kernel's. */
static inline bool event_is_programs(int id)
{
	return id >= 16384 && id < 32768;
}

/* Whether ids are at the place where dat_merge_only() reads them. */
static inline bool event_ids_lead(const struct event_table *table)
{
	return table->type_size == 2 && !table->type_offset;
}

/* The process of a thread, as dat_process(). */
int32_t event_process(const struct event_table *table, int32_t tid);

/*
 * Whether the events of programs and those of the kernel are of different threads of this id: the program is in a pid
 * namespace other than the one whose ids the kernel's events have.
 */
static inline bool event_is_ambiguous(const struct event_table *table, int32_t tid)
{
	return table->other_pids.used && number_map_get(&table->other_pids, (uint32_t)tid);
}

/* NULL: no format has this id. */
const struct event_type *event_type(const struct event_table *table, int id);

/*
 * Type i of nr_events, in the order of ids; NULL if its id is not one of EVENT_NR_IDS, or an earlier type has the same
 * id. Loops over types use it: a loop over all ids would touch each page of a table of half a megabyte.
 */
const struct event_type *event_type_at(const struct event_table *table, uint32_t i);

/* The i of event_type_at(). */
static inline uint32_t event_type_number(const struct event_table *table, const struct event_type *type)
{
	return (uint32_t)(type - table->all);
}

/*
 * The names of a field's values, if the print format prints the field by __print_symbolic(); NULL: none. event_symbol()
 * finds the name of a value, by the field's bits, because formats list values as unsigned numbers, of the field's width
 * or of 64 bits. NULL: the value has none. Both live as long as the type.
 */
struct tep_print_flag_sym *event_symbols(const struct event_type *type, const struct tep_format_field *field);
const char *event_symbol(const struct tep_print_flag_sym *symbols, const struct tep_format_field *field,
			 int64_t number);

/*
 * Whether the print format of this type may be evaluated for the record at `data`, after which EVENT_SLACK bytes are
 * readable. False: only its fields may be printed.
 */
bool event_check(const struct event_type *type, void *data);

#endif
