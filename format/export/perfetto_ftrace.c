/* SPDX-License-Identifier: MIT */
/*
 * Events of the kernel, in a bundle for each CPU that is written when it is full. sched_switch and sched_waking are
 * written as lists: times as differences, a task's name as its place in a list of names. The lists name only the next
 * task of a switch; the previous one is that of the switch before. So the first switch of a CPU is written in the long
 * form.
 *
 * Perfetto counts an error if the previous task of a switch is another one than the last switch named. That is so after
 * a loss, and after the switch to a thread whose events are hidden. Then a switch is inserted at the first event that
 * shows which task runs instead; the time before that event counts for the task that was known to run. After
 * sched_switch the kernel still has some work to do in the former task: such events do not show which task runs.
 *
 * If several machines have CPUs of the same number, no switch is known to follow another one. Then switches and wakings
 * are written like all other events, and none is inserted.
 */
#include "format/export/perfetto_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUNDLE_MAX   (64u * 1024u)
#define CPUS_MAX     65536u
#define FIRST_NUMBER 65536u /* field number of the first described event */
#define FIELDS_MAX   31u    /* the most fields that Perfetto permits in such an event */

enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3, BUNDLE_SCHED = 4, BUNDLE_DESCRIPTOR = 11 };
enum { FTRACE_TIME = 1, FTRACE_PID = 2, FTRACE_SWITCH = 4 };
enum { DESCRIPTOR_NUMBER = 1, DESCRIPTOR_MESSAGE = 2, DESCRIPTOR_GROUP = 3 };
enum { MESSAGE_NAME = 1, MESSAGE_FIELD = 2, FIELD_NAME = 1, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5 };
enum { LABEL_OPTIONAL = 1, TYPE_INT64 = 3, TYPE_UINT64 = 4, TYPE_STRING = 9 };
enum { INTERN_TABLE = 5 };

/* The fields of both lists that are used here, in the order of their numbers in the message. */
enum {
	SWITCH_TIME,
	SWITCH_STATE,
	SWITCH_PID,
	SWITCH_PRIO,
	SWITCH_COMM,
	WAKING_TIME,
	WAKING_PID,
	WAKING_CPU,
	WAKING_PRIO,
	WAKING_COMM,
	NR_LISTS
};
static const uint32_t list_field[NR_LISTS] = { 1, 2, 3, 4, 6, 7, 8, 9, 10, 11 };

struct perfetto_cpu {
	struct blob events; /* EVENT fields of the bundle */
	struct blob lists[NR_LISTS];
	struct blob comms;  /* INTERN_TABLE fields */
	struct string_table comm_numbers;
	uint64_t switch_time, waking_time;
	int64_t current;    /* pid that the last switch named; -1: there was none */
	int64_t left;	    /* pid that the last switch left, while only that task's events have come since; -1: none */
	bool is_lost;
};

static struct perfetto_cpu *find_cpu(struct perfetto *p, uint32_t cpu)
{
	struct perfetto_cpu **cpus;
	const uint32_t nr = cpu + 1;

	if (cpu >= CPUS_MAX)
		return NULL;
	if (nr > p->nr_cpus) {
		cpus = realloc(p->cpus, nr * sizeof(struct perfetto_cpu *));
		if (!cpus)
			return NULL;
		memset(cpus + p->nr_cpus, 0, (nr - p->nr_cpus) * sizeof(struct perfetto_cpu *));
		p->cpus = cpus;
		p->nr_cpus = nr;
	}
	if (!p->cpus[cpu]) {
		p->cpus[cpu] = calloc(1, sizeof(*p->cpus[cpu]));
		if (p->cpus[cpu])
			p->cpus[cpu]->current = p->cpus[cpu]->left = -1;
	}
	return p->cpus[cpu];
}

/* ------------------------------------------------------------------------------------------------------- bundles */

static void put_lists(struct perfetto *p, struct perfetto_cpu *c)
{
	size_t sched;

	if (!c->comms.size)
		return;
	sched = proto_begin(&p->packet, BUNDLE_SCHED);
	blob_put(&p->packet, c->comms.data, c->comms.size);
	for (unsigned int i = 0; i < NR_LISTS; i++) {
		if (c->lists[i].size)
			proto_bytes(&p->packet, list_field[i], c->lists[i].data, c->lists[i].size);
	}
	proto_end(&p->packet, sched);
}

