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

struct search {
	const char *word;
	int (*print)(struct rec_view *view, void *data);
	void *data;
	unsigned int nr; /* programs found */
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

static int look_at(const char *path, struct search *search)
{
	const struct rec_view_info *info;
	struct rec_view *view;
	int r = 0;

	/* What cannot be opened is just coming, just gone, or no buffer. */
	if (rec_view_open(path, &view))
		return 0;
	info = rec_view_info(view);
	if (rec_view_alive(view) && is_wanted(search->word, info)) {
		printf("%s%u %s (%s)\n", search->nr++ ? "\n" : "", info->pid, info->comm, info->exe);
		r = search->print(view, search->data);
	}
	rec_view_close(view);
	return r;
}

/* The buffers in a directory, and in the sessions in it. */
static int walk(const char *path, bool sessions, struct search *search)
{
	struct dirent **entries;
	char name[PATH_MAX];
	const int nr = scandir(path, &entries, NULL, versionsort);
	int r = nr < 0 ? -errno : 0;

	for (int i = 0; i < nr; i++) {
		if (!r && snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name) < (int)sizeof(name)) {
			if (session_is_buffer(entries[i]->d_name))
				r = look_at(name, search);
			else if (sessions && session_is_session(entries[i]->d_name))
				walk(name, false, search);
		}
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return r;
}

int programs_print(const char *command, const char *word, int (*print)(struct rec_view *view, void *data), void *data)
{
	struct search search = { .word = word, .print = print, .data = data };
	char dir[PATH_MAX];
	bool missing;
	int err;

	if (session_buffer_dir(command, false, dir, sizeof(dir), &missing)) {
		err = walk(dir, true, &search);
		if (err) {
			complain(command, "cannot read '%s': %s", dir, strerror(-err));
			return -1;
		}
	} else if (!missing) {
		return -1;
	}
	if (search.nr)
		return (int)search.nr;
	if (!word)
		complain(command, "no running program uses librecorder (buffers are in '%s')", dir);
	return word ? 0 : -1;
}
