/* SPDX-License-Identifier: MIT */
/*
 * Converts payloads to and from the structs that the code uses, member by member. A payload that is longer than its
 * type is of a later version, and its rest is not read; a shorter one is of an earlier version, and the rest counts as
 * zeros. Strings in the file need not be terminated by a NUL; strings in the structs are.
 */
#include "cli/recording/spool_format.h"
#include "cli/base/open_regular.h"
#include "cli/recording/spool_private.h"
#include "format/io/read_at.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int spool_head_read(int fd, struct spool_head *ret_head)
{
	struct spool_head head;
	const int err = read_exactly(fd, &head, sizeof(head), 0);

	if (err || head.magic != SPOOL_MAGIC)
		return err ? err : -EBADMSG;
	head.session[sizeof(head.session) - 1] = '\0';
	head.command[sizeof(head.command) - 1] = '\0';
	head.stage[sizeof(head.stage) - 1] = '\0';
	head.boot[sizeof(head.boot) - 1] = '\0';
	head.wanted[sizeof(head.wanted) - 1] = '\0';
	*ret_head = head;
	return 0;
}

int spool_head_look(const char *path, struct spool_head *ret_head)
{
	const int fd = open_regular(AT_FDCWD, path, O_RDONLY);
	int err;

	if (fd < 0)
		return fd;
	err = spool_head_read(fd, ret_head);
	close(fd);
	return err;
}

/* The smallest payload of each kind, which is that of version 3. It does not change when a type grows. */
static const uint32_t least[SPOOL_KINDS] = {
	[SPOOL_PROCESS] = 608,	[SPOOL_PAGE] = REC_SUBBUF_HEADER_SIZE,
	[SPOOL_LANE_END] = 128, [SPOOL_PROCESS_END] = 24,
	[SPOOL_ANCHOR] = 32,	[SPOOL_RATE] = 16,
	[SPOOL_TEXT] = 1,	[SPOOL_CLOCKS] = 24,
};

bool spool_is_known(const struct spool_chunk *chunk)
{
	return chunk->kind < SPOOL_KINDS && (chunk->kind != SPOOL_ANCHOR || chunk->lane <= REC_CLOCK_MONO) &&
	       (chunk->kind != SPOOL_TEXT || chunk->lane < SPOOL_TEXTS);
}

uint32_t spool_least_payload(const struct spool_chunk *chunk)
{
	return chunk->kind < SPOOL_KINDS ? least[chunk->kind] : 0;
}

/* Copy the fields that the payload has; the other fields are 0. */
static void take(void *disk, size_t room, const void *payload, size_t size)
{
	memset(disk, 0, room);
	memcpy(disk, payload, size < room ? size : room);
}

/* Copy a string to `room` bytes, cut to fit. */
static void put_string(char *at, size_t room, const char *string)
{
	memcpy(at, string, strnlen(string, room - 1));
}

void spool_put_process(const struct spool_process *process, struct spool_disk_process *ret_disk)
{
	const struct rec_view_info *info = &process->info;

	*ret_disk = (struct spool_disk_process){
		.pid = info->pid,
		.start_time = info->start_time,
		.parent_pid = info->parent_pid,
		.parent_start = info->parent_start,
		.clock = info->clock,
		.subbuf_size = info->subbuf_size,
		.nr_subbufs = info->nr_subbufs,
		.max_lanes = info->max_lanes,
		.overwrite = info->overwrite,
		.inode = process->inode,
		.other_pids = process->other_pids,
	};
	put_string(ret_disk->comm, sizeof(ret_disk->comm), info->comm);
	put_string(ret_disk->exe, sizeof(ret_disk->exe), info->exe);
	put_string(ret_disk->file, sizeof(ret_disk->file), process->file);
}

void spool_get_process(const void *payload, size_t size, struct spool_process *ret_process)
{
	struct spool_disk_process disk;

	_Static_assert(sizeof(ret_process->info.comm) >= sizeof(disk.comm) &&
			       sizeof(ret_process->info.exe) >= sizeof(disk.exe) &&
			       sizeof(ret_process->file) >= sizeof(disk.file),
		       "a string of the file fits");
	take(&disk, sizeof(disk), payload, size);
	*ret_process = (struct spool_process){
		.info = {
			.pid = disk.pid,
			.start_time = disk.start_time,
			.parent_pid = disk.parent_pid,
			.parent_start = disk.parent_start,
			.clock = disk.clock,
			.subbuf_size = disk.subbuf_size,
			.nr_subbufs = disk.nr_subbufs,
			.max_lanes = disk.max_lanes,
			.overwrite = disk.overwrite,
		},
		.inode = disk.inode,
		.other_pids = disk.other_pids == 1,
	};
	put_string(ret_process->info.comm, sizeof(disk.comm), disk.comm);
	put_string(ret_process->info.exe, sizeof(disk.exe), disk.exe);
	put_string(ret_process->file, sizeof(disk.file), disk.file);
}

