/* SPDX-License-Identifier: MIT */
/*
 * The buffers of the file. The top one comes first and has the kernel's events and those that are woven among them.
 * Each other ring of the kernel has a buffer with the name that was requested. If lanes are kept unchanged beside the
 * kernel, they have one buffer together. With WEAVE_SPLIT each process has a buffer.
 */
#include "format/weave/weave_private.h"

#include <errno.h>
#include <stdlib.h>

int weave_take_buffers(struct weave *weave)
{
	const struct weave_params *params = weave->params;
	unsigned int lanes = 0; /* the buffer of all lanes, if they have one of their own */
	unsigned int i;

	weave->nr_buffers = 1;
	for (i = 0; i < params->nr_processes; i++) {
		const struct weave_kernel *kernel = params->processes[i].kernel;

		if (kernel ? kernel->buffer != NULL : !params->raw && params->buffers == WEAVE_SPLIT)
			weave->owners[i].buffer = weave->nr_buffers++;
		if (kernel || !params->raw || !weave->kernel)
			continue;
		if (!lanes)
			lanes = weave->nr_buffers++;
		weave->owners[i].buffer = lanes;
	}
	weave->buffers = calloc(weave->nr_buffers, sizeof(*weave->buffers));
	return weave->buffers ? 0 : -ENOMEM;
}

int weave_name_buffers(struct weave *weave)
{
	const struct weave_params *params = weave->params;
	struct blob name = BLOB_INIT;
	unsigned int i, number;
	unsigned int last = 0;
	int err = 0;

	for (i = 0; i < params->nr_processes && !err; i++) {
		if (weave->owners[i].buffer <= last)
			continue;
		if (params->processes[i].kernel)
			blob_printf(&name, "%s", params->processes[i].kernel->buffer);
		else if (params->raw)
			blob_printf(&name, "lanes");
		else
			blob_printf(&name, "%s-%u", params->processes[i].comm, params->processes[i].pid);
		blob_put(&name, "", 1);
		err = name.error ? name.error : dat_write_buffer(weave->writer, (const char *)name.data, &number);
		name.size = 0;
		last++;
	}
	blob_free(&name);
	return err;
}
