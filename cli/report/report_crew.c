/* SPDX-License-Identifier: MIT */
/*
 * See report_crew.h. Batches form a circular buffer: [written, filled) are in use, [made, filled) of them wait for a
 * thread, and the batch at `filled` is being collected by the caller, to whom it belongs. `lock` protects the numbers
 * and the states.
 *
 * Only one thread at a time may use libtraceevent: `tep` protects it, and the part of the printer that
 * event_line_print() uses. The caller holds `tep` while it collects.
 */
#include "cli/report/report_crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 15u

/* A batch is full at this many bytes, so that all have about ROOM; a text is about twice as long. */
#define ROOM	     (2u * 1024u * 1024u)
#define BATCH_ROOM   (256u * 1024u)
#define EVENTS_FIRST 64u

struct item {
	struct event_line line; /* plan NULL: the item is a text of line.size characters */
	uint32_t bytes_after;	/* bytes after the record */
	uint32_t room;		/* number of bytes that follow the item */
};

struct batch {
	unsigned char *items;
	size_t size, room;
	uint32_t nr;
	struct print_text text;
	bool is_made;
	int err;
};

struct report_crew {
	struct event_printer *printer;
	report_crew_write write;
	void *arg;
	uint32_t limit; /* maximum number of events in the next batch */
	size_t room;	/* maximum number of bytes in a batch */

	pthread_mutex_t tep;
	pthread_mutex_t lock;
	pthread_cond_t is_filled, is_made;
	struct batch *batches;
	uint32_t nr_batches;
	uint64_t filled, made, written;
	bool is_over;

	uint32_t nr_threads;
	pthread_t threads[THREADS_MAX];
};

static struct batch *batch_of(const struct report_crew *crew, uint64_t number)
{
	return &crew->batches[number % crew->nr_batches];
}

/* -------------------------------------------------------------------------------------------------------- the texts */

static int make_line(struct report_crew *crew, struct batch *batch, struct print_context *context,
		     const struct item *item)
{
	const unsigned char *data = (const unsigned char *)(item + 1);
	int err;

	if (!item->line.plan) {
		print_text_put(&batch->text, (const char *)data, item->line.size);
		return batch->text.failed ? -ENOMEM : 0;
	}
	if (event_line_put(crew->printer, &item->line, data, context, &batch->text))
		return 0;
	if (batch->text.failed)
		return -ENOMEM;
	pthread_mutex_lock(&crew->tep);
	err = event_line_print(crew->printer, &item->line, data, item->bytes_after, &batch->text);
	pthread_mutex_unlock(&crew->tep);
	return err;
}

static void make_batch(struct report_crew *crew, struct batch *batch, struct print_context *context)
{
	const struct item *item;

	batch->text.size = 0;
	for (size_t at = 0; at < batch->size && !batch->err; at += sizeof(*item) + item->room) {
		item = (const struct item *)(const void *)(batch->items + at);
		batch->err = make_line(crew, batch, context, item);
	}
}

/* Makes the texts of one batch. The caller has the lock, which is released meanwhile. */
static void make_next(struct report_crew *crew, struct print_context *context)
{
	struct batch *batch = batch_of(crew, crew->made++);

	pthread_mutex_unlock(&crew->lock);
	make_batch(crew, batch, context);
	pthread_mutex_lock(&crew->lock);
	batch->is_made = true;
	pthread_cond_signal(&crew->is_made);
}

