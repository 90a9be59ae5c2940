/* SPDX-License-Identifier: MIT */
/*
 * Events of a running program on loan: switched on for the duration of a recording, and restored afterwards.
 *
 * The loan is stored in the program's own buffer, from before the first switch until everything is undone. So if a
 * recorder is killed, the next one finds the loan. A forked child, which begins with its parent's words, has a copy of
 * it, too, by which its recorder recognises the child.
 */
#include "librecorder/view/reader_private.h"

#include "librecorder/core/atomic.h"
#include "librecorder/core/enable.h"
#include "librecorder/os/identity.h"
#include "librecorder/core/loan.h"
#include "librecorder/core/pattern_private.h"
#include "librecorder/core/rules.h"


#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The events of a buffer that match some lists of patterns, one after the other. */
struct events {
	unsigned char *log;
	size_t size, offset;
	const char *patterns;
	bool printf_is_done;
};

static int events_begin(const struct rec_view *view, const char *patterns, struct events *ret_events)
{
	struct events events = { .patterns = patterns };

	events.log = rec_view_copy_log(view, &events.size);
	if (!events.log)
		return -ENOMEM;
	*ret_events = events;
	return 0;
}

/* The line at *at, and whether there is one; *at moves to the position after it. */
static bool next_line(const char **at, struct rec_words *ret_line)
{
	const size_t size = strcspn(*at, "\n");

	if (!size)
		return false;
	*ret_line = (struct rec_words){ *at, (uint32_t)size };
	*at += size + ((*at)[size] == '\n');
	return true;
}

static bool are_patterns(const char *lines)
{
	struct rec_words line;
	bool good = *lines != '\0';

	while (good && next_line(&lines, &line))
		good = rec_pattern_check_part(line.text, line.size) == 0;
	return good && !*lines;
}

static bool matches(const char *lines, const struct rec_words *system, const struct rec_words *name)
{
	struct rec_words line;

	while (next_line(&lines, &line))
		if (rec_pattern_match_part(line.text, line.size, system, name))
			return true;
	return false;
}

/* The id of the next of these events, or 0. */
static unsigned int events_next(struct events *events)
{
	const struct rec_log_record *record;
	struct rec_event_info info;

	if (!events->printf_is_done) {
		events->printf_is_done = true;
		if (matches(events->patterns, &rec_control_printf_system, &rec_control_printf_name))
			return REC_EVENT_ID_FIRST;
	}
	while ((record = rec_log_next(events->log, events->size, &events->offset)))
		if (rec_control_is_event(record) &&
		    rec_event_parse((const struct rec_log_event *)record, &info) == 0 &&
		    matches(events->patterns, &info.system, &info.name))
			return record->id;
	return 0;
}

/* The previous word of an event; an event that was registered later had none. */
static uint32_t word_before(const struct rec_loan *loan, unsigned int id)
{
	return id - REC_EVENT_ID_FIRST < loan->nr_words ? loan->words[id - REC_EVENT_ID_FIRST] : 0;
}

/*
 * Whether the recorder that has the loan still exists: by its lock; or by its pid, in a child that the recorder has
 * not found yet.
 */
static bool is_there(const struct rec_view *view, uint64_t recorder)
{
	uint64_t start_time = 0;

	if (rec_lock_ask(view->fd, REC_LOCK_RECORDER) == 1)
		return true;
	return rec_process_start_time((pid_t)(uint32_t)recorder, &start_time) == 0 &&
	       (uint32_t)start_time == (uint32_t)(recorder >> 32);
}

int rec_view_loan(const struct rec_view *view)
{
	const uint64_t recorder = rec_load_acquire(&rec_view_header(view)->recorder);

	if (!recorder)
		return 0;
	if (recorder == view->self)
		return 1;
	return is_there(view, recorder) ? -EBUSY : -EOWNERDEAD;
}

/* From now on this process has the loan. The file is locked. */
static int set_recorder(struct rec_view *view)
{
	struct view_map map;
	const int r = rec_view_map(view, &map, PROT_READ | PROT_WRITE, 0, REC_MAP_PAGE);

	if (r < 0)
		return r;
	/* Release: after the contents of the loan (edge B2). */
	rec_store_release(&((struct rec_buffer_header *)(void *)map.at)->recorder, view->self);
	rec_view_unmap(&map);
	return 0;
}

static int write_loan(struct rec_view *view, const struct rec_loan *loan)
{
	const size_t size = rec_loan_size(loan);
	struct view_map map;
	int r = rec_view_populate(view, view->loan, size);

	if (r == 0)
		r = rec_view_map(view, &map, PROT_READ | PROT_WRITE, view->loan, size);
	if (r < 0)
		return r;
	memcpy(map.at, loan, size);
	rec_view_unmap(&map);
	return 0;
}

static int note_words(const struct rec_view *view, struct rec_loan *loan)
{
	struct events events;
	unsigned int id;
	const int r = events_begin(view, loan->patterns, &events);

	if (r < 0)
		return r;
	while ((id = events_next(&events))) {
		const uint32_t index = id - REC_EVENT_ID_FIRST;

		loan->words[index] = rec_view_enabled(view, id);
		loan->nr_words = index < loan->nr_words ? loan->nr_words : index + 1;
	}
	free(events.log);
	return 0;
}

/*
 * A recorder that is gone had a loan for the same patterns. It becomes ours unchanged. If it were restored first, the
 * events would be off for a moment, and the program's events of that moment would be missing between the two
 * recordings.
 */
