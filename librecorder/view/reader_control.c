/* SPDX-License-Identifier: MIT */
/*
 * Switching the events of a running program from outside, by the words in its buffer that the program reads anyway.
 *
 * Header, enable words and rules are mapped writable only during the switch. Several processes may switch at the same
 * time: a lock on the file makes them take turns. The program itself takes part without that lock, by atomic
 * operations on the words.
 *
 * An event may be registered at the same moment. The program puts it into its log, passes a full fence and reads the
 * rules; we add the rule, pass a full fence and read the log. So at least one of the two sees the other (edge W2).
 */
#include "librecorder/view/reader_private.h"

#include "librecorder/core/atomic.h"
#include "librecorder/core/conditions.h"
#include "librecorder/core/enable.h"
#include "librecorder/core/filter_text.h"
#include "librecorder/core/rules.h"
#include "librecorder/core/selector.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>

/*
 * A process that switches events holds the file's lock for milliseconds. If the lock was not free at any try for a
 * second, its holder is stopped or malicious, or others take turns.
 */
#define LOCK_TRIES   1000u
#define LOCK_WAIT_NS 1000000

const struct rec_words rec_control_printf_system = { "ftrace", 6 };
const struct rec_words rec_control_printf_name = { "bprint", 6 };

int rec_view_lock(const struct rec_view *view)
{
	const struct timespec wait = { .tv_nsec = LOCK_WAIT_NS };
	unsigned int tries;

	if (view->read_only)
		return -EROFS;
	for (tries = 0; flock(view->fd, LOCK_EX | LOCK_NB) < 0; tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (tries == LOCK_TRIES)
			return -EBUSY;
		nanosleep(&wait, NULL);
	}
	return 0;
}

void rec_view_unlock(const struct rec_view *view)
{
	flock(view->fd, LOCK_UN);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int lock_and_map(struct rec_view *view, struct view_control *control)
{
	const uint64_t last = larger(view->enable + REC_EVENTS_MAX * sizeof(uint32_t),
				     larger(view->rules + REC_MAP_PAGE, view->conditions + REC_CONDITIONS_SIZE));
	int r;

	if (rec_view_is_cut(view))
		return -EFAULT;
	if (rec_view_writers_are_gone(view))
		return -ESRCH;
	if (last > view->size)
		return -EBADMSG;
	r = rec_view_lock(view);
	if (r < 0)
		return r;
	r = rec_view_map(view, &control->map, PROT_READ | PROT_WRITE, 0, (size_t)last);
	if (r < 0) {
		rec_view_unlock(view);
		return r;
	}
	control->view = view;
	control->header = (struct rec_buffer_header *)(void *)control->map.at;
	control->enable = (uint32_t *)(void *)(control->map.at + view->enable);
	control->rules = (struct rec_rules *)(void *)(control->map.at + view->rules);
	control->conditions = control->map.at + view->conditions;
	return 0;
}

/* A thread that ended meanwhile would leave the lock taken, and the mapping. */
int rec_control_open(struct rec_view *view, struct view_control *control)
{
	int ours, r;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &control->cancel);
	r = lock_and_map(view, control);
	if (r < 0)
		pthread_setcancelstate(control->cancel, &ours);
	return r;
}

int rec_control_close(struct view_control *control, int r)
{
	int ours;

	rec_view_unmap(&control->map);
	rec_view_unlock(control->view);
	pthread_setcancelstate(control->cancel, &ours);
	return rec_view_is_cut(control->view) ? -EFAULT : r;
}

unsigned char *rec_view_copy_log(const struct rec_view *view, size_t *ret_size)
{
	const uint64_t used = rec_load_acquire(&rec_view_header(view)->log_used);
	const size_t size = (size_t)(used < view->log_size ? used : view->log_size);
	unsigned char *log = malloc(size + 1);

	if (log)
		*ret_size = rec_view_log(view, 0, log, size);
	return log;
}

int rec_view_populate(const struct rec_view *view, uint64_t offset, uint64_t size)
{
	while (fallocate(view->fd, 0, (off_t)offset, (off_t)size) < 0) {
		if (errno == EINTR)
			continue;
		if (errno == EOPNOTSUPP || errno == ENOSYS)
			return 0;
		/* -ENOSPC is for a buffer that is itself full. */
		return errno == ENOSPC ? -ENOMEM : -errno;
	}
	return 0;
}

static int populate_conditions(void *view, size_t offset, size_t size)
{
	return rec_view_populate(view, ((struct rec_view *)view)->conditions + offset, size);
}

/*
 * Copy the current log to memory that has room for its maximum. The program has normally given memory to the words of
 * its events; then the calls here change nothing.
 */
