/* SPDX-License-Identifier: MIT */
/* Programs that are still running when the recording that started them ends. */
#ifndef CLI_SURVIVORS_H
#define CLI_SURVIVORS_H

#include "cli/recording/selection.h"
#include "cli/recording/session.h"

/*
 * Make them ordinary running programs, and remove the session: the events of the selections are switched off, events
 * that are still in the lanes are skipped, and the buffers move from the session to the user's buffer directory, where
 * all commands find them. A buffer that cannot be moved is removed. Programs that start meanwhile are treated in the
 * same way; if that is not possible within some milliseconds, the session stays. What fails is
 * reported. Nothing is done without a session.
 */
void survivors_release(const struct message_sink *sink, struct session *session, const struct selections *selections);

#endif
