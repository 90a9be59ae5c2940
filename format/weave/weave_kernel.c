/* SPDX-License-Identifier: MIT */
/*
 * The streams of the kernel: one for each CPU, whose events all go to that CPU of the file. So they are not in the
 * merge's heap. The kernel's events before an event of a program are put in runs (weave_run.c).
 */
#include "format/weave/weave_private.h"
#include "librecorder/core/page_bytes.h"

int weave_kernel_next_on_page(const struct weave_of_kernel *of_kernel, struct weave_input *input,
			      const struct time_map *time)
{
	for (;;) {
		const int got = page_next(&input->iter, &input->record);
		unsigned int id;
		int err;

		if (got <= 0) {
			weave_input_page_end(input, got < 0);
			return 0;
		}
		input->seen++;
		id = weave_kernel_id(input->record.payload, input->record.size);
		if (!id) {
			input->in->stats->unknown_events++;
			weave_input_lose(input, 1, input->ns);
			continue;
		}
		err = kernel_tasks_see(of_kernel->tasks, id, input->record.time, input->record.payload,
				       input->record.size);
		if (err)
			return err;
		if (weave_leaves_out(of_kernel, input, id, input->record.payload, input->record.size)) {
			input->left_out++;
			continue;
		}
		weave_input_time(input, time_map_ns(time, &input->hint, input->record.time));
		return 1;
	}
}

static int next_event(const struct weave_of_kernel *of_kernel, struct weave_input *input)
{
	int got = 0;

	while (!got) {
		if (!input->in_page) {
			got = weave_input_page(input);
			if (got < 0)
				return got;
			input->ended = !got;
			if (!got)
				return 0;
		}
		got = weave_kernel_next_on_page(of_kernel, input, input->time);
	}
	return got < 0 ? got : 0;
}

int weave_kernel_begin(const struct weave_of_kernel *of_kernel, struct weave_input *input)
{
	return next_event(of_kernel, input);
}

int weave_kernel_put(const struct weave_of_kernel *of_kernel, struct weave_out *out, struct weave_input *input,
		     uint64_t until)
{
	const uint64_t first = input->ns;
	uint64_t last = first;
	uint64_t events = 0;
	struct weave_cpu *cpu;
	int err = weave_cpu_get(out, out->owners[input->process].buffer, input->cpu, &cpu);

	while (!err && !input->ended && input->ns <= until) {
		int more;

		err = weave_put_record(out, cpu, input);
		if (err)
			break;
		more = weave_put_run(of_kernel, cpu, input, until);
		if (more < 0)
			return more;
		events += 1 + (uint64_t)more;
		last = input->ns;
		err = next_event(of_kernel, input);
	}
	if (err)
		return err;
	weave_out_account(out, cpu, input->process, events, first, last);
	if (events && last > out->last_ns)
		out->last_ns = last;
	return 0;
}

int weave_kernel_end(struct weave_out *out, struct weave_input *input, uint64_t end)
{
	const struct weave_loss trailing = weave_input_trailing(input);

	if (!weave_loss_any(&trailing))
		return 0;
	return weave_out_end(out, input->cpu, input->process, end, trailing, input->lost_since, 0);
}
