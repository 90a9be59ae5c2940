/* SPDX-License-Identifier: MIT */
/* See dat_ids.h. Two formats are the same if they differ only in the line with the id. */
#include "format/dat/dat_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"
#include "format/io/blob.h"
#include "format/io/hash.h"
#include "format/io/number_map.h"

/* Ids of programs' events begin here, those of the kernel are below (trace-dat.md 3.3). */
#define USER_FIRST 16384u
#define USER_LAST  32767u

/* A format in three parts: up to the id, the id, the rest. */
struct text {
	const char *system;
	const char *head;
	size_t head_size;
	uint32_t id;
	const char *tail;
	size_t tail_size;
	uint64_t before; /* 1 + the number of the text before this one with the same hash; 0: none */
};

struct dat_ids {
	struct text *texts; /* the formats, with the ids of the result */
	size_t nr;
	struct number_map by_hash; /* 1 + the number of the last text with this hash */
	bool *used;		   /* by id */
};

int dat_ids_open(struct dat_ids **ret_ids)
{
	struct dat_ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	ids->used = calloc(DAT_IDS, sizeof(*ids->used));
	if (!ids->used) {
		free(ids);
		return -ENOMEM;
	}
	*ret_ids = ids;
	return 0;
}

struct dat_ids *dat_ids_close(struct dat_ids *ids)
{
	if (!ids)
		return NULL;
	number_map_free(&ids->by_hash);
	free(ids->texts);
	free(ids->used);
	free(ids);
	return NULL;
}

/* Split a format into its parts. False: it has no valid line with an id. */
static bool take_apart(const struct dat_format *format, struct text *ret_text)
{
	const char *text = format->text.text;
	const char *at = dat_line_id(text);
	char *end;
	unsigned long id;

	if (!at)
		return false;
	id = strtoul(at, &end, 10);
	if (id >= DAT_IDS)
		return false;
	*ret_text = (struct text){
		.system = format->system,
		.head = text,
		.head_size = (size_t)(at - text),
		.id = (uint32_t)id,
		.tail = end,
		.tail_size = format->text.size - (size_t)(end - text),
	};
	return true;
}

static bool is_same(const struct text *a, const struct text *b)
{
	return a->head_size == b->head_size && a->tail_size == b->tail_size && !strcmp(a->system, b->system) &&
	       !memcmp(a->head, b->head, a->head_size) && !memcmp(a->tail, b->tail, a->tail_size);
}

static uint64_t hash(const struct text *text)
{
	return hash_step(hash_step(hash_bytes(text->system, strlen(text->system)),
				   hash_bytes(text->head, text->head_size)),
			 hash_bytes(text->tail, text->tail_size));
}

/* Find the offset of the type in records, by the first format that has it. */
static int find_offset(const struct dat_file *file, uint32_t *ret_offset)
{
	static const char field[] = " common_type;";
	uint32_t offset, size;

	for (size_t i = 0; i < file->nr_formats; i++) {
		const char *format = file->formats[i].text.text;

		if (!strstr(format, field))
			continue;
		if (!dat_line_field(format, field, &offset, &size) || size != 2)
			return -EBADMSG;
		*ret_offset = offset;
		return 0;
	}
	return file->nr_formats ? -EBADMSG : 0;
}

/* Choose the id of an event in the result: its own one, or the next free id of its kind. */
static int choose_id(const struct dat_ids *ids, uint32_t own, uint32_t *ret_id)
{
	const uint32_t first = own >= USER_FIRST ? USER_FIRST : 1;
	const uint32_t last = own >= USER_FIRST ? USER_LAST : USER_FIRST - 1;
	uint32_t id;

	if (!ids->used[own]) {
		*ret_id = own;
		return 0;
	}
	for (id = last; id >= first; id--) {
		if (!ids->used[id]) {
			*ret_id = id;
			return 0;
		}
	}
	return -ENOSPC;
}

static int add_text(struct dat_ids *ids, const struct text *text, uint32_t *ret_id)
{
	const uint64_t key = hash(text), last = number_map_get(&ids->by_hash, key);
	struct text *texts;
	int err;

	for (uint64_t n = last; n; n = ids->texts[n - 1].before) {
		if (is_same(&ids->texts[n - 1], text)) {
			*ret_id = ids->texts[n - 1].id;
			return 0;
		}
	}
	err = choose_id(ids, text->id, ret_id);
	if (err)
		return err;
	texts = realloc(ids->texts, (ids->nr + 1) * sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	ids->texts = texts;
	err = number_map_set(&ids->by_hash, key, ids->nr + 1);
	if (err)
		return err;
	texts[ids->nr] = *text;
	texts[ids->nr].before = last;
	texts[ids->nr++].id = *ret_id;
	ids->used[*ret_id] = true;
	return 0;
}

int dat_ids_add(struct dat_ids *ids, const struct dat_file *file, struct dat_id_map *ret_map)
{
	struct text text;
	uint32_t id;
	int err = find_offset(file, &ret_map->offset);

	for (size_t i = 0; i < file->nr_formats && !err; i++) {
		if (!take_apart(&file->formats[i], &text))
			return -EBADMSG;
		err = add_text(ids, &text, &id);
		if (!err)
			ret_map->add[text.id] = (uint16_t)(id - text.id);
	}
	return err;
}

int dat_ids_write(const struct dat_ids *ids, struct dat_writer *writer)
{
	struct blob format = BLOB_INIT;
	int err = 0;

	for (size_t i = 0; i < ids->nr && !err; i++) {
		const struct text *text = &ids->texts[i];

		format.size = 0;
		blob_put(&format, text->head, text->head_size);
		blob_printf(&format, "%u", text->id);
		blob_put(&format, text->tail, text->tail_size);
		err = format.error ? format.error
				   : dat_write_format(writer, text->system, (char *)format.data, format.size);
	}
	blob_free(&format);
	return err;
}
