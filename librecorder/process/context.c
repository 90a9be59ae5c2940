/* SPDX-License-Identifier: MIT */
/*
 * Context: the values to which a thread's events belong, and the event recorder:context, which records them.
 *
 * Guarantees. Once the event is declared and the thread has its page, everything here is signal-safe, without a lock. A
 * handler may set values at any instruction, and may leave by a jump. If it does so from within rec_context_set(), the
 * thread loses one of its spare cells.
 *
 * A record of the event has the age of the value: 0 if the value begins here, otherwise the time since it was set. The
 * clock is read after the record has got its own time stamp, so the age is never too small. A record therefore also
 * applies to the events before it, back to the time when the value was set: it does not matter whether values are
 * written again before or after the first event of a sub-buffer, or a little later. A key that has lost its value keeps
 * its place, as the empty text. The empty text is repeated, too: so a reader that missed the end of a value learns of
 * it.
 *
 * A thread's page has cells, each of which holds a key and its value and does not change while it is in use. One word
 * names the cells that are valid, and counts its changes. A function that copies a cell reads the word again
 * afterwards.
 */
#include <librecorder/context.h>
#include <librecorder/event.h>
#include <librecorder/ffi.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "librecorder/process/context_private.h"
#include "librecorder/process/event_private.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#define KEYS REC_CONTEXT_KEYS_MAX

/* One for each key, and one for each of the writers that may be inside rec_context_set() at the same time. */
#define CELLS 15u

/* The word: four bits for each key, the number of its cell plus 1, or 0; above them the number of changes. */
#define CELL_BITS    4u
#define CELL_MASK    15u
#define CHANGE_SHIFT (KEYS * CELL_BITS)

/* A thread writes its values again after a shared lane has entered one SHARED_PART-th of its sub-buffers. */
#define SHARED_PART 8u

struct cell {
	uint64_t since; /* CLOCK_MONOTONIC */
	uint32_t key_size, value_size; /* including the NUL */
	char key[REC_CONTEXT_KEY_MAX + 1];
	char value[REC_CONTEXT_VALUE_MAX + 1];
};

/* When the values were last written to a shared lane. */
struct shared {
	uint64_t entered;
	uint32_t lane; /* its number plus 1 */
};

struct rec_context {
	uint64_t valid; /* the word */
	uint64_t taken; /* a bit for each cell */
	uint64_t repeating; /* in shared lanes: the stack of the writer that writes the values again; 0: none */
	struct shared shared[REC_SHARED_MAX];
	struct cell cells[CELLS];
};

__thread struct rec_context *rec_thread_context __attribute__((tls_model("initial-exec")));

/* NULL: not declared yet. */
static struct rec_event *context_event;
static struct rec_event never = { .enabled = &never.off };

/*
 * Two threads may do this at once: both then use the event that was stored first. If the event cannot be declared, this
 * stores and returns an event that is always off. It stays until the process has another buffer, or another thread
 * declares the event. -ENOMEM, -EBUSY: the event cannot be declared now, and the next use tries again.
 */
