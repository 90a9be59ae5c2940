/* SPDX-License-Identifier: MIT */
/*
 * recorder recover: make a trace.dat from what is left after a recorder or a program was killed: the spool, the
 * contents of the session's buffers, buffers that were not recorded, a core file. Events from buffers are first put
 * into a spool, and only then is the buffer removed, so a recovery that is killed can be recovered.
 */
#include "cli/cmd.h"
#include "cli/common/compression.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/progress.h"
#include "cli/kernel/kernel_texts.h"
#include "cli/record/recover.h"

/* ------------------------------------------------------------------------------------------------------- recovery */

static int drain_into(struct recover *recover, struct spool *spool, const struct session *dir, unsigned int flags,
		      const char *only)
{
	struct drain *drain;
	int err = drain_open(spool, dir->fd, flags, only, &drain);

	if (err)
		return err;
	err = drain_finish(drain);
	drain_trouble_add(&recover->trouble, drain_trouble(drain));
	drain_close(drain);
	return err < 0 ? err : 0;
}

/*
 * Forget the troubles of an attempt that has failed, because the next one finds them again in the buffers that are
 * still there. Damaged lanes are kept, because their buffers may be gone; those of a buffer that is still there count
 * twice. What only buffers have shown that are gone is not reported: processes without a buffer, stopped programs.
 */
static void forget_attempt(struct recover *recover, const struct drain_trouble *before)
{
	const struct drain_trouble failed = recover->trouble;

	recover->trouble = *before;
	recover->trouble.bad_lanes = failed.bad_lanes;
	recover->trouble.bad_lane = failed.bad_lane;
}

/*
 * Append the spool of a session to ours. If its disk was full, so that the drain into it has failed (`drained`), the
 * rest of the session's buffers is drained into ours.
 */
static int append_left(struct recover *recover, struct spool *spool, const struct left_place *place,
		       const struct drain_trouble *before, int drained)
{
	const int err = recover_append(recover, spool);

	if (err || !drained)
		return err;
	forget_attempt(recover, before);
	return drain_into(recover, recover->spool, &place->dir, DRAIN_OWNED | DRAIN_DEAD, NULL);
}

/* Recover a whole session, which is removed once all of it is in our spool. */
static int gather_session(struct recover *recover, struct left_place *place)
{
	const struct drain_trouble before = recover->trouble;
	struct spool *spool = NULL;
	int err;

	if (place->spool && session_is_others(&place->dir)) {
		recover_say_others(place->dir.path, place->spool);
		recover->has_named = true;
		return 0;
	}
	/* If this fails, the reason was printed; the buffers can still be recovered. */
	if (place->spool && !recover_open_left(place->spool, &spool))
		return 0;
	if (spool && !recover_remove_if_done(&spool))
		return 0;
	/* A file has room for one kernel, whose pages are mostly not in the spool itself. */
	if (spool && spool_has_kernel(spool)) {
		complain(RECOVER,
			 "'%s' has the kernel's events as well: 'recorder recover %s' makes a separate file of it",
			 place->spool, place->spool);
		spool_close(spool);
		recover->has_named = true;
		return 0;
	}
	if (spool && spool->stage_is_unseen) {
		recover_say_stage(spool);
		spool_close(spool);
		recover->trouble.unread++;
		return 0;
	}
	err = drain_into(recover, spool ? spool : recover->spool, &place->dir, DRAIN_OWNED | DRAIN_DEAD, NULL);
	if (spool)
		err = append_left(recover, spool, place, &before, err);
	if (err)
		return err;
	if (recover->trouble.bad_buffers == before.bad_buffers && recover->trouble.unread == before.unread &&
	    recover->trouble.living == before.living)
		/* A program may have started there since. */
		recover->trouble.living += !session_remove(&place->dir);
	return 0;
}

static bool is_image(const struct leftover *one, const struct leftover *other)
{
	return one->pid == other->pid && one->start_time == other->start_time;
}

static int gather_place(struct recover *recover, struct left_place *place)
{
	int err = 0;

	if (place->is_session)
		return recover->image ? 0 : gather_session(recover, place);
	for (unsigned int i = 0; i < place->nr && !err; i++)
		if (!recover->image || is_image(&place->items[i], recover->image))
			err = drain_into(recover, recover->spool, &place->dir, DRAIN_OWNED, place->items[i].name);
	return err;
}

/*
 * A spool without a session names programs that were running: take what they have recorded since, and switch off the
 * events that are still on for the killed recorder.
 */
