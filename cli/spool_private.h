/* SPDX-License-Identifier: MIT */
/* What spool.c and spool_kernel.c have of each other. */
#ifndef CLI_SPOOL_PRIVATE_H
#define CLI_SPOOL_PRIVATE_H

#include "cli/spool.h"

/*
 * Write the chunk behind all others and take it into the model; magic and next are filled in. 0 or as
 * spool_add_page().
 */
int spool_append_chunk(struct spool *spool, struct spool_chunk *chunk, const void *payload);

/* Take a SPOOL_TEXT chunk into the model. 0, -ENOMEM, -EBADMSG. */
int spool_note_text(struct spool_entry *entry, const struct spool_chunk *chunk, const char *payload);
void spool_free_texts(struct spool_entry *entry);

#endif
