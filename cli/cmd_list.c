/* SPDX-License-Identifier: MIT */
/*
 * recorder list: the events of running programs, with their state, or those compiled into a binary.
 */
#include "cli/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/list_kernel.h"
#include "cli/recording/elf_events.h"
#include "cli/recording/elf_libraries.h"
#include "cli/show_programs.h"
#include "cli/show_text.h"
#include "cli/terminal.h"

#define NAME "list"

/* Of a filter as text: longer than what a condition holds. */
#define FILTER_SIZE 16384u

/* The event of rec_printf. */
#define PRINTF_NAME "ftrace:bprint"

/* -------------------------------------------------------------------------------------------------------- one log */

/* Names come from other programs: they must not move the cursor. */
static void print_words(const struct rec_words *words)
{
	for (uint32_t i = 0; i < words->size; i++)
		putchar(isprint((unsigned char)words->text[i]) ? words->text[i] : '?');
}

static const char *const meaning_words[] = {
	[REC_MEANS_EVENT] = "",	     [REC_MEANS_BEGIN] = "span",      [REC_MEANS_END] = "end of span",
	[REC_MEANS_TIMED] = "timed", [REC_MEANS_COUNTER] = "counter", [REC_MEANS_STATE] = "state",
	[REC_MEANS_TASK] = "task",
};

/* An event, or a span, whose end is an event too. */
struct listed {
	const struct rec_log_event *event;
	const struct rec_log_event *end; /* NULL: it is not a span */
	struct rec_event_info info, end_info;
	int meaning;
};

/*
 * Fields from `first` on that are part of the key, or are not, as written; the first one after `before`. Returns the
 * next field.
 */
static uint32_t print_fields(const struct rec_event_info *info, uint32_t first, bool keys, const char *before)
{
	for (; first < info->nr_fields && (info->fields[first].meaning == REC_FIELD_KEY) == keys; first++) {
		fputs(before, stdout);
		print_words(&info->fields[first].declared);
		before = ", ";
	}
	return first;
}

static uint32_t nr_keys(const struct rec_event_info *info)
{
	uint32_t nr = 0;

	while (nr < info->nr_fields && info->fields[nr].meaning == REC_FIELD_KEY)
		nr++;
	return nr;
}

static void print_state(const char *state)
{
	if (*state)
		printf("%s%s%s", paint(!strncmp(state, "on", 2) ? PAINT_GOOD : PAINT_DIM), state, paint_end());
}

/*
 * The filter and rate in force, as they are given to enable; `event` NULL: of rec_printf's. Returns whether there are
 * any.
 */
static bool print_condition(const struct rec_view *view, const struct rec_log_event *event)
{
	const unsigned int id = event ? event->record.id : REC_EVENT_ID_FIRST;
	struct rec_view_rate rate;
	const bool has_rate = rec_view_rate(view, id, &rate);
	char text[FILTER_SIZE];
	const int size = rec_view_filter(view, event, text, sizeof(text));

	if (has_rate)
		printf("  rate %u", rate.rate);
	if (has_rate && rate.suppressed)
		printf(" (%" PRIu64 " suppressed)", rate.suppressed);
	if (size)
		printf("%sif ", has_rate ? " " : "  ");
	if (size > 0)
		show_text(stdout, text, (size_t)size, false);
	else if (size)
		fputs("a filter that is damaged", stdout);
	return has_rate || size;
}

/* Without what the name of a span's begin has at its end. */
static struct rec_words name_of(const struct listed *listed)
{
	struct rec_words name = listed->info.name;

	if (listed->end)
		name.size -= (uint32_t)strlen("_begin");
	return name;
}

/* Characters of system:name. */
static unsigned int width_of(const struct listed *listed)
{
	return listed->info.system.size + 1 + name_of(listed).size;
}

/* `view` NULL: a binary's, which has no state. What follows the name begins after `column` characters. */
static void print_event(const struct listed *listed, const struct rec_view *view, const char *state,
			unsigned int column)
{
	const char *const word = meaning_words[listed->meaning];
	const char *before = *word ? " " : "  ";
	const struct rec_words name = name_of(listed);
	uint32_t field = listed->meaning == REC_MEANS_TIMED ? 1 : 0;

	fputs("  ", stdout);
	print_state(state);
	print_words(&listed->info.system);
	putchar(':');
	print_words(&name);
	if (width_of(listed) < column && (*word || listed->info.nr_fields))
		printf("%*s", (int)(column - width_of(listed)), "");
	printf("%s%s", *word ? "  " : "", word);
	if (nr_keys(&listed->info)) {
		printf("%skey(", before);
		field = print_fields(&listed->info, 0, true, "");
		putchar(')');
		before = ", ";
	}
	if (print_fields(&listed->info, field, false, before) > field)
		before = ", ";
	if (listed->end && nr_keys(&listed->end_info) < listed->end_info.nr_fields) {
		printf("%send(", before);
		print_fields(&listed->end_info, nr_keys(&listed->end_info), false, "");
		putchar(')');
	}
	if (view && !print_condition(view, listed->event) && listed->end)
		print_condition(view, listed->end);
	putchar('\n');
}

