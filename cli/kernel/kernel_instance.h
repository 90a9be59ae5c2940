/* SPDX-License-Identifier: MIT */
/*
 * An instance of tracefs that lives as long as its recorder. It is called recorder-PID-STARTTIME, and the recorder has
 * a lock on its directory, which ends with the recorder in any case. So another recorder, in any pid namespace, can
 * recognise an instance that was left.
 */
#ifndef CLI_KERNEL_INSTANCE_H
#define CLI_KERNEL_INSTANCE_H

#include <stdbool.h>
#include <tracefs.h>

#include "cli/base/message.h"

#define INSTANCE_NAME_SIZE 48

struct instance {
	struct tracefs_instance *tracefs; /* NULL: none */
	char name[INSTANCE_NAME_SIZE];
	char *dir;
	int lock; /* on the directory */
};

/*
 * Find tracefs, or mount it, which is reported on one line unless `quiet`, and make libtracefs use it. 0; or -errno,
 * and one line was printed: -EACCES, no rights.
 */
int instance_find_tracefs(const struct message_sink *sink, bool quiet);

/*
 * Make an instance. The instances of one recorder differ by their suffixes: "", or "-" and small letters. 0; or -errno,
 * and one line was printed: -EACCES, no rights.
 */
int instance_create(const struct message_sink *sink, const char *suffix, struct instance *ret_instance);

/* One line: which right is missing, and how root grants it. Returns -EACCES. */
int instance_no_rights(const struct message_sink *sink);

/* False: one line was printed; then another recorder removes it. */
bool instance_destroy(const struct message_sink *sink, struct instance *instance);

/*
 * Remove the instances of killed recorders, if tracefs is mounted and may be changed. Reports the removal unless
 * `quiet`.
 */
void instance_sweep(const struct message_sink *sink, bool quiet);

#endif