static int take_over(struct rec_view *view)
{
	int r = rec_view_lock(view);

	if (r < 0)
		return r;
	/* Another process may have been faster. */
	r = rec_view_loan(view) == -EOWNERDEAD ? rec_lock_take(view->fd, REC_LOCK_RECORDER) : -EBUSY;
	if (r == 0) {
		r = set_recorder(view);
		/* The loan is still that of the dead process, so no process must take us for its holder. */
		if (r < 0)
			rec_lock_give(view->fd, REC_LOCK_RECORDER);
	}
	rec_view_unlock(view);
	return r;
}

static bool is_lent_for(const struct rec_view *view, const char *patterns)
{
	const struct rec_loan *loan = (const struct rec_loan *)(const void *)(view->map + view->loan);

	return !strncmp(loan->patterns, patterns, sizeof(loan->patterns));
}

static int borrow(struct rec_view *view, const char *patterns)
{
	struct rec_loan *loan;
	int r;

	if (!patterns || !are_patterns(patterns))
		return -EINVAL;
	if (strlen(patterns) >= sizeof(loan->patterns))
		return -ENOSPC;
	r = rec_view_loan(view);
	if (r == -EOWNERDEAD && is_lent_for(view, patterns))
		return take_over(view);
	if (r == -EOWNERDEAD)
		r = rec_view_give_back(view);
	else if (r == 1)
		/*
		 * This is a child of a program that we record. Its copy of the loan has the words from before the loan
		 * of its parent.
		 */
		return rec_lock_take(view->fd, REC_LOCK_RECORDER);
	if (r < 0)
		return r;
	loan = calloc(1, sizeof(*loan));
	if (!loan)
		return -ENOMEM;
	strcpy(loan->patterns, patterns);
	r = rec_view_lock(view);
	if (r == 0) {
		r = note_words(view, loan);
		if (r == 0)
			r = rec_lock_take(view->fd, REC_LOCK_RECORDER);
		if (r == 0)
			r = write_loan(view, loan);
		if (r == 0)
			r = set_recorder(view);
		/* There is no loan, so no process must take us for its holder. */
		if (r < 0)
			rec_lock_give(view->fd, REC_LOCK_RECORDER);
		rec_view_unlock(view);
	}
	free(loan);
	return r;
}

/* A thread that ended in the middle would leave the file locked. */
int rec_view_borrow(struct rec_view *view, const char *patterns)
{
	int cancel, ours, r;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	r = borrow(view, patterns);
	pthread_setcancelstate(cancel, &ours);
	return r;
}

static void forget_rules(const struct view_control *control, const char *lines)
{
	char patterns[REC_LOAN_PATTERNS];
	struct rec_words line;

	while (next_line(&lines, &line)) {
		memcpy(patterns, line.text, line.size);
		patterns[line.size] = '\0';
		rec_rules_remove(control->rules, patterns);
	}
}

/* Restore the events that the program has now, and those that it registers later. */
static int undo(const struct view_control *control, const struct rec_loan *loan)
{
	struct events events = { .patterns = loan->patterns };
	struct control_log log;
	unsigned int id;
	int r;

	forget_rules(control, loan->patterns);
	/* Edge W2. */
	rec_fence_full();
	r = rec_control_log(control, &log);
	if (r < 0)
		return r;
	events.log = log.bytes;
	events.size = log.size;
	while ((id = events_next(&events)))
		rec_enable_word(&control->header->stopped, &control->enable[id - REC_EVENT_ID_FIRST],
				word_before(loan, id) & ~REC_ENABLE_ON);
	free(log.bytes);
	return 0;
}

/* A copy of the loan that the buffer holds now. NULL: no memory. */
static struct rec_loan *copy_loan(const struct rec_view *view)
{
	const struct rec_loan *from = (const struct rec_loan *)(const void *)(view->map + view->loan);
	struct rec_loan *loan = calloc(1, sizeof(*loan));

	if (!loan)
		return NULL;
	memcpy(loan, from, rec_loan_size(from));
	loan->patterns[sizeof(loan->patterns) - 1] = '\0';
	if (loan->nr_words > REC_EVENTS_MAX)
		loan->nr_words = REC_EVENTS_MAX;
	return loan;
}

/* Meanwhile no other process switches anything. Returns as rec_view_give_back(). */
static int give_back(struct view_control *control)
{
	const int whose = rec_view_loan(control->view);
	struct rec_loan *loan;
	int r = 0;

	/* Another process may have been faster. */
	if (whose != 1 && whose != -EOWNERDEAD)
		return whose;
	loan = copy_loan(control->view);
	if (!loan)
		return -ENOMEM;
	if (are_patterns(loan->patterns))
		r = undo(control, loan);
	/* Release: after everything that was undone (edge B2). */
	if (r == 0)
		rec_store_release(&control->header->recorder, 0);
	free(loan);
	return r == 0 ? 1 : r;
}

int rec_view_give_back(struct rec_view *view)
{
	struct view_control control;
	int r = rec_view_loan(view);

	if (r != 1 && r != -EOWNERDEAD)
		return r;
	r = rec_control_open(view, &control);
	if (r == 0)
		r = rec_control_close(&control, give_back(&control));
	/* If the program is gone, its events need not be restored. */
	if (r == -ESRCH)
		r = 0;
	/*
	 * After an error the loan may still be ours. A recorder in another pid namespace knows this only by the lock.
	 */
	if (r >= 0)
		rec_lock_give(view->fd, REC_LOCK_RECORDER);
	return r;
}
