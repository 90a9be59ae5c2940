/* SPDX-License-Identifier: MIT */
#include "cli/programs/decode.h"

#include <errno.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "format/text/event_parse.h"
#include "format/weave/trace_info.h"

struct decoder {
	struct tep_handle *tep;	   /* that of the table, or of the kernel's formats */
	struct event_table *table; /* NULL: the kernel's formats, which are trusted */
	struct trace_info *info;
	struct trace_seq seq;
	unsigned char *record; /* a copy of the event, with EVENT_SLACK bytes after it */
	size_t room;
};

/* ------------------------------------------------------------------------------------------------------- a log */

/* The formats of a program, as a trace.dat would have them. */
struct formats {
	struct dat_format *list;
	size_t nr;
};

static int add_format(void *arg, const char *system, const char *text, size_t size)
{
	struct formats *formats = arg;
	struct dat_format *list = realloc(formats->list, (formats->nr + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	formats->list = list;
	list[formats->nr] =
		(struct dat_format){ .system = strdup(system), .text = { .text = strndup(text, size), .size = size } };
	formats->nr++;
	return list[formats->nr - 1].system && list[formats->nr - 1].text.text ? 0 : -ENOMEM;
}

static void free_formats(struct formats *formats)
{
	for (size_t i = 0; i < formats->nr; i++) {
		free((char *)(uintptr_t)formats->list[i].system);
		free(formats->list[i].text.text);
	}
	free(formats->list);
}

static void add_text(struct blob *blob, struct dat_text *ret_text)
{
	blob_put(blob, "", 1);
	if (!blob->error)
		*ret_text = (struct dat_text){ .text = (char *)blob->data, .size = blob->size - 1 };
}

static int open_table(struct decoder *decoder)
{
	struct dat_file file = { .commit_size = 8, .long_size = 8 };
	struct blob printk = BLOB_INIT, kallsyms = BLOB_INIT;
	struct formats formats = { NULL, 0 };
	int err = trace_info_formats(decoder->info, add_format, &formats);

	if (!err)
		err = trace_info_printk(decoder->info, &printk);
	if (!err)
		err = trace_info_kallsyms(decoder->info, &kallsyms);
	if (!err) {
		add_text(&printk, &file.printk);
		add_text(&kallsyms, &file.kallsyms);
		file.formats = formats.list;
		file.nr_formats = formats.nr;
		err = event_table_open(&file, EVENT_NO_PLUGINS, &decoder->table);
	}
	blob_free(&printk);
	blob_free(&kallsyms);
	free_formats(&formats);
	return err;
}

static struct decoder *new_decoder(void)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));

	if (decoder)
		trace_seq_init(&decoder->seq);
	return decoder;
}

int decoder_of_log(const void *log, size_t size, struct decoder **ret_decoder)
{
	struct decoder *decoder = new_decoder();
	int err;

	if (!decoder)
		return -ENOMEM;
	err = trace_info_new(&decoder->info);
	if (!err)
		err = trace_info_add_process(decoder->info, 0, "", log, size);
	if (!err)
		err = open_table(decoder);
	if (err) {
		decoder_close(decoder);
		return err;
	}
	decoder->tep = decoder->table->tep;
	*ret_decoder = decoder;
	return 0;
}

/* ---------------------------------------------------------------------------------------------------- the kernel */

int decoder_of_kernel(struct decoder **ret_decoder)
{
	struct decoder *decoder = new_decoder();

	if (!decoder)
		return -ENOMEM;
	decoder->tep = tracefs_local_events(NULL);
	if (!decoder->tep) {
		decoder_close(decoder);
		return -ENOENT;
	}
	*ret_decoder = decoder;
	return 0;
}

struct decoder *decoder_close(struct decoder *decoder)
{
	if (!decoder)
		return NULL;
	trace_seq_destroy(&decoder->seq);
	if (decoder->table)
		event_table_close(decoder->table);
	else if (decoder->tep)
		tep_free(decoder->tep);
	trace_info_free(decoder->info);
	free(decoder->record);
	free(decoder);
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------- a line */

/* Replace the id, and the call site of a rec_printf, by those in the formats. False: the formats do not have them. */
static bool translate(const struct decoder *decoder, unsigned char *record, size_t size)
{
	const struct trace_process_map *map = trace_info_map(decoder->info, 0);
	const struct trace_event_map *event;
	struct rec_event_common common;
	uint64_t site;

	memcpy(&common, record, sizeof(common));
	if (common.type < REC_EVENT_ID_FIRST || common.type - REC_EVENT_ID_FIRST >= map->nr_events)
		return false;
	event = &map->events[common.type - REC_EVENT_ID_FIRST];
	common.type = event->id;
	memcpy(record, &common, sizeof(common));
	if (event->is_printf && size >= TRACE_PRINTF_SITE + sizeof(site)) {
		memcpy(&site, record + TRACE_PRINTF_SITE, sizeof(site));
		site = trace_info_site(decoder->info, 0, site);
		memcpy(record + TRACE_PRINTF_IP, &site, sizeof(site));
		memcpy(record + TRACE_PRINTF_SITE, &site, sizeof(site));
	}
	return event->id != 0;
}

/* Whether the record's print format may be evaluated. The kernel's own print formats are trusted. */
static bool may_print(const struct decoder *decoder, unsigned char *record, size_t size, bool *ret_raw)
{
	struct rec_event_common common;
	const struct event_type *type;

	*ret_raw = false;
	if (!decoder->table)
		return true;
	if (!translate(decoder, record, size))
		return false;
	memcpy(&common, record, sizeof(common));
	type = event_type(decoder->table, common.type);
	if (!type || size < type->need)
		return false;
	*ret_raw = !event_check(type, record);
	return true;
}

const char *decoder_line(struct decoder *decoder, const void *payload, size_t size)
{
	struct tep_record record = { .size = (int)size, .record_size = (int)size, .ref_count = 1 };
	bool raw;

	if (size < sizeof(struct rec_event_common))
		return NULL;
	if (size + EVENT_SLACK > decoder->room) {
		free(decoder->record);
		decoder->room = size + EVENT_SLACK;
		decoder->record = calloc(1, decoder->room);
		if (!decoder->record) {
			decoder->room = 0;
			return NULL;
		}
	}
	memcpy(decoder->record, payload, size);
	if (!may_print(decoder, decoder->record, size, &raw))
		return NULL;
	record.data = decoder->record;
	trace_seq_reset(&decoder->seq);
	tep_print_event(decoder->tep, &decoder->seq, &record, "%s: %s", TEP_PRINT_NAME,
			raw ? TEP_PRINT_INFO_RAW : TEP_PRINT_INFO);
	trace_seq_terminate(&decoder->seq);
	return decoder->seq.buffer;
}
