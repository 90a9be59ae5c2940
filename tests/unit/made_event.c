/* SPDX-License-Identifier: MIT */
#include "made_event.h"

#include <stdio.h>
#include <string.h>

void made_event(struct made_event *made, const char *system, const char *declaration, int64_t size)
{
	int used;

	memset(made, 0, sizeof(*made));
	made->description.event.record.size = sizeof(made->description);
	made->description.event.record.kind = REC_LOG_EVENT;
	made->description.event.nr_numbers = 1;
	made->description.size = size;
	used = snprintf(made->description.text, sizeof(made->description.text), "%s%c%s", system, 0, declaration);
	made->description.event.text_size = (uint32_t)used + 1;
	made->event.description = &made->description.event;
	made->event.enabled = &made->event.off;
}