/* What a description has after its first comma: for a span, its name and fields. The text is valid. */
static const char *after_comma(const struct rec_log_event *event)
{
	const char *const text = (const char *)(event + 1) + event->nr_numbers * sizeof(int64_t);
	const char *const comma = strchr(text + strlen(text) + 1, ',');

	return comma ? comma : "";
}

/* The other event of a span; NULL: the log does not have it. */
static const struct rec_log_event *other_part(const void *log, size_t size, const struct rec_log_event *event,
					      int meaning, const struct rec_event_info *info,
					      struct rec_event_info *ret_other)
{
	const int other = meaning == REC_MEANS_BEGIN ? REC_MEANS_END : REC_MEANS_BEGIN;
	const struct rec_log_record *record;
	size_t offset = 0;

	while ((record = rec_log_next(log, size, &offset))) {
		const struct rec_log_event *candidate = (const struct rec_log_event *)record;

		if (record->kind == REC_LOG_EVENT && rec_event_parse(candidate, ret_other) == 0 &&
		    rec_event_meaning(candidate) == other && ret_other->system.size == info->system.size &&
		    memcmp(ret_other->system.text, info->system.text, info->system.size) == 0 &&
		    strcmp(after_comma(candidate), after_comma(event)) == 0)
			return candidate;
	}
	return NULL;
}

/* Whether an event like this one stands earlier in the log: several files of a program may declare it. */
static bool seen_before(const void *log, size_t upto, const struct rec_log_event *event)
{
	const struct rec_log_record *record;
	size_t offset = 0;

	while (offset < upto && (record = rec_log_next(log, upto, &offset)))
		if (record->kind == REC_LOG_EVENT && rec_event_same((const struct rec_log_event *)record, event))
			return true;
	return false;
}

/* The event of rec_printf, which no log declares: it has the first id. */
static void print_printf(const struct rec_view *view, unsigned int column)
{
	fputs("  ", stdout);
	print_state(rec_view_enabled(view, REC_EVENT_ID_FIRST) & REC_ENABLE_ON ? "on   " : "off  ");
	printf("%-*s  texts of rec_printf()", (int)column, PRINTF_NAME);
	print_condition(view, NULL);
	putchar('\n');
}

static const char *state_of(const struct rec_view *view, const struct listed *listed)
{
	const bool on = rec_view_enabled(view, listed->event->record.id) & REC_ENABLE_ON;
	const bool end_on = listed->end ? rec_view_enabled(view, listed->end->record.id) & REC_ENABLE_ON : on;

	return on && end_on ? "on   " : on || end_on ? "part " : "off  ";
}

/* The records of a log, from one listed event to the next. */
struct listing {
	const void *log;
	size_t size, offset;
	const struct rec_view *view; /* whose states are shown; NULL: none are */
	bool prints;		     /* it has texts of rec_printf() */
};

/* The next event that has a line of its own. False: there is none. */
static bool next_listed(struct listing *listing, struct listed *ret_listed)
{
	size_t before = listing->offset;
	const struct rec_log_record *record;

	for (; (record = rec_log_next(listing->log, listing->size, &listing->offset)); before = listing->offset) {
		struct listed listed = { .event = (const struct rec_log_event *)record };

		listing->prints = listing->prints || record->kind == REC_LOG_PRINTF;
		if (record->kind != REC_LOG_EVENT || rec_event_parse(listed.event, &listed.info))
			continue;
		if (!listing->view && seen_before(listing->log, before, listed.event))
			continue;
		listed.meaning = rec_event_meaning(listed.event);
		if (listed.meaning == REC_MEANS_BEGIN || listed.meaning == REC_MEANS_END)
			listed.end = other_part(listing->log, listing->size, listed.event, listed.meaning, &listed.info,
						&listed.end_info);
		/* A span is shown where its begin is. */
		if (listed.meaning == REC_MEANS_END && listed.end)
			continue;
		*ret_listed = listed;
		return true;
	}
	return false;
}

/* Of the longest name that leaves room for the rest. */
static unsigned int name_column(struct listing listing)
{
	unsigned int column = 0;
	struct listed listed;

	while (next_listed(&listing, &listed))
		if (width_of(&listed) > column && width_of(&listed) <= LIST_COLUMN_MAX)
			column = width_of(&listed);
	if (listing.prints && listing.view && column < strlen(PRINTF_NAME))
		column = (unsigned int)strlen(PRINTF_NAME);
	return column;
}

