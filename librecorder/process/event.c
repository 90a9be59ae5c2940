/* SPDX-License-Identifier: MIT */
/*
 * The events of this process: their ids and enable words. Requests: requests.h; those of other processes: rules.h.
 *
 * An event is known from its first registration to the end of the process, so that an object that is loaded again
 * finds its ids; its description is kept as a private copy. Objects with the same declaration share the entry.
 * Everything here is changed under the process lock, except the enable words, which a recorder writes, too, and which
 * rec_stop() may clear from a signal handler. Memory is taken and given back without the lock (process.h).
 */
#include <librecorder/event.h>
#include <librecorder/event_text.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "librecorder/process/event_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/core/conditions.h"
#include "librecorder/process/debug.h"
#include "librecorder/core/enable.h"
#include "librecorder/process/geometry.h"
#include "librecorder/process/log_private.h"
#include "librecorder/process/process.h"
#include "librecorder/process/requests.h"
#include "librecorder/core/rules.h"
#include "librecorder/core/selector.h"

#define BUCKETS		256u
#define WORDS_PER_PAGE	(REC_MAP_PAGE / (uint32_t)sizeof(uint32_t))
#define INDEX_OF_PRINTF 0u

/* The number of changes of rules that a program follows while it registers one event. */
#define FOLLOW_TRIES 100u

/*
 * Values for an event that is wanted, but its filter does not fit it, or there is no room for its filter. It stays off;
 * in the second case, an event that is known already stays as it is. They are not bits of an enable word.
 */
#define UNFIT	4u
#define NO_ROOM 8u

struct known {
	struct known *next;	 /* in the order of registration, which is that of the log */
	struct known *same_bucket;
	struct rec_event *users; /* descriptors of loaded objects */
	uint32_t *word;		 /* its enable word, or &no_word */
	uint32_t index;
	uint32_t hash;
	uint32_t wanted;		 /* as for rec_enable_word(), including the condition; or UNFIT, NO_ROOM */
	struct rec_words system;
	struct rec_words name;
	struct rec_log_event *description; /* NULL: the event of rec_printf */
};

static uint32_t no_word; /* the enable word of events that cannot be on */
uint32_t *rec_printf_enabled = &no_word;

static struct known known_printf = {
	.word = &no_word,
	.index = INDEX_OF_PRINTF,
	.system = { "ftrace", 6 },
	.name = { "bprint", 6 },
};
static struct known *buckets[BUCKETS];
static struct known *first = &known_printf;
static struct known **last_next = &known_printf.next;
static uint32_t nr_words;    /* enable words in use, from 0 */
static uint32_t nr_pages = 1; /* pages of enable words with memory; the first comes with the buffer */
static uint32_t buffer_number;

/* Addresses in the present buffer. */
static uint32_t *words;
static struct rec_rules *rules;
unsigned char *rec_event_conditions;

uint32_t rec_events_buffer(void)
{
	return rec_load_relaxed(&buffer_number);
}

/* -------------------------------------------------------------------------------------------------- enable words */

static void set_word(const struct known *known)
{
	rec_enable_word(&rec_process_header()->stopped, known->word, known->wanted);
}

static int populate_conditions(void *conditions, size_t offset, size_t size)
{
	return rec_process_populate((unsigned char *)conditions + offset, size);
}

static int start_or_stop(bool stop)
{
	struct rec_buffer_header *header = rec_process_is_own() ? rec_process_header() : NULL;

	if (!header)
		return -ENXIO;
	rec_enable_stop(&header->stopped, words, 0, stop);
	rec_enable_stop(&header->stopped, words, rec_load_acquire(&nr_words), stop);
	return 0;
}

int rec_start(void)
{
	return start_or_stop(false);
}

int rec_stop(void)
{
	return start_or_stop(true);
}

/* ------------------------------------------------------------------------------------------------------- selectors */