static int read_log(const struct rec_view *view, struct control_log *log)
{
	const struct rec_log_record *record;
	size_t offset = 0;

	log->size = rec_view_log(view, 0, log->bytes, (size_t)view->log_size);
	log->nr_words = 1;
	log->prints = false;
	while ((record = rec_log_next(log->bytes, log->size, &offset))) {
		log->prints = log->prints || record->kind == REC_LOG_PRINTF;
		if (rec_control_is_event(record) && record->id - REC_EVENT_ID_FIRST >= log->nr_words)
			log->nr_words = record->id - REC_EVENT_ID_FIRST + 1;
	}
	return rec_view_populate(view, view->enable, log->nr_words * sizeof(uint32_t));
}

int rec_control_log(const struct view_control *control, struct control_log *ret_log)
{
	struct control_log log = { .bytes = malloc((size_t)control->view->log_size + 1) };
	int r;

	if (!log.bytes)
		return -ENOMEM;
	r = read_log(control->view, &log);
	if (r < 0)
		free(log.bytes);
	else
		*ret_log = log;
	return r;
}

/* The argument of rec_enable_word() that makes an event follow a selector; `event` NULL: rec_printf's. 0 or -errno. */
static int follow(const struct view_control *control, const struct rec_selector *selector,
		  const struct rec_log_event *event, uint32_t *ret_word)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_condition *condition = (struct rec_condition *)(void *)bytes;
	uint32_t bits = 0;
	int r;

	r = rec_selector_compile(selector, event, event ? event->record.id : REC_EVENT_ID_FIRST, condition,
				 sizeof(bytes));
	if (r > 0)
		r = rec_conditions_place(control->conditions, CONDITIONS_OF_OTHERS, condition, populate_conditions,
					 control->view, &bits);
	if (r == 0)
		*ret_word = REC_ENABLE_WANTED | bits;
	return r;
}

static const struct rec_log_event *next_event(const struct control_log *log, size_t *offset,
					      struct rec_event_info *ret_info)
{
	const struct rec_log_record *record;

	while ((record = rec_log_next(log->bytes, log->size, offset)))
		if (rec_control_is_event(record) &&
		    rec_event_parse((const struct rec_log_event *)record, ret_info) == 0)
			return (const struct rec_log_event *)record;
	return NULL;
}

/*
 * Call `each` for the events that match. Returns the sum of its results, or the first error. rec_printf's event exists
 * in every program, and counts in those that have used it.
 */
static int for_matches(const struct view_control *control, const struct control_log *log,
		       const struct rec_selector *selector,
		       int (*each)(const struct view_control *control, const struct rec_selector *selector,
				   const struct rec_log_event *event))
{
	const struct rec_log_event *event;
	struct rec_event_info info;
	size_t offset = 0;
	int count = 0, r = 0;

	if (rec_selector_matches(selector, &rec_control_printf_system, &rec_control_printf_name))
		r = each(control, selector, NULL);
	if (r > 0 && !log->prints)
		r = 0;
	while (r >= 0 && (event = next_event(log, &offset, &info))) {
		count += r;
		r = rec_selector_matches(selector, &info.system, &info.name) ? each(control, selector, event) : 0;
	}
	return r < 0 ? r : count + r;
}

/* Give the event's future condition its place; nothing is switched yet. */
static int prepare(const struct view_control *control, const struct rec_selector *selector,
		   const struct rec_log_event *event)
{
	uint32_t word;
	const int r = follow(control, selector, event, &word);

	return r == -EINVAL ? 0 : r;
}

static uint32_t *word_of(const struct view_control *control, const struct rec_log_event *event)
{
	return &control->enable[event ? event->record.id - REC_EVENT_ID_FIRST : 0];
}

/* An event that the filter does not fit is switched off, as in the program itself. */
static int switch_on(const struct view_control *control, const struct rec_selector *selector,
		     const struct rec_log_event *event)
{
	uint32_t word = 0;

	follow(control, selector, event, &word);
	rec_enable_word(&control->header->stopped, word_of(control, event), word);
	return word != 0;
}

static int switch_off(const struct view_control *control, const struct rec_selector *selector,
		      const struct rec_log_event *event)
{
	(void)selector;
	rec_enable_word(&control->header->stopped, word_of(control, event), 0);
	return 1;
}

/*
 * Nothing is changed unless all of it can be changed. The program gives the word of an event memory before the event
 * is in the log, so an event that is registered in between does not prevent the change.
 */
static int switch_all(const struct view_control *control, const char *text, const struct rec_selector *selector,
		      bool on)
{
	struct control_log log;
	int r = rec_control_log(control, &log);

	if (r < 0)
		return r;
	if (on)
		r = for_matches(control, &log, selector, prepare);
	if (r >= 0)
		r = rec_rules_add(control->rules, text, on);
	if (r == 0) {
		rec_fence_full();
		r = read_log(control->view, &log);
	}
	if (r == 0)
		r = for_matches(control, &log, selector, on ? switch_on : switch_off);
	free(log.bytes);
	return r;
}