/* `view`: whose states are shown; NULL: none are. Returns how many events there are. */
static unsigned int print_log(const void *log, size_t size, const struct rec_view *view)
{
	struct listing listing = { .log = log, .size = size, .view = view };
	const unsigned int column = name_column(listing);
	struct listed listed;
	unsigned int nr = 0;

	for (; next_listed(&listing, &listed); nr++)
		print_event(&listed, view, view ? state_of(view, &listed) : "", column);
	if (listing.prints && view)
		print_printf(view, column);
	return nr + (listing.prints && view);
}

/* ------------------------------------------------------------------------------------------------ running programs */

static int list_program(struct rec_view *view, void *data)
{
	size_t size;
	unsigned char *log = programs_log(view, &size);

	(void)data;
	if (!log)
		return -ENOMEM;
	if (!print_log(log, size, view))
		puts("  no events");
	free(log);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- binaries */

static const char *elf_reason(int err)
{
	switch (err) {
	case -ENOEXEC:
		return "it is not an ELF file";
	case -EPROTO:
		return "it is for machines of another byte order";
	case -ENODATA:
		return "no events are compiled into it";
	case -EBADMSG:
		return "it is damaged";
	default:
		return strerror(-err);
	}
}

/* The events compiled into one file; nothing is printed of a file without events. 0, or as elf_events_read(). */
static int list_file(const char *path)
{
	void *log;
	size_t size;
	const int err = elf_events_read(path, &log, &size);

	if (err)
		return err;
	printf("%s%s%s\n", paint(PAINT_TITLE), path, paint_end());
	if (!print_log(log, size, NULL))
		puts("  no events");
	free(log);
	return 0;
}

/* A file and the libraries that it needs. 0; -ENODATA: none of them has events; or as elf_events_read(). */
static int list_files(const struct elf_libraries *libraries)
{
	int status = -ENODATA, err = 0;

	for (unsigned int i = 0; i < libraries->nr; i++) {
		err = list_file(libraries->all[i].path);
		if (!err)
			status = 0;
		else if (!i && err != -ENODATA)
			return err;
	}
	return status;
}

static int list_binary(const char *path)
{
	struct elf_libraries libraries;
	int err = elf_libraries_find(path, &libraries);

	terminal_start();
	if (!err)
		err = list_files(&libraries);
	if (err)
		complain(NAME, "cannot list '%s': %s", path, elf_reason(err));
	else if (libraries.nr_missing)
		complain(NAME, "'%s' needs %u %s that cannot be found, such as '%s': %s events are not listed", path,
			 libraries.nr_missing, libraries.nr_missing == 1 ? "library" : "libraries", libraries.missing,
			 libraries.nr_missing == 1 ? "its" : "their");
	elf_libraries_free(&libraries);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * A word alone: a path with a slash is a file; any other name is that of a running program, and if there is none, of a
 * file in the working directory.
 */
static int list_word(struct programs *programs)
{
	bool lacks = false;
	struct stat st;
	int nr;

	/* A number is a pid; a file of such a name can be written ./4711. */
	programs->or_file = programs->word && programs->word[strspn(programs->word, "0123456789")];
	if (programs->or_file && strchr(programs->word, '/'))
		return list_binary(programs->word);
	if (programs->or_file && !stat(programs->word, &st))
		programs->ret_lacks = &lacks;
	nr = programs_print(NAME, programs, list_program, NULL);
	if (lacks)
		return list_binary(programs->word);
	return nr > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_list(int argc, char **argv)
{
	struct programs programs = { .dir = NULL };
	unsigned int color = TERMINAL_COLOR_AUTO;
	const char *binary = NULL;
	bool kernel = false, full = false;
	const struct opt table[] = {
		OPT_PROGRAMS(programs),
		OPT_FLAG('e', NULL, "the kernel's events, or those that match a PATTERN such as sched:*", &kernel),
		OPT_FLAG(0, "full", "with -e: their fields, too", &full),
		OPT_STRING(0, "binary", "FILE", "the events compiled into FILE, a program or shared library", &binary),
		OPT_COLOR(color),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "[PROGRAM|PATTERN]",
		.about =
			"Show the events of your running programs that use librecorder, and whether each is on;\n"
			"or those of PROGRAM: a pid, a running program's name, or a file (program or shared library).\n"
			"With -e: the kernel's events.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if ((operands[0] != NULL) + (programs.word != NULL) + (binary != NULL) > 1) {
		complain(NAME, "PROGRAM, -P and --binary exclude each other: give one of them");
		return EXIT_USAGE;
	}
	if ((kernel && (programs.word || binary)) || (full && !kernel)) {
		complain(NAME, kernel ? "-e takes a PATTERN, and excludes -P and --binary" : "--full is for -e");
		return EXIT_USAGE;
	}
	terminal_use(color);
	if (kernel)
		return list_kernel(operands[0], full);
	if (binary)
		return list_binary(binary);
	if (programs.word)
		return programs_print(NAME, &programs, list_program, NULL) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	programs.word = operands[0];
	return list_word(&programs);
}
