/* SPDX-License-Identifier: MIT */
/*
 * recorder clean: list and remove what is left of programs and recorders that are gone. Spools are not in the buffer
 * directory but beside the output files of their recordings: they stay, and a message names the command that recovers
 * them.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/buffer_dir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/base_name.h"
#include "cli/base/human_age.h"
#include "cli/base/human_size.h"
#include "cli/common/show_text.h"
#include "cli/recording/leftovers.h"
#include "cli/recording/stage.h"

#define NAME "clean"

static const struct message_sink sink = COMMAND_SINK(NAME);

struct clean {
	const char *dirs; /* where to search; NULL: the directories of dirs.h */
	bool all; /* nothing is named */
	bool dry_run;
	bool listed; /* the heading of the list was printed */
	bool failed;
	unsigned int buffers, sessions, stages, unknown;
	uint64_t size;
};

static void list(struct clean *clean, const char *pid, uint64_t made, const char *size, const char *name,
		 const char *dir, const char *file)
{
	char text[32];

	if (!clean->listed)
		puts("    PID       AGE          SIZE  NAME             LEFT");
	clean->listed = true;
	printf("%7s  %8s  %12s  %-15s  ", pid, human_age(made, text, sizeof(text)), size, name);
	show_path(dir);
	if (file) {
		putchar('/');
		show_path(file);
	}
	putchar('\n');
}

static void clean_buffer(struct clean *clean, const struct left_place *place, const struct leftover *item)
{
	char pid[16] = "-", size[32];

	if (item->pid)
		snprintf(pid, sizeof(pid), "%" PRIu32, item->pid);
	list(clean, pid, item->last, human_size(item->size, size, sizeof(size)), item->comm[0] ? item->comm : "-",
	     place->dir.path, item->name);
	/* It is not an error if another process has removed the file meanwhile. */
	if (!clean->dry_run && unlinkat(place->dir.fd, item->name, 0) < 0 && errno != ENOENT) {
		complain(NAME, "cannot remove '%s/%s': %s", place->dir.path, item->name, strerror(errno));
		clean->failed = true;
		return;
	}
	clean->buffers++;
	clean->size += item->size;
}

/* Remove a session's directory, after its buffers. */
static void clean_session(struct clean *clean, struct left_place *place)
{
	list(clean, "-", place->made, "-", "(recording)", place->dir.path, NULL);
	clean->sessions++;
	if (clean->dry_run)
		complain(NAME, "'recorder recover %s' still makes a trace.dat of that recording",
			 place->spool && session_is_others(&place->dir) ? place->spool : place->dir.path);
	else if (place->spool)
		complain(NAME, "'%s' is kept: make a trace.dat of it with 'recorder recover', or remove it",
			 place->spool);
	if (!clean->dry_run && !session_remove(&place->dir))
		complain(NAME, "'%s' stays: a program may be running with a buffer in it", place->dir.path);
}

/* Remove what process `pid` (0: any process) left in a directory. Returns the number of files and directories. */
static unsigned int clean_place(struct clean *clean, struct left_place *place, uint32_t pid)
{
	unsigned int nr = 0, stages = 0;

	for (unsigned int i = 0; i < place->nr; i++) {
		if (pid && place->items[i].pid != pid)
			continue;
		clean_buffer(clean, place, &place->items[i]);
		nr++;
	}
	clean->unknown += place->unknown;
	/* A stage may hold the pages of a spool that was moved, so it is removed only if everything is to be. */
	if (clean->all && !place->is_session)
		stages = stage_sweep(place->dir.fd, false, clean->dry_run);
	clean->stages += stages;
	nr += stages;
	/*
	 * A session stays if one of its programs is still running without its recorder, or may be running, because a
	 * recovery can still take its events.
	 */
	if (pid || !place->is_session || place->living || place->unknown)
		return nr;
	clean_session(clean, place);
	return nr + 1;
}

