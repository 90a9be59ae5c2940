/* SPDX-License-Identifier: MIT */
#include "cli/programs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/dirs.h"
#include "cli/opts.h"
#include "cli/session.h"

/* Logs are read in blocks of this size. */
#define LOG_BLOCK (64u * 1024u)

struct search {
	const char *word;
	const char *head; /* printed before the first one; NULL: a title for each */
	int (*print)(struct rec_view *view, void *data); /* or NULL, and nothing is printed: */
	int (*take)(int dir, const char *name, void *data);
	void *data;
	unsigned int nr;	   /* programs found */
	int err;		   /* what `print` or `take` said; ends the search */
	char pid[PROGRAMS_PID_SIZE]; /* of the program of which it said so */
	char dir[PATH_MAX];	   /* where we looked first */
	unsigned int dirs;
	int refused_err; /* 0, or why a buffer was passed over: the first, */
	char refused[NAME_MAX + 1];
};

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789,")];
}

/* Whether `pid` stands in a list of numbers separated by commas. */
static bool has_pid(const char *list, uint32_t pid)
{
	char *end;

	for (; *list; list = *end == ',' ? end + 1 : end)
		if (strtoul(list, &end, 10) == pid && end != list)
			return true;
		else if (end == list)
			end++;
	return false;
}

const char *programs_pid(const struct rec_view *view, char text[PROGRAMS_PID_SIZE])
{
	const uint32_t inner = rec_view_info(view)->pid, here = rec_view_pid(view);

	if (!here)
		snprintf(text, PROGRAMS_PID_SIZE, "(%u)", inner);
	else if (here == inner)
		snprintf(text, PROGRAMS_PID_SIZE, "%u", here);
	else
		snprintf(text, PROGRAMS_PID_SIZE, "%u(%u)", here, inner);
	return text;
}

static bool is_wanted(const char *word, const struct rec_view *view)
{
	const struct rec_view_info *info = rec_view_info(view);
	const char *exe = strrchr(info->exe, '/');
	uint32_t here;

	if (!word)
		return true;
	if (is_number(word)) {
		here = rec_view_pid(view);
		return has_pid(word, here ? here : info->pid);
	}
	return !strcmp(info->comm, word) || (exe && !strcmp(exe + 1, word));
}

static void look_at(int dir, const char *name, struct search *search)
{
	const struct rec_view_info *info;
	struct rec_view *view;
	const int err = rec_view_open_at(dir, name, &view);

	if ((err == -EPERM || err == -EACCES || err == -EPROTO || err == -ELOOP) && !search->refused_err) {
		search->refused_err = err;
		snprintf(search->refused, sizeof(search->refused), "%s", name);
	}
	/* What else cannot be opened is just coming, just gone, or no buffer. */
	if (err)
		return;
	info = rec_view_info(view);
	if (rec_view_alive(view) && is_wanted(search->word, view)) {
		programs_pid(view, search->pid);
		if (search->take)
			search->err = search->take(dir, name, search->data);
		else if (!search->head)
			printf("%s%s %s (%s)\n", search->nr ? "\n" : "", search->pid, info->comm, info->exe);
		else if (!search->nr)
			puts(search->head);
		search->nr++;
		if (search->print)
			search->err = search->print(view, search->data);
	}
	rec_view_close(view);
}

/* The buffers in a directory, and in the sessions in it, until search->err. */
static void walk(int dir, bool sessions, struct search *search)
{
	struct dirent **entries;
	const int nr = scandirat(dir, ".", &entries, NULL, versionsort);

	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;

		if (!search->err && session_is_buffer(name)) {
			look_at(dir, name, search);
		} else if (!search->err && sessions && session_is_session(name)) {
			/* A session may have ended since. */
			const int below = dirs_open_below(dir, name);

			if (below >= 0) {
				walk(below, false, search);
				close(below);
			}
		}
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
}

static int walk_dir(int fd, const char *path, void *data)
{
	struct search *search = data;

	if (!search->dirs++)
		snprintf(search->dir, sizeof(search->dir), "%s", path);
	walk(fd, true, search);
	return search->err;
}

unsigned char *programs_log(const struct rec_view *view, size_t *ret_size)
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

static const char *failure(int err)
{
	switch (err) {
	case -EBUSY:
		return "another recorder reads it";
	case -EROFS:
		return "its buffer is on a read-only file system";
	default:
		return strerror(-err);
	}
}

static const char *refusal(int err)
{
	switch (err) {
	case -EPERM:
		return "it belongs to another user";
	case -EPROTO:
		return "its program has another version of librecorder";
	default:
		return strerror(-err);
	}
}

/* Nothing was found, though there may be something. */
static void say_none(const char *command, const struct search *search)
{
	char where[PATH_MAX + 64] = "";

	if (search->dirs == 1)
		snprintf(where, sizeof(where), " (buffers are in '%s')", search->dir);
	if (search->refused_err)
		complain(command, "no running program uses librecorder%s; '%s' was passed over: %s", where, search->refused,
			 refusal(search->refused_err));
	else
		complain(command, "no running program uses librecorder%s", where);
}

static int search_all(const char *command, const struct programs *programs, struct search *search)
{
	search->word = programs->word;
	if (dirs_each(command, programs->dir, walk_dir, search) < 0)
		return -1;
	if (search->err) {
		complain(command, "cannot look at program %s: %s", search->pid, failure(search->err));
		return -1;
	}
	if (!search->nr && !search->word && !search->take) {
		say_none(command, search);
		return -1;
	}
	return (int)search->nr;
}

int programs_print(const char *command, const struct programs *programs,
		   int (*print)(struct rec_view *view, void *data), void *data)
{
	struct search search = { .print = print, .data = data };

	return search_all(command, programs, &search);
}

int programs_table(const char *command, const char *head, const struct programs *programs,
		   int (*print)(struct rec_view *view, void *data))
{
	struct search search = { .head = head, .print = print };

	return search_all(command, programs, &search);
}

int programs_files(const char *command, const struct programs *programs,
		   int (*take)(int dir, const char *name, void *data), void *data)
{
	struct search search = { .take = take, .data = data };

	return search_all(command, programs, &search);
}
