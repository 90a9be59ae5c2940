/* SPDX-License-Identifier: MIT */
/*
 * Compression of trace.dat version 7: zstd, the only one that Debian 12's viewers know (facts trace-dat 1.0); and zlib,
 * which a trace-cmd built without zstd uses, if libz.so.1 is installed.
 */
#ifndef FORMAT_DAT_COMPRESS_H
#define FORMAT_DAT_COMPRESS_H

#include "format/dat/dat_read.h"

/* What dat_open() needs to read compressed files. */
const struct dat_codec *dat_compress_zstd(void);

#endif
