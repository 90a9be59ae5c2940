/* SPDX-License-Identifier: MIT */
/* Parts of this program's own buffer. The program is trusted, so the places in the header are, too. */
#ifndef OWN_BUFFER_H
#define OWN_BUFFER_H

#include "librecorder/process/process.h"

#include <librecorder/detail/abi.h>

static inline void *own_part(uint64_t offset)
{
	return (unsigned char *)rec_process_header() + offset;
}

static inline uint32_t *own_words(void)
{
	return own_part(rec_process_header()->enable);
}

static inline struct rec_rules *own_rules(void)
{
	return own_part(rec_process_header()->rules);
}

#endif
