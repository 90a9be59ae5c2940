/* SPDX-License-Identifier: MIT */
#include "cli/recording/programs.h"
#include "librecorder/os/pid_namespace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/buffer_dir.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/dirs.h"
#include "cli/base/message.h"
#include "cli/recording/session.h"

/* Logs are read in blocks of this size. */
#define LOG_BLOCK (64u * 1024u)

struct search {
	const char *word;
	/* NULL: `take` is called instead */
	int (*look)(struct rec_view *view, const char *pid, unsigned int nr, void *data);
	int (*take)(int dir, const char *name, void *data);
	void *data;
	unsigned int nr;	   /* programs found */
	uint32_t *pids;		   /* their pids, if the user named pids */
	int err;		   /* an error returned by `look` or `take`, which ends the search */
	char pid[PROGRAMS_PID_SIZE]; /* pid of the program with that error */
	char dir[PATH_MAX];	   /* the first directory searched */
	unsigned int dirs;
	int refused_err; /* why the first skipped buffer, whose name is in `refused`, was skipped; 0: none was */
	char refused[NAME_MAX + 1];
};

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789,")];
}

/* Read the next number of a list separated by commas; false: the list has ended. */
static bool next_pid(const char **list, unsigned long *ret_pid)
{
	char *end;

	*list += strspn(*list, ",");
	if (!**list)
		return false;
	*ret_pid = strtoul(*list, &end, 10);
	*list = end;
	return true;
}

