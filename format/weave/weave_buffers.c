/* SPDX-License-Identifier: MIT */
/*
 * The buffers of the file. The top one comes first and has the kernel's events and those that are woven among them.
 * Each other ring of the kernel has a buffer with the name that was requested. If lanes are kept unchanged beside the
 * kernel, they have one buffer together. With WEAVE_SPLIT each process has a buffer.
 */
#include "format/weave/weave_private.h"

#include <errno.h>
#include <stdlib.h>

int weave_take_buffers(struct weave_out *out, const struct weave_meta *meta, bool has_kernel)
{
	unsigned int lanes = 0; /* the buffer of all lanes, if they have one of their own */
	unsigned int i;

	out->nr_buffers = 1;
	for (i = 0; i < meta->nr_processes; i++) {
		const struct weave_kernel *kernel = meta->processes[i].kernel;

		if (kernel ? kernel->buffer != NULL : meta->split)
			out->owners[i].buffer = out->nr_buffers++;
		if (kernel || !meta->raw || !has_kernel)
			continue;
		if (!lanes)
			lanes = out->nr_buffers++;
		out->owners[i].buffer = lanes;
	}
	out->buffers = calloc(out->nr_buffers, sizeof(*out->buffers));
	return out->buffers ? 0 : -ENOMEM;
}

int weave_name_buffers(const struct weave_out *out, const struct weave_meta *meta)
{
	struct blob name = BLOB_INIT;
	unsigned int i, number;
	unsigned int last = 0;
	int err = 0;

	for (i = 0; i < meta->nr_processes && !err; i++) {
		if (out->owners[i].buffer <= last)
			continue;
		if (meta->processes[i].kernel)
			blob_printf(&name, "%s", meta->processes[i].kernel->buffer);
		else if (meta->raw)
			blob_printf(&name, "lanes");
		else
			blob_printf(&name, "%s-%u", meta->processes[i].comm, meta->processes[i].pid);
		blob_put(&name, "", 1);
		err = name.error ? name.error : dat_write_buffer(out->writer, (const char *)name.data, &number);
		name.size = 0;
		last++;
	}
	blob_free(&name);
	return err;
}