static int write_bundle(struct perfetto *p, struct perfetto_cpu *c, uint32_t cpu)
{
	size_t bundle;
	int error = c->events.error | c->comms.error;

	if (!c->events.size && !c->comms.size)
		return 0;
	perfetto_packet(p, PERFETTO_NO_TIME);
	bundle = proto_begin(&p->packet, PACKET_FTRACE);
	proto_uint(&p->packet, BUNDLE_CPU, cpu);
	if (c->is_lost)
		proto_uint(&p->packet, BUNDLE_LOST, 1);
	blob_put(&p->packet, c->events.data, c->events.size);
	put_lists(p, c);
	proto_end(&p->packet, bundle);
	c->events.size = c->comms.size = 0;
	for (unsigned int i = 0; i < NR_LISTS; i++) {
		error |= c->lists[i].error;
		c->lists[i].size = 0;
	}
	string_table_clear(&c->comm_numbers);
	c->switch_time = c->waking_time = 0;
	c->is_lost = false;
	return error ? -ENOMEM : perfetto_packet_end(p);
}

static int write_if_full(struct perfetto *p, struct perfetto_cpu *c, uint32_t cpu)
{
	size_t size = c->events.size + c->comms.size;

	for (unsigned int i = 0; i < NR_LISTS; i++)
		size += c->lists[i].size;
	return size >= BUNDLE_MAX ? write_bundle(p, c, cpu) : 0;
}

int perfetto_ftrace_lost(struct perfetto *p, uint32_t cpu)
{
	struct perfetto_cpu *c = find_cpu(p, cpu);
	int err = c ? write_bundle(p, c, cpu) : -ENOMEM;

	if (err)
		return err;
	c->is_lost = true;
	c->left = -1;
	return 0;
}

int perfetto_ftrace_end(struct perfetto *p)
{
	int err = 0;

	for (uint32_t i = 0; i < p->nr_cpus && !err; i++)
		err = p->cpus[i] ? write_bundle(p, p->cpus[i], i) : 0;
	return err;
}

void perfetto_ftrace_free(struct perfetto *p)
{
	for (uint32_t i = 0; i < p->nr_cpus; i++) {
		struct perfetto_cpu *c = p->cpus[i];

		if (!c)
			continue;
		blob_free(&c->events);
		blob_free(&c->comms);
		for (unsigned int j = 0; j < NR_LISTS; j++)
			blob_free(&c->lists[j]);
		string_table_free(&c->comm_numbers);
		free(c);
	}
	free(p->cpus);
}

/* ----------------------------------------------------------------------------------------------------- scheduler */

/* The values of fields by name, in the order of `names`. False: one of them is missing or is not of this kind. */
static bool read_fields(const struct export_event *type, const struct dat_event *event, const char *const *names,
			unsigned int nr, struct export_value *ret_values)
{
	for (unsigned int i = 0; i < nr; i++) {
		const bool is_text = strstr(names[i], "comm");
		uint32_t at = 0;

		while (at < type->nr_fields && strcmp(type->fields[at].name, names[i]) != 0)
			at++;
		if (at == type->nr_fields ||
		    !export_value(&type->fields[at], event->data, event->size, &ret_values[i]) ||
		    (ret_values[i].kind == EXPORT_TEXT) != is_text || ret_values[i].kind > EXPORT_TEXT)
			return false;
	}
	return true;
}

static uint32_t comm_number(struct perfetto_cpu *c, const void *comm, size_t size)
{
	bool is_new;
	const uint32_t number = string_table_number(&c->comm_numbers, comm, size, &is_new);

	if (is_new)
		proto_bytes(&c->comms, INTERN_TABLE, comm, size);
	if (!number)
		c->comms.error = -ENOMEM;
	return number - 1;
}

static void put_long_switch(struct perfetto_cpu *c, uint64_t ts, const struct export_value *v)
{
	const size_t event = proto_begin(&c->events, BUNDLE_EVENT);
	size_t message;

	proto_uint(&c->events, FTRACE_TIME, ts);
	proto_int(&c->events, FTRACE_PID, v[1].s);
	message = proto_begin(&c->events, FTRACE_SWITCH);
	for (unsigned int i = 0; i < 7; i++) {
		if (v[i].kind == EXPORT_TEXT)
			proto_bytes(&c->events, i + 1, v[i].data, v[i].size);
		else
			proto_int(&c->events, i + 1, v[i].s);
	}
	proto_end(&c->events, message);
	proto_end(&c->events, event);
}

