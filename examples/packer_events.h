/* SPDX-License-Identifier: MIT */
/*
 * The events of packer: what happens to a file on its way through the program. `file` is its number; it ties the events
 * of one file together, and KernelShark's latency plot needs such a field to pair compress_begin with compress_end.
 */
#ifndef PACKER_EVENTS_H
#define PACKER_EVENTS_H

#include <errno.h>
#include <librecorder/event.h>

enum queue_op { QUEUE_PUT, QUEUE_TAKE };
enum step { STEP_WALK, STEP_OPEN, STEP_READ, STEP_COMPRESS, STEP_WRITE };

REC_EVENT(packer, open, u32(file), u64(size), string(path));
REC_EVENT(packer, read, u32(file), u64(bytes), u64(ns));
REC_EVENT(packer, queue, named(op, QUEUE_PUT, QUEUE_TAKE), u32(file), u32(depth));
REC_EVENT(packer, compress_begin, u32(file), u64(in), s32(level));
REC_EVENT(packer, compress_end, u32(file), u64(in), u64(out), real(ratio, 3));
REC_EVENT(packer, write, u32(file), u64(bytes), u64(offset));
REC_EVENT(packer, error, named(step, STEP_WALK, STEP_OPEN, STEP_READ, STEP_COMPRESS, STEP_WRITE),
	  named(err, EPERM, ENOENT, EIO, ENOMEM, EACCES, EINVAL, EFBIG, ENOSPC, ELOOP), string(path));
REC_EVENT(packer, done, u64(files), u64(in), u64(out));

/*
 * packer also counts each event where it records it, and prints the counts at its end: the tests compare recordings
 * with these. A program that is not a test does not need this.
 */
enum tally {
	TALLY_OPEN,
	TALLY_READ,
	TALLY_QUEUE,
	TALLY_COMPRESS_BEGIN,
	TALLY_COMPRESS_END,
	TALLY_WRITE,
	TALLY_ERROR,
	TALLY_DONE,
	NR_TALLIES
};

void tally(enum tally event);

#endif
