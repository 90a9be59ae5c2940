/* SPDX-License-Identifier: MIT */
#include "cli/attach.h"

#include <errno.h>
#include <librecorder/event_text.h>
#include <librecorder/pattern.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/programs.h"

#define BITS 8u

/* One program. */
struct attached {
	char *dir;
	char *name;
	struct rec_view *view; /* to switch its events; the drain reads by another */
	struct drain *drain;
	bool switched;
	/* Events that were wanted before, a bit each, by id: these stay on. */
	unsigned char wanted[REC_EVENTS_MAX / BITS];
};

struct attach {
	const char *command;
	char *patterns;
	struct attached *list;
	unsigned int nr;
	struct drain_trouble trouble;
};

/* Whose lanes are read already is told before anything begins. What they hold is from before the recording. */
static int pass_over(const char *path)
{
	struct rec_view *view;
	int err = rec_view_open(path, &view);

	if (err)
		return err;
	for (unsigned int lane = 0; !err && lane < rec_view_lanes(view); lane++)
		err = rec_view_reset(view, lane);
	rec_view_close(view);
	/* A lane that is being moved at this moment gives a few events more, a damaged one is the drain's to tell of. */
	return err == -EBUSY || err == -ENOMEM ? err : 0;
}

static int add(const char *path, void *data)
{
	struct attach *attach = data;
	const char *slash = strrchr(path, '/');
	struct attached *list = realloc(attach->list, (attach->nr + 1) * sizeof(*list)), *one;
	int err;

	if (!list)
		return -ENOMEM;
	attach->list = list;
	one = &list[attach->nr++];
	memset(one, 0, sizeof(*one));
	one->dir = strndup(path, (size_t)(slash - path));
	one->name = strdup(slash + 1);
	if (!one->dir || !one->name)
		return -ENOMEM;
	err = pass_over(path);
	return err ? err : rec_view_open(path, &one->view);
}

bool attach_open(const char *command, const char *word, struct attach **ret_attach)
{
	struct attach *attach = calloc(1, sizeof(*attach));
	int nr = -1;

	if (!attach) {
		complain(command, "out of memory");
		return false;
	}
	attach->command = command;
	nr = programs_paths(command, word, add, attach);
	if (nr == 0)
		complain(command, "no running program '%s' uses librecorder ('recorder ps' shows those that do)", word);
	if (nr <= 0) {
		attach_close(attach);
		return false;
	}
	*ret_attach = attach;
	return true;
}

/* Call `each` for the events of a program that are like the recording's. */
static int for_events(const struct attach *attach, struct attached *one, void (*each)(struct attached *one, unsigned int id))
{
	const struct rec_log_record *record;
	struct rec_event_info info;
	size_t size = 0, offset = 0;
	unsigned char *log = programs_log(one->view, &size);

	if (!log)
		return -ENOMEM;
	while ((record = rec_log_next(log, size, &offset)))
		if (record->kind == REC_LOG_EVENT && record->id >= REC_EVENT_ID_FIRST &&
		    rec_event_parse((const struct rec_log_event *)record, &info) == 0 &&
		    rec_pattern_match(attach->patterns, info.system.text, info.system.size, info.name.text,
				      info.name.size))
			each(one, record->id);
	free(log);
	return 0;
}

static void note_wanted(struct attached *one, unsigned int id)
{
	const unsigned int bit = (id - REC_EVENT_ID_FIRST) % REC_EVENTS_MAX;

	if (rec_view_enabled(one->view, id) & REC_ENABLE_WANTED)
		one->wanted[bit / BITS] |= (unsigned char)(1u << bit % BITS);
}

static void switch_off(struct attached *one, unsigned int id)
{
	const unsigned int bit = (id - REC_EVENT_ID_FIRST) % REC_EVENTS_MAX;

	if (!(one->wanted[bit / BITS] & 1u << bit % BITS))
		rec_view_switch_event(one->view, id, false);
}

/* Leave the program's events as they were. One that has ended has none. */
static void give_back(struct attach *attach, struct attached *one)
{
	if (!one->switched)
		return;
	one->switched = false;
	rec_view_forget(one->view, attach->patterns);
	for_events(attach, one, switch_off);
	if (rec_pattern_match(attach->patterns, "ftrace", 6, "bprint", 6))
		switch_off(one, REC_EVENT_ID_FIRST);
}

bool attach_begin(struct attach *attach, const char *patterns, struct spool *spool)
{
	int err = 0;

	attach->patterns = strdup(patterns);
	if (!attach->patterns)
		err = -ENOMEM;
	for (unsigned int i = 0; !err && i < attach->nr; i++) {
		struct attached *one = &attach->list[i];

		err = drain_open(spool, one->dir, false, one->name, &one->drain);
		if (!err)
			err = for_events(attach, one, note_wanted);
		if (err)
			break;
		note_wanted(one, REC_EVENT_ID_FIRST);
		one->switched = true;
		err = rec_view_switch(one->view, patterns, true);
		/* It ended a moment ago: what it left is recorded all the same. */
		err = err == -ESRCH || err >= 0 ? 0 : err;
	}
	if (err)
		complain(attach->command, "cannot attach to the program: %s", strerror(-err));
	return !err;
}

static int run_all(struct attach *attach, int (*run)(struct drain *drain))
{
	int total = 0;

	for (unsigned int i = 0; i < attach->nr; i++) {
		const int taken = run(attach->list[i].drain);

		if (taken < 0)
			return taken;
		total += taken;
	}
	return total;
}

int attach_run(struct attach *attach)
{
	return run_all(attach, drain_run);
}

int attach_finish(struct attach *attach)
{
	for (unsigned int i = 0; i < attach->nr; i++)
		give_back(attach, &attach->list[i]);
	return run_all(attach, drain_finish);
}

bool attach_is_alive(const struct attach *attach)
{
	for (unsigned int i = 0; i < attach->nr; i++)
		if (rec_view_alive(attach->list[i].view))
			return true;
	return false;
}

const struct drain_trouble *attach_trouble(struct attach *attach)
{
	struct drain_trouble *all = &attach->trouble;

	memset(all, 0, sizeof(*all));
	for (unsigned int i = 0; i < attach->nr; i++) {
		const struct drain_trouble *one = drain_trouble(attach->list[i].drain);

		if (one->bad_buffers && !all->bad_buffers) {
			all->bad_errno = one->bad_errno;
			memcpy(all->bad_file, one->bad_file, sizeof(all->bad_file));
		}
		all->bad_buffers += one->bad_buffers;
		all->bad_lanes += one->bad_lanes;
		all->busy_lanes += one->busy_lanes;
		all->unready += one->unready;
	}
	return all;
}

struct attach *attach_close(struct attach *attach)
{
	if (!attach)
		return NULL;
	for (unsigned int i = 0; i < attach->nr; i++) {
		struct attached *one = &attach->list[i];

		give_back(attach, one);
		drain_close(one->drain);
		rec_view_close(one->view);
		free(one->dir);
		free(one->name);
	}
	free(attach->list);
	free(attach->patterns);
	free(attach);
	return NULL;
}