static bool has_pid(const char *list, uint32_t pid)
{
	unsigned long one;

	while (next_pid(&list, &one))
		if (one == pid)
			return true;
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

bool programs_has_other_pids(const struct rec_view *view)
{
	return rec_pid_namespace_is_other(rec_view_pid_namespace(view));
}

/* The pid by which the user selects a program. */
static uint32_t shown_pid(const struct rec_view *view)
{
	const uint32_t here = rec_view_pid(view);

	return here ? here : rec_view_info(view)->pid;
}

static bool is_wanted(const char *word, const struct rec_view *view)
{
	const struct rec_view_info *info = rec_view_info(view);
	const char *exe = strrchr(info->exe, '/');

	if (!word)
		return true;
	if (is_number(word))
		return has_pid(word, shown_pid(view));
	return !strcmp(info->comm, word) || (exe && !strcmp(exe + 1, word));
}

/* 0 or -ENOMEM. */
static int note_pid(struct search *search, const struct rec_view *view)
{
	uint32_t *pids = realloc(search->pids, (search->nr + 1) * sizeof(*pids));

	if (!pids)
		return -ENOMEM;
	search->pids = pids;
	pids[search->nr] = shown_pid(view);
	return 0;
}

static bool was_found(const struct search *search, unsigned long pid)
{
	for (unsigned int i = 0; i < search->nr; i++)
		if (search->pids[i] == pid)
			return true;
	return false;
}

/*
 * Visit a selected program. If it ends meanwhile, and has removed its file, it counts as not found. 0, or the error
 * that ends the search.
 */
static int visit(struct search *search, int dir, const char *name, struct rec_view *view)
{
	int err = note_pid(search, view);

	programs_pid(view, search->pid);
	if (err)
		return err;
	search->nr++;
	err = search->take ? search->take(dir, name, search->data)
			   : search->look(view, search->pid, search->nr, search->data);
	if (err != -ENOENT || !faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return err;
	search->nr--;
	return 0;
}

static void look_at(struct search *search, int dir, const char *name)
{
	struct rec_view *view;
	const int err = rec_view_open_at(dir, name, &view);

	if ((err == -EPERM || err == -EACCES || err == -EPROTO || err == -ELOOP) && !search->refused_err) {
		search->refused_err = err;
		snprintf(search->refused, sizeof(search->refused), "%s", name);
	}
	/* A file with another error is just being made, or was just removed, or is not a buffer. */
	if (err)
		return;
	if (rec_view_alive(view) && is_wanted(search->word, view))
		search->err = visit(search, dir, name, view);
	rec_view_close(view);
}

/* Visit the buffers in a directory, and in its sessions, until search->err is set. */
static void walk(int dir, bool sessions, struct search *search)
{
	struct dirent **entries;
	const int nr = scandirat(dir, ".", &entries, NULL, versionsort);

	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;

		if (!search->err && rec_buffer_is_name(name)) {
			look_at(search, dir, name);
		} else if (!search->err && sessions && session_is_session(name)) {
			/* A session may have ended meanwhile. */
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
	case -EBADMSG:
		return "its buffer is damaged";
	case -EFAULT:
		return "its buffer was cut short";
	default:
		return strerror(-err);
	}
}

const char *programs_switch_reason(int err)
{
	switch (err) {
	case -EBUSY:
		return "another process keeps switching its events; try again";
	case -ENOSPC:
		return "its memory for patterns and filters from outside is full";
	case -ENOMEM:
		return "no room in the file system of its buffer, or no memory";
	default:
		return failure(err);
	}
}

static const char *refusal(int err)
{
	switch (err) {
	case -EPERM:
		return "it belongs to another user";
	case -EPROTO:
		return "its program uses a newer librecorder, so a newer recorder is needed";
	default:
		return strerror(-err);
	}
}

/* Report that no program was found, although one may exist. */
static void say_none(const struct message_sink *sink, const struct programs *programs, const struct search *search)
{
	char more[PATH_MAX + NAME_MAX + 256] = "";
	int size = 0;

	if (programs->word)
		size = snprintf(more, sizeof(more),
				" ('%s' shows those that do, '%s' saves what dead ones have left)",
				message_word(sink, WORD_LIST_PROGRAMS), message_word(sink, WORD_RECOVER));
	else if (search->dirs == 1)
		size = snprintf(more, sizeof(more), " (buffers are in '%s')", search->dir);
	if (search->refused_err)
		snprintf(more + size, sizeof(more) - (size_t)size, "; '%s' was skipped: %s", search->refused,
			 refusal(search->refused_err));
	message(sink, "%sno running program%s%s%s uses librecorder%s",
		programs->or_file ? "there is no such file, and " : "", programs->word ? " '" : "",
		programs->word ? programs->word : "", programs->word ? "'" : "", more);
}

/* Report requested programs that were not found, if others were. */
static void say_missing(const struct message_sink *sink, const struct search *search)
{
	const char *list = search->word;
	unsigned long pid;

	while (next_pid(&list, &pid))
		if (!was_found(search, pid))
			message(sink, "no running program '%lu' uses librecorder: continuing without it", pid);
}

/* False: one line was printed. */
static bool check(const struct message_sink *sink, const struct programs *programs, const struct search *search)
{
	if (search->err == -ECANCELED)
		return false;
	if (search->err) {
		message(sink, "cannot inspect program %s: %s", search->pid, failure(search->err));
		return false;
	}
	if (!search->nr && search->word && programs->ret_lacks) {
		*programs->ret_lacks = true;
		return false;
	}
	if (!search->nr && (search->word || !search->take)) {
		say_none(sink, programs, search);
		return false;
	}
	if (search->word && is_number(search->word) && !programs->ret_lacks)
		say_missing(sink, search);
	return true;
}

static int search_all(const struct message_sink *sink, const struct programs *programs, struct search *search)
{
	bool good;

	search->word = programs->word;
	good = dirs_each(sink, programs->dir, walk_dir, search) >= 0 && check(sink, programs, search);
	free(search->pids);
	return good ? (int)search->nr : -1;
}

int programs_look(const struct message_sink *sink, const struct programs *programs,
		  int (*look)(struct rec_view *view, const char *pid, unsigned int nr, void *data), void *data)
{
	struct search search = { .look = look, .data = data };

	return search_all(sink, programs, &search);
}

int programs_files(const struct message_sink *sink, const struct programs *programs,
		   int (*take)(int dir, const char *name, void *data), void *data)
{
	struct search search = { .take = take, .data = data };

	return search_all(sink, programs, &search);
}