/* The argument of rec_enable_word() that makes an event follow a selector. */
static uint32_t follow(const struct known *known, const struct rec_selector *selector)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_condition *condition = (struct rec_condition *)(void *)bytes;
	uint32_t bits = 0;
	int r;

	if (!rec_process_header())
		return REC_ENABLE_WANTED;
	r = rec_selector_compile(selector, known->description, (uint16_t)(REC_EVENT_ID_FIRST + known->index), condition,
			     sizeof(bytes));
	if (r > 0)
		r = rec_conditions_place(rec_event_conditions, CONDITIONS_OF_PROGRAM, condition, populate_conditions,
					 rec_event_conditions, &bits);
	if (r < 0)
		return r == -EINVAL ? UNFIT : NO_ROOM;
	return REC_ENABLE_WANTED | bits;
}

static uint32_t follow_text(const struct known *known, const char *text)
{
	struct rec_selector selector;

	return rec_selector_parse(text, &selector) == 0 ? follow(known, &selector) : 0;
}

/*
 * Find what an event's enable word should be. Rules from other processes take precedence over the program's own
 * requests, even over newer ones, because a user is examining this program.
 */
static uint32_t find_wanted(const struct known *known)
{
	char text[REC_RULES_SIZE];
	const int said = rec_process_header() ? rec_rules_say(rules, &known->system, &known->name, text) : -1;
	const char *own;
	bool on;

	if (said >= 0)
		return said ? follow_text(known, text) : 0;
	own = rec_requests_find(&known->system, &known->name, &on);
	return own && on ? follow_text(known, own) : 0;
}

/*
 * Count an event for whose filter there is no room. The process that requested the filter checks whether the filter
 * fits the event.
 */
static void count_no_room(const struct known *known)
{
	if (known->wanted == NO_ROOM)
		rec_log_count_lost();
}

/*
 * Switch the events that match. If there is no room for the condition of one of them, this event stays as it is, and
 * -ENOSPC is returned after all others have been switched.
 */
static int apply(const struct rec_selector *selector, bool on)
{
	int count = 0;
	bool full = false;

	for (struct known *known = first; known; known = known->next) {
		uint32_t wanted;

		if (!rec_selector_matches(selector, &known->system, &known->name))
			continue;
		wanted = on ? follow(known, selector) : 0;
		if (wanted == NO_ROOM) {
			rec_log_count_lost();
			full = true;
			continue;
		}
		known->wanted = wanted;
		count += wanted != UNFIT;
		if (known->word != &no_word)
			set_word(known);
	}
	return full ? -ENOSPC : count;
}

static int enable(const char *text, bool on)
{
	struct rec_request *request;
	struct rec_selector selector;
	int r = -EBUSY;

	if (!text || rec_selector_parse(text, &selector) < 0)
		return -EINVAL;
	if (rec_process_init() < 0)
		return -ENXIO;
	request = rec_request_make(text, on);
	if (!request)
		return -ENOMEM;
	if (rec_process_lock()) {
		request = rec_requests_add(request);
		r = apply(&selector, on);
		rec_process_unlock();
	}
	rec_requests_free(request);
	return r;
}

int rec_enable(const char *selector)
{
	return enable(selector, true);
}

int rec_disable(const char *pattern)
{
	return enable(pattern, false);
}

/* ------------------------------------------------------------------------------------------------- registration */

/* The word of an index in the present buffer, with memory; &no_word if no memory is available. */
static uint32_t *word_of(uint32_t index)
{
	if (!rec_process_header())
		return &no_word;
	while (index / WORDS_PER_PAGE >= nr_pages) {
		if (rec_process_populate(words + nr_pages * WORDS_PER_PAGE, REC_MAP_PAGE) < 0) {
			rec_log_count_lost();
			return &no_word;
		}
		nr_pages++;
	}
	if (index >= nr_words)
		rec_store_release(&nr_words, index + 1);
	return words + index;
}

