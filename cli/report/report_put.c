/* SPDX-License-Identifier: MIT */
/* Appends numbers of fields as text, and writes the text of all events to standard output (report_field.h). */
#include "cli/report/report_field.h"

#include "cli/common/put_text.h"
#include "cli/common/show_text.h"
#include "format/text/event_float.h"

#define ENOUGH 65536u

void report_put_number(struct blob *out, const struct report_value *value, uint64_t number)
{
	char text[EVENT_FLOAT_TEXT];

	if (value->is_float) {
		blob_put(out, text,
			 (size_t)event_float_text(event_float_value(number, value->element), value->element, text));
		return;
	}
	if (value->is_signed && (int64_t)number < 0) {
		blob_put(out, "-", 1);
		number = 0 - number;
	}
	put_unsigned(out, number);
}

/* Write the collected text if there is enough of it, or if `now`. False: writing failed. */
static bool write_out(struct report *r, struct blob *out, bool now)
{
	if (out->size < ENOUGH && !now)
		return true;
	show_bytes(stdout, out->data, out->size);
	out->size = 0;
	return report_written(r);
}

struct loss_output {
	struct report *r;
	struct blob *out;
	report_put_loss_fn *put;
	void *arg;
};

/* Many losses may come before a selected event, so their text is written, too. */
static void write_loss(void *arg, const struct dat_event *event)
{
	const struct loss_output *to = arg;

	to->put(to->arg, event);
	write_out(to->r, to->out, to->r->follow.wanted);
}

int report_put_events(struct report *r, struct blob *out, report_put_fn *put, report_put_loss_fn *put_loss, void *arg)
{
	struct loss_output losses = { r, out, put_loss, arg };
	struct tep_record record;
	struct report_walk walk;
	struct dat_event event;
	bool written = true;
	int err = 0, status = report_walk_open(r, false, &walk);

	if (status)
		return status;
	walk.loss = put_loss ? write_loss : NULL;
	walk.loss_arg = &losses;
	while (!err && written && report_walk_next(&walk, &event, &record)) {
		err = put(arg, &event, &record);
		written = err || write_out(r, out, r->follow.wanted);
	}
	err = err ? err : out->error;
	write_out(r, out, true);
	status = err ? report_fail_memory(r) : r->lines.write_error ? 0 : report_damage(r, walk.merge);
	report_walk_close(&walk);
	return status;
}