static unsigned int clean_all(struct clean *clean, struct leftovers *left, uint32_t pid)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < left->nr; i++)
		nr += clean_place(clean, &left->places[i], pid);
	return nr;
}

/* -------------------------------------------------------------------------------------------------- what is named */

/* Clean all directories: of one process, or (0) of all. */
static void clean_dirs(struct clean *clean, uint32_t pid)
{
	struct leftovers left = { 0 };

	if (!leftovers_find_all(&sink, clean->dirs, &left)) {
		clean->failed = true;
	} else if (!clean_all(clean, &left, pid) && pid) {
		complain(NAME, "process %" PRIu32 " has left nothing", pid);
		clean->failed = true;
	}
	leftovers_free(&left);
}

static void clean_file(struct clean *clean, const char *path)
{
	struct leftovers left = { 0 };
	struct stat st;
	int err = -EINVAL;

	if (lstat(path, &st) < 0)
		err = -errno;
	else if (S_ISDIR(st.st_mode) && session_is_session(path))
		err = leftovers_find_session(path, &left);
	else if (S_ISREG(st.st_mode) && rec_buffer_is_name(base_name(path)))
		err = leftovers_find_buffer(path, &left);
	if (err == -EBUSY)
		complain(NAME, "'%s' is kept: its program or its recorder is still running", path);
	else if (err == -EINVAL)
		complain(NAME, "'%s' is neither a buffer (.rec) nor the directory of a recording", path);
	else if (err)
		complain(NAME, "cannot clean '%s': %s", path,
			 err == -EBADMSG ? "it is damaged, and its program is unknown" : strerror(-err));
	else
		clean_all(clean, &left, 0);
	clean->failed |= err != 0;
	leftovers_free(&left);
}

static bool is_number(const char *word)
{
	return *word && strlen(word) < 10 && !word[strspn(word, "0123456789")];
}

static void say_sum(const struct clean *clean)
{
	char size[32];

	if (clean->unknown)
		complain(NAME, "%u %s not be read: %s unknown, so %s", clean->unknown,
			 clean->unknown == 1 ? "buffer could" : "buffers could",
			 clean->unknown == 1 ? "its program is" : "their programs are",
			 clean->unknown == 1 ? "it is kept" : "they are kept");
	if (clean->stages)
		fprintf(stderr, "%u %s without a spool\n", clean->stages,
			clean->stages == 1 ? "stage" : "stages");
	if (clean->buffers || clean->sessions)
		fprintf(stderr, "%u %s, %u %s: %s %s\n", clean->buffers, clean->buffers == 1 ? "buffer" : "buffers",
			clean->sessions, clean->sessions == 1 ? "recording" : "recordings",
			human_size(clean->size, size, sizeof(size)), clean->dry_run ? "could be freed" : "freed");
	else if (!clean->failed && !clean->stages)
		fputs("nothing is left\n", stderr);
}

int cmd_clean(int argc, char **argv)
{
	struct clean clean = { 0 };
	const struct opt table[] = {
		OPT_FLAG('n', "dry-run", "only list what is left, remove nothing", &clean.dry_run),
		OPT_STRING(0, "dir", "DIR", "look for what is left in DIR, which may be a container's", &clean.dirs),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "[PID|FILE]...",
		.about =
			"List and remove what is left of programs and recorders that were killed: their buffers, or "
			"only\n"
			"those of the processes PID, or these FILEs (buffers, or directories of recordings).\n"
			"Anything that may be in use and the spools of recordings are kept.\n",
		.table = table,
		.max_operands = UINT32_MAX,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	clean.all = !*operands;
	if (clean.all)
		clean_dirs(&clean, 0);
	for (; *operands; operands++)
		if (is_number(*operands) && strtoul(*operands, NULL, 10))
			clean_dirs(&clean, (uint32_t)strtoul(*operands, NULL, 10));
		else
			clean_file(&clean, *operands);
	say_sum(&clean);
	return clean.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
