/* SPDX-License-Identifier: MIT */
/*
 * What the writer of a trace.dat needs from a compressor: it takes the pages of each CPU, called a track, holds them
 * compressed, and puts them into the file at the end. dat_pack.h has a compressor; the writer itself knows no
 * algorithm.
 */
#ifndef FORMAT_DAT_PACKER_H
#define FORMAT_DAT_PACKER_H

#include <stdbool.h>
#include <stdint.h>

struct blob;
struct dat_packer;

/* Functions return 0 or -errno. The first error of a packer is permanent. */
struct dat_packer_ops {
	/* Add a track; tracks are numbered from 0. */
	int (*add)(struct dat_packer *packer, unsigned int *ret_track);
	/* Add whole pages to a track. They are copied. */
	int (*put)(struct dat_packer *packer, unsigned int track, const void *pages, uint32_t size);
	/* Wait until everything is compressed. No page may be added afterwards. */
	int (*complete)(struct dat_packer *packer);
	/* Bytes of the pages that a track has so far. */
	uint64_t (*plain)(struct dat_packer *packer, unsigned int track);
	/* Bytes that the track takes in the file, including the number of its chunks; valid after complete(). */
	uint64_t (*packed)(struct dat_packer *packer, unsigned int track);
	/* Write a track to a file. */
	int (*copy)(struct dat_packer *packer, unsigned int track, int fd, uint64_t offset);
	/* Append a frame with these bytes. */
	int (*frame)(struct dat_packer *packer, const void *plain, uint32_t size, struct blob *out);
	void (*close)(struct dat_packer *packer);
};

struct dat_packer {
	const struct dat_packer_ops *ops;
	const char *name; /* as in the prologue: "zstd" */
	const char *version;
};

/* How to make a packer. */
struct dat_packing {
	/*
	 * Makes a packer whose scratch file is in the directory of `near`. `tracks` is an estimate that divides the
	 * memory; `swapped`: the file's numbers are in the order that is not the machine's.
	 */
	int (*open)(const struct dat_packing *packing, const char *near, unsigned int tracks, bool swapped,
		    struct dat_packer **ret_packer);
	int level; /* level of the algorithm */
	uint32_t chunk_size; /* bytes of pages in a chunk: a power of two, at least 64 KiB */
	unsigned int threads; /* maximum number of threads; 0: only the caller's thread compresses */
};

#endif
