/* SPDX-License-Identifier: MIT */
/* See why_overlay.h. */
#include "cli/ask/why_overlay.h"

#include "cli/base/human_ns.h"
#include "cli/common/opts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of a span's track: "17, 1.234 ms" */
static char *name_of(const struct why_span *span)
{
	char text[HUMAN_NS_SIZE], *name;
	const char *length = human_ns_trimmed(span->end - span->begin, text);

	if (span->is_signed)
		return asprintf(&name, "%" PRId64 ", %s", (int64_t)span->id, length) < 0 ? NULL : name;
	return asprintf(&name, "%" PRIu64 ", %s", span->id, length) < 0 ? NULL : name;
}

/* False: out of memory. */
static bool copy_piece(struct why *why, const struct why_piece *piece, struct overlay_piece *to)
{
	const char *task = why_thread_name(why, piece->tid);

	*to = (struct overlay_piece){
		.begin = piece->begin,
		.end = piece->end,
		.class = why_class_name(piece->class),
		.task = strdup(task ? task : ""),
		.by = strdup(piece->by),
		.what = strdup(piece->what),
		.tid = piece->tid,
		.cpu = piece->cpu,
	};
	return to->task && to->by && to->what;
}

static bool copy_span(struct why *why, const struct why_span *span, struct overlay_track *track)
{
	const struct why_piece *pieces;
	const long nr = why_explain(why, span, &pieces, NULL);
	bool is_whole = nr >= 0;

	if (!is_whole)
		return false;
	track->name = name_of(span);
	track->pieces = calloc((size_t)nr + 1, sizeof(*track->pieces));
	is_whole = track->name && track->pieces;
	while (is_whole && track->nr < (size_t)nr) {
		is_whole = copy_piece(why, &pieces[track->nr], &track->pieces[track->nr]);
		track->nr++;
	}
	return is_whole;
}

static bool copy_spans(struct why *why, const struct why_chosen *chosen, struct overlay *overlay)
{
	const struct model_rule *rule = chosen->spans[0]->rule;
	bool is_whole;

	if (asprintf(&overlay->name, "why %s:%s", rule->system, rule->name) < 0)
		overlay->name = NULL;
	overlay->tracks = calloc(chosen->nr, sizeof(*overlay->tracks));
	is_whole = overlay->name && overlay->tracks;
	while (is_whole && overlay->nr < chosen->nr) {
		is_whole = copy_span(why, chosen->spans[overlay->nr], &overlay->tracks[overlay->nr]);
		overlay->nr++;
	}
	return is_whole;
}

int why_overlay_read(const char *command, const char *path, unsigned int time_flags, const struct why_wanted *wanted,
		     struct overlay *overlay)
{
	struct why_trace trace = { 0 };
	struct why_chosen chosen = { 0 };
	int status = why_trace_open(command, path, time_flags, &trace);

	if (!status)
		status = why_choose(command, trace.why, wanted, &chosen);
	if (!status && !copy_spans(trace.why, &chosen, overlay)) {
		complain(command, "not enough memory");
		status = EXIT_FAILURE;
	}
	free(chosen.spans);
	why_trace_close(&trace);
	return status;
}

void why_overlay_free(struct overlay *overlay)
{
	for (size_t i = 0; i < overlay->nr; i++) {
		struct overlay_track *track = &overlay->tracks[i];

		for (size_t k = 0; k < track->nr; k++) {
			free(track->pieces[k].task);
			free(track->pieces[k].by);
			free(track->pieces[k].what);
		}
		free(track->pieces);
		free(track->name);
	}
	free(overlay->tracks);
	free(overlay->name);
	*overlay = (struct overlay){ 0 };
}
