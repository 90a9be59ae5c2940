/* SPDX-License-Identifier: MIT */
/*
 * The parts of a trace.dat other than its pages: formats, symbols, names, statistics, the conversion of times to
 * nanoseconds. The kernel's texts are written unchanged, before ours: their ids and addresses never coincide with
 * ours.
 */
#include "format/dat/dat_stats.h"
#include "format/weave/weave_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static int emit_format(void *arg, const char *system, const char *text, size_t size)
{
	return dat_write_format(arg, system, text, size);
}

/* The id in a format's text; 0: the text has no id. */
static unsigned int format_id(const struct weave_text *text)
{
	const char *line = memmem(text->data, text->size, "\nID: ", 5);
	unsigned int id = 0;

	for (line = line ? line + 5 : NULL; line && line < text->data + text->size && *line >= '0' && *line <= '9';
	     line++)
		id = id * 10 + (unsigned int)(*line - '0');
	return id;
}

/* Writes the formats that are not in the file yet; `given` has the ids of those that are. */
static int put_formats_of(struct dat_writer *writer, const struct weave_kernel *kernel, bool *given)
{
	int err = 0;

	for (unsigned int i = 0; i < kernel->nr_formats && !err; i++) {
		const struct weave_format *format = &kernel->formats[i];
		const unsigned int id = format_id(&format->text);

		if (!id || id >= REC_EVENT_ID_FIRST || given[id])
			continue;
		given[id] = true;
		err = dat_write_format(writer, format->system, format->text.data, format->text.size);
	}
	return err;
}

static int put_kernel_formats(struct dat_writer *writer, const struct weave_meta *meta)
{
	bool *given = calloc(REC_EVENT_ID_FIRST, sizeof(*given));
	int err = given ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < meta->nr_processes && !err; i++)
		if (meta->processes[i].kernel)
			err = put_formats_of(writer, meta->processes[i].kernel, given);
	free(given);
	return err;
}

/* Writes a text of lines: the kernel's, then ours. */
static int put_text(struct dat_writer *writer, enum dat_id id, const struct weave_text *kernel,
		    const struct trace_info *info, int (*make)(const struct trace_info *, struct blob *))
{
	struct blob text = BLOB_INIT;
	int err;

	if (kernel && kernel->size) {
		blob_put(&text, kernel->data, kernel->size);
		if (kernel->data[kernel->size - 1] != '\n')
			blob_put(&text, "\n", 1);
	}
	err = make(info, &text);

	if (!err && text.size)
		err = dat_write_text(writer, id, text.data, text.size);
	blob_free(&text);
	return err;
}

/* Write an option that is a string. */
static int put_string(struct dat_writer *writer, enum dat_id id, struct blob *text)
{
	int err;

	blob_put(text, "", 1);
	err = text->error ? text->error : dat_write_option(writer, id, text->data, text->size);
	text->size = 0;
	return err;
}

/* `uname_then`: that of the kernel whose events the file has; NULL: it has none, and ours is written. */
static int put_system(struct dat_writer *writer, const char *uname_then)
{
	struct blob text = BLOB_INIT;
	struct utsname name;
	int err = 0;

	if (uname_then) {
		blob_printf(&text, "%s", uname_then);
		err = put_string(writer, DAT_UNAME, &text);
	} else if (!uname(&name)) {
		blob_printf(&text, "%s %s %s %s", name.sysname, name.nodename, name.release, name.machine);
		err = put_string(writer, DAT_UNAME, &text);
	}
	blob_free(&text);
	return err;
}

/* 0; -ENOMEM. */
static int put_losses(struct dat_losses *losses, struct blob *text)
{
	dat_losses_join(losses);
	dat_losses_put(losses, text);
	blob_put(text, "", 1);
	return losses->error ? losses->error : text->error;
}

/* Add the threads of the programs in other pid namespaces. 0; -ENOMEM. */
static int put_others(const struct weave *weave, struct blob *text)
{
	const struct weave_meta *meta = &weave->meta;
	bool *are_others = calloc(meta->nr_processes + 1u, sizeof(*are_others));

	if (!are_others)
		return -ENOMEM;
	for (unsigned int i = 0; i < meta->nr_processes; i++)
		are_others[i] = meta->processes[i].other_pids;
	trace_info_threads_of(weave->in.info, are_others, text);
	free(are_others);
	return text->error;
}

