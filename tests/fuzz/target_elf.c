/* SPDX-License-Identifier: MIT */
/* A target of libfuzzer.sh: an ELF file of any bytes, whose events are read, and parsed as those of a program. */
#include "cli/recording/elf_events.h"

#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const void *log, size_t size)
{
	static char text[REC_EVENT_TEXT_MAX];
	const struct rec_log_record *record;
	const struct rec_log_event *event;
	struct rec_event_info info;
	size_t offset = 0;

	while ((record = rec_log_next(log, size, &offset))) {
		if (record->kind != REC_LOG_EVENT)
			continue;
		event = (const struct rec_log_event *)record;
		if (rec_event_parse(event, &info) == 0)
			rec_event_text(event, event->record.id, text, sizeof(text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	size_t log_size;
	char path[32];
	void *log;

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (elf_events_read(path, &log, &log_size) == 0) {
		parse(log, log_size);
		free(log);
	}
	return 0;
}
