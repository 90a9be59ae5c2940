/* SPDX-License-Identifier: MIT */
/* Open addressing, at most half full. See string_table.h. */
#include "format/export/string_table.h"

#include <stdlib.h>
#include <string.h>

#include "format/io/hash.h"

#define FIRST_SLOTS 64u

static bool grow(struct string_table *table)
{
	const uint32_t nr = table->nr_slots ? table->nr_slots * 2 : FIRST_SLOTS;
	struct string_slot *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < table->nr_slots; i++) {
		uint32_t at = table->slots[i].hash & (nr - 1);

		while (table->slots[i].number && slots[at].number)
			at = (at + 1) & (nr - 1);
		if (table->slots[i].number)
			slots[at] = table->slots[i];
	}
	free(table->slots);
	table->slots = slots;
	table->nr_slots = nr;
	return true;
}

bool string_table_is_full(const struct string_table *table, size_t size)
{
	return table->used == (table->max ? table->max : STRING_TABLE_MAX) ||
	       size > STRING_TABLE_BYTES - table->texts.size;
}

uint32_t string_table_number(struct string_table *table, const void *text, size_t size, bool *ret_new)
{
	const uint32_t hash = (uint32_t)hash_bytes(text, size);
	struct string_slot *slot;
	uint32_t at;

	*ret_new = false;
	if (table->used * 2 >= table->nr_slots && !grow(table))
		return 0;
	for (at = hash & (table->nr_slots - 1); table->slots[at].number; at = (at + 1) & (table->nr_slots - 1)) {
		slot = &table->slots[at];
		if (slot->hash == hash && slot->size == size && !memcmp(table->texts.data + slot->offset, text, size))
			return slot->number;
	}
	if (string_table_is_full(table, size))
		return 0;
	slot = &table->slots[at];
	*slot = (struct string_slot){ hash, (uint32_t)table->texts.size, (uint32_t)size, table->used + 1 };
	blob_put(&table->texts, text, size);
	if (table->texts.error) {
		slot->number = 0;
		return 0;
	}
	table->used++;
	*ret_new = true;
	return slot->number;
}

void string_table_clear(struct string_table *table)
{
	if (table->used)
		memset(table->slots, 0, table->nr_slots * sizeof(*table->slots));
	table->used = 0;
	table->texts.size = 0;
}

void string_table_free(struct string_table *table)
{
	free(table->slots);
	blob_free(&table->texts);
	*table = (struct string_table){ 0 };
}
