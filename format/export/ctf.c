/* SPDX-License-Identifier: MIT */
/*
 * The Common Trace Format 1.8 (https://diamon.org/ctf/v1.8.3): a directory with the file "metadata" and a stream for
 * each CPU, "cpuN". Memory is bounded by a packet for each CPU.
 *
 * A loss ends the packet; the next one's count of discarded events includes it. Readers find a loss by the difference
 * between two packets, so if a stream begins with a loss, an empty packet comes first. A loss whose number is not known
 * counts as one.
 */
#include "format/export/ctf_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_IDS	   65536u
#define CPUS_MAX   65536u
#define PACKET_MAX (64u * 1024u) /* a packet ends when it has this many bytes */
#define MAGIC	   0xc1fc1fc1u

/* Offsets in a packet; its first event follows. */
enum { AT_BEGIN = 8, AT_END = 16, AT_CONTENT = 24, AT_SIZE = 32, AT_DISCARDED = 40, AT_CPU = 48, PACKET_HEAD = 52 };

struct ctf_cpu {
	struct blob packet; /* empty: no packet is begun */
	uint64_t begin, end;
	uint64_t discarded;
	bool is_begun; /* a packet was written */
};

struct ctf {
	struct export_trace *trace;
	int directory;
	uint32_t nr_cpus;
	struct ctf_cpu *cpus;
	unsigned char *used; /* by id */
};

static void ctf_close(void *state)
{
	struct ctf *ctf = state;

	if (!ctf)
		return;
	for (uint32_t i = 0; i < ctf->nr_cpus; i++)
		blob_free(&ctf->cpus[i].packet);
	free(ctf->cpus);
	free(ctf->used);
	free(ctf);
}

static int ctf_open(struct export_trace *trace, struct export_out *out, void **ret_state)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));

	if (!ctf)
		return -ENOMEM;
	ctf->trace = trace;
	ctf->directory = out->fd;
	ctf->used = calloc(NR_IDS, sizeof(*ctf->used));
	if (!ctf->used) {
		ctf_close(ctf);
		return -ENOMEM;
	}
	*ret_state = ctf;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------- numbers */

