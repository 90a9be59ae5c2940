/* SPDX-License-Identifier: MIT */
/*
 * recorder list: the events of running programs, with their state, or those compiled into a binary.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "cli/programs/list_kernel.h"
#include "cli/programs/listed_events.h"
#include "cli/programs/show_programs.h"
#include "cli/recording/elf_events.h"
#include "cli/recording/elf_libraries.h"

#define NAME "list"

/* Room for a filter as text, longer than any condition. */
#define FILTER_SIZE 16384u

/* The event of rec_printf. */
#define PRINTF_NAME "ftrace:bprint"

/* -------------------------------------------------------------------------------------------------------- one log */

/* Print a name. Names come from other programs, and must not move the cursor. */
static void print_words(const struct rec_words *words)
{
	show_text(stdout, words->text, words->size, false);
}

static const char *const meaning_words[] = {
	[REC_MEANS_EVENT] = "",	     [REC_MEANS_BEGIN] = "span",      [REC_MEANS_END] = "end of span",
	[REC_MEANS_TIMED] = "timed", [REC_MEANS_COUNTER] = "counter", [REC_MEANS_STATE] = "state",
	[REC_MEANS_TASK] = "task",
};

/*
 * Print fields, as written, from `first` on: with `keys`, fields of the key, up to the first other field; otherwise
 * other fields, up to the first field of the key. `before` is printed before the first one. Returns the next field.
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
 * The present filter and rate, in the form for `recorder enable`; `event` NULL: of rec_printf's event. The caller frees
 * the text; NULL: no memory.
 */
static char *condition_text(const struct rec_view *view, const struct rec_log_event *event)
{
	const unsigned int id = event ? event->record.id : REC_EVENT_ID_FIRST;
	struct rec_view_rate rate;
	const bool has_rate = rec_view_rate(view, id, &rate);
	char filter[FILTER_SIZE], *text = NULL;
	const int size = rec_view_filter(view, event, filter, sizeof(filter));
	size_t made = 0;
	FILE *out = open_memstream(&text, &made);

	if (!out)
		return NULL;
	if (has_rate)
		fprintf(out, "rate %u", rate.rate);
	if (has_rate && rate.suppressed)
		fprintf(out, " (%" PRIu64 " suppressed)", rate.suppressed);
	if (size)
		fprintf(out, "%sif ", has_rate ? " " : "");
	if (size > 0)
		show_text(out, filter, (size_t)size, false);
	else if (size)
		fputs("a filter that is damaged", out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* Print the condition of an event. If a span's begin and end have different conditions, both are shown. */
static void print_condition(const struct rec_view *view, const struct rec_log_event *event,
			    const struct rec_log_event *end)
{
	char *text = condition_text(view, event), *of_end = end ? condition_text(view, end) : NULL;

	if (text && of_end && strcmp(text, of_end) != 0) {
		printf("%s%s", *text ? "  begin " : "", text);
		printf("%s%s", *of_end ? "  end " : "", of_end);
	} else if (text && *text) {
		printf("  %s", text);
	}
	free(text);
	free(of_end);
}

/* The name, without the ending of a span's begin. */
static struct rec_words name_of(const struct listed *listed)
{
	struct rec_words name = listed->info.name;

	if (listed->end)
		name.size -= (uint32_t)strlen("_begin");
	return name;
}

/* The number of characters of system:name. */
static unsigned int width_of(const struct listed *listed)
{
	return listed->info.system.size + 1 + name_of(listed).size;
}

/*
 * Print an event. `view` NULL: it is in a binary, and has no state. The text after the name begins in column `column`.
 */
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
	if (view)
		print_condition(view, listed->event, listed->end);
	putchar('\n');
}

/* Print the event of rec_printf, which no log declares: it has the first id. */
static void print_printf(const struct rec_view *view, unsigned int column)
{
	fputs("  ", stdout);
	print_state(rec_view_enabled(view, REC_EVENT_ID_FIRST) & REC_ENABLE_ON ? "on   " : "off  ");
	printf("%-*s  texts of rec_printf()", (int)column, PRINTF_NAME);
	print_condition(view, NULL, NULL);
	putchar('\n');
}

static const char *state_of(const struct rec_view *view, const struct listed *listed)
{
	const bool on = rec_view_enabled(view, listed->event->record.id) & REC_ENABLE_ON;
	const bool end_on = listed->end ? rec_view_enabled(view, listed->end->record.id) & REC_ENABLE_ON : on;

	return on && end_on ? "on   " : on || end_on ? "part " : "off  ";
}

/* The width of the name column: that of the longest name that leaves room for the rest of the line. */
static unsigned int name_column(struct listing listing)
{
	unsigned int column = 0;
	struct listed listed;

	while (listing_next(&listing, &listed))
		if (width_of(&listed) > column && width_of(&listed) <= LIST_COLUMN_MAX)
			column = width_of(&listed);
	if (listing.prints && !listing.of_binary && column < strlen(PRINTF_NAME))
		column = (unsigned int)strlen(PRINTF_NAME);
	return column;
}

/* Print the events of a log. `view` has their states; NULL: no states are shown. Returns the number of events. */
static unsigned int print_log(const void *log, size_t size, const struct rec_view *view)
{
	struct listing listing = { .log = log, .size = size, .of_binary = !view };
	const unsigned int column = name_column(listing);
	struct listed listed;
	unsigned int nr = 0;

	for (; listing_next(&listing, &listed); nr++)
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

/* Print the events compiled into one file; if it has none, print nothing. 0, or as elf_events_read(). */
static int list_file(const char *path)
{
	void *log;
	size_t size;
	const int err = elf_events_read(path, &log, &size);

	if (err)
		return err;
	printf("%s", paint(PAINT_TITLE));
	show_name(stdout, path, show_escapes(stdout));
	printf("%s\n", paint_end());
	if (!print_log(log, size, NULL))
		puts("  no events");
	free(log);
	return 0;
}

/*
 * Print the events of a file and of the libraries that it needs. 0; -ENODATA: none of them has events; or as
 * elf_events_read().
 */
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
			 libraries.nr_missing, libraries.nr_missing == 1 ? "library" : "libraries",
			 libraries.missing[0], libraries.nr_missing == 1 ? "its" : "their");
	elf_libraries_free(&libraries);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * List what a single word names. A path with a slash is a file. Any other name is that of a running program; if no such
 * program runs, it is that of a file in the working directory.
 */
static int list_word(struct programs *programs)
{
	bool lacks = false;
	struct stat st;
	int nr;

	/* A number is a pid; to name such a file, write ./4711. */
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
