/* SPDX-License-Identifier: MIT */
/*
 * The pages of the file's CPUs. A gap begins a page, since only a page's header can tell of it; where the first event
 * behind the gap leaves no room for the count, the page says only that there was a gap, as the kernel does.
 */
#include "format/weave_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int weave_cpu_get(struct weave *weave, unsigned int number, struct weave_cpu **ret_cpu)
{
	if (number >= weave->max_cpus) {
		unsigned int max = weave->max_cpus ? weave->max_cpus : 16;
		struct weave_cpu *cpus;

		while (max <= number)
			max *= 2;
		cpus = realloc(weave->cpus, max * sizeof(*cpus));
		if (!cpus)
			return -ENOMEM;
		memset(cpus + weave->max_cpus, 0, (max - weave->max_cpus) * sizeof(*cpus));
		weave->cpus = cpus;
		weave->max_cpus = max;
	}
	*ret_cpu = &weave->cpus[number];
	return 0;
}

void weave_out_account(struct weave *weave, struct weave_cpu *cpu, unsigned int process, uint64_t events,
		       uint64_t first_ns, uint64_t last_ns)
{
	if (!events)
		return;
	if (!weave->stats.events || first_ns < weave->stats.first_time)
		weave->stats.first_time = first_ns;
	if (last_ns > weave->stats.last_time)
		weave->stats.last_time = last_ns;
	if (!cpu->events)
		cpu->first_ns = first_ns;
	cpu->last_ns = last_ns;
	cpu->events += events;
	weave->stats.events += events;
	weave->owners[process].events += events;
	weave->owners[process].last_cpu = (unsigned int)(cpu - weave->cpus);
}

void weave_out_lost(struct weave *weave, struct weave_cpu *cpu, const struct weave_loss *loss)
{
	weave_loss_join(&cpu->loss, loss);
	weave->stats.lost += loss->known;
	weave->stats.lost_unknown += loss->unknown;
}

static int flush(struct weave *weave, struct weave_cpu *cpu)
{
	if (!cpu->open)
		return 0;
	rec_page_end(&cpu->writer);
	cpu->open = false;
	return dat_write_page(weave->writer, (unsigned int)(cpu - weave->cpus), cpu->page);
}

int weave_out_flush(struct weave *weave, unsigned int number)
{
	return number < weave->max_cpus ? flush(weave, &weave->cpus[number]) : 0;
}

static int begin(struct weave *weave, struct weave_cpu *cpu, uint64_t lost)
{
	if (!cpu->page) {
		cpu->page = malloc(weave->page_size);
		if (!cpu->page)
			return -ENOMEM;
	}
	rec_page_begin(&cpu->writer, cpu->page, weave->page_size, lost);
	cpu->open = true;
	return 0;
}

/* Room on a page that is begun for it. */
static int room_on_new(struct weave *weave, struct weave_cpu *cpu, uint64_t time, uint32_t size,
		       const struct weave_loss *loss, void **ret_room)
{
	int err = flush(weave, cpu);

	if (!err)
		err = begin(weave, cpu, loss->unknown ? REC_LOST_UNKNOWN : loss->known);
	if (err)
		return err;
	*ret_room = rec_page_put(&cpu->writer, time, size);
	if (!*ret_room && loss->known && !loss->unknown) {
		rec_page_begin(&cpu->writer, cpu->page, weave->page_size, REC_LOST_UNKNOWN);
		*ret_room = rec_page_put(&cpu->writer, time, size);
	}
	/* Pages are at least as large as the sub-buffers the events come from. */
	return *ret_room ? 0 : -EINVAL;
}

static int room_for(struct weave *weave, struct weave_cpu *cpu, uint64_t time, uint32_t size,
		    const struct weave_loss *loss, void **ret_room)
{
	if (cpu->open && !weave_loss_any(loss)) {
		*ret_room = rec_page_put(&cpu->writer, time, size);
		if (*ret_room)
			return 0;
	}
	return room_on_new(weave, cpu, time, size, loss, ret_room);
}

int weave_out_event(struct weave *weave, struct weave_input *input, unsigned int number)
{
	struct weave_cpu *cpu;
	const uint32_t size = input->record.size;
	struct rec_event_common common;
	void *payload;
	int err;

	err = weave_cpu_get(weave, number, &cpu);
	if (!err)
		err = room_for(weave, cpu, input->ns, size, &input->loss, &payload);
	if (err)
		return err;
	memcpy(payload, input->record.payload, size);
	memcpy(&common, payload, sizeof(common));
	err = weave_input_patch(weave, input, input->to, payload, size);
	if (!err && (common.pid != input->last_pid || input->events == 1)) {
		input->last_pid = common.pid;
		err = trace_info_seen(weave->info, input->process, common.pid);
	}
	if (weave_loss_any(&input->loss)) {
		weave_out_lost(weave, cpu, &input->loss);
		input->loss = (struct weave_loss){ 0, false };
	}
	weave_out_account(weave, cpu, input->process, 1, input->ns, input->ns);
	weave->last_ns = input->ns;
	return err;
}

int weave_out_end(struct weave *weave, unsigned int number, unsigned int process, uint64_t time, struct weave_loss loss,
		  uint64_t no_lane)
{
	struct trace_end_event event = {
		.common = { .type = TRACE_INFO_END_ID, .pid = (int32_t)weave->params->processes[process].pid },
		.lost = loss.unknown ? REC_LOST_UNKNOWN : loss.known,
		.no_lane = no_lane,
	};
	struct weave_cpu *cpu;
	void *payload;
	int err;

	err = weave_cpu_get(weave, number, &cpu);
	if (!err)
		err = room_on_new(weave, cpu, time, sizeof(event), &loss, &payload);
	if (err)
		return err;
	memcpy(payload, &event, sizeof(event));
	weave_out_lost(weave, cpu, &loss);
	weave->stats.synthetic++;
	return 0;
}
