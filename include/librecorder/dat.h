/* SPDX-License-Identifier: MIT */
/*
 * Reads trace.dat files, versions 6 and 7: of recorder, trace-cmd and others. This header belongs to a library of its
 * own, librecorder-dat (pkg-config librecorder-dat), which needs libtraceevent and zstd; files that are compressed
 * with zlib can be read if libz.so.1 is installed.
 *
 * Nothing here prints, and print formats are not parsed. Only one thread at a time may use a file and its iterators;
 * different files are independent. No function is signal-safe. ret_ parameters keep their values if a function fails,
 * except for ret_error, which is set then, and must not be NULL unless the function's comment permits it.
 */
#ifndef LIBRECORDER_DAT_H
#define LIBRECORDER_DAT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct rec_dat;
struct rec_dat_iter;
struct rec_dat_event;
struct rec_dat_field;

/* Why a file cannot be read: one line without the file's name, and the position in the file. */
struct rec_dat_error {
	uint64_t offset;
	char text[192];
};

/*
 * Opens a file and reads everything except the events. Returns 0, or -errno with *ret_error: the errno of open, fstat,
 * pread, mmap or fork (a child process parses formats first); -EBADMSG: the file contradicts itself, or ends
 * before the first event; -EPROTO: this is not a trace.dat; -EPROTONOSUPPORT: an unknown version or compression;
 * -ENOMEM; -EISDIR: a directory; -ESPIPE: not a regular file.
 */
int rec_dat_open(const char *path, struct rec_dat **ret_dat, struct rec_dat_error *ret_error);

/*
 * 1: the file was cut off or never finished, and some of it is missing; *ret_error has the reason (ret_error may be
 * NULL). The events that are there are read as usual. If the description of a buffer is missing, its CPUs are numbered
 * from 0 in the order of the file. 0: nothing is missing, *ret_error is unchanged. Never fails.
 */
int rec_dat_missing(const struct rec_dat *dat, struct rec_dat_error *ret_error);

/*
 * The number of descriptions of event types in the file that cannot be used, because they are malformed or exceed a
 * limit for descriptions. rec_dat_event_find() does not find these types, and their records have no fields. If there
 * are any and ret_first is not NULL, *ret_first is "system:name" of the first one, with a ? in place of each character
 * that is not allowed in names; valid until rec_dat_close(). Never fails.
 */
uint32_t rec_dat_left_out(const struct rec_dat *dat, const char **ret_first);

/* Frees the file and all that belongs to it. Close its iterators first. Accepts NULL; returns NULL. */
struct rec_dat *rec_dat_close(struct rec_dat *dat);

#define REC_DAT_ERROR_UNKNOWN UINT64_MAX

/*
 * The name of the clock, as in "mono"; NULL: the file does not state it. Valid until rec_dat_close(). Never fails.
 */
const char *rec_dat_clock(const struct rec_dat *dat);

/*
 * The largest distance of a time from CLOCK_MONOTONIC in nanoseconds, as the recorder measured it;
 * REC_DAT_ERROR_UNKNOWN: the file does not state it. Never fails.
 */
uint64_t rec_dat_clock_error(const struct rec_dat *dat);

/* 1: numbers in the file's records are big-endian; 0: little-endian. Never fails. */
int rec_dat_is_big_endian(const struct rec_dat *dat);

/* A buffer of the file. The texts are valid until rec_dat_close(). */
struct rec_dat_buffer {
	const char *name;  /* "": the top buffer */
	const char *clock; /* as in the file; NULL: not stated */
	uint32_t page_size;
	uint32_t nr_streams;
};

/*
 * Buffers are numbered from 0 in the order of the file. rec_dat_buffer_at() returns 0; -ENOENT: there is no buffer of
 * this number.
 */
uint32_t rec_dat_nr_buffers(const struct rec_dat *dat);
int rec_dat_buffer_at(const struct rec_dat *dat, uint32_t buffer, struct rec_dat_buffer *ret_buffer);

/* The events of one CPU in a buffer. */
struct rec_dat_stream {
	uint32_t cpu;
	uint64_t offset; /* in the file */
	uint64_t size;	 /* in the file, 0: no events */
};

/* Streams of a buffer are numbered from 0, by CPU. Returns 0; -ENOENT: there is no such buffer or stream. */
int rec_dat_stream_at(const struct rec_dat *dat, uint32_t buffer, uint32_t stream, struct rec_dat_stream *ret_stream);

/* An unknown number of events was lost. */
#define REC_DAT_LOST_UNKNOWN UINT64_MAX

struct rec_dat_record {
	uint64_t ts; /* as recorder report shows it: nanoseconds, unless the clock counts something else */
	uint64_t lost; /* events of this CPU and buffer lost before this one; REC_DAT_LOST_UNKNOWN */
	const void *data; /* begins with the common fields, in the byte order of the file */
	uint32_t size;
	uint32_t cpu;
	uint32_t buffer;
	int32_t id;  /* of the event type; -1: the record has none */
	int32_t tid; /* -1: the record has none */
};

/*
 * Begins before the first record of the file; several iterators may be open. Returns 0; -ENOMEM. The iterator belongs
 * to the caller, who closes it before the file.
 */