static int put_notes(struct weave *weave)
{
	struct dat_notes notes = *weave->meta.notes;
	struct blob text = BLOB_INIT, processes = BLOB_INIT, others = BLOB_INIT;
	struct blob kernel_losses = BLOB_INIT, program_losses = BLOB_INIT;
	int err;

	/* The processes of programs come last: they are valid if the kernel's part has another process for a thread. */
	if (notes.processes)
		blob_put(&processes, notes.processes, strspn(notes.processes, "0123456789, "));
	err = trace_info_processes(weave->in.info, &processes);
	if (!err)
		err = put_others(weave, &others);
	blob_put(&processes, "", 1);
	blob_put(&others, "", 1);
	err = err ? err : processes.error ? processes.error : others.error;
	if (!err)
		err = put_losses(&weave->out.kernel_losses, &kernel_losses);
	if (!err)
		err = put_losses(&weave->out.program_losses, &program_losses);
	if (!err) {
		notes.program = notes.program ? notes.program : "librecorder";
		notes.time_error = weave->stats.time_error;
		notes.processes = (const char *)processes.data;
		notes.other_pids = (const char *)others.data;
		notes.kernel_losses = (const char *)kernel_losses.data;
		notes.program_losses = (const char *)program_losses.data;
		dat_notes_put(&text, &notes);
		err = put_string(weave->out.writer, DAT_VERSION, &text);
	}
	blob_free(&text);
	blob_free(&processes);
	blob_free(&others);
	blob_free(&kernel_losses);
	blob_free(&program_losses);
	return err;
}

/* Write the option DATE, in microseconds, as trace-cmd does. */
static int put_date(struct dat_writer *writer, uint64_t date)
{
	struct blob text = BLOB_INIT;
	int err;

	if (!date)
		return 0;
	blob_printf(&text, "0x%" PRIx64, date / 1000);
	err = put_string(writer, DAT_DATE, &text);
	blob_free(&text);
	return err;
}

static int put_maps(struct dat_writer *writer, const struct weave_meta *meta)
{
	struct blob text = BLOB_INIT;
	int err = 0;

	for (unsigned int i = 0; i < meta->nr_maps && !err; i++) {
		blob_put(&text, meta->maps[i].data, meta->maps[i].size);
		err = put_string(writer, DAT_PROCMAPS, &text);
	}
	blob_free(&text);
	return err;
}

/* Write a CPU's statistics, with the kernel's names. All events count as read. */
static void put_figures(struct blob *text, const struct weave_figures *figures, uint64_t bytes)
{
	dat_stats_put(text, DAT_STAT_ENTRIES, 0);
	dat_stats_put(text, DAT_STAT_OVERRUN, figures->loss.known);
	dat_stats_put(text, DAT_STAT_COMMIT_OVERRUN, 0);
	dat_stats_put(text, DAT_STAT_BYTES, bytes);
	blob_printf(text, "oldest event ts: %5" PRIu64 ".%06" PRIu64 "\nnow ts: %5" PRIu64 ".%06" PRIu64 "\n",
		    figures->first_ns / 1000000000, figures->first_ns / 1000 % 1000000, figures->last_ns / 1000000000,
		    figures->last_ns / 1000 % 1000000);
	dat_stats_put(text, DAT_STAT_DROPPED, 0);
	dat_stats_put(text, DAT_STAT_READ, figures->events);
}

/* Add the programs' events on this CPU of a buffer. */
static void add_figures(struct weave_figures *sum, const struct weave_figures *figures)
{
	weave_loss_join(&sum->loss, &figures->loss);
	if (!figures->events)
		return;
	if (!sum->events || figures->first_ns < sum->first_ns)
		sum->first_ns = figures->first_ns;
	if (figures->last_ns > sum->last_ns)
		sum->last_ns = figures->last_ns;
	sum->events += figures->events;
}

/* The kernel's streams in a buffer, by CPU: WEAVE_CPUS_MAX elements; NULL: there is no such stream. */
static void find_kernel_inputs(const struct weave *weave, unsigned int buffer, const struct weave_input **ret_inputs)
{
	memset(ret_inputs, 0, WEAVE_CPUS_MAX * sizeof(*ret_inputs));
	for (unsigned int i = weave->in.source->nr_streams; i-- > 0;) {
		const struct weave_input *input = &weave->inputs[i];

		if (input->is_kernel && weave->out.owners[input->process].buffer == buffer)
			ret_inputs[input->cpu] = input;
	}
}

/*
 * Writes the kernel's own statistics of a CPU, and the numbers of events that the file does not have. If there are no
 * statistics of the kernel, writes our counts instead. `input`: the kernel's stream; NULL: there is none.
 */
