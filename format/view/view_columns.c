/* SPDX-License-Identifier: MIT */
/*
 * Writes the columns. A column has one of the numbers of all items of a level, so similar numbers are neighbours, and
 * compress well. Numbers have 7 bits in each byte, the low bits first; times are differences to the item before.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/view/view_write.h"

/* ------------------------------------------------------------------------------------------------------ numbers */

static void put(struct blob *out, uint64_t value)
{
	unsigned char bytes[10];
	size_t nr = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[nr++] = (unsigned char)(value | 0x80);
	bytes[nr++] = (unsigned char)value;
	blob_put(out, bytes, nr);
}

/* Put a signed number in zigzag encoding: small numbers of either sign become small unsigned numbers. */
static void put_signed(struct blob *out, int64_t value)
{
	put(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_begins(struct blob *out, const struct view_trace *trace, const struct view_level *level)
{
	uint64_t last = trace->begin;

	for (size_t i = 0; i < level->nr; i++) {
		put(out, level->items[i].begin - last);
		last = level->items[i].begin;
	}
}

/* ------------------------------------------------------------------------------------------------------- levels */

static void put_values(struct blob *out, const struct view_level *level)
{
	uint64_t last = 0;

	for (size_t i = 0; i < level->nr; i++) {
		put_signed(out, (int64_t)((uint64_t)level->items[i].low - last));
		last = (uint64_t)level->items[i].low;
	}
	for (size_t i = 0; i < level->nr; i++)
		put(out, (uint64_t)level->items[i].high - (uint64_t)level->items[i].low);
}

/* The event that each item is made of, plus one, as the difference from the last one; 1 << 40 if it has no event. */
static void put_events(struct blob *out, const struct view_level *level)
{
	int64_t last = 0;

	for (size_t i = 0; i < level->nr; i++) {
		const int64_t event = level->items[i].event == VIEW_NO_EVENT ? 0 : (int64_t)level->items[i].event + 1;

		put_signed(out, event ? event - last : INT64_C(1) << 40);
		last = event ? event : last;
	}
}

static void put_details(struct blob *out, const struct view_level *level)
{
	for (size_t i = 0; i < level->nr; i++)
		put(out, level->items[i].count == 1 ? level->items[i].last : 0);
}

static void put_last(struct blob *out, const struct view_level *level, enum view_line_kind kind)
{
	for (size_t i = 0; i < level->nr; i++) {
		const struct view_item *item = &level->items[i];

		put(out,
		    kind == VIEW_SPANS && item->count == 1 && item->event != VIEW_NO_EVENT && item->last > item->event
			    ? item->last - item->event
			    : 0);
	}
}

static void put_counts(struct blob *out, const struct view_level *level, enum view_line_kind kind)
{
	for (size_t i = 0; i < level->nr; i++)
		put(out, level->items[i].count);
	for (size_t i = 0; i < level->nr && kind != VIEW_VALUES; i++)
		put(out, level->items[i].count > 1 ? level->items[i].covered : 0);
}

static void put_level(struct blob *out, const struct view_trace *trace, const struct view_row *row,
		      const struct view_line *line, unsigned int k)
{
	const struct view_level *level = &line->levels[k];

	put_begins(out, trace, level);
	if (line->kind == VIEW_VALUES) {
		put_values(out, level);
	} else {
		for (size_t i = 0; i < level->nr; i++)
			put(out, level->items[i].end - level->items[i].begin);
		for (size_t i = 0; i < level->nr; i++)
			put(out, level->items[i].name);
		for (size_t i = 0; i < level->nr; i++)
			put(out, level->items[i].flags);
	}
	if (!k) {
		put_events(out, level);
		if (row->kind == VIEW_WHY)
			put_details(out, level);
		else
			put_last(out, level, line->kind);
		for (size_t i = 0; i < level->nr; i++)
			put(out, level->items[i].cpu);
	}
	if (level->resolution)
		put_counts(out, level, line->kind);
}

static void put_lines(const struct view_trace *trace, const struct view_row *row, struct blob *index, struct blob *out)
{
	static const char *const kinds[] = { "states", "spans", "points", "values", "losses" };

	blob_printf(index, ",\"lines\":[");
	for (size_t l = 0; l < row->nr_lines; l++) {
		const struct view_line *line = &row->lines[l];

		blob_printf(index, "%s{\"kind\":\"%s\",\"depth\":%u,\"levels\":[", l ? "," : "", kinds[line->kind],
			    line->depth);
		for (unsigned int k = 0; k < line->nr_levels; k++) {
			blob_printf(index, "%s[%" PRIu64 ",%zu,%zu]", k ? "," : "", line->levels[k].resolution,
				    line->levels[k].nr, out->size);
			put_level(out, trace, row, line, k);
		}
		blob_printf(index, "]}");
	}
	blob_printf(index, "]");
}

/* --------------------------------------------------------------------------------------------------------- rows */

/* A row, with the keys by which rows are ordered. */
struct place {
	const struct view_row *row;
	uint32_t number;
};

static int by_place(const void *a, const void *b)
{
	const struct view_row *one = ((const struct place *)a)->row, *other = ((const struct place *)b)->row;

	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	if (one->order != other->order)
		return one->order < other->order ? -1 : 1;
	return one < other ? -1 : one > other;
}

/* The first of the sorted places whose row has this parent. */
static size_t first_child(const struct place *places, size_t nr, uint32_t parent)
{
	size_t low = 0;

	while (low < nr) {
		const size_t middle = low + (nr - low) / 2;

		if (places[middle].row->parent < parent)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

struct rows {
	const struct view_trace *trace;
	struct place *places; /* sorted */
	uint32_t *new_numbers;
	uint32_t written;
	struct blob *index, *out;
};

static void put_rows(struct rows *rows, uint32_t parent, int new_parent)
{
	static const char *const kinds[] = { "group", "cpu", "thread", "task", "counter", "state", "keyed", "why" };
	const size_t nr = rows->trace->nr_rows;

	for (size_t i = first_child(rows->places, nr, parent); i < nr && rows->places[i].row->parent == parent; i++) {
		const struct view_row *row = rows->places[i].row;
		const uint32_t number = rows->places[i].number;

		rows->new_numbers[number] = rows->written;
		blob_printf(rows->index, "%s{\"kind\":\"%s\",\"id\":\"%" PRIu64 "\",\"name\":%" PRIu32 ",\"parent\":%d",
			    rows->written++ ? "," : "", kinds[row->kind], row->id, row->name, new_parent);
		put_lines(rows->trace, row, rows->index, rows->out);
		blob_printf(rows->index, "}");
		put_rows(rows, number, (int)rows->new_numbers[number]);
	}
}

static void put_arrows(const struct rows *rows)
{
	const struct view_trace *trace = rows->trace;
	const struct view_arrow *arrows = trace->arrows;
	uint64_t last = trace->begin;

	blob_printf(rows->index, "],\"arrows\":[%zu,%zu,%zu]", trace->nr_arrows, trace->all_arrows, rows->out->size);
	for (size_t i = 0; i < trace->nr_arrows; i++) {
		put(rows->out, arrows[i].from - last);
		last = arrows[i].from;
	}
	for (size_t i = 0; i < trace->nr_arrows; i++)
		put(rows->out, arrows[i].to - arrows[i].from);
	for (size_t i = 0; i < trace->nr_arrows; i++)
		put(rows->out, rows->new_numbers[arrows[i].from_row]);
	for (size_t i = 0; i < trace->nr_arrows; i++)
		put(rows->out, rows->new_numbers[arrows[i].to_row]);
	for (size_t i = 0; i < trace->nr_arrows; i++)
		put(rows->out, arrows[i].kind);
}

int view_pack_columns(const struct view_trace *trace, int effort, struct blob *ret_index, struct blob *ret_packed)
{
	struct blob out = BLOB_INIT;
	struct rows rows = { .trace = trace, .index = ret_index, .out = &out };
	int err;

	rows.places = reallocarray(NULL, trace->nr_rows + 1, sizeof(*rows.places));
	rows.new_numbers = reallocarray(NULL, trace->nr_rows + 1, sizeof(*rows.new_numbers));
	err = rows.places && rows.new_numbers ? 0 : -ENOMEM;
	if (!err) {
		for (size_t i = 0; i < trace->nr_rows; i++)
			rows.places[i] = (struct place){ .row = &trace->rows[i], .number = (uint32_t)i };
		qsort(rows.places, trace->nr_rows, sizeof(*rows.places), by_place);
		blob_printf(ret_index, ",\"rows\":[");
		put_rows(&rows, VIEW_NO_ROW, -1);
		put_arrows(&rows);
		err = out.error ? out.error : view_deflate(out.data, out.size, effort, ret_packed);
	}
	free(rows.places);
	free(rows.new_numbers);
	blob_free(&out);
	return err ? err : ret_index->error;
}