static int gather_program(struct recover *recover, const struct spool_process *process, const struct session *dir)
{
	struct rec_view *view;
	struct stat st;

	if (fstatat(dir->fd, process->file, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_ino != process->inode)
		return 0;
	if (!rec_view_open_at(dir->fd, process->file, &view)) {
		rec_view_give_back(view);
		rec_view_close(view);
	}
	return drain_into(recover, recover->spool, dir, DRAIN_OWNED | DRAIN_NEXT, process->file);
}

static int gather_programs(struct recover *recover)
{
	const unsigned int nr = recover->spool->nr_entries;
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++)
		for (unsigned int j = 0; j < recover->left.nr && !err; j++) {
			/* Draining may move the list of entries. */
			const struct spool_process process = recover->spool->entries[i].process;

			err = gather_program(recover, &process, &recover->left.places[j].dir);
		}
	return err;
}

/* Add the texts that the running kernel can still give. A file can be made without them. */
static void gather_kernel(struct recover *recover)
{
	for (unsigned int i = 0; i < recover->spool->nr_entries; i++)
		if (spool_is_kernel(&recover->spool->entries[i]))
			kernel_texts_recover(recover->spool, i);
}

static int gather(struct recover *recover)
{
	int err = 0;

	if (recover->dir.fd >= 0)
		return drain_into(recover, recover->spool, &recover->dir, recover->flags,
				  recover->only[0] ? recover->only : NULL);
	if (!recover->all && !recover->image)
		return gather_programs(recover);
	for (unsigned int i = 0; i < recover->left.nr && !err; i++)
		err = gather_place(recover, &recover->left.places[i]);
	return err;
}

static bool is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

/* Gather; if the left spool's disk is full, gather the rest into a copy of the spool on the disk of the output. */
static int gather_with_room(struct recover *recover)
{
	const struct drain_trouble before = recover->trouble;
	const int err = gather(recover);

	if (!is_full(err) || !recover_move_spool(recover))
		return err;
	forget_attempt(recover, &before);
	return gather(recover);
}

/* Whether some data that the spool leads to could not be read now. */
static bool is_to_be_tried_again(const struct recover *recover)
{
	return recover->trouble.unread && recover->dir.fd >= 0 && !recover->only[0] && !recover->temporary;
}

static void say_living(const struct recover *recover, unsigned int living)
{
	if (!recover->quiet)
		complain(RECOVER,
			 "%u %s still running: 'recorder recover' can later recover what %s from now on, to another "
			 "file (-o)",
			 living, living == 1 ? "program is" : "programs are",
			 living == 1 ? "it records" : "they record");
}

/* Report what could not be recovered, and which programs continue. */
static void say_rest(const struct recover *recover, bool full)
{
	const unsigned int living = recover->trouble.living;
	const char *where = recover->all || recover->dir.fd < 0 ? "--all" : recover->dir.path;

	/* A part of what a directory has, or a core file's contents, which are removed with the temporary directory. */
	if (recover->image || recover->only[0] || recover->temporary)
		where = recover->operand;
	if (full)
		complain(
			RECOVER,
			"the file lacks the rest of the buffers, for which '%s' has no room: 'recorder recover -o FILE "
			"%s' makes another file of it",
			recover->spool_path, where);
	else if (is_to_be_tried_again(recover))
		complain(RECOVER, "some buffers could not be read; retry with 'recorder recover %s'",
			 recover->spool_path);
	else if (recover->trouble.unread)
		complain(RECOVER,
			 "some buffers could not be read; 'recorder recover' can recover them later, to another file");
	else if (living && recover->dir.fd >= 0 && !session_is_session(recover->dir.path) && !recover->quiet)
		complain(RECOVER, "%u %s still running: 'recorder snapshot -P PROGRAM' copies %s events", living,
			 living == 1 ? "program is" : "programs are", living == 1 ? "its" : "their");
	else if (living)
		say_living(recover, living);
}

static bool say_nothing(const struct recover *recover)
{
	const struct drain_trouble *trouble = &recover->trouble;

	if (recover->all && recover->has_named)
		complain(RECOVER, "nothing else to recover");
	else if (recover->all)
		complain(RECOVER, "nothing to recover: no dead program or recorder has left anything");
	else if (trouble->living)
		complain(RECOVER,
			 "'%s' holds only buffers of running programs: 'recorder snapshot -P PROGRAM' copies their "
			 "events",
			 recover->dir.path);
	else
		complain(RECOVER, "'%s' holds no buffer%s%s",
			 recover->dir.fd >= 0 ? recover->dir.path : recover->spool_path,
			 trouble->bad_buffers ? " that can be read: " : "",
			 trouble->bad_buffers ? strerror(trouble->bad_errno) : "");
	return false;
}

/* Report that the spool cannot be written. Returns false. */
static bool say_failed(struct recover *recover, int err)
{
	/* If a new spool stays, it is all that is left of what was recovered before the error. */
	if (!recover_drop_empty(recover) && recover->is_new)
		complain(RECOVER,
			 "cannot write '%s': %s; nothing is lost: 'recorder recover %s' makes a file of what it has, "
			 "then run this again",
			 recover->spool_path, strerror(-err), recover->spool_path);
	else if (recover->is_moved)
		complain(RECOVER,
			 "cannot write '%s': %s; nothing is lost: 'recorder recover %s' continues when there is room",
			 recover->spool_path, strerror(-err), recover->spool_path);
	else
		complain(RECOVER, "cannot write '%s': %s; nothing is lost, run this again when there is room",
			 recover->spool_path, strerror(-err));
	return false;
}