/* Put the event into the present buffer, if there is one: into the log, then switched as wanted. */
static void settle(struct known *known)
{
	known->word = word_of(known->index);
	if (known->word != &no_word && known->description &&
	    rec_log_append_locked(&known->description->record) < 0)
		known->word = &no_word;
	if (known->word != &no_word && known->wanted)
		set_word(known);
	for (struct rec_event *event = known->users; event; event = event->next)
		rec_store_relaxed(&event->enabled, known->word != &no_word ? known->word : &event->off);
	if (known == &known_printf)
		rec_store_relaxed(&rec_printf_enabled, known->word);
}

/*
 * Apply rules that another process made meanwhile. It may have looked for the event in the log before the event was
 * there (edge W2); or it has found the event, and switched the word before we did. The number of tries is bounded,
 * because another process may keep making rules.
 */
static void follow_rules(struct known *known)
{
	unsigned int tries;
	uint32_t wanted;

	for (tries = 0; tries < FOLLOW_TRIES; tries++) {
		rec_fence_full();
		if (known->word == &no_word)
			return;
		wanted = find_wanted(known);
		if (wanted == known->wanted)
			return;
		known->wanted = wanted;
		set_word(known);
	}
}

/* Needs no lock: an entry stays in its bucket, and what is compared here was stored before and never changes. */
static struct known *find_known(const struct rec_log_event *description, uint32_t hash)
{
	struct known *known = rec_load_acquire(&buckets[hash % BUCKETS]);

	while (known && (known->hash != hash || !rec_event_same(known->description, description)))
		known = known->same_bucket;
	return known;
}

/* 0, -ENOSPC: there are too many events, -ENOMEM, or -EBADMSG: the description is malformed. */
static int add_known(const struct rec_log_event *description, uint32_t hash, struct known *known)
{
	static uint32_t nr_known = INDEX_OF_PRINTF + 1;
	struct rec_event_info info;

	if (nr_known >= REC_EVENTS_MAX)
		return -ENOSPC;
	if (!known)
		return -ENOMEM;
	known->description = (struct rec_log_event *)(known + 1);
	memcpy(known->description, description, description->record.size);
	if (rec_event_parse(known->description, &info) < 0)
		return -EBADMSG;
	known->system = info.system;
	known->name = info.name;
	known->hash = hash;
	known->index = nr_known++;
	known->description->record.id = (uint16_t)(REC_EVENT_ID_FIRST + known->index);
	known->wanted = find_wanted(known);
	known->same_bucket = buckets[hash % BUCKETS];
	rec_store_release(&buckets[hash % BUCKETS], known);
	*last_next = known;
	last_next = &known->next;
	settle(known);
	follow_rules(known);
	count_no_room(known);
	return 0;
}

/* Sets *fresh, zeroed memory for an event that is not known and its description, to NULL if it is used. */
static int register_locked(struct rec_event *event, struct known **fresh)
{
	const uint32_t hash = rec_event_hash(event->description);
	struct known *known = find_known(event->description, hash);
	int r = 0;

	if (!known) {
		known = *fresh;
		r = add_known(event->description, hash, known);
		*fresh = r == 0 ? NULL : known;
	}
	if (r == -EBADMSG)
		rec_debug_event_off(event->description, "its declaration is invalid");
	if (r < 0) {
		rec_log_count_lost();
		return r;
	}
	event->registered = 1;
	event->next = known->users;
	known->users = event;
	event->id = REC_EVENT_ID_FIRST + known->index;
	/* Release: a thread that sees the word must not use the id that was there before. */
	if (known->word != &no_word)
		rec_store_release(&event->enabled, known->word);
	return 0;
}

int rec_event_try_register(struct rec_event *event)
{
	struct known *fresh = NULL;
	int r = -EBUSY;

	if (event->registered)
		return 0;
	rec_process_init();
	/* The event was compiled with newer headers, so its code would write to lanes in an unknown way. */
	if (event->abi > REC_EVENT_ABI) {
		rec_debug_event_abi(event->abi, REC_EVENT_ABI);
		return -EOPNOTSUPP;
	}
	if (!find_known(event->description, rec_event_hash(event->description)))
		fresh = calloc(1, sizeof(*fresh) + event->description->record.size);
	if (rec_process_lock()) {
		r = event->registered ? 0 : register_locked(event, &fresh);
		rec_process_unlock();
	}
	free(fresh);
	return r;
}