int rec_view_switch(struct rec_view *view, const char *selector, bool on)
{
	struct view_control control;
	struct rec_selector parsed;
	int r;

	if (!selector || rec_selector_parse(selector, &parsed) < 0)
		return -EINVAL;
	r = rec_control_open(view, &control);
	if (r < 0)
		return r;
	return rec_control_close(&control, switch_all(&control, selector, &parsed, on));
}

int rec_view_switch_event(struct rec_view *view, unsigned int id, uint32_t word)
{
	struct view_control control;
	struct control_log log;
	int r;

	if (id < REC_EVENT_ID_FIRST || id >= REC_EVENT_ID_FIRST + REC_EVENTS_MAX)
		return -EINVAL;
	r = rec_control_open(view, &control);
	if (r < 0)
		return r;
	r = rec_control_log(&control, &log);
	if (r == 0) {
		if (id - REC_EVENT_ID_FIRST < log.nr_words)
			rec_enable_word(&control.header->stopped, &control.enable[id - REC_EVENT_ID_FIRST],
					word & ~REC_ENABLE_ON);
		else
			r = -EINVAL;
		free(log.bytes);
	}
	return rec_control_close(&control, r);
}

int rec_view_forget(struct rec_view *view, const char *selector)
{
	struct rec_selector parsed;
	struct view_control control;
	int r;

	if (!selector || rec_selector_parse(selector, &parsed) < 0)
		return -EINVAL;
	r = rec_control_open(view, &control);
	if (r < 0)
		return r;
	rec_rules_remove(control.rules, selector);
	return rec_control_close(&control, 0);
}

static int start_or_stop(struct rec_view *view, bool stop)
{
	struct view_control control;
	struct control_log log;
	int r = rec_control_open(view, &control);

	if (r < 0)
		return r;
	/* Write the state first: every process that switches a word reads it afterwards. Then the words. */
	rec_enable_stop(&control.header->stopped, control.enable, 0, stop);
	rec_fence_full();
	r = rec_control_log(&control, &log);
	if (r == 0) {
		rec_enable_stop(&control.header->stopped, control.enable, log.nr_words, stop);
		free(log.bytes);
	}
	return rec_control_close(&control, r);
}

int rec_view_start(struct rec_view *view)
{
	return start_or_stop(view, false);
}

int rec_view_stop(struct rec_view *view)
{
	return start_or_stop(view, true);
}

bool rec_view_stopped(const struct rec_view *view)
{
	return rec_load_relaxed(&rec_view_header(view)->stopped) != 0;
}

/* The condition of an event that is wanted; NULL: it has none. */
static const struct rec_condition *condition_of(const struct rec_view *view, unsigned int id, size_t *ret_room)
{
	const uint64_t place = (uint64_t)REC_ENABLE_CONDITION(rec_view_enabled(view, id)) * REC_CONDITION_UNIT;

	if (!place || place > REC_CONDITIONS_SIZE - sizeof(struct rec_condition) ||
	    !(rec_view_enabled(view, id) & REC_ENABLE_WANTED))
		return NULL;
	*ret_room = REC_CONDITIONS_SIZE - place;
	return (const struct rec_condition *)(const void *)(view->map + view->conditions + place);
}

bool rec_view_rate(const struct rec_view *view, unsigned int id, struct rec_view_rate *ret_rate)
{
	const struct rec_condition *condition;
	struct rec_view_rate rate;
	size_t room;

	condition = condition_of(view, id, &room);
	if (!condition)
		return false;
	rate = (struct rec_view_rate){ .rate = rec_load_relaxed(&condition->rate),
				       .suppressed = rec_load_relaxed(&condition->suppressed) };
	if (!rate.rate)
		return false;
	*ret_rate = rate;
	return true;
}

int rec_view_filter(const struct rec_view *view, const struct rec_log_event *event, char *text, size_t size)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_event_info info;
	const struct rec_condition *condition;
	size_t room, all;

	if (event && rec_event_parse(event, &info))
		return -EBADMSG;
	condition = condition_of(view, event ? event->record.id : REC_EVENT_ID_FIRST, &room);
	if (!condition)
		return 0;
	/* A copy: others may write it meanwhile. */
	all = rec_load_relaxed(&condition->size);
	if (all < sizeof(*condition) || all > room || all > sizeof(bytes))
		return -EBADMSG;
	memcpy(bytes, condition, all);
	return rec_filter_text((const struct rec_condition *)(void *)bytes, all, event ? &info : NULL, text, size);
}