static bool recover_all(struct recover *recover)
{
	const struct drain_trouble *trouble = &recover->trouble;
	/*
	 * If the stage cannot be reached, nothing may be appended to the spool: the stage's chunks have their places
	 * after its end. A file is made from the chunks that the spool has.
	 */
	const bool apart = recover->spool->stage_is_unseen;
	const int err = apart ? 0 : gather_with_room(recover);
	/*
	 * The spool filled the disk. A file can be made from the spool alone; it may be written to another disk, and
	 * then there is room.
	 */
	const bool full = is_full(err) && (recover->spool->events || spool_side_bytes(recover->spool));
	bool good = true;

	if (recover->is_unusable || (err < 0 && !full))
		return say_failed(recover, err);
	gather_kernel(recover);
	if (!recover->spool->nr_entries && apart) {
		recover_say_stage(recover->spool);
		return false;
	}
	if (!recover->spool->nr_entries)
		good = say_nothing(recover);
	else if (!progress_finish(&recover->output, recover->spool, NULL, trouble) && !recover->is_empty)
		return false;
	if (good)
		recover_say_stage(recover->spool);
	if (good)
		say_rest(recover, full);
	/*
	 * The spool is removed, because it is empty or the file has its contents; but it stays if another attempt may
	 * recover more.
	 */
	if (good && (apart || is_to_be_tried_again(recover)))
		return false;
	output_remove_spool(&recover->output, recover->spool);
	/* Buffers that are damaged, or were not selected, stay. */
	if (!full && !trouble->bad_buffers && !trouble->unread && !trouble->living && !recover->only[0] &&
	    session_is_session(recover->dir.path) && !session_remove(&recover->dir))
		/* A program has started there since. */
		say_living(recover, 1);
	return good && !full && !recover->is_empty && !trouble->unread;
}

/* ---------------------------------------------------------------------------------------------------- the command */

int cmd_recover(int argc, char **argv)
{
	struct recover recover = { .dir = SESSION_INIT, .flags = DRAIN_OWNED };
	unsigned int version = UINT32_MAX;
	const char *compression = NULL;
	const struct opt table[] = {
		OPT_STRING('o', "output", "FILE",
			   "write to FILE (the spool's name without .spool, or trace.dat); -: to stdout",
			   &recover.output_name),
		OPT_FLAG('a', "all", "recover all that dead programs and recorders left, into one file", &recover.all),
		OPT_STRING(0, "dir", "DIR", "look for what is left in DIR, which may be a container's", &recover.dirs),
		OPT_CHOICE(0, "file-version", "6|7", "version of the file (that of the recording)", &version),
		OPT_STRING(0, "compression", "METHOD", "none, any, zstd, or zstd:LEVEL (none)", &compression),
		OPT_FLAG(0, "raw", "write each thread's lane as it is, as one \"CPU\" of the file", &recover.raw),
		OPT_FLAG('q', "quiet", "print only errors", &recover.quiet),
		OPT_END,
	};
	const struct opts opts = {
		.command = RECOVER,
		.operands = "[SPOOL|PID|NAME|BUFFER|CORE|DIRECTORY]",
		.about =
			"Make a trace.dat of what a killed recorder left: its SPOOL (trace.dat.spool), or the "
			"DIRECTORY\n"
			"of its session; or of what a dead program left: its buffers by PID, by NAME or as a file "
			"(.rec),\n"
			"its CORE file, or a DIRECTORY of buffers. Without any of them: trace.dat.spool if\n"
			"it exists; otherwise list what there is.\n"
			"What was recovered is removed once the file is complete.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (recover.all && operands[0]) {
		complain(RECOVER, "either --all or '%s', not both (see 'recorder recover --help')", operands[0]);
		return EXIT_USAGE;
	}
	if (!compression_choose(RECOVER, compression, &version, &recover.packing, &recover.output.packing))
		return EXIT_USAGE;
	recover.operand = operands[0];
	recover.version = version + 1;
	recover.output.sink = &recover_sink;
	recover.output.verb = "recovered";
	recover.output.ret_empty = &recover.is_empty;
	recover.output.why_empty = "what was left holds no event";
	recover.output.quiet = recover.quiet;
	status = recover_take(&recover, operands[0]) && recover_open_spool(&recover) &&
				 (recover.is_done || recover_all(&recover)) ?
			 EXIT_SUCCESS :
			 EXIT_FAILURE;
	if (recover.temporary)
		recover_remove_temporary(&recover);
	spool_close(recover.spool);
	output_close(&recover.output);
	leftovers_free(&recover.left);
	session_close(&recover.dir);
	return status;
}
