/* SPDX-License-Identifier: MIT */
/*
 * The event recorder:task. It is declared when it is used for the first time, so that programs without logical tasks do
 * not have it. From then on, writing it works as for any declared event: signal-safe, on any thread.
 */
#include <librecorder/event.h>
#include <librecorder/ffi.h>

#include <errno.h>
#include <string.h>

#include "librecorder/process/event_private.h"

#define NAME_MAX_SIZE 255u

static uint32_t word_on = REC_ENABLE_ON;
static struct rec_event first_use = { .enabled = &word_on };
static struct rec_event never = { .enabled = &never.off };

struct rec_event *rec_task_event = &first_use;

/*
 * Two threads may do this at once: both get the same event. Returns NULL if it cannot be declared; unless it can be
 * later, it stays off.
 */
static struct rec_event *declare(void)
{
	const int saved = errno;
	struct rec_event *event;
	const int r = rec_event_declare("recorder", "task:task, u64(id), string(name)", NULL, 0, &event);

	errno = saved;
	if (rec_event_try_again(r))
		return NULL;
	/* Release: a thread that finds the event finds its members complete. */
	rec_store_release(&rec_task_event, r == 0 ? event : &never);
	return r == 0 ? event : NULL;
}

void rec_task_write(uint64_t id, const char *name)
{
	struct rec_event *event = rec_load_acquire(&rec_task_event);
	unsigned char room[sizeof(id) + sizeof(uint32_t) + NAME_MAX_SIZE + 1];
	struct rec_fields fields;

	if (event == &first_use)
		event = declare();
	if (!event || rec_fields_begin(&fields, event, room, sizeof(room)) <= 0)
		return;
	rec_fields_put_unsigned(&fields, id);
	rec_fields_put_text(&fields, name ? name : "", name ? strnlen(name, NAME_MAX_SIZE) : 0);
	rec_fields_write(&fields);
}

void rec_task_moved(void)
{
	if (rec_load_relaxed(&rec_task_event) == &never)
		rec_store_relaxed(&rec_task_event, &first_use);
}
