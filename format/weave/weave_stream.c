/* SPDX-License-Identifier: MIT */
/*
 * One stream, event by event. If events are missing from a page, or no log describes an event, they become losses
 * before the next event. So every event that the program counted is either in the file or counted there as lost.
 */
#include "format/weave/weave_private.h"

#include <errno.h>
#include <string.h>

/* Pages between two calls of progress: a MiB of the usual size. */
#define PROGRESS_PAGES 256u

void weave_loss_add(struct weave_loss *loss, uint64_t lost)
{
	if (lost == REC_LOST_UNKNOWN || lost > REC_LOST_UNKNOWN - 1 - loss->known)
		loss->unknown = true;
	else
		loss->known += lost;
}

void weave_loss_join(struct weave_loss *loss, const struct weave_loss *other)
{
	weave_loss_add(loss, other->known);
	loss->unknown |= other->unknown;
}

void weave_input_lose(struct weave_input *input, uint64_t lost, uint64_t since)
{
	if (lost && (!weave_loss_any(&input->loss) || since < input->lost_since))
		input->lost_since = since;
	weave_loss_add(&input->loss, lost);
}

/*
 * The time of the file's pages up to which nothing was lost: just before the first lost event, if that time is known.
 */
static uint64_t lost_since(struct weave_input *input)
{
	const uint64_t time = input->page.lost_time;
	const uint64_t ns = time && !input->is_kernel ? time_map_ns(input->time, &input->hint, time) : 0;

	return ns ? ns - 1 : input->ns;
}

int weave_input_page(struct weave_input *input)
{
	const struct weave_in *in = input->in;
	const int got = in->source->next(in->source, input->number, &input->page);

	/* A page that cannot be read now may be readable later, so this is not the end of the stream. */
	if (got < 0 && got != -EBADMSG && got != -EFAULT)
		return got;
	if (got <= 0) {
		in->stats->damaged_streams += got < 0;
		return 0;
	}
	in->stats->pages++;
	input->pages++;
	if (in->progress && in->stats->pages % PROGRESS_PAGES == 0 &&
	    in->progress(in->progress_arg, in->stats->pages))
		return -ECANCELED;
	/* Sources promise valid pages, but a page that is larger than possible must not cause a crash. */
	if (input->page.size > REC_SUBBUF_MAX - REC_SUBBUF_HEADER_SIZE)
		input->page.size = 0;
	weave_input_lose(input, input->page.lost, lost_since(input));
	rec_page_iter_init(&input->iter, input->page.data, input->page.size);
	input->seen = 0;
	input->in_page = true;
	return 1;
}

void weave_input_page_end(struct weave_input *input, bool damaged)
{
	const uint32_t entries = input->page.entries;
	const uint32_t missing = input->seen < entries ? entries - input->seen : 0;

	input->in_page = false;
	if (missing || damaged)
		input->in->stats->damaged_pages++;
	input->in->stats->damaged_events += missing;
	weave_input_lose(input, missing, input->ns);
	/* If the source has not counted the page's events, the number lost by damage is unknown. */
	if (damaged && !entries)
		weave_input_lose(input, REC_LOST_UNKNOWN, input->ns);
}

static struct trace_event_map look_up(const struct trace_process_map *ids, uint16_t id)
{
	const unsigned int index = (unsigned int)id - REC_EVENT_ID_FIRST;

	return index < ids->nr_events ? ids->events[index] : (struct trace_event_map){ 0, false, false };
}

/* Read the records that the process's log has gained meanwhile. 1: there were some; 0; -ENOMEM. */
static int refresh(const struct weave_in *in, unsigned int process)
{
	const void *log;
	size_t size;
	int err;

	if (!in->refresh || !in->refresh(in->refresh_arg, process, &log, &size))
		return 0;
	err = trace_info_more_log(in->info, process, log, size);
	return err ? err : 1;
}

int weave_input_map(const struct weave_input *input, uint16_t id, struct trace_event_map *ret_to)
{
	struct trace_event_map to = look_up(input->ids, id);
	int err = 0;

	if (!to.id && !to.is_left_out) {
		err = refresh(input->in, input->process);
		if (err > 0)
			to = look_up(input->ids, id);
	}
	*ret_to = to;
	return err < 0 ? err : 0;
}

int weave_input_patch(const struct weave_input *input, struct trace_event_map to, void *payload, uint32_t size)
{
	unsigned char *bytes = payload;
	uint64_t site;
	uint64_t address;
	int err;

	memcpy(bytes, &to.id, sizeof(to.id));
	if (!to.is_printf || size < TRACE_PRINTF_SITE + sizeof(site))
		return 0;
	memcpy(&site, bytes + TRACE_PRINTF_SITE, sizeof(site));
	address = trace_info_site(input->in->info, input->process, site);
	if (!address) {
		err = refresh(input->in, input->process);
		if (err < 0)
			return err;
		address = trace_info_site(input->in->info, input->process, site);
	}
	memcpy(bytes + TRACE_PRINTF_SITE, &address, sizeof(address));
	memcpy(bytes + TRACE_PRINTF_IP, &address, sizeof(address));
	return 0;
}

void weave_input_time(struct weave_input *input, uint64_t ns)
{
	if (!input->events)
		input->first_clock = input->record.time;
	if (input->record.time > input->last_clock)
		input->last_clock = input->record.time;
	if (ns < input->ns) {
		input->in->stats->time_raised++;
		if (input->ns - ns > input->in->stats->time_raised_max)
			input->in->stats->time_raised_max = input->ns - ns;
	} else {
		input->ns = ns;
	}
	input->events++;
}

int weave_input_next(struct weave_input *input)
{
	for (;;) {
		uint16_t id = 0;
		int got;

		if (!input->in_page) {
			got = weave_input_page(input);
			if (got <= 0)
				return got;
		}
		got = rec_page_next(&input->iter, &input->record);
		if (got <= 0) {
			weave_input_page_end(input, got < 0);
			continue;
		}
		if (input->record.offset < input->page.from)
			continue;
		input->seen++;
		if (input->record.size >= sizeof(struct rec_event_common)) {
			memcpy(&id, input->record.payload, sizeof(id));
			got = weave_input_map(input, id, &input->to);
			if (got < 0)
				return got;
		} else {
			input->to = (struct trace_event_map){ 0, false, false };
		}
		if (input->to.is_left_out)
			continue;
		if (!input->to.id) {
			input->in->stats->unknown_events++;
			weave_input_lose(input, 1, input->ns);
			continue;
		}
		weave_input_time(input, time_map_ns(input->time, &input->hint, input->record.time));
		return 1;
	}
}

struct weave_loss weave_input_trailing(struct weave_input *input)
{
	struct weave_loss loss;

	weave_input_lose(input, input->stream->lost, input->ns);
	loss = input->loss;
	input->loss = (struct weave_loss){ 0, false };
	return loss;
}
