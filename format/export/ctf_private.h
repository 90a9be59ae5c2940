/* SPDX-License-Identifier: MIT */
/* What the two files of the CTF writer share. Everything is little endian and aligned to bytes. */
#ifndef FORMAT_CTF_PRIVATE_H
#define FORMAT_CTF_PRIVATE_H

#include "format/export/export.h"
#include "format/io/blob.h"

/*
 * The file "metadata": all events for which `used` (by id) is not 0. 0; -ENOMEM.
 */
int ctf_metadata(const struct export_trace *trace, const unsigned char *used, struct blob *metadata);

#endif