static void *run_thread(void *arg)
{
	struct report_crew *crew = arg;
	struct print_context *context = malloc(sizeof(*context));

	/* If there is no memory, this thread ends, and the others do its work. */
	if (!context)
		return NULL;
	/* A context of its own, because the caller may be using the printer's. */
	print_context_open(context, &crew->printer->table->functions);
	pthread_mutex_lock(&crew->lock);
	while (!crew->is_over) {
		if (crew->made < crew->filled)
			make_next(crew, context);
		else
			pthread_cond_wait(&crew->is_filled, &crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
	free(context);
	return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

/* Writes the oldest batch, whose texts are made. 1; 0: the walk is to end; -ENOMEM. */
static int write_oldest(struct report_crew *crew)
{
	struct batch *batch = batch_of(crew, crew->written);
	int ret = batch->err;

	pthread_mutex_unlock(&crew->lock);
	if (!ret)
		ret = crew->write(crew->arg, batch->text.text, batch->text.size);
	pthread_mutex_lock(&crew->lock);
	batch->is_made = false;
	batch->size = batch->nr = 0;
	crew->written++;
	return ret;
}

/* Write finished batches, and make those that no thread makes, until at most `left` batches are in use. */
static int write_until(struct report_crew *crew, uint64_t left)
{
	int ret = 1;

	pthread_mutex_lock(&crew->lock);
	while (ret > 0 && crew->filled - crew->written > left) {
		if (batch_of(crew, crew->written)->is_made)
			ret = write_oldest(crew);
		else if (crew->made < crew->filled)
			make_next(crew, crew->printer->context);
		else
			pthread_cond_wait(&crew->is_made, &crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
	return ret;
}

/* Write the batches that are made already, without waiting. */
static int write_made(struct report_crew *crew)
{
	int ret = 1;

	pthread_mutex_lock(&crew->lock);
	while (ret > 0 && crew->written < crew->filled && batch_of(crew, crew->written)->is_made)
		ret = write_oldest(crew);
	pthread_mutex_unlock(&crew->lock);
	return ret;
}

/* Hand the collected batch to the threads, and begin the next one. */
static int pass_on(struct report_crew *crew)
{
	int ret;

	pthread_mutex_unlock(&crew->tep);
	pthread_mutex_lock(&crew->lock);
	crew->filled++;
	pthread_cond_signal(&crew->is_filled);
	pthread_mutex_unlock(&crew->lock);
	if (crew->limit < UINT32_MAX / 2)
		crew->limit *= 2;
	ret = crew->nr_threads ? write_made(crew) : 1;
	if (ret > 0)
		ret = write_until(crew, crew->nr_batches - 1);
	pthread_mutex_lock(&crew->tep);
	return ret;
}

/* ------------------------------------------------------------------------------------------------------- collecting */

/* An item with room for `size` bytes; NULL: not enough memory. */
static struct item *add_item(struct batch *batch, size_t size)
{
	const size_t room = (size + 7u) & ~(size_t)7u, wanted = batch->size + sizeof(struct item) + room;
	struct item *item;

	if (wanted > batch->room) {
		const size_t grown = wanted < batch->room * 2 ? batch->room * 2 : wanted;
		unsigned char *items = realloc(batch->items, grown);

		if (!items)
			return NULL;
		batch->items = items;
		batch->room = grown;
	}
	item = (struct item *)(void *)(batch->items + batch->size);
	item->room = (uint32_t)room;
	item->bytes_after = 0;
	batch->size = wanted;
	batch->nr++;
	return item;
}

/* A line that only libtraceevent can make is made here, in order. */
static int add_text(struct report_crew *crew, struct batch *batch, const struct dat_event *event)
{
	int err = event_print(crew->printer, event);
	const struct print_text *text = &crew->printer->text;
	struct item *item = err ? NULL : add_item(batch, text->size + 1);

	if (!item)
		return -ENOMEM;
	item->line = (struct event_line){ .size = (uint32_t)text->size + 1 };
	memcpy(item + 1, text->text, text->size);
	((char *)(item + 1))[text->size] = '\n';
	return 0;
}

static int add_line(struct batch *batch, const struct event_line *line, const struct dat_event *event)
{
	uint32_t bytes_after = 0;
	struct item *item;

	if (line->plan->reads_far)
		bytes_after = event->bytes_after < EVENT_BYTES_AFTER ? event->bytes_after : EVENT_BYTES_AFTER;
	item = add_item(batch, (size_t)event->size + bytes_after);
	if (!item)
		return -ENOMEM;
	item->line = *line;
	item->bytes_after = bytes_after;
	memcpy(item + 1, event->data, (size_t)event->size + bytes_after);
	return 0;
}

int report_crew_add(struct report_crew *crew, const struct dat_event *event)
{
	struct batch *batch = batch_of(crew, crew->filled);
	struct event_line line;
	int ret = event_line_open(crew->printer, event, &line);

	if (ret >= 0)
		ret = ret ? add_line(batch, &line, event) : add_text(crew, batch, event);
	if (ret < 0)
		return ret;
	return batch->nr >= crew->limit || batch->size >= crew->room ? pass_on(crew) : 1;
}

int report_crew_flush(struct report_crew *crew)
{
	int ret = batch_of(crew, crew->filled)->nr ? pass_on(crew) : 1;

	if (ret <= 0)
		return ret;
	pthread_mutex_unlock(&crew->tep);
	ret = write_until(crew, 0);
	pthread_mutex_lock(&crew->tep);
	return ret;
}

/* ------------------------------------------------------------------------------------------------- opening, closing */

static uint32_t count_threads(void)
{
	cpu_set_t cpus;
	int nr = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	return nr > (int)THREADS_MAX ? THREADS_MAX : (uint32_t)(nr - 1);
}

/*
 * Signals are blocked in the threads: the caller's thread handles them. If a thread cannot be started, the others
 * suffice.
 */
static void start_threads(struct report_crew *crew, uint32_t nr)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (crew->nr_threads < nr &&
	       !pthread_create(&crew->threads[crew->nr_threads], NULL, run_thread, crew))
		crew->nr_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int report_crew_open(struct event_printer *printer, report_crew_write write, void *arg, struct report_crew **ret_crew)
{
	struct report_crew *crew = calloc(1, sizeof(*crew));
	const uint32_t threads = count_threads();

	if (!crew)
		return -ENOMEM;
	crew->printer = printer;
	crew->write = write;
	crew->arg = arg;
	crew->limit = EVENTS_FIRST;
	crew->nr_batches = 2 * threads + 2;
	crew->room = ROOM / crew->nr_batches < BATCH_ROOM ? ROOM / crew->nr_batches : BATCH_ROOM;
	crew->batches = calloc(crew->nr_batches, sizeof(*crew->batches));
	if (!crew->batches) {
		free(crew);
		return -ENOMEM;
	}
	pthread_mutex_init(&crew->tep, NULL);
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->is_filled, NULL);
	pthread_cond_init(&crew->is_made, NULL);
	start_threads(crew, threads);
	pthread_mutex_lock(&crew->tep);
	*ret_crew = crew;
	return 0;
}

struct report_crew *report_crew_close(struct report_crew *crew)
{
	if (!crew)
		return NULL;
	pthread_mutex_unlock(&crew->tep);
	pthread_mutex_lock(&crew->lock);
	crew->is_over = true;
	pthread_cond_broadcast(&crew->is_filled);
	pthread_mutex_unlock(&crew->lock);
	for (uint32_t i = 0; i < crew->nr_threads; i++)
		pthread_join(crew->threads[i], NULL);
	for (uint32_t i = 0; i < crew->nr_batches; i++) {
		free(crew->batches[i].items);
		print_text_free(&crew->batches[i].text);
	}
	pthread_cond_destroy(&crew->is_made);
	pthread_cond_destroy(&crew->is_filled);
	pthread_mutex_destroy(&crew->lock);
	pthread_mutex_destroy(&crew->tep);
	free(crew->batches);
	free(crew);
	return NULL;
}
