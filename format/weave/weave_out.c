/* SPDX-License-Identifier: MIT */
/*
 * The pages of the file's CPUs. A gap begins a page, because only a page's header can report it. If the first event
 * after the gap leaves no room for the count, the page reports only that there was a gap, as the kernel does.
 */
#include "format/weave/weave_private.h"
#include "librecorder/core/page_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int weave_cpu_get(struct weave_out *out, unsigned int number, unsigned int cpu, struct weave_cpu **ret_cpu)
{
	struct weave_buffer *buffer = &out->buffers[number];

	if (cpu >= buffer->max_cpus) {
		unsigned int max = buffer->max_cpus ? buffer->max_cpus : 16;
		struct weave_cpu *cpus;

		while (max <= cpu)
			max *= 2;
		cpus = realloc(buffer->cpus, max * sizeof(*cpus));
		if (!cpus)
			return -ENOMEM;
		memset(cpus + buffer->max_cpus, 0, (max - buffer->max_cpus) * sizeof(*cpus));
		buffer->cpus = cpus;
		for (; buffer->max_cpus < max; buffer->max_cpus++) {
			cpus[buffer->max_cpus].buffer = number;
			cpus[buffer->max_cpus].number = buffer->max_cpus;
		}
	}
	*ret_cpu = &buffer->cpus[cpu];
	return 0;
}

static bool is_kernel(const struct weave_out *out, unsigned int process)
{
	return out->owners[process].is_kernel;
}

static struct weave_figures *figures_of(const struct weave_out *out, struct weave_cpu *cpu, unsigned int process)
{
	return is_kernel(out, process) ? &cpu->kernel : &cpu->programs;
}

void weave_out_account(struct weave_out *out, struct weave_cpu *cpu, unsigned int process, uint64_t events,
		       uint64_t first_ns, uint64_t last_ns)
{
	struct weave_figures *figures = figures_of(out, cpu, process);

	if (!events)
		return;
	if (!out->stats->events || first_ns < out->stats->first_time)
		out->stats->first_time = first_ns;
	if (last_ns > out->stats->last_time)
		out->stats->last_time = last_ns;
	if (!figures->events)
		figures->first_ns = first_ns;
	figures->last_ns = last_ns;
	figures->events += events;
	out->stats->events += events;
	out->stats->kernel_events += is_kernel(out, process) ? events : 0;
	out->owners[process].events += events;
	out->owners[process].last_cpu = cpu->number;
}

void weave_out_lost(struct weave_out *out, struct weave_cpu *cpu, unsigned int process, const struct weave_loss *loss,
		    uint64_t since, uint64_t until)
{
	if (weave_loss_any(loss))
		dat_losses_add(is_kernel(out, process) ? &out->kernel_losses : &out->program_losses, since, until);
	weave_loss_join(&figures_of(out, cpu, process)->loss, loss);
	out->stats->lost += loss->known;
	out->stats->lost_unknown += loss->unknown;
}

int weave_out_flush(struct weave_out *out, struct weave_cpu *cpu)
{
	if (!cpu->open)
		return 0;
	rec_page_end(&cpu->writer);
	cpu->open = false;
	if (out->is_staging)
		return weave_stage_page(out, cpu);
	return dat_write_page(out->writer, cpu->buffer, cpu->number, cpu->page);
}

int weave_out_flush_all(struct weave_out *out)
{
	unsigned int i, j;
	int err = 0;

	for (i = 0; i < out->nr_buffers; i++)
		for (j = 0; j < out->buffers[i].max_cpus && !err; j++)
			err = weave_out_flush(out, &out->buffers[i].cpus[j]);
	return err;
}

void weave_page_seal(const struct weave_out *out, unsigned char *page, uint32_t size, uint64_t lost)
{
	const uint32_t capacity = out->page_size - REC_SUBBUF_HEADER_SIZE;
	const uint32_t end = page_put_commit(page, size, lost, capacity);

	memset(page + REC_SUBBUF_HEADER_SIZE + end, 0, capacity - end);
}

int weave_cpu_page(struct weave_out *out, struct weave_cpu *cpu)
{
	if (!cpu->page)
		cpu->page = malloc(out->page_size);
	return cpu->page ? 0 : -ENOMEM;
}

/* Begin a page for this event, and make room on it. */
static int room_on_new(struct weave_out *out, struct weave_cpu *cpu, uint64_t time, uint32_t size,
		       const struct weave_loss *loss, void **ret_room)
{
	int err = weave_out_flush(out, cpu);

	if (!err)
		err = weave_cpu_page(out, cpu);
	if (err)
		return err;
	rec_page_begin(&cpu->writer, cpu->page, out->page_size, loss->unknown ? REC_LOST_UNKNOWN : loss->known);
	cpu->open = true;
	*ret_room = rec_page_put(&cpu->writer, time, size);
	if (!*ret_room && loss->known && !loss->unknown) {
		rec_page_begin(&cpu->writer, cpu->page, out->page_size, REC_LOST_UNKNOWN);
		*ret_room = rec_page_put(&cpu->writer, time, size);
	}
	/* Pages are at least as large as the sub-buffers that the events come from. */
	return *ret_room ? 0 : -EINVAL;
}

int weave_out_room(struct weave_out *out, struct weave_cpu *cpu, uint64_t time, uint32_t size,
		   const struct weave_loss *loss, void **ret_room)
{
	if (cpu->open && !weave_loss_any(loss)) {
		*ret_room = rec_page_put(&cpu->writer, time, size);
		if (*ret_room)
			return 0;
	}
	return room_on_new(out, cpu, time, size, loss, ret_room);
}

int weave_out_event(struct weave_out *out, struct weave_input *input, unsigned int number)
{
	struct weave_cpu *cpu;
	const uint32_t size = input->record.size;
	struct rec_event_common common;
	void *payload;
	int err;

	err = weave_cpu_get(out, out->owners[input->process].buffer, number, &cpu);
	if (!err)
		err = weave_out_room(out, cpu, input->ns, size, &input->loss, &payload);
	if (err)
		return err;
	memcpy(payload, input->record.payload, size);
	memcpy(&common, payload, sizeof(common));
	err = weave_input_patch(input, input->to, payload, size);
	if (!err && (common.pid != input->last_pid || input->events == 1)) {
		input->last_pid = common.pid;
		err = trace_info_seen(out->info, input->process, common.pid);
	}
	if (weave_loss_any(&input->loss)) {
		weave_out_lost(out, cpu, input->process, &input->loss, input->lost_since, input->ns);
		input->loss = (struct weave_loss){ 0, false };
	}
	weave_out_account(out, cpu, input->process, 1, input->ns, input->ns);
	out->last_ns = input->ns;
	return err;
}

int weave_out_end(struct weave_out *out, unsigned int number, unsigned int process, uint64_t time,
		  struct weave_loss loss, uint64_t since, uint64_t no_lane)
{
	struct trace_end_event event = {
		.common = { .type = TRACE_INFO_END_ID, .pid = (int32_t)out->owners[process].pid },
		.lost = loss.unknown ? REC_LOST_UNKNOWN : loss.known,
		.no_lane = no_lane,
	};
	struct weave_cpu *cpu;
	void *payload;
	int err;

	err = weave_cpu_get(out, out->owners[process].buffer, number, &cpu);
	if (!err)
		err = room_on_new(out, cpu, time, sizeof(event), &loss, &payload);
	if (err)
		return err;
	memcpy(payload, &event, sizeof(event));
	weave_out_lost(out, cpu, process, &loss, since, DAT_LOSS_NO_END);
	out->stats->synthetic++;
	return 0;
}
