/* SPDX-License-Identifier: MIT */
#include "ledger.h"

#include <criterion/criterion.h>
#include <string.h>

/* The size is in the number's top 16 bits. */
#define SIZE_SHIFT 48

struct ledger ledger_new(uint32_t pages, bool overwrite)
{
	return (struct ledger){ .ring = ring_new(pages, 4096, overwrite) };
}

static unsigned char byte_of(uint64_t number)
{
	return (unsigned char)(number * 31 + 7);
}

/* memset() has few instructions, which saves time under the trap flag. */
static void fill(unsigned char *payload, uint64_t number, uint32_t size)
{
	memcpy(payload, &number, sizeof(number));
	memset(payload + sizeof(number), byte_of(number), size - sizeof(number));
}

static bool is_intact(const unsigned char *payload, uint64_t number, uint32_t size)
{
	uint32_t i;

	for (i = sizeof(number); i < size; i++)
		if (payload[i] != byte_of(number))
			return false;
	return true;
}

/* The addition is one instruction: writers are interrupted by others between any two instructions. */
static uint64_t count(uint64_t *counter)
{
	return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

void *ledger_reserve(struct ledger *ledger, uint32_t size, struct rec_slot *ret_slot)
{
	const uint64_t number = count(&ledger->next);
	void *payload = rec_reserve(&ledger->ring->handle, size, ret_slot);

	if (payload)
		fill(payload, number | (uint64_t)size << SIZE_SHIFT, size);
	else
		count(&ledger->refused);
	return payload;
}

void ledger_commit(struct ledger *ledger, const struct rec_slot *slot)
{
	count(&ledger->written);
	rec_commit(slot);
}

void ledger_discard(struct ledger *ledger, const struct rec_slot *slot, void *payload)
{
	(void)ledger;
	rec_discard(slot, payload);
}

bool ledger_write(struct ledger *ledger, uint32_t size)
{
	struct rec_slot slot;

	if (!ledger_reserve(ledger, size, &slot))
		return false;
	ledger_commit(ledger, &slot);
	return true;
}

unsigned int ledger_write_some(struct ledger *ledger, unsigned int events, uint32_t size)
{
	unsigned int written = 0;

	while (written < events && ledger_write(ledger, size))
		written++;
	return written;
}

static void enter_event(struct ledger *ledger, const struct rec_record *record)
{
	uint64_t number = 0;
	uint32_t size;

	cr_assert_geq(record->size, 8);
	memcpy(&number, record->payload, sizeof(number));
	size = (uint32_t)(number >> SIZE_SHIFT);
	cr_assert_leq(size, record->size);
	cr_assert(is_intact(record->payload, number, size), "a payload is damaged");
	number &= (UINT64_C(1) << SIZE_SHIFT) - 1;
	cr_assert_lt(number, ledger->next);
	if (!ledger->nested)
		cr_assert_geq(number, ledger->last, "event %llu after %llu", (unsigned long long)number,
			      (unsigned long long)ledger->last);
	ledger->last = number + 1;
	cr_assert_geq(record->time, ledger->time, "time went back");
	ledger->time = record->time;
}

void ledger_enter(struct ledger *ledger, const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t events = 0;
	int r;

	rec_page_iter_init(&iter, page->data, page->size);
	while ((r = rec_page_next(&iter, &record)) > 0) {
		if (record.offset < page->from)
			continue;
		enter_event(ledger, &record);
		events++;
	}
	cr_assert_eq(r, 0, "a page is damaged");
	cr_assert_eq(events, page->entries);
	ledger->read += events;
	ledger->lost += page->lost;
}

int ledger_read(struct ledger *ledger, bool whole_only)
{
	struct rec_page page;
	const int r = rec_ring_read(&ledger->ring->reader, whole_only, &page);

	if (r > 0)
		ledger_enter(ledger, &page);
	return r;
}

void ledger_close(struct ledger *ledger)
{
	int r;

	while ((r = ledger_read(ledger, false)) > 0)
		;
	cr_assert_eq(r, 0, "%d", r);
	cr_assert_eq(ledger->ring->handle.lane->broken, 0);
	ledger->lost += ring_unreported(ledger->ring);
	cr_assert_eq(ledger->read + ledger->lost, ledger->written + ledger->refused,
		     "%llu read, %llu lost; %llu written, %llu refused", (unsigned long long)ledger->read,
		     (unsigned long long)ledger->lost, (unsigned long long)ledger->written,
		     (unsigned long long)ledger->refused);
	ring_free(ledger->ring);
	ledger->ring = NULL;
}
