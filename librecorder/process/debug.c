/* SPDX-License-Identifier: MIT */
#include "librecorder/process/debug.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/process.h"

#include <librecorder/version.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool on;
static pid_t reporter;     /* pid of the process that has reported lost events */
static pid_t said_abi; /* pid of the process that has reported events of a newer agreement */

static const char *reason(int err)
{
	switch (-err) {
	case EPERM:
		return "the directory belongs to another user, or others may write to it";
	case ELOOP:
		return "the directory is a symbolic link";
	case ENOENT:
		return "there is no such directory";
	case EINVAL:
		return "the directory is not an absolute path, or a size or the clock is invalid";
	case EACCES:
		return "permission denied";
	case EROFS:
		return "the file system is read-only";
	case ENOMEM:
	case ENOSPC:
		return "no room in the file system, or no memory";
	case EDQUOT:
		return "RECORDER_MAX_KB is used up";
	case EFBIG:
		return "the limit on a file's size is smaller (ulimit -f)";
	case EOPNOTSUPP:
		return "it cannot read clocks any more (PR_SET_TSC)";
	default:
		return strerrordesc_np(-err) ? strerrordesc_np(-err) : "unknown error";
	}
}

/* Prints a line with a single system call: write() would be a cancellation point, which an event is not. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	const int saved = errno;
	char line[512];
	va_list args;
	long n;
	int size;

	va_start(args, format);
	size = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (size >= (int)sizeof(line)) {
		size = (int)sizeof(line) - 1;
		line[size - 1] = '\n';
	}
	n = syscall(SYS_write, STDERR_FILENO, line, (size_t)size);
	(void)n;
	errno = saved;
}

void rec_debug_start(void)
{
	const char *text = secure_getenv("REC_DEBUG");

	on = text && strcmp(text, "1") == 0;
}

void rec_debug_no_buffer(int err)
{
	if (on)
		say("librecorder: process %d records nothing, no buffer in '%.300s': %s\n", (int)getpid(),
		    rec_process_path(), reason(err));
}

void rec_debug_lost(const char *what, int err)
{
	if (!on || rec_load_relaxed(&reporter) == getpid())
		return;
	rec_store_relaxed(&reporter, getpid());
	say("librecorder: process %d loses events, no memory for %s in '%.300s': %s\n", (int)getpid(), what,
	    rec_process_path(), reason(err));
}

void rec_debug_event_abi(unsigned int abi, unsigned int known)
{
	if (!on || rec_load_relaxed(&said_abi) == getpid())
		return;
	rec_store_relaxed(&said_abi, getpid());
	say("librecorder: process %d: events stay off that were compiled for event ABI %u; this is librecorder "
	    "%d.%d.%d, which knows up to %u\n",
	    (int)getpid(), abi, REC_VERSION_MAJOR, REC_VERSION_MINOR, REC_VERSION_PATCH, known);
}

void rec_debug_event_off(const struct rec_log_event *description, const char *why)
{
	const size_t numbers = (size_t)description->nr_numbers * sizeof(int64_t);
	const size_t size = sizeof(*description) + numbers + description->text_size;
	const char *text = (const char *)(description + 1) + numbers;
	const char *end = size <= description->record.size ? text + description->text_size : text;
	const size_t system = strnlen(text, (size_t)(end - text));
	const char *name = text + system + (text + system < end);
	const size_t length = strnlen(name, (size_t)(end - name));
	const char *comma = memchr(name, ',', length);

	if (on)
		say("librecorder: process %d: event %.*s:%.*s stays off: %s\n", (int)getpid(), (int)system, text,
		    (int)(comma ? (size_t)(comma - name) : length), name, why);
}
