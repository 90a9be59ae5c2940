/* SPDX-License-Identifier: MIT */
/*
 * Pairs of events: the first ones wait in a hash table by key until the second one comes. A key is a number, the text
 * of a field, or the thread.
 */
#include "format/series/series_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/hash.h"

/* The key of an event, for the look-up. */
struct key {
	uint64_t number;
	const char *text;
	uint32_t size;
};

/* Read the key of an event. False: the record ends before it. */
static bool read_key(const struct series_tap *tap, const struct dat_event *event, int32_t tid, struct key *ret_key)
{
	struct export_value value;

	*ret_key = (struct key){ .number = (uint64_t)(int64_t)tid, .text = "" };
	if (!tap->series->has_key)
		return true;
	if (!export_value(tap->field, event->data, event->size, &value))
		return false;
	ret_key->number = value.u;
	if (value.kind == EXPORT_TEXT) {
		ret_key->text = (const char *)value.data;
		ret_key->size = value.size;
		ret_key->number = hash_bytes(ret_key->text, ret_key->size);
	} else if (tap->field->is_signed) {
		ret_key->number = (uint64_t)value.s;
	}
	return true;
}

static struct series_open **chain_of(const struct series *series, uint64_t number)
{
	return &series->chains[hash_number(number) & (series->nr_chains - 1)];
}

/* The link to the open begin with this key; NULL: there is none. */
static struct series_open **find(const struct series *series, const struct key *key)
{
	struct series_open **at = series->nr_chains ? chain_of(series, key->number) : NULL;

	for (; at && *at; at = &(*at)->next) {
		const struct series_open *open = *at;

		if (open->number == key->number && open->size == key->size && !memcmp(open->text, key->text, key->size))
			return at;
	}
	return NULL;
}

static int grow(struct series *series)
{
	struct series_open **before = series->chains;
	const size_t nr = series->nr_chains;

	series->nr_chains = nr ? 2 * nr : 64;
	series->chains = calloc(series->nr_chains, sizeof(struct series_open *));
	if (!series->chains) {
		series->chains = before;
		series->nr_chains = nr;
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		while (before[i]) {
			struct series_open *open = before[i], **to = chain_of(series, open->number);

			before[i] = open->next;
			open->next = *to;
			*to = open;
		}
	}
	free(before);
	return 0;
}

static int add(struct series *series, const struct key *key, const struct dat_event *event, int32_t tid)
{
	struct series_open *open, **to;

	if (series->nr_open >= series->nr_chains && grow(series))
		return -ENOMEM;
	open = malloc(sizeof(*open) + key->size);
	if (!open)
		return -ENOMEM;
	to = chain_of(series, key->number);
	open->next = *to;
	open->begin = event->ts;
	open->raw = event->raw;
	open->tid = tid;
	open->number = key->number;
	open->size = key->size;
	memcpy(open->text, key->text, key->size);
	*to = open;
	series->nr_open++;
	return 0;
}

int series_pair_begin(const struct series_tap *tap, const struct dat_event *event, int32_t tid)
{
	struct series *series = tap->series;
	struct series_open **at;
	struct key key;

	if (!read_key(tap, event, tid, &key))
		return 0;
	at = find(series, &key);
	if (!at)
		return add(series, &key, event, tid);
	series->counts.no_end++;
	(*at)->begin = event->ts;
	(*at)->raw = event->raw;
	(*at)->tid = tid;
	return 0;
}

/*
 * Whether an event of the pair may be missing between two events: events of its kind were lost, or the file notes that
 * none were recorded for a time. A loss may be reported only after the pair, with a later event of the same lane or
 * CPU, but the file's notes have its time. Only for two events of a program on one thread are the notes not needed: the
 * second one reports what the thread's lane has lost before.
 */
static bool is_cut(const struct series *series, const struct series_open *open, const struct dat_event *end)
{
	const struct series_set *set = series->set;
	const struct event_table *table = set->table;
	const uint64_t from = open->raw, to = end->raw;

	if (series->has_programs && (set->program_loss_ts > open->begin ||
				     ((series->has_key || series->has_kernel) &&
				      dat_losses_between(&table->program_losses, from, to)) ||
				     dat_losses_between(&table->absent.no_programs, from, to)))
		return true;
	if (series->has_kernel &&
	    (set->kernel_loss_ts > open->begin || dat_losses_between(&table->kernel_losses, from, to) ||
	     dat_losses_between(&table->absent.no_kernel, from, to)))
		return true;
	return series->has_switches && dat_losses_between(&table->absent.no_switches, from, to);
}

int series_pair_end(const struct series_tap *tap, const struct dat_event *event, int32_t tid)
{
	struct series *series = tap->series;
	struct series_point point = { .end = event->ts, .end_tid = tid, .cpu = event->cpu };
	struct series_open **at, *open;
	struct key key;
	bool cut;

	if (!read_key(tap, event, tid, &key))
		return 0;
	at = find(series, &key);
	if (!at) {
		series->counts.no_begin += !series->is_period;
		return 0;
	}
	open = *at;
	*at = open->next;
	series->nr_open--;
	point.begin = open->begin;
	point.tid = open->tid;
	point.value = (int64_t)(point.end - point.begin);
	cut = is_cut(series, open, event);
	free(open);
	if (cut) {
		series->counts.cut++;
		return 0;
	}
	return series_give(series, &point);
}

void series_pairs_stop(struct series *series)
{
	series->counts.no_end += series->is_period ? 0 : series->nr_open;
}

void series_pairs_free(struct series *series)
{
	for (size_t i = 0; i < series->nr_chains; i++) {
		while (series->chains[i]) {
			struct series_open *open = series->chains[i];

			series->chains[i] = open->next;
			free(open);
		}
	}
	free(series->chains);
}