static void put_short_switch(struct perfetto_cpu *c, uint64_t ts, uint64_t state, const void *comm, size_t size,
			     int64_t pid, int64_t prio)
{
	proto_varint(&c->lists[SWITCH_TIME], ts - c->switch_time);
	proto_varint(&c->lists[SWITCH_STATE], state);
	proto_varint(&c->lists[SWITCH_COMM], comm_number(c, comm, size));
	proto_varint(&c->lists[SWITCH_PID], (uint64_t)pid);
	proto_varint(&c->lists[SWITCH_PRIO], (uint64_t)prio);
	c->switch_time = ts;
}

/*
 * Insert a switch, because another task is running than the last switch named: see above. Its priority is not known;
 * the previous task counts as runnable.
 */
static void put_missing_switch(struct perfetto *p, struct perfetto_cpu *c, const struct dat_event *event, int32_t pid)
{
	char idle[32];
	const char *comm = export_task_name(p->trace, pid);

	snprintf(idle, sizeof(idle), "swapper/%" PRIu32, event->cpu);
	comm = pid ? comm : idle;
	put_short_switch(c, perfetto_boottime(p, event->ts), 0, comm, strlen(comm), pid, 0);
	c->current = pid;
}

/* Whether an event of another task than the last switch named shows that the task runs; as in the model of states. */
static bool shows_running(const struct perfetto *p, const struct perfetto_cpu *c, const struct export_event *type,
			  int32_t pid)
{
	const struct model_rule *rule = model_rule(p->trace->rules, type->type->event->id);

	return pid != c->left || rule->meaning == MODEL_SWITCH || rule->is_call || rule->is_of_cpu;
}

/* False: the event does not have the fields. */
static bool put_switch(struct perfetto_cpu *c, const struct export_event *type, const struct dat_event *event,
		       uint64_t time)
{
	static const char *const names[] = { "prev_comm", "prev_pid",  "prev_prio", "prev_state",
					     "next_comm", "next_pid", "next_prio" };
	struct export_value v[7];

	if (!read_fields(type, event, names, 7, v))
		return false;
	if (c->current < 0)
		put_long_switch(c, time, v);
	else
		put_short_switch(c, time, v[3].u, v[4].data, v[4].size, v[5].s, v[6].s);
	c->current = v[5].s;
	c->left = v[1].s;
	return true;
}

static bool put_waking(struct perfetto_cpu *c, const struct export_event *type, const struct dat_event *event,
		       int32_t pid, uint64_t time)
{
	static const char *const names[] = { "comm", "pid", "prio", "target_cpu" };
	struct export_value v[4];

	/* In the list, the waking task is the one that the last switch named. */
	if (c->current < 0 || (pid >= 0 && pid != c->current) || !read_fields(type, event, names, 4, v))
		return false;
	proto_varint(&c->lists[WAKING_TIME], time - c->waking_time);
	proto_varint(&c->lists[WAKING_COMM], comm_number(c, v[0].data, v[0].size));
	proto_varint(&c->lists[WAKING_PID], v[1].u);
	proto_varint(&c->lists[WAKING_PRIO], v[2].u);
	proto_varint(&c->lists[WAKING_CPU], v[3].u);
	c->waking_time = time;
	return true;
}

/* ---------------------------------------------------------------------------------------------- described events */

static uint32_t field_type(const struct export_field *field)
{
	switch (field->kind) {
	case EXPORT_UNSIGNED:
		return TYPE_UINT64;
	case EXPORT_SIGNED:
		return TYPE_INT64;
	default:
		return TYPE_STRING;
	}
}

/* The number of fields that are described. A text stands for all fields. */
static uint32_t nr_described(const struct export_event *type)
{
	if (export_has_text(type))
		return 0;
	return type->nr_fields < FIELDS_MAX ? type->nr_fields : FIELDS_MAX;
}

static uint32_t described_number(const struct export_event *type)
{
	return FIRST_NUMBER + (uint32_t)type->type->event->id;
}

static void describe_field(struct perfetto *p, const char *name, uint32_t number, uint32_t of_type)
{
	const size_t field = proto_begin(&p->packet, MESSAGE_FIELD);

	proto_text(&p->packet, FIELD_NAME, name);
	proto_uint(&p->packet, FIELD_NUMBER, number);
	proto_uint(&p->packet, FIELD_LABEL, LABEL_OPTIONAL);
	proto_uint(&p->packet, FIELD_TYPE, of_type);
	proto_end(&p->packet, field);
}

