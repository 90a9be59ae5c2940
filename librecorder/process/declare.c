/* SPDX-License-Identifier: MIT */
/* Events without macros, for other languages. */
#include <librecorder/ffi.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "librecorder/core/event_text_private.h"
#include "librecorder/process/declared.h"
#include "librecorder/process/event_private.h"

/* Keep the data of the fields that rec_fields_begin() and the other functions need. */
static void keep_fields(struct declared *declared, const struct rec_event_info *info)
{
	declared->nr_fields = info->nr_fields;
	declared->fixed_size = info->fixed_size;
	for (uint32_t i = 0; i < info->nr_fields; i++)
		declared->fields[i] = (struct declared_field){
			.kind = (uint8_t)info->fields[i].kind,
			.is_signed = info->fields[i].is_signed,
			.decimals = (uint8_t)info->fields[i].decimals,
			.element = (uint8_t)info->fields[i].element,
			.length = info->fields[i].length,
			.offset = info->fields[i].offset,
		};
}

int rec_event_declare(const char *system, const char *declaration, const int64_t *constants, unsigned int nr_constants,
		      struct rec_event **ret_event)
{
	const size_t system_size = strlen(system) + 1, declaration_size = strlen(declaration) + 1;
	const size_t numbers_size = (1 + (size_t)nr_constants) * sizeof(int64_t);
	const size_t text_size = system_size + declaration_size;
	const size_t size = (sizeof(struct rec_log_event) + numbers_size + text_size + 7) & ~(size_t)7;
	struct declared *declared;
	struct rec_log_event *description;
	struct rec_event_info info;
	uint32_t fixed_size = 0;
	int r;

	if (size > REC_EVENT_TEXT_MAX)
		return -EINVAL;
	declared = calloc(1, offsetof(struct declared, description) + size);
	if (!declared)
		return -ENOMEM;
	description = &declared->description;
	description->record = (struct rec_log_record){ .size = (uint32_t)size, .kind = REC_LOG_EVENT };
	description->nr_numbers = 1 + nr_constants;
	description->text_size = (uint32_t)text_size;
	if (nr_constants)
		memcpy(declared->numbers + 1, constants, nr_constants * sizeof(int64_t));
	memcpy((char *)declared->numbers + numbers_size, system, system_size);
	memcpy((char *)declared->numbers + numbers_size + system_size, declaration, declaration_size);
	if (rec_event_measure(description, &fixed_size) == 0)
		declared->numbers[0] = fixed_size;
	if (rec_event_parse(description, &info) < 0) {
		free(declared);
		return -EINVAL;
	}
	keep_fields(declared, &info);
	declared->event.enabled = &declared->event.off;
	declared->event.description = description;
	declared->event.abi = REC_EVENT_ABI;
	r = rec_event_try_register(&declared->event);
	if (r == 0 && declared->event.enabled == &declared->event.off) {
		rec_event_unregister(&declared->event);
		r = -ENOSPC;
	}
	if (r < 0) {
		free(declared);
		return r;
	}
	*ret_event = &declared->event;
	return 0;
}

/* Declare one part of a span (abi.h): "WORD:_NAME_WORD,DECLARATION". */
static int declare_part(const char *system, const char *part, const char *declaration, const int64_t *constants,
			unsigned int nr_constants, struct rec_event **ret_event)
{
	const size_t name = strcspn(declaration, " \t,"), size = strlen(declaration) + name + 2 * strlen(part) + 5;
	char *text = malloc(size);
	int r;

	if (!text)
		return -ENOMEM;
	snprintf(text, size, "%s:_%.*s_%s,%s", part, (int)name, declaration, part, declaration);
	r = rec_event_declare(system, text, constants, nr_constants, ret_event);
	free(text);
	return r;
}

int rec_span_declare(const char *system, const char *declaration, const int64_t *constants, unsigned int nr_constants,
		     struct rec_event **ret_begin, struct rec_event **ret_end)
{
	struct rec_event *begin, *end;
	int r;

	declaration += strspn(declaration, " \t");
	if (strlen(declaration) > REC_EVENT_TEXT_MAX)
		return -EINVAL;
	r = declare_part(system, "begin", declaration, constants, nr_constants, &begin);
	if (r == 0)
		r = declare_part(system, "end", declaration, constants, nr_constants, &end);
	if (r < 0)
		return r;
	*ret_begin = begin;
	*ret_end = end;
	return 0;
}

/* The size of an event's common and fixed fields, which is the first of its numbers (abi.h). */
static uint64_t fixed_size_of(const struct rec_event *event)
{
	int64_t fixed_size;

	memcpy(&fixed_size, event->description + 1, sizeof(fixed_size));
	return (uint64_t)fixed_size;
}

int rec_event_write(struct rec_event *event, const void *fields, size_t size)
{
	struct rec_handle *handle;
	struct rec_slot slot;
	unsigned char *record;

	if (!rec_event_on(event))
		return 0;
	if (size < fixed_size_of(event) - REC_EVENT_COMMON_SIZE)
		return -EINVAL;
	handle = rec_handle_get();
	if (!handle)
		return -EBUSY;
	if (size > REC_EVENT_SIZE_MAX - REC_EVENT_COMMON_SIZE) {
		rec_event_too_long(handle);
		return -EBUSY;
	}
	record = rec_reserve(handle, (uint32_t)(REC_EVENT_COMMON_SIZE + size), &slot);
	if (!record)
		return -EBUSY;
	memcpy(rec_put_common(record, handle, rec_event_id(event)), fields, size);
	if (rec_event_finish(rec_event_condition(rec_load_relaxed(&event->enabled)), &slot, record,
			     REC_EVENT_COMMON_SIZE + size) < 0)
		return -EBUSY;
	return 1;
}

void rec_event_too_long(struct rec_handle *handle)
{
	struct rec_slot slot;

	/* The reservation refuses the event and counts it in the right lane. */
	(void)rec_reserve(handle, REC_SUBBUF_MAX + 1, &slot);
}
