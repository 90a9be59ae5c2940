/* SPDX-License-Identifier: MIT */
/*
 * See sql_sort.h. Many keys are distributed by their lowest byte, then by the next one, and so on; each pass keeps the
 * order of the one before. Bytes that are the same in all keys need no pass.
 */
#include "format/sql/sql_sort.h"

#include "format/sql/sql_trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SIGN	 (UINT64_C(1) << 63)
#define BYTES	 8u
#define VALUES	 256u
#define FEW_KEYS 4096u

/* A pass looks for an interrupt each time it has handled this many keys, which takes some milliseconds. */
#define KEYS_A_CHECK (1u << 20)

uint64_t sql_key_of_int(int64_t value)
{
	return (uint64_t)value ^ SIGN;
}

uint64_t sql_key_of_double(double value)
{
	uint64_t bits;

	/* -0 becomes 0. */
	value = value < 0 || value > 0 ? value : 0;
	memcpy(&bits, &value, sizeof(bits));
	return bits & SIGN ? ~bits : bits | SIGN;
}

double sql_key_double(uint64_t key)
{
	const uint64_t bits = key & SIGN ? key & ~SIGN : ~key;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool ends(sqlite3 *db, size_t i)
{
	return i % KEYS_A_CHECK == 0 && sql_is_interrupted(db);
}

static unsigned int byte_of(uint64_t key, unsigned int byte)
{
	return (unsigned int)(key >> 8 * byte) & (VALUES - 1);
}

/* How many keys have each value of each byte. */
static int count(sqlite3 *db, const uint64_t *keys, size_t nr, size_t counts[BYTES][VALUES])
{
	for (size_t i = 0; i < nr; i++) {
		if (ends(db, i))
			return -EINTR;
		for (unsigned int byte = 0; byte < BYTES; byte++)
			counts[byte][byte_of(keys[i], byte)]++;
	}
	return 0;
}

static int distribute(sqlite3 *db, const uint64_t *from, uint64_t *to, size_t nr, unsigned int byte,
		      const size_t counts[VALUES])
{
	size_t places[VALUES], place = 0;

	for (unsigned int value = 0; value < VALUES; value++) {
		places[value] = place;
		place += counts[value];
	}
	for (size_t i = 0; i < nr; i++) {
		if (ends(db, i))
			return -EINTR;
		to[places[byte_of(from[i], byte)]++] = from[i];
	}
	return 0;
}

int sql_sort(sqlite3 *db, uint64_t **keys, size_t nr)
{
	size_t counts[BYTES][VALUES] = { 0 };
	uint64_t *from = *keys, *to;
	int err;

	if (nr < FEW_KEYS) {
		qsort(from, nr, sizeof(*from), by_key);
		return 0;
	}
	to = reallocarray(NULL, nr, sizeof(*to));
	if (!to)
		return -ENOMEM;
	err = count(db, from, nr, counts);
	for (unsigned int byte = 0; !err && byte < BYTES; byte++) {
		uint64_t *const other = to;

		if (counts[byte][byte_of(from[0], byte)] == nr)
			continue;
		err = distribute(db, from, to, nr, byte, counts[byte]);
		to = from;
		from = other;
	}
	free(to);
	*keys = from;
	return err;
}