static int declare(struct rec_event **ret_event)
{
	const int saved = errno;
	struct rec_event *event, *present = NULL;
	const int r = rec_event_declare("recorder", "context, u64(age), string(key), string(value)", NULL, 0, &event);

	errno = saved;
	if (rec_event_try_again(r))
		return r;
	if (r < 0)
		event = &never;
	/* Release: a thread that finds the event finds its members complete. */
	if (!__atomic_compare_exchange_n(&context_event, &present, event, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
		if (present != &never || event == &never)
			event = present;
		else
			rec_store_release(&context_event, event);
	}
	*ret_event = event;
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- records */

/* The fixed fields of the event, as rec_event_text() describes them. */
struct fixed {
	uint64_t age;
	uint32_t key, value; /* __data_loc */
};

static uint32_t location(uint32_t offset, uint32_t size)
{
	return offset | size << 16;
}

static uint32_t record_size(const struct cell *cell)
{
	return REC_EVENT_COMMON_SIZE + (uint32_t)sizeof(struct fixed) + cell->key_size + cell->value_size;
}

/* Writes the fields after the common ones. The record has its time stamp already. */
static void fill_record(unsigned char *at, const struct cell *cell, bool is_repeat)
{
	const uint32_t key_at = REC_EVENT_COMMON_SIZE + (uint32_t)sizeof(struct fixed);
	struct fixed fixed = { .key = location(key_at, cell->key_size),
			       .value = location(key_at + cell->key_size, cell->value_size) };
	const uint64_t now = rec_clock_mono();

	if (is_repeat)
		fixed.age = now > cell->since ? now - cell->since : 1;
	at = rec_put(at, &fixed, sizeof(fixed));
	at = rec_put(at, cell->key, cell->key_size);
	rec_put(at, cell->value, cell->value_size);
}

/* ------------------------------------------------------------------------------------------------------------ cells */

static uint32_t cell_of(uint64_t valid, unsigned int key)
{
	return (uint32_t)(valid >> (key * CELL_BITS)) & CELL_MASK;
}

/* Copy a key's cell, and the word that named it. False: the key has no cell. */
static bool copy_cell(const struct rec_context *context, unsigned int key, struct cell *ret_cell, uint64_t *ret_valid)
{
	uint64_t valid;

	do {
		valid = rec_load_relaxed(&context->valid);
		if (!cell_of(valid, key))
			return false;
		rec_signal_fence();
		*ret_cell = context->cells[cell_of(valid, key) - 1];
		rec_signal_fence();
	} while (rec_load_relaxed(&context->valid) != valid);
	*ret_valid = valid;
	return true;
}

static void free_cell(struct rec_context *context, uint32_t number)
{
	uint64_t taken;

	do
		taken = rec_load_relaxed(&context->taken);
	while (!rec_local_cmpxchg64(&context->taken, taken, taken & ~(UINT64_C(1) << number)));
}

/* Take a cell that is not in use; NULL: there is none. */
static struct cell *take_cell(struct rec_context *context)
{
	uint64_t taken, found;

	do {
		taken = rec_load_relaxed(&context->taken);
		found = ~taken & (taken + 1);
		if (found >> CELLS)
			return NULL;
	} while (!rec_local_cmpxchg64(&context->taken, taken, taken | found));
	return &context->cells[__builtin_ctzll(found)];
}

/*
 * Find a place for the key: the one that it has, or a free one, or that of a key without a value. -ENOSPC: there is no
 * such place.
 */
static int find_place(const struct rec_context *context, uint64_t valid, const char *key)
{
	int unused = -ENOSPC;

	for (unsigned int i = 0; i < KEYS; i++) {
		const uint32_t number = cell_of(valid, i);
		const struct cell *cell = number ? &context->cells[number - 1] : NULL;

		if (cell && !strcmp(cell->key, key))
			return (int)i;
		if (unused < 0 && !cell)
			unused = (int)i;
	}
	for (unsigned int i = 0; unused < 0 && i < KEYS; i++)
		if (!context->cells[cell_of(valid, i) - 1].value[0])
			unused = (int)i;
	return unused;
}

/*
 * Find the place where the key gets this value, and the cell that is there (*ret_old; 0: none). -EALREADY: nothing
 * changes, because the key has this value, or has no value and the new one is empty; -ENOSPC.
 */
static int find_change(const struct rec_context *context, uint64_t valid, const char *key, const char *value,
		       uint32_t *ret_old)
{
	const int place = find_place(context, valid, key);
	const uint32_t old = place < 0 ? 0 : cell_of(valid, (unsigned int)place);
	const bool is_known = old && !strcmp(context->cells[old - 1].key, key);

	*ret_old = old;
	return strcmp(is_known ? context->cells[old - 1].value : "", value) ? place : -EALREADY;
}

/* Whether the thread's values would change: as find_change(), but without a page, no key has a value. */
static int check_change(const char *key, const char *value)
{
	const struct rec_context *context = rec_thread_context;
	uint64_t valid;
	uint32_t old;
	int place;

	if (!context)
		return *value ? 0 : -EALREADY;
	do {
		valid = rec_load_relaxed(&context->valid);
		rec_signal_fence();
		place = find_change(context, valid, key, value, &old);
		rec_signal_fence();
	} while (rec_load_relaxed(&context->valid) != valid);
	return place;
}

/*
 * Give the key of a new cell the cell's value. Returns the same values as find_change(). The cell is then in use, or
 * free again.
 */
static int put_cell(struct rec_context *context, const struct cell *cell)
{
	const uint32_t number = (uint32_t)(cell - context->cells);
	uint64_t valid, next;
	uint32_t old;
	int place;

	do {
		valid = rec_load_relaxed(&context->valid);
		rec_signal_fence();
		place = find_change(context, valid, cell->key, cell->value, &old);
		rec_signal_fence();
		next = valid;
		if (place >= 0) {
			next &= ~((uint64_t)CELL_MASK << ((unsigned int)place * CELL_BITS));
			next |= (uint64_t)(number + 1) << ((unsigned int)place * CELL_BITS);
			next += UINT64_C(1) << CHANGE_SHIFT;
		}
	} while (!rec_local_cmpxchg64(&context->valid, valid, next));
	if (place < 0)
		free_cell(context, number);
	else if (old)
		free_cell(context, old - 1);
	return place;
}

/*
 * Write the value of a key. `begins`: the value begins with this record, unless a handler has set the key meanwhile, so
 * that another cell has its value. If a handler changes the value before the record is reserved, the record is not
 * written, because it would follow that of the new value. If the handler comes later, the order is right.
 */
static void write_record(const struct rec_context *context, unsigned int key, uint32_t begins)
{
	struct rec_event *event = rec_load_acquire(&context_event);
	struct rec_handle *handle;
	unsigned char *record;
	struct rec_slot slot;
	struct cell cell;
	uint64_t valid;

	while (event && rec_event_on(event) && copy_cell(context, key, &cell, &valid)) {
		if (begins && cell_of(valid, key) != begins)
			return;
		handle = rec_handle_get();
		record = handle ? rec_reserve(handle, record_size(&cell), &slot) : NULL;
		if (!record)
			return;
		if (rec_load_relaxed(&context->valid) == valid) {
			fill_record(rec_put_common(record, handle, rec_event_id(event)), &cell, !begins);
			rec_event_finish(rec_event_condition(rec_load_relaxed(&event->enabled)), &slot, record,
					 record_size(&cell));
			return;
		}
		rec_discard(&slot, record);
	}
}

/* ----------------------------------------------------------------------------------------------- writing them again */

static void write_all(const struct rec_context *context)
{
	for (unsigned int key = 0; key < KEYS; key++)
		write_record(context, key, 0);
}

/*
 * All values take less than half of the smallest sub-buffer. So if they do not fit into the rest of this sub-buffer,
 * they are written once more at the beginning of the next one, where they fit.
 */
void rec_context_repeat(struct rec_handle *handle)
{
	const struct rec_context *context = rec_thread_context;

	/*
	 * A handler may have moved this thread to another lane. Then the handle may already be another thread's, whose
	 * own values have to be written.
	 */
	if (handle == rec_thread_handle)
		rec_store_relaxed(&handle->leave, NULL);
	rec_signal_fence();
	if (context)
		write_all(context);
}

_Static_assert(KEYS * (REC_RESTATE_SIZE + 8 + REC_EVENT_COMMON_SIZE + sizeof(struct cell)) < REC_SUBBUF_MIN / 2,
	       "the values fit");

void rec_context_repeat_shared(uint32_t slot, uint32_t lane, uint64_t entered, uint32_t nr_subbufs)
{
	const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct rec_context *context = rec_thread_context;
	struct shared *shared = context ? &context->shared[slot] : NULL;
	uint64_t part = nr_subbufs / SHARED_PART;

	if (!shared || (shared->lane == lane + 1 && entered - shared->entered < (part ? part : 1)))
		return;
	/* Each of the records may go to another lane. A writer whose stack frame is gone never returns. */
	if (context->repeating && !rec_ring_is_left(context->repeating, here))
		return;
	context->repeating = here;
	*shared = (struct shared){ .entered = entered, .lane = lane + 1 };
	rec_signal_fence();
	write_all(context);
	rec_signal_fence();
	context->repeating = 0;
}

/* ---------------------------------------------------------------------------------------------------------- setting */

static bool is_key(const char *key)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t size;

	if (!key || !*key || (*key >= '0' && *key <= '9'))
		return false;
	size = strnlen(key, REC_CONTEXT_KEY_MAX + 1);
	return size <= REC_CONTEXT_KEY_MAX && strspn(key, letters) == size;
}

/* Find or make the thread's page. NULL: no memory. */
static struct rec_context *get_context(void)
{
	const int saved = errno;
	struct rec_context *none = NULL, *made;
	struct rec_handle *handle;

	if (rec_thread_context)
		return rec_thread_context;
	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		made = NULL;
	rec_thread_watch_end();
	errno = saved;
	/* A signal handler may have done this before. */
	if (!__atomic_compare_exchange_n(&rec_thread_context, &none, made, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
	    made)
		munmap(made, sizeof(*made));
	handle = rec_thread_handle;
	if (rec_thread_context && handle->lane && !rec_share_is_handle(handle))
		handle->entered = rec_context_repeat;
	return rec_thread_context;
}

int rec_context_set(const char *key, const char *value)
{
	struct rec_event *event = rec_load_acquire(&context_event);
	struct rec_context *context;
	struct rec_handle *handle;
	struct cell *cell;
	size_t value_size;
	bool is_on;
	int place, r;

	value = value ? value : "";
	value_size = strnlen(value, REC_CONTEXT_VALUE_MAX + 1);
	if (!is_key(key))
		return -EINVAL;
	if (value_size > REC_CONTEXT_VALUE_MAX)
		return -E2BIG;
	r = event ? 0 : declare(&event);
	if (r < 0)
		return r;
	if (event == &never)
		return -ENXIO;
	/* Without a change there is no event, for which a lane would be leased, or which would be lost. */
	r = check_change(key, value);
	if (r < 0)
		return r == -EALREADY ? 0 : r;
	is_on = rec_event_on(event);
	handle = is_on ? rec_handle_get() : NULL;
	context = get_context();
	if (!context)
		return -ENOMEM;
	/* If the old values are due, write them first: in a new lane, or after a handler has filled a sub-buffer. */
	if (handle && handle->leave == rec_context_repeat)
		rec_context_repeat(handle);
	cell = take_cell(context);
	if (!cell)
		return -EBUSY;
	cell->since = rec_clock_mono();
	cell->key_size = (uint32_t)strlen(key) + 1;
	cell->value_size = (uint32_t)value_size + 1;
	memcpy(cell->key, key, cell->key_size);
	memcpy(cell->value, value, cell->value_size);
	place = put_cell(context, cell);
	if (place < 0)
		return place == -EALREADY ? 0 : place;
	/* Without a lane the event is counted as lost already. */
	if (handle || !is_on)
		write_record(context, (unsigned int)place, (uint32_t)(cell - context->cells) + 1);
	return 0;
}

void rec_context_moved(void)
{
	struct rec_context *context = rec_thread_context;

	if (rec_load_relaxed(&context_event) == &never)
		rec_store_relaxed(&context_event, NULL);
	if (!context)
		return;
	memset(context->shared, 0, sizeof(context->shared));
	context->repeating = 0;
}

void rec_context_end(void)
{
	struct rec_context *context = rec_thread_context;
	const int saved = errno;
	struct cell cell;
	uint64_t valid;

	if (!context)
		return;
	for (unsigned int key = 0; rec_thread_handle->lane && key < KEYS; key++)
		if (copy_cell(context, key, &cell, &valid))
			rec_context_set(cell.key, NULL);
	rec_thread_context = NULL;
	rec_signal_fence();
	munmap(context, sizeof(*context));
	errno = saved;
}