void spool_put_lane_end(const struct rec_lane_stats *stats, struct spool_disk_lane_end *ret_disk)
{
	*ret_disk = (struct spool_disk_lane_end){
		.entries = stats->entries,
		.overrun = stats->overrun,
		.commit_overrun = stats->commit_overrun,
		.bytes = stats->bytes,
		.oldest_event_ts = stats->oldest_event_ts,
		.now_ts = stats->now_ts,
		.dropped_events = stats->dropped_events,
		.read_events = stats->read_events,
		.too_long = stats->too_long,
		.nested_limit = stats->nested_limit,
		.disabled = stats->disabled,
		.torn = stats->torn,
		.lost_unread = stats->lost_unread,
		.clock = stats->clock,
		.subbuf_size = stats->subbuf_size,
		.nr_pages = stats->nr_pages,
		.owner = stats->owner,
		.shared = stats->shared,
		.broken = stats->broken,
	};
}

void spool_get_lane_end(const void *payload, size_t size, struct rec_lane_stats *ret_stats)
{
	struct spool_disk_lane_end disk;

	take(&disk, sizeof(disk), payload, size);
	*ret_stats = (struct rec_lane_stats){
		.entries = disk.entries,
		.overrun = disk.overrun,
		.commit_overrun = disk.commit_overrun,
		.bytes = disk.bytes,
		.oldest_event_ts = disk.oldest_event_ts,
		.now_ts = disk.now_ts,
		.dropped_events = disk.dropped_events,
		.read_events = disk.read_events,
		.too_long = disk.too_long,
		.nested_limit = disk.nested_limit,
		.disabled = disk.disabled,
		.torn = disk.torn,
		.lost_unread = disk.lost_unread,
		.clock = disk.clock,
		.subbuf_size = disk.subbuf_size,
		.nr_pages = disk.nr_pages,
		.owner = disk.owner,
		.shared = disk.shared,
		.broken = disk.broken,
	};
}

void spool_put_process_end(const struct rec_view_losses *losses, struct spool_disk_process_end *ret_disk)
{
	*ret_disk = (struct spool_disk_process_end){
		.no_lane = losses->no_lane,
		.log_full = losses->log_full,
		.lease_errno = losses->lease_errno,
	};
}

void spool_get_process_end(const void *payload, size_t size, struct rec_view_losses *ret_losses)
{
	struct spool_disk_process_end disk;

	take(&disk, sizeof(disk), payload, size);
	*ret_losses = (struct rec_view_losses){
		.no_lane = disk.no_lane,
		.log_full = disk.log_full,
		.lease_errno = disk.lease_errno,
	};
}

void spool_put_rate(const struct rec_view_rate *rate, struct spool_disk_rate *ret_disk)
{
	*ret_disk = (struct spool_disk_rate){ .rate = rate->rate, .suppressed = rate->suppressed };
}

void spool_get_rate(const void *payload, size_t size, struct rec_view_rate *ret_rate)
{
	struct spool_disk_rate disk;

	take(&disk, sizeof(disk), payload, size);
	*ret_rate = (struct rec_view_rate){ .rate = disk.rate, .suppressed = disk.suppressed };
}

void spool_put_anchor(const struct rec_anchor *anchor, struct spool_disk_anchor *ret_disk)
{
	*ret_disk = (struct spool_disk_anchor){
		.clock = anchor->clock, .mono = anchor->mono, .realtime = anchor->realtime, .error = anchor->error
	};
}

void spool_get_anchor(const void *payload, size_t size, struct rec_anchor *ret_anchor)
{
	struct spool_disk_anchor disk;

	take(&disk, sizeof(disk), payload, size);
	*ret_anchor = (struct rec_anchor){
		.clock = disk.clock, .mono = disk.mono, .realtime = disk.realtime, .error = disk.error
	};
}

void spool_put_clocks(const struct clock_reading *reading, struct spool_disk_clocks *ret_disk)
{
	*ret_disk = (struct spool_disk_clocks){ .mono = reading->mono,
						.realtime = reading->realtime,
						.boottime = reading->boottime,
						.error = reading->error,
						.day_error = reading->day_error };
}

void spool_get_clocks(const void *payload, size_t size, struct clock_reading *ret_reading)
{
	struct spool_disk_clocks disk;

	take(&disk, sizeof(disk), payload, size);
	*ret_reading = (struct clock_reading){ .mono = disk.mono,
					       .realtime = disk.realtime,
					       .boottime = disk.boottime,
					       .error = disk.error,
					       .day_error = disk.day_error };
}
