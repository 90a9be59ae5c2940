/* SPDX-License-Identifier: MIT */
#include "cli/report/report_thread.h"

#include <librecorder/context.h>
#include <librecorder/filter.h>
#include <stdio.h>
#include <string.h>

/* Sizes of the fields, which begin at REPORT_THREAD_AT. A value that is longer than programs can set is cut. */
#define TGID_SIZE    4u
#define PROCESS_SIZE 60u
#define VALUE_SIZE   (REC_CONTEXT_VALUE_MAX + 1)
#define VALUES_AT    (TGID_SIZE + PROCESS_SIZE)
#define KEYS_MAX     ((REPORT_THREAD_SIZE - VALUES_AT) / VALUE_SIZE)

_Static_assert(KEYS_MAX <= REC_FIELDS_MAX, "report_thread.h: keys");
_Static_assert(REPORT_THREAD_AT + REPORT_THREAD_SIZE <= UINT16_MAX, "struct rec_condition_step: offset");

/* Whether filters have this field only if it is described. The CPU, for example, is a field of any record. */
static bool is_free(const char *name)
{
	static const struct rec_event_info no_fields;
	_Alignas(8) unsigned char condition[REC_CONDITION_MAX];
	struct rec_condition *compiled = (struct rec_condition *)(void *)condition;
	struct rec_filter_error error;
	char text[128];

	snprintf(text, sizeof(text), "%s == \"\"", name);
	return rec_filter_compile_fields(&no_fields, REC_FILTER_ABSENT_IS_FALSE, text, compiled, sizeof(condition),
					 &error) > 0 &&
	       rec_filter_absent(compiled, 0) > 0;
}

/* Find the keys that the filter names, each once, in the order of the file. */
static void find_keys(struct report_thread *thread, const char *filter)
{
	for (size_t i = 0; i < thread->contexts->nr_groups && thread->nr_keys < KEYS_MAX; i++) {
		const struct pooled_text *key = thread->contexts->groups[i].key;
		unsigned int known = 0;

		while (known < thread->nr_keys && thread->keys[known] != key)
			known++;
		if (known == thread->nr_keys && key->size && report_event_is_named(filter, key->text) &&
		    is_free(key->text))
			thread->keys[thread->nr_keys++] = key;
	}
}

int report_thread_read(struct report_thread *thread, const struct dat_file *file, const struct dat_time *time,
		       struct report_thread_contexts *contexts, const char *filter)
{
	const int err = contexts->are_read ? 0 : event_contexts_open(file, time, thread->table, &contexts->values);

	if (err)
		return err;
	contexts->are_read = true;
	thread->contexts = &contexts->values;
	find_keys(thread, filter);
	return (int)thread->nr_keys;
}

/* Describe a field. False: the filter does not name it, or the event itself has a field of this name. */
static bool add(struct rec_event_info *info, const struct tep_event *type, const char *filter, const char *name,
		struct rec_field field)
{
	if (!report_event_is_named(filter, name) || info->nr_fields >= REC_FIELDS_MAX ||
	    tep_find_any_field((struct tep_event *)(uintptr_t)type, name))
		return false;
	field.name = (struct rec_words){ name, (uint32_t)strlen(name) };
	field.offset += REPORT_THREAD_AT;
	info->fields[info->nr_fields++] = field;
	return true;
}

static struct rec_field text_field(uint32_t offset, uint32_t size)
{
	return (struct rec_field){
		.kind = REC_FIELD_STRING, .offset = offset, .size = size, .element = 1, .length = size
	};
}

bool report_thread_describe(const struct report_thread *thread, const struct tep_event *type, const char *filter,
			    struct rec_event_info *info)
{
	const struct rec_field tgid = {
		.kind = REC_FIELD_SIGNED, .size = TGID_SIZE, .element = TGID_SIZE, .length = 1, .is_signed = true
	};
	bool any = add(info, type, filter, "tgid", tgid);

	any |= add(info, type, filter, "process", text_field(TGID_SIZE, PROCESS_SIZE));
	for (unsigned int i = 0; i < thread->nr_keys; i++)
		any |= add(info, type, filter, thread->keys[i]->text,
			   text_field(VALUES_AT + i * VALUE_SIZE, VALUE_SIZE));
	return any;
}

static void put_text(unsigned char *at, size_t room, const char *text, size_t size)
{
	memcpy(at, text, size < room ? size : room - 1);
}

void report_thread_put(const struct report_thread *thread, int32_t tid, uint64_t ts, unsigned char *fields)
{
	const int32_t process = event_process(thread->table, tid), tgid = process < 0 ? 0 : process;
	const char *name = process < 0 ? "" : event_comm(thread->table, process);
	const struct event_context *context;
	size_t next = 0;

	memset(fields, 0, VALUES_AT + thread->nr_keys * VALUE_SIZE);
	memcpy(fields, &tgid, sizeof(tgid));
	put_text(fields + TGID_SIZE, PROCESS_SIZE, name, strlen(name));
	while (thread->nr_keys && (context = event_contexts_next(thread->contexts, tid, ts, &next)))
		for (unsigned int i = 0; i < thread->nr_keys; i++)
			if (thread->keys[i] == context->key)
				put_text(fields + VALUES_AT + i * VALUE_SIZE, VALUE_SIZE, context->value->text,
					 context->value->size);
}