static void put_kernel_stats(struct weave *weave, const struct weave_kernel *kernel, unsigned int number,
			     unsigned int cpu, const struct weave_input *input, struct blob *text)
{
	static const struct weave_figures none;
	const struct weave_buffer *buffer = &weave->out.buffers[number];
	const bool is_given = cpu < kernel->nr_cpu_stats && kernel->cpu_stats[cpu].size;

	if (is_given)
		blob_put(text, kernel->cpu_stats[cpu].data, kernel->cpu_stats[cpu].size);
	if (is_given && input && input->left_out)
		dat_stats_put(text, DAT_STAT_LEFT_OUT, input->left_out);
	if (is_given && input && input->stream->not_kept)
		dat_stats_put(text, DAT_STAT_NOT_KEPT, input->stream->not_kept);
	if (!is_given)
		put_figures(text, cpu < buffer->max_cpus ? &buffer->cpus[cpu].kernel : &none,
			    dat_write_size(weave->out.writer, number, cpu));
}

/* Write the statistics of the kernel's other buffers, in trace-cmd's form. */
static int put_buffer_stats(struct weave *weave, unsigned int nr)
{
	const struct weave_input **inputs = calloc(WEAVE_CPUS_MAX, sizeof(*inputs));
	const struct weave_meta *meta = &weave->meta;
	struct blob text = BLOB_INIT;
	int err = inputs ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < meta->nr_processes && !err; i++) {
		const struct weave_kernel *kernel = meta->processes[i].kernel;
		const unsigned int buffer = weave->out.owners[i].buffer;

		if (!kernel || !kernel->buffer)
			continue;
		find_kernel_inputs(weave, buffer, inputs);
		dat_stats_put_buffer(&text, kernel->buffer);
		err = put_string(weave->out.writer, DAT_CPUSTAT, &text);
		for (unsigned int cpu = 0; cpu < nr && !err; cpu++) {
			dat_stats_put(&text, DAT_STAT_CPU, cpu);
			put_kernel_stats(weave, kernel, buffer, cpu, cpu < WEAVE_CPUS_MAX ? inputs[cpu] : NULL, &text);
			err = put_string(weave->out.writer, DAT_CPUSTAT, &text);
		}
	}
	free(inputs);
	blob_free(&text);
	return err;
}

static int put_cpu_stats(struct weave *weave, unsigned int nr)
{
	struct blob text = BLOB_INIT;
	unsigned int i, j;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		struct weave_figures programs = { .events = 0 };
		uint64_t bytes = 0;

		for (j = 0; j < weave->out.nr_buffers; j++) {
			bytes += dat_write_size(weave->out.writer, j, i);
			if (i < weave->out.buffers[j].max_cpus)
				add_figures(&programs, &weave->out.buffers[j].cpus[i].programs);
		}
		dat_stats_put(&text, DAT_STAT_CPU, i);
		if (weave->kernel)
			put_kernel_stats(weave, weave->kernel->kernel, 0, i,
					 i < weave->max_kernel_inputs ? weave->kernel_inputs[i] : NULL, &text);
		if (weave->kernel && (programs.events || weave_loss_any(&programs.loss)))
			dat_stats_put_programs(&text, i);
		if (!weave->kernel || programs.events || weave_loss_any(&programs.loss))
			put_figures(&text, &programs, bytes);
		err = put_string(weave->out.writer, DAT_CPUSTAT, &text);
	}
	blob_free(&text);
	return err;
}

/*
 * Write the conversion of raw TSC times to nanoseconds, as one line for the time between the first and the last event.
 */
static int put_tsc_line(struct dat_writer *writer, const struct time_map *tsc, uint64_t from, uint64_t to)
{
	struct time_line line;
	struct blob data = BLOB_INIT;
	int err;

	time_map_line(tsc, from, to, &line);
	blob_u32(&data, line.mult);
	blob_u32(&data, line.shift);
	blob_u64(&data, 0); /* trace-cmd 3.1.6 ignores this offset and uses the option below */
	err = data.error ? data.error : dat_write_option(writer, DAT_TSC2NSEC, data.data, data.size);
	data.size = 0;
	if (!err) {
		blob_printf(&data, "%" PRId64, line.offset);
		err = put_string(writer, DAT_OFFSET, &data);
	}
	blob_free(&data);
	return err;
}

/*
 * The maximum error of the times that the file shows. For the TSC, the distance of its one line from the map is added.
 */
static uint64_t shown_error(const struct weave *weave, uint64_t from, uint64_t to)
{
	const struct time_map *map = &weave->maps[REC_CLOCK_TSC];
	const uint64_t first = time_map_error(map, from);
	const uint64_t last = time_map_error(map, to);
	const uint64_t error = first > last ? first : last;
	struct time_line line;

	if (!weave->raw_tsc || error == UINT64_MAX)
		return error;
	time_map_line(map, from, to, &line);
	return error + time_map_line_error(map, &line, from, to);
}