static void put_number(struct blob *blob, uint64_t value, unsigned int size)
{
	unsigned char *at = blob_room(blob, size);

	for (unsigned int i = 0; at && i < size; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static void set_number(struct blob *blob, size_t offset, uint64_t value)
{
	for (unsigned int i = 0; i < 8; i++)
		blob->data[offset + i] = (unsigned char)(value >> (8 * i));
}

/* ------------------------------------------------------------------------------------------------------- packets */

static int append(const struct ctf *ctf, const char *name, const struct blob *blob)
{
	struct export_out out;
	const int fd = openat(ctf->directory, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	int err;

	if (fd < 0)
		return -errno;
	export_out_open(&out, fd);
	export_out_put(&out, blob->data, blob->size);
	err = export_out_close(&out);
	/* Network file systems report failed writes only here. */
	if (close(fd) && !err && errno != EINTR)
		err = -errno;
	return err;
}

static void begin_packet(struct ctf_cpu *c, uint32_t cpu, uint64_t ts)
{
	put_number(&c->packet, MAGIC, 4);
	put_number(&c->packet, 0, 4);
	c->begin = c->end = ts;
	c->is_begun = true;
	blob_zeros(&c->packet, AT_CPU);
	put_number(&c->packet, cpu, 4);
}

static int end_packet(const struct ctf *ctf, struct ctf_cpu *c, uint32_t cpu)
{
	char name[32];
	int err;

	if (c->packet.error)
		return c->packet.error;
	if (!c->packet.size)
		return 0;
	set_number(&c->packet, AT_BEGIN, c->begin);
	set_number(&c->packet, AT_END, c->end);
	set_number(&c->packet, AT_CONTENT, 8 * (uint64_t)c->packet.size);
	set_number(&c->packet, AT_SIZE, 8 * (uint64_t)c->packet.size);
	set_number(&c->packet, AT_DISCARDED, c->discarded);
	snprintf(name, sizeof(name), "cpu%u", cpu);
	err = append(ctf, name, &c->packet);
	c->packet.size = 0;
	return err;
}

static struct ctf_cpu *find_cpu(struct ctf *ctf, uint32_t cpu)
{
	struct ctf_cpu *cpus;

	if (cpu >= CPUS_MAX)
		return NULL;
	if (cpu >= ctf->nr_cpus) {
		cpus = realloc(ctf->cpus, (cpu + 1) * sizeof(*cpus));
		if (!cpus)
			return NULL;
		memset(cpus + ctf->nr_cpus, 0, (cpu + 1 - ctf->nr_cpus) * sizeof(*cpus));
		ctf->cpus = cpus;
		ctf->nr_cpus = cpu + 1;
	}
	return &ctf->cpus[cpu];
}

/* -------------------------------------------------------------------------------------------------------- events */

static void put_text(struct blob *blob, const void *text, size_t size)
{
	blob_put(blob, text, size);
	put_number(blob, 0, 1);
}

static void put_array(struct blob *blob, const struct export_field *field, const struct export_value *value)
{
	const uint32_t nr = export_elements(field, value);
	struct export_value element;

	put_number(blob, nr, 4);
	for (uint32_t i = 0; i < nr; i++) {
		export_element(field, value, i, &element);
		put_number(blob, element.u, field->element);
	}
}

/* Put the value of a field. If the record ends before the field, the value is 0, or empty. */
static void put_field(struct blob *blob, const struct export_field *field, const struct dat_event *event)
{
	struct export_value value;
	uint64_t bits;

	if (!export_value(field, event->data, event->size, &value))
		value = (struct export_value){ .kind = field->kind, .data = event->data };
	switch (field->kind) {
	case EXPORT_UNSIGNED:
	case EXPORT_SIGNED:
		put_number(blob, value.u, field->element);
		break;
	case EXPORT_REAL:
		memcpy(&bits, &value.real, sizeof(bits));
		put_number(blob, bits, 8);
		break;
	case EXPORT_TEXT:
		put_text(blob, value.data, value.size);
		break;
	case EXPORT_ARRAY:
	case EXPORT_BYTES:
		put_array(blob, field, &value);
		break;
	}
}

static int put_event(struct ctf *ctf, struct blob *blob, const struct export_event *type, const struct dat_event *event)
{
	const int32_t tid = event_pid(ctf->trace->table, event->data, event->size);
	const char *name = export_task_name(ctf->trace, tid), *text;

	put_number(blob, (uint64_t)type->type->event->id, 2);
	put_number(blob, event->ts, 8);
	put_number(blob, (uint32_t)tid, 4);
	put_text(blob, name, strlen(name));
	ctf->used[type->type->event->id] = 1;
	if (export_has_text(type)) {
		text = export_text(ctf->trace, event);
		if (!text)
			return -ENOMEM;
		put_text(blob, text, strlen(text));
		return blob->error;
	}
	for (uint32_t i = 0; i < type->nr_fields; i++)
		put_field(blob, &type->fields[i], event);
	return blob->error;
}

static int put_loss(const struct ctf *ctf, struct ctf_cpu *c, const struct dat_event *event)
{
	int err;

	if (!c->is_begun)
		begin_packet(c, event->cpu, event->ts);
	err = end_packet(ctf, c, event->cpu);
	c->discarded += event->lost > 0 ? (uint64_t)event->lost : 1;
	return err;
}

static int ctf_event(void *state, const struct dat_event *event)
{
	struct ctf *ctf = state;
	const struct export_event *type =
		export_event(ctf->trace->fields, event_id(ctf->trace->table, event->data, event->size));
	struct ctf_cpu *c = find_cpu(ctf, event->cpu);
	int err = c ? 0 : -ENOMEM;

	if (!err && event->lost)
		err = put_loss(ctf, c, event);
	else if (!err && c->packet.size >= PACKET_MAX)
		err = end_packet(ctf, c, event->cpu);
	if (err || !type)
		return err;
	if (!c->packet.size)
		begin_packet(c, event->cpu, event->ts);
	c->end = event->ts;
	return put_event(ctf, &c->packet, type, event);
}

static int ctf_end(void *state)
{
	struct ctf *ctf = state;
	struct blob metadata = BLOB_INIT;
	int err = 0;

	for (uint32_t i = 0; i < ctf->nr_cpus && !err; i++)
		err = end_packet(ctf, &ctf->cpus[i], i);
	if (!err)
		err = ctf_metadata(ctf->trace, ctf->used, &metadata);
	if (!err)
		err = append(ctf, "metadata", &metadata);
	blob_free(&metadata);
	return err;
}

const struct export_writer export_ctf = { EXPORT_FORM_DIRECTORY, ctf_open, ctf_event, ctf_end, ctf_close };