void rec_event_register(struct rec_event *event)
{
	rec_event_try_register(event);
}

/* Take the event out of the list of those with the same description. */
static void leave_known(struct rec_event *event)
{
	struct known *known = find_known(event->description, rec_event_hash(event->description));
	struct rec_event **at = known ? &known->users : &event->next;

	while (*at && *at != event)
		at = &(*at)->next;
	if (*at)
		*at = event->next;
	event->next = NULL;
}

void rec_event_register_as(struct rec_event *event, const struct rec_log_event *description)
{
	if (description == event->description || rec_event_same(description, event->description)) {
		rec_event_register(event);
		return;
	}
	rec_process_init();
	if (!rec_process_lock())
		return;
	leave_known(event);
	rec_store_relaxed(&event->enabled, &event->off);
	event->registered = 1;
	rec_log_count_lost();
	rec_debug_event_off(description, "two files of the program declare it differently");
	rec_process_unlock();
}

/*
 * The enable word stays unchanged: at the end of a program, events of threads that are still running, and of later
 * destructors, are recorded; and the code of an unloaded object does not run.
 */
void rec_event_unregister(struct rec_event *event)
{
	if (!rec_process_lock_without_pid())
		return;
	if (event->registered)
		leave_known(event);
	event->registered = 0;
	rec_process_unlock();
}

static void use_buffer(const struct rec_geometry *geometry)
{
	unsigned char *base = (unsigned char *)rec_process_header();

	words = (uint32_t *)(void *)(base + geometry->enable);
	rules = (struct rec_rules *)(void *)(base + geometry->rules);
	rec_store_relaxed(&rec_event_conditions, base + geometry->conditions);
}

void rec_events_begin(const struct rec_geometry *geometry)
{
	use_buffer(geometry);
	buffer_number++;
	known_printf.wanted = find_wanted(&known_printf);
	settle(&known_printf);
	count_no_room(&known_printf);
}

/*
 * Remember all requests of the buffer before, until its events are switched in the next one: that may fail for lack of
 * memory. Returns whether one of them has a condition.
 */
static bool remember_wanted(void)
{
	struct known *known;
	bool needed = false;
	uint32_t word;

	for (known = first; known; known = known->next) {
		if (known->word != &no_word) {
			/* Acquire: the condition that the word names is complete when it is copied (edge F1). */
			word = rec_load_acquire(known->word);
			known->wanted = word & REC_ENABLE_WANTED ? word & ~REC_ENABLE_ON : 0;
		}
		needed |= REC_ENABLE_CONDITION(known->wanted) != 0;
	}
	return needed;
}

void rec_events_move(const struct rec_buffer_header *before, const struct rec_geometry *geometry, bool needed)
{
	const unsigned char *conditions_before = rec_event_conditions;
	const struct rec_rules *rules_before = rules;
	const bool exists = rec_process_header();
	struct known *known;
	int r = 0;

	if (exists)
		use_buffer(geometry);
	if (exists && before) {
		rec_process_header()->stopped = before->stopped;
		rec_rules_copy(rules, rules_before);
	}
	needed |= remember_wanted();
	/* Read them only now: a word without memory has no condition. */
	if (needed && exists && before)
		r = rec_conditions_copy(rec_event_conditions, conditions_before, populate_conditions,
					rec_event_conditions);
	rec_store_relaxed(&nr_words, 0);
	nr_pages = 1;
	rec_store_relaxed(&buffer_number, buffer_number + 1);
	for (known = first; known; known = known->next) {
		/*
		 * In a child, whose stack may be small, requests are not searched: its events keep the parent's state.
		 */
		if (known->word == &no_word && exists && !before)
			known->wanted = find_wanted(known);
		else if (r < 0 && REC_ENABLE_CONDITION(known->wanted))
			known->wanted = NO_ROOM;
		settle(known);
		if (exists)
			count_no_room(known);
	}
}