/* Perfetto's own message for texts is not used: its importer counts an error for each text that is not Android's. */
static int describe(struct perfetto *p, const struct export_event *type, uint32_t cpu)
{
	size_t bundle, descriptor, message;

	perfetto_packet(p, PERFETTO_NO_TIME);
	bundle = proto_begin(&p->packet, PACKET_FTRACE);
	proto_uint(&p->packet, BUNDLE_CPU, cpu);
	descriptor = proto_begin(&p->packet, BUNDLE_DESCRIPTOR);
	proto_uint(&p->packet, DESCRIPTOR_NUMBER, described_number(type));
	message = proto_begin(&p->packet, DESCRIPTOR_MESSAGE);
	proto_text(&p->packet, MESSAGE_NAME, type->name);
	if (export_has_text(type))
		describe_field(p, "text", 1, TYPE_STRING);
	for (uint32_t i = 0; i < nr_described(type); i++)
		describe_field(p, type->fields[i].name, i + 1, field_type(&type->fields[i]));
	proto_end(&p->packet, message);
	proto_text(&p->packet, DESCRIPTOR_GROUP, type->system);
	proto_end(&p->packet, descriptor);
	proto_end(&p->packet, bundle);
	return perfetto_packet_end(p);
}

/* Described events have no type for arrays: their elements are written in hexadecimal, in the order of the record. */
static void put_hex(struct blob *blob, uint32_t number, const struct export_value *value)
{
	static const char digits[] = "0123456789abcdef";
	char *text;

	proto_varint(blob, (uint64_t)number << 3 | 2);
	proto_varint(blob, 2 * (uint64_t)value->size);
	text = blob_room(blob, 2 * (size_t)value->size);
	for (uint32_t i = 0; text && i < value->size; i++) {
		*text++ = digits[value->data[i] >> 4];
		*text++ = digits[value->data[i] & 15];
	}
}

static void put_described(struct perfetto *p, struct perfetto_cpu *c, const struct export_event *type,
			  const struct dat_event *event, int32_t pid, uint64_t time)
{
	const char *text = export_has_text(type) ? export_text(p->trace, event) : NULL;
	const size_t begun = proto_begin(&c->events, BUNDLE_EVENT);
	struct export_value value;
	size_t message;

	proto_uint(&c->events, FTRACE_TIME, time);
	proto_int(&c->events, FTRACE_PID, pid);
	message = proto_begin(&c->events, described_number(type));
	if (text)
		proto_text(&c->events, 1, text);
	for (uint32_t i = 0; i < nr_described(type); i++) {
		if (!export_value(&type->fields[i], event->data, event->size, &value))
			continue;
		if (value.kind == EXPORT_TEXT)
			proto_bytes(&c->events, i + 1, value.data, value.size);
		else if (value.kind > EXPORT_TEXT)
			put_hex(&c->events, i + 1, &value);
		else
			proto_uint(&c->events, i + 1, value.u);
	}
	proto_end(&c->events, message);
	proto_end(&c->events, begun);
}

int perfetto_ftrace_event(struct perfetto *p, const struct export_event *type, const struct dat_event *event)
{
	const uint32_t id = (uint32_t)type->type->event->id;
	const int32_t pid = event_pid(p->trace->table, event->data, event->size);
	const uint64_t time = perfetto_boottime(p, event->ts);
	const bool is_scheduler = !strcmp(type->system, "sched") && !p->trace->table->absent.several_machines;
	struct perfetto_cpu *c = find_cpu(p, event->cpu);
	int err = 0;

	if (!c)
		return -ENOMEM;
	if (c->current >= 0 && pid >= 0 && pid != c->current && shows_running(p, c, type, pid))
		put_missing_switch(p, c, event, pid);
	if (pid != c->left)
		c->left = -1;
	if (is_scheduler &&
	    ((!strcmp(type->name, "sched_switch") && put_switch(c, type, event, time)) ||
	     (!strcmp(type->name, "sched_waking") && put_waking(c, type, event, pid, time))))
		return write_if_full(p, c, event->cpu);
	if (!p->described[id]) {
		err = describe(p, type, event->cpu);
		p->described[id] = 1;
	}
	if (!err)
		put_described(p, c, type, event, pid, time);
	return err ? err : write_if_full(p, c, event->cpu);
}