int rec_dat_iter_open(struct rec_dat *dat, struct rec_dat_iter **ret_iter);

/*
 * The same, beginning with the first record whose time is not before `since`. Pages before it are not read.
 */
int rec_dat_iter_open_at(struct rec_dat *dat, uint64_t since, struct rec_dat_iter **ret_iter);

/*
 * The same, with the records of one stream only: numbers as in rec_dat_stream_at(). Also -ENOENT: there is no such
 * stream.
 */
int rec_dat_iter_open_stream(struct rec_dat *dat, uint32_t buffer, uint32_t stream, uint64_t since,
			     struct rec_dat_iter **ret_iter);

/* Accepts NULL; returns NULL. */
struct rec_dat_iter *rec_dat_iter_close(struct rec_dat_iter *iter);

/*
 * The next record of all buffers and CPUs by time. If times are equal, the records of the top buffer come first,
 * wherever that buffer is in the file; the others follow by buffer and CPU. Returns 1; 0: there are no more. Nothing is
 * copied: the data are valid until the next call for this iterator. A damaged page does not end the walk: the rest of
 * it is left out, and the next record of its CPU has a loss of unknown number.
 */
int rec_dat_iter_next(struct rec_dat_iter *iter, struct rec_dat_record *ret_record);

/*
 * The number of pages that the iterator found damaged so far. If there are any, *ret_error is the first one's error
 * (ret_error may be NULL). Never fails.
 */
uint64_t rec_dat_iter_damaged(const struct rec_dat_iter *iter, struct rec_dat_error *ret_error);

/*
 * The event type that has this id; NULL: the file describes no such type. Valid until rec_dat_close(), as are its names
 * and fields.
 */
const struct rec_dat_event *rec_dat_event_find(const struct rec_dat *dat, int32_t id);
const char *rec_dat_event_system(const struct rec_dat_event *event);
const char *rec_dat_event_name(const struct rec_dat_event *event);

enum rec_dat_kind {
	REC_DAT_INT,   /* rec_dat_get_int() */
	REC_DAT_FLOAT, /* float or double: rec_dat_get_float() */
	REC_DAT_TEXT,  /* rec_dat_get_bytes(), up to the first NUL */
	REC_DAT_BYTES, /* rec_dat_get_bytes(): arrays, and all else */
};

struct rec_dat_field_info {
	const char *name;
	uint32_t offset;       /* in the record */
	uint32_t size;	       /* size in the record; 0: to the end of the record */
	uint32_t element_size; /* size of an element of an array */
	enum rec_dat_kind kind;
	unsigned char is_signed;
	unsigned char is_array;
	unsigned char is_dynamic; /* the record has at `offset` only the position and size of the contents */
};

/*
 * Fields of an event are numbered from 0: first the common ones. rec_dat_field_find() finds one by its name. Both
 * return NULL if there is no such field. A field, and its name, is valid until rec_dat_close().
 */
const struct rec_dat_field *rec_dat_field_at(const struct rec_dat_event *event, uint32_t number);
const struct rec_dat_field *rec_dat_field_find(const struct rec_dat_event *event, const char *name);
void rec_dat_field_describe(const struct rec_dat_field *field, struct rec_dat_field_info *ret_info);

/*
 * The value of a field in a record of its event. An unsigned value of 64 bits is returned with the same bits. Returns
 * 0; -EINVAL: the field is of another kind; -EBADMSG: the record is too short for it.
 */
int rec_dat_get_int(const struct rec_dat_field *field, const struct rec_dat_record *record, int64_t *ret_value);

/* The same for fields that are float or double. */
int rec_dat_get_float(const struct rec_dat_field *field, const struct rec_dat_record *record, double *ret_value);

/*
 * The contents of a text (without a NUL at the end) or of other bytes, which lie in the record and are valid as long as
 * its data. Numbers in them have the byte order of the file. An array of fixed length is cut at the end of the record.
 * Returns 0; -EINVAL: the field is a number; -EBADMSG: the record is too short.
 */
int rec_dat_get_bytes(const struct rec_dat_field *field, const struct rec_dat_record *record, const void **ret_data,
		      size_t *ret_size);

/*
 * Element `number` of an array of numbers, counted from 0; its size is element_size. Returns 0; -ENOENT: the array
 * has no such element; -EINVAL: the field is not an array, or its elements are not numbers of 1, 2, 4 or 8 bytes;
 * -EBADMSG: the record is too short.
 */
int rec_dat_get_element(const struct rec_dat_field *field, const struct rec_dat_record *record, uint32_t number,
			int64_t *ret_value);

/*
 * The name of a thread; NULL: the file does not state it. Valid until rec_dat_close(). If the file has not saved the
 * name, it is that in the first sched_switch or sched_wakeup that names the thread: the first such call reads the file.
 */
const char *rec_dat_comm(const struct rec_dat *dat, int32_t tid);

/* The process of a thread; -1: the file does not state it. Only files of recorder state it, for threads of programs. */
int32_t rec_dat_process(const struct rec_dat *dat, int32_t tid);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
