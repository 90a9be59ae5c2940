/* SPDX-License-Identifier: MIT */
/*
 * recorder list: the events of running programs, with their state, or those compiled into a binary.
 */
#include "cli/cmd.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <librecorder/reader.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/elf_events.h"
#include "cli/session.h"

#define NAME "list"

/* Logs are read in blocks of this size. */
#define LOG_BLOCK (64u * 1024u)

/* -------------------------------------------------------------------------------------------------------- one log */

/* Names come from other programs: nothing of them may move the cursor. */
static void print_words(const struct rec_words *words)
{
	for (uint32_t i = 0; i < words->size; i++)
		putchar(isprint((unsigned char)words->text[i]) ? words->text[i] : '?');
}

static void print_event(const struct rec_event_info *info, const char *state)
{
	printf("  %s", state);
	print_words(&info->system);
	putchar(':');
	print_words(&info->name);
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		fputs(i ? ", " : "  ", stdout);
		print_words(&info->fields[i].declared);
	}
	putchar('\n');
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

/* `view`: whose states are shown; NULL: none are. Returns how many events there are. */
static unsigned int print_log(const void *log, size_t size, const struct rec_view *view)
{
	const struct rec_log_record *record;
	struct rec_event_info info;
	size_t offset = 0, before = 0;
	unsigned int nr = 0;

	for (; (record = rec_log_next(log, size, &offset)); before = offset) {
		const char *state = "";

		if (record->kind != REC_LOG_EVENT || rec_event_parse((const struct rec_log_event *)record, &info))
			continue;
		if (!view && seen_before(log, before, (const struct rec_log_event *)record))
			continue;
		if (view)
			state = rec_view_enabled(view, record->id) & REC_ENABLE_ON ? "on   " : "off  ";
		print_event(&info, state);
		nr++;
	}
	return nr;
}

/* ------------------------------------------------------------------------------------------------ running programs */

struct listing {
	uint32_t pid;	  /* this one only; 0: all */
	const char *comm; /* of this name only; NULL: all */
	unsigned int nr;  /* programs shown */
};

/* The whole log of a view; NULL: no memory. */
static unsigned char *read_log(const struct rec_view *view, size_t *ret_size)
{
	unsigned char *log = NULL, *larger;
	size_t size = 0, got;

	do {
		larger = realloc(log, size + LOG_BLOCK);
		if (!larger) {
			free(log);
			return NULL;
		}
		log = larger;
		got = rec_view_log(view, size, log + size, LOG_BLOCK);
		size += got;
	} while (got);
	*ret_size = size;
	return log;
}

static bool is_wanted(const struct listing *listing, const struct rec_view_info *info)
{
	const char *exe = strrchr(info->exe, '/');

	if (listing->pid)
		return info->pid == listing->pid;
	return !listing->comm || !strcmp(info->comm, listing->comm) || (exe && !strcmp(exe + 1, listing->comm));
}

static void list_buffer(const char *path, struct listing *listing)
{
	const struct rec_view_info *info;
	struct rec_view *view;
	unsigned char *log;
	size_t size;

	/* What cannot be opened is just coming, just gone, or no buffer. */
	if (rec_view_open(path, &view))
		return;
	info = rec_view_info(view);
	log = rec_view_alive(view) && is_wanted(listing, info) ? read_log(view, &size) : NULL;
	if (log) {
		printf("%s%u %s (%s)\n", listing->nr ? "\n" : "", info->pid, info->comm, info->exe);
		if (!print_log(log, size, view))
			puts("  no events");
		listing->nr++;
	}
	free(log);
	rec_view_close(view);
}

/* The buffers in a directory, and in the sessions in it. */
static int list_dir(const char *path, bool sessions, struct listing *listing)
{
	struct dirent **entries;
	char name[PATH_MAX];
	const int nr = scandir(path, &entries, NULL, versionsort);

	if (nr < 0)
		return -errno;
	for (int i = 0; i < nr; i++) {
		if (snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name) < (int)sizeof(name)) {
			if (session_is_buffer(entries[i]->d_name))
				list_buffer(name, listing);
			else if (sessions && session_is_session(entries[i]->d_name))
				list_dir(name, false, listing);
		}
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* All running programs, or those that `word`, a pid or a name, means. */
static int list_running(const char *word)
{
	struct listing listing = { .nr = 0 };
	char dir[PATH_MAX];
	bool missing;
	int err;

	if (word && word[strspn(word, "0123456789")])
		listing.comm = word;
	else if (word)
		listing.pid = (uint32_t)strtoul(word, NULL, 10);
	if (session_buffer_dir(NAME, false, dir, sizeof(dir), &missing)) {
		err = list_dir(dir, true, &listing);
		if (err) {
			complain(NAME, "cannot read '%s': %s", dir, strerror(-err));
			return EXIT_FAILURE;
		}
	} else if (!missing) {
		return EXIT_FAILURE;
	}
	if (listing.nr)
		return EXIT_SUCCESS;
	if (word)
		complain(NAME, "no file '%s' and no running program of that name or pid that uses librecorder", word);
	else
		complain(NAME, "no running program uses librecorder (buffers are in '%s')", dir);
	return EXIT_FAILURE;
}

/* --------------------------------------------------------------------------------------------------------- binaries */

static const char *elf_reason(int err)
{
	switch (err) {
	case -ENOEXEC:
		return "it is no ELF file";
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

static int list_binary(const char *path)
{
	void *log;
	size_t size;
	const int err = elf_events_read(path, &log, &size);

	if (err) {
		complain(NAME, "cannot list '%s': %s", path, elf_reason(err));
		return EXIT_FAILURE;
	}
	printf("%s\n", path);
	if (!print_log(log, size, NULL))
		puts("  no events");
	free(log);
	return EXIT_SUCCESS;
}

int cmd_list(int argc, char **argv)
{
	const struct opt table[] = { OPT_END };
	const struct opts opts = {
		.command = NAME,
		.operands = "[PROGRAM]",
		.about = "Show the events of all running programs of yours that use librecorder, and whether they are on;\n"
			 "or of PROGRAM: a pid, a file (program or shared library), or a running program's name.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	struct stat st;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	/* A number is a pid; a file of such a name can be written ./4711. */
	if (operands[0] && operands[0][strspn(operands[0], "0123456789")] &&
	    (strchr(operands[0], '/') || !stat(operands[0], &st)))
		return list_binary(operands[0]);
	return list_running(operands[0]);
}