/* The number of CPUs with events, in any buffer. */
static unsigned int count_cpus(const struct weave_out *out)
{
	unsigned int nr = 0;
	unsigned int cpu, i;

	for (cpu = 0; cpu < dat_write_cpus(out->writer); cpu++) {
		uint64_t events = 0;

		for (i = 0; i < out->nr_buffers; i++) {
			const struct weave_buffer *buffer = &out->buffers[i];

			if (cpu < buffer->max_cpus)
				events += buffer->cpus[cpu].programs.events + buffer->cpus[cpu].kernel.events;
		}
		nr += events > 0;
	}
	return nr;
}

/* Sum up the streams. *ret_from and *ret_to are the first and last TSC time; 0 if no event has a TSC time. */
static void sum_up(struct weave *weave, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct weave_meta *meta = &weave->meta;
	struct weave_stats *stats = &weave->stats;
	uint64_t from = UINT64_MAX;
	uint64_t to = 0;
	unsigned int i;

	for (i = 0; i < weave->in.source->nr_streams; i++) {
		const struct weave_input *input = &weave->inputs[i];

		if (!input->events || input->time->identity)
			continue;
		from = input->first_clock < from ? input->first_clock : from;
		to = input->last_clock > to ? input->last_clock : to;
	}
	if (to >= from)
		stats->time_error = shown_error(weave, from, to);
	for (i = 0; i < meta->nr_processes; i++)
		stats->processes += weave->out.owners[i].events > 0 && !meta->processes[i].kernel;
	stats->cpus = count_cpus(&weave->out);
	for (i = 0; i < weave->in.source->nr_streams; i++)
		stats->kernel_cpus += weave->inputs[i].is_kernel && weave->inputs[i].events;
	stats->threads = trace_info_threads(weave->in.info);
	*ret_from = to >= from ? from : 0;
	*ret_to = to;
}

/* The kernel's name of the clock of the file's times. */
static const char *clock_name(const struct weave *weave)
{
	if (weave->raw_tsc)
		return "x86-tsc";
	if (weave->kernel && weave->kernel->clock == REC_CLOCK_MONO && weave->kernel->kernel->clock)
		return weave->kernel->kernel->clock;
	return "mono";
}

int weave_texts(struct weave *weave)
{
	const struct weave_kernel *kernel = weave->kernel ? weave->kernel->kernel : NULL;
	struct dat_writer *writer = weave->out.writer;
	struct trace_info *info = weave->in.info;
	int err = 0;

	if (weave->has_texts)
		return 0;
	if (kernel)
		err = put_kernel_formats(writer, &weave->meta);
	if (!err)
		err = trace_info_formats(info, emit_format, writer);
	if (!err)
		err = put_text(writer, DAT_KALLSYMS, kernel ? &kernel->kallsyms : NULL, info, trace_info_kallsyms);
	if (!err)
		err = put_text(writer, DAT_PRINTK, kernel ? &kernel->printk : NULL, info, trace_info_printk);
	weave->has_texts = true;
	return err;
}

int weave_finish(struct weave *weave)
{
	struct dat_writer *writer = weave->out.writer;
	unsigned int nr_cpus = dat_write_cpus(writer);
	uint64_t from, to;
	int err;

	if (nr_cpus < weave->nr_cpus)
		nr_cpus = weave->nr_cpus;
	sum_up(weave, &from, &to);
	/* The distance of the kernel's other clocks from CLOCK_MONOTONIC is not measured. */
	if (strcmp(clock_name(weave), "mono") && strcmp(clock_name(weave), "x86-tsc"))
		weave->stats.time_error = UINT64_MAX;
	err = weave_texts(weave);
	if (!err && weave->stats.synthetic)
		err = trace_info_end_format(emit_format, writer);
	if (!err)
		err = put_text(writer, DAT_CMDLINES, NULL, weave->in.info, trace_info_cmdlines);
	if (!err)
		err = put_system(writer, weave->kernel ? weave->kernel->kernel->uname : NULL);
	if (!err)
		err = put_notes(weave);
	if (!err)
		err = put_date(writer, weave->meta.date);
	if (!err)
		err = put_maps(writer, &weave->meta);
	if (!err)
		err = put_cpu_stats(weave, nr_cpus);
	if (!err)
		err = put_buffer_stats(weave, nr_cpus);
	if (!err && weave->raw_tsc)
		err = put_tsc_line(writer, &weave->maps[REC_CLOCK_TSC], from, to);
	if (!err)
		err = dat_write_finish(writer, clock_name(weave), nr_cpus, &weave->stats.file_size);
	return err;
}
