/* SPDX-License-Identifier: MIT */
#include "cli/programs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/session.h"

/* Logs are read in blocks of this size. */
#define LOG_BLOCK (64u * 1024u)

struct search {
	const char *word;
	const char *head; /* printed before the first one; NULL: a title for each */
	int (*print)(struct rec_view *view, void *data); /* or NULL, and nothing is printed: */
	int (*take)(const char *path, void *data);
	void *data;
	unsigned int nr; /* programs found */
	uint32_t pid;	 /* the one at which `print` or `take` failed */
	int err;	 /* what it said; ends the search */
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

static bool is_wanted(const char *word, const struct rec_view_info *info)
{
	const char *exe = strrchr(info->exe, '/');

	if (!word)
		return true;
	if (is_number(word))
		return has_pid(word, info->pid);
	return !strcmp(info->comm, word) || (exe && !strcmp(exe + 1, word));
}

static void look_at(const char *path, struct search *search)
{
	const struct rec_view_info *info;
	struct rec_view *view;

	/* What cannot be opened is just coming, just gone, or no buffer. */
	if (rec_view_open(path, &view))
		return;
	info = rec_view_info(view);
	if (rec_view_alive(view) && is_wanted(search->word, info)) {
		if (search->take)
			search->err = search->take(path, search->data);
		else if (!search->head)
			printf("%s%u %s (%s)\n", search->nr ? "\n" : "", info->pid, info->comm, info->exe);
		else if (!search->nr)
			puts(search->head);
		search->nr++;
		search->pid = info->pid;
		if (search->print)
			search->err = search->print(view, search->data);
	}
	rec_view_close(view);
}

/* The buffers in a directory, and in the sessions in it, until search->err. 0, or -errno: it cannot be read. */
static int walk(const char *path, bool sessions, struct search *search)
{
	struct dirent **entries;
	char name[PATH_MAX];
	const int nr = scandir(path, &entries, NULL, versionsort);
	const int err = nr < 0 ? -errno : 0;

	for (int i = 0; i < nr; i++) {
		if (!search->err && snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name) < (int)sizeof(name)) {
			if (session_is_buffer(entries[i]->d_name))
				look_at(name, search);
			/* A session may have ended since, or be another user's. */
			else if (sessions && session_is_session(entries[i]->d_name))
				walk(name, false, search);
		}
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return err;
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

static int search_all(const char *command, struct search *search)
{
	char dir[PATH_MAX];
	bool missing;
	int err;

	if (session_buffer_dir(command, false, dir, sizeof(dir), &missing)) {
		err = walk(dir, true, search);
		if (err) {
			complain(command, "cannot read '%s': %s", dir, strerror(-err));
			return -1;
		}
		if (search->err) {
			complain(command, "cannot look at program %u: %s", search->pid,
				 search->err == -EBUSY ? "another recorder reads it" : strerror(-search->err));
			return -1;
		}
	} else if (!missing) {
		return -1;
	}
	if (search->nr)
		return (int)search->nr;
	if (!search->word)
		complain(command, "no running program uses librecorder (buffers are in '%s')", dir);
	return search->word ? 0 : -1;
}

int programs_print(const char *command, const char *word, int (*print)(struct rec_view *view, void *data), void *data)
{
	struct search search = { .word = word, .print = print, .data = data };

	return search_all(command, &search);
}

int programs_table(const char *command, const char *head, const char *word,
		   int (*print)(struct rec_view *view, void *data))
{
	struct search search = { .word = word, .head = head, .print = print };

	return search_all(command, &search);
}

int programs_paths(const char *command, const char *word, int (*take)(const char *path, void *data), void *data)
{
	struct search search = { .word = word, .take = take, .data = data };

	return search_all(command, &search);
}
