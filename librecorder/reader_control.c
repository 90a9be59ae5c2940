/* SPDX-License-Identifier: MIT */
/*
 * Switching the events of a running program from outside, by the words in its buffer that it looks at anyway.
 *
 * Header, enable words and rules are mapped for writing only while that is done. Several may switch at a time: a lock on
 * the file makes them take turns; the program itself takes part without it, by atomic operations on the words.
 *
 * An event may be registered at the same moment. The program puts it into its log, passes a full fence and looks at the
 * rules; we add the rule, pass a full fence and look at the log. So one of the two sees the other (edge W2).
 */
#include "reader_private.h"

#include "enable.h"
#include "rules.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/atomic.h>
#include <librecorder/event_text.h>
#include <librecorder/pattern.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>

/* The event of rec_printf has no record in the log. */
static const struct rec_words printf_system = { "ftrace", 6 };
static const struct rec_words printf_name = { "bprint", 6 };

/* The part of a buffer file from header to rules, to be written. */
struct control {
	struct rec_buffer_header *header;
	uint32_t *enable;
	struct rec_rules *rules;
	unsigned char *map;
	size_t size;
};

static int open_control(const struct rec_view *view, struct control *ret_control)
{
	const uint64_t last = view->rules > view->enable ? view->rules + REC_MAP_PAGE :
							    view->enable + REC_EVENTS_MAX * sizeof(uint32_t);
	unsigned char *map;
	int r = 0;

	if (rec_view_writers_are_gone(view))
		return -ESRCH;
	if (last > view->size)
		return -EBADMSG;
	while (flock(view->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	map = mmap(NULL, (size_t)last, PROT_READ | PROT_WRITE, MAP_SHARED, view->fd, 0);
	if (map == MAP_FAILED) {
		r = -errno;
		flock(view->fd, LOCK_UN);
		return r;
	}
	*ret_control = (struct control){ .header = (struct rec_buffer_header *)(void *)map,
					 .enable = (uint32_t *)(void *)(map + view->enable),
					 .rules = (struct rec_rules *)(void *)(map + view->rules),
					 .map = map,
					 .size = (size_t)last };
	return 0;
}

static void close_control(const struct rec_view *view, const struct control *control)
{
	munmap(control->map, control->size);
	flock(view->fd, LOCK_UN);
}

/* A copy of the log; what stands in the file may change under who walks it. NULL: no memory. */
static unsigned char *copy_log(const struct rec_view *view, size_t *ret_size)
{
	const uint64_t used = rec_load_acquire(&rec_view_header(view)->log_used);
	const size_t size = (size_t)(used < view->log_size ? used : view->log_size);
	unsigned char *log = malloc(size + 1);

	if (log)
		*ret_size = rec_view_log(view, 0, log, size);
	return log;
}

/*
 * How many enable words the events of the log have, rec_printf's included; all of them have memory then, for to touch a
 * hole in a file system that is full would be a signal. The program has seen to it as a rule, and this changes nothing.
 * 0 or -errno of fallocate.
 */
static int find_words(const struct rec_view *view, const unsigned char *log, size_t size, uint32_t *ret_nr)
{
	const struct rec_log_record *record;
	size_t offset = 0;
	uint32_t nr = 1;

	while ((record = rec_log_next(log, size, &offset)))
		if (record->kind == REC_LOG_EVENT && record->id >= REC_EVENT_ID_FIRST &&
		    record->id - REC_EVENT_ID_FIRST < REC_EVENTS_MAX && record->id - REC_EVENT_ID_FIRST >= nr)
			nr = record->id - REC_EVENT_ID_FIRST + 1;
	while (fallocate(view->fd, 0, (off_t)view->enable, (off_t)(nr * sizeof(uint32_t))) < 0)
		if (errno != EINTR && errno != EOPNOTSUPP && errno != ENOSYS)
			return -errno;
		else if (errno != EINTR)
			break;
	*ret_nr = nr;
	return 0;
}

static uint32_t *word_of(const struct control *control, const struct rec_log_record *record)
{
	return &control->enable[record->id - REC_EVENT_ID_FIRST];
}

/* Switch what matches; returns how many did. */
static int switch_words(const struct rec_view *view, const struct control *control, const unsigned char *log,
			size_t size, const char *patterns, bool on)
{
	const struct rec_log_record *record;
	struct rec_event_info info;
	uint32_t nr_words = 0;
	size_t offset = 0;
	int count = find_words(view, log, size, &nr_words);

	if (count < 0)
		return count;
	if (rec_pattern_match(patterns, printf_system.text, printf_system.size, printf_name.text, printf_name.size)) {
		rec_enable_word(&control->header->stopped, &control->enable[0], on);
		count++;
	}
	while ((record = rec_log_next(log, size, &offset))) {
		if (record->kind != REC_LOG_EVENT || record->id < REC_EVENT_ID_FIRST ||
		    rec_event_parse((const struct rec_log_event *)record, &info) < 0 ||
		    !rec_pattern_match(patterns, info.system.text, info.system.size, info.name.text, info.name.size) ||
		    (uint32_t)(record->id - REC_EVENT_ID_FIRST) >= nr_words)
			continue;
		rec_enable_word(&control->header->stopped, word_of(control, record), on);
		count++;
	}
	return count;
}

int rec_view_switch(struct rec_view *view, const char *patterns, bool on)
{
	struct control control;
	unsigned char *log;
	size_t size = 0;
	int r;

	if (!patterns || rec_pattern_check(patterns) < 0)
		return -EINVAL;
	r = open_control(view, &control);
	if (r < 0)
		return r;
	r = rec_rules_add(control.rules, patterns, on);
	rec_fence_full();
	log = r == 0 ? copy_log(view, &size) : NULL;
	if (r == 0)
		r = log ? switch_words(view, &control, log, size, patterns, on) : -ENOMEM;
	free(log);
	close_control(view, &control);
	return r;
}

int rec_view_switch_event(struct rec_view *view, unsigned int id, bool on)
{
	struct control control;
	uint32_t nr_words = 0;
	unsigned char *log;
	size_t size = 0;
	int r;

	if (id < REC_EVENT_ID_FIRST || id >= REC_EVENT_ID_FIRST + REC_EVENTS_MAX)
		return -EINVAL;
	r = open_control(view, &control);
	if (r < 0)
		return r;
	log = copy_log(view, &size);
	r = log ? find_words(view, log, size, &nr_words) : -ENOMEM;
	if (r == 0 && id - REC_EVENT_ID_FIRST >= nr_words)
		r = -EINVAL;
	if (r == 0)
		rec_enable_word(&control.header->stopped, &control.enable[id - REC_EVENT_ID_FIRST], on);
	free(log);
	close_control(view, &control);
	return r;
}

int rec_view_forget(struct rec_view *view, const char *patterns)
{
	struct control control;
	int r;

	if (!patterns || rec_pattern_check(patterns) < 0)
		return -EINVAL;
	r = open_control(view, &control);
	if (r < 0)
		return r;
	rec_rules_remove(control.rules, patterns);
	close_control(view, &control);
	return 0;
}

static int start_or_stop(const struct rec_view *view, bool stop)
{
	struct control control;
	uint32_t nr_words = 0;
	unsigned char *log;
	size_t size = 0;
	int r = open_control(view, &control);

	if (r < 0)
		return r;
	/* First the state, which whoever switches a word further on looks at, then the words that there are. */
	rec_enable_stop(&control.header->stopped, control.enable, 0, stop);
	rec_fence_full();
	log = copy_log(view, &size);
	r = log ? find_words(view, log, size, &nr_words) : -ENOMEM;
	if (r == 0)
		rec_enable_stop(&control.header->stopped, control.enable, nr_words, stop);
	free(log);
	close_control(view, &control);
	return r;
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
