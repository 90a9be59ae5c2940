/* SPDX-License-Identifier: MIT */
/*
 * One set of event ids for several files: events of the same system, name and fields have one id in the result, and
 * events that differ have different ones. An event keeps its id if no earlier file uses it for another event.
 */
#ifndef FORMAT_DAT_IDS_H
#define FORMAT_DAT_IDS_H

#include "format/dat/dat_read.h"
#include "format/dat/dat_write.h"

#define DAT_IDS 65536u

struct dat_ids;

/* The place of the id in the records of a file, and by how much each id changes. */
struct dat_id_map {
	uint32_t offset;       /* offset of common_type, which has two bytes */
	uint16_t add[DAT_IDS]; /* to each id, modulo 65536; 0 for an id without a format */
};

/* 0; -ENOMEM. dat_ids_close() takes NULL and returns NULL. */
int dat_ids_open(struct dat_ids **ret_ids);
struct dat_ids *dat_ids_close(struct dat_ids *ids);

/*
 * Take the formats of a file, which must stay open, into a map that is zeroed. 0; -ENOMEM; -ENOSPC: no id is left;
 * -EBADMSG: a format has no id from 0 to 65535, or its id is not two bytes of the record.
 */
int dat_ids_add(struct dat_ids *ids, const struct dat_file *file, struct dat_id_map *ret_map);

/* Write the formats of the result. 0, -ENOMEM. */
int dat_ids_write(const struct dat_ids *ids, struct dat_writer *writer);

#endif
