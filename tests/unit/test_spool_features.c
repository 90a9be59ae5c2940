/* SPDX-License-Identifier: MIT */
/*
 * Spools and stages of other versions: a recovery takes those whose incompatible features it knows, with larger structs
 * and kinds of chunk that it does not know, and leaves all others as they are.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recording/spool.h"
#include "cli/recording/stage.h"

#define PAGE  4096u
#define PAGES 3u

/* Trailing bytes that only a later version knows. */
#define MORE 40u

static char dir[64], path[128], other_path[128];
static struct spool *spool;

/* Every member has a value of its own. */
static const struct spool_process process = {
	.info = { .pid = 11,
		  .start_time = UINT64_C(12) << 33,
		  .parent_pid = 13,
		  .parent_start = UINT64_C(14) << 34,
		  .clock = REC_CLOCK_TSC,
		  .subbuf_size = PAGE,
		  .nr_subbufs = 17,
		  .max_lanes = 18,
		  .overwrite = 1,
		  .comm = "comm",
		  .exe = "/bin/exe" },
	.inode = UINT64_C(20) << 35,
	.other_pids = true,
	.file = "11-12.rec",
};
static const struct rec_lane_stats stats = {
	.entries = 1,
	.overrun = 2,
	.commit_overrun = 3,
	.bytes = 4,
	.oldest_event_ts = 5,
	.now_ts = 6,
	.dropped_events = 7,
	.read_events = 8,
	.too_long = 9,
	.nested_limit = 10,
	.disabled = 11,
	.torn = 12,
	.lost_unread = 13,
	.clock = 14,
	.subbuf_size = 15,
	.nr_pages = 16,
	.owner = 17,
	.shared = 18,
	.broken = 19,
};
static const struct rec_view_losses losses = { .no_lane = 21, .log_full = 22, .lease_errno = -23 };
static const struct rec_view_rate rate = { .rate = 31, .suppressed = 32 };
static const struct rec_anchor anchor = { .clock = 41, .mono = 42, .realtime = 43, .error = 44 };

static int add_page(struct spool *to, uint64_t number)
{
	static const uint64_t data[PAGE / sizeof(uint64_t)] = { 0, PAGE - REC_SUBBUF_HEADER_SIZE };
	const struct rec_page page = { .data = (const unsigned char *)data,
				       .size = PAGE - REC_SUBBUF_HEADER_SIZE,
				       .entries = 1,
				       .first = number };

	return spool_add_page(to, 0, 0, &page, NULL, NULL);
}

static struct spool *create(const char *name)
{
	const struct spool_head head = { .file_version = 6 };
	struct spool *made = NULL;

	cr_assert_eq(spool_create(name, &head, &made), 0);
	cr_assert_eq(spool_add_process(made, &process), 0);
	for (uint64_t number = 0; number < PAGES; number++)
		cr_assert_eq(add_page(made, number), 0);
	return made;
}

static void begin(void)
{
	strcpy(dir, "/tmp/recorder-spool-XXXXXX");
	cr_assert(mkdtemp(dir));
	setenv("RECORDER_DIR", dir, 1);
	snprintf(path, sizeof(path), "%s/t.spool", dir);
	snprintf(other_path, sizeof(other_path), "%s/other.spool", dir);
	spool = create(path);
}

static void end(void)
{
	cr_assert_eq(spool_remove(spool), 0);
	spool_close(spool);
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

TestSuite(spool_features, .init = begin, .fini = end, .timeout = 300);

/* All pages of a lane, in order. */
static void expect_pages(uint64_t nr)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rec_page page;
	uint64_t number = 0;

	cr_assert_eq(spool->cut, 0);
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	while (source->next(source, 0, &page) == 1)
		cr_assert_eq(page.first, number++);
	cr_assert_eq(number, nr);
	spool_source_close(source);
}

/* Change the head of the file, and open the file again. */
static int reopen_patched(uint32_t version, uint64_t compatible, uint64_t incompatible)
{
	struct spool_head *head = &spool->head;
	struct spool *opened;
	int err;

	head->version = version;
	head->compatible = compatible;
	head->incompatible = incompatible;
	cr_assert_eq(pwrite(spool->fd, head, sizeof(*head), 0), (ssize_t)sizeof(*head));
	/* The file is closed first, so that it can be locked again. */
	spool_close(spool);
	err = spool_open(path, &opened);
	if (!err) {
		spool = opened;
		return 0;
	}
	/* The file was not changed, and with this version's bits it can be read. */
	spool = NULL;
	return err;
}

static void repair(void)
{
	const struct spool_head head = { .magic = SPOOL_MAGIC, .version = SPOOL_VERSION };
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(pwrite(fd, &head, sizeof(head), 0), (ssize_t)sizeof(head));
	close(fd);
	cr_assert_eq(spool_open(path, &spool), 0);
}

static void reopen(void)
{
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
}

/* ------------------------------------------------------------------------------------------------- the spool's head */

Test(spool_features, any_later_version_is_read)
{
	static const uint32_t versions[] = { SPOOL_VERSION_LEAST, SPOOL_VERSION, SPOOL_VERSION + 1, 1000, UINT32_MAX };

	for (uint64_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		cr_assert_eq(reopen_patched(versions[i], 0, 0), 0, "version %u", versions[i]);
		expect_pages(PAGES + i);
		cr_assert_eq(add_page(spool, PAGES + i), 0);
		expect_pages(PAGES + i + 1);
	}
}

Test(spool_features, earlier_versions_are_refused)
{
	for (uint32_t version = 0; version < SPOOL_VERSION_LEAST; version++) {
		cr_assert_eq(reopen_patched(version, 0, 0), -EPROTO, "version %u", version);
		repair();
	}
}

Test(spool_features, unknown_compatible_bits_are_ignored)
{
	cr_assert_eq(reopen_patched(SPOOL_VERSION + 1, UINT64_MAX, SPOOL_FEATURES_INCOMPATIBLE), 0);
	expect_pages(PAGES);
	cr_assert_eq(add_page(spool, PAGES), 0);
	reopen();
	cr_assert_eq(spool->head.compatible, UINT64_MAX, "they are still announced");
	expect_pages(PAGES + 1);
}

Test(spool_features, each_unknown_incompatible_bit_is_refused)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		struct spool_head head;

		if (SPOOL_FEATURES_INCOMPATIBLE >> bit & 1)
			continue;
		cr_assert_eq(reopen_patched(SPOOL_VERSION, 0, UINT64_C(1) << bit), -EPROTO, "bit %u", bit);
		cr_assert_eq(spool_look(path, &head), -EPROTO, "bit %u", bit);
		repair();
	}
	expect_pages(PAGES);
}

Test(spool_features, a_spool_announces_what_it_has)
{
	cr_assert_eq(spool->head.version, SPOOL_VERSION);
	cr_assert_eq(spool->head.compatible, SPOOL_FEATURES_COMPATIBLE);
	cr_assert_eq(spool->head.incompatible, 0);
}

/* ----------------------------------------------------------------------------------------------------- the payloads */

/*
 * Append a chunk as another version would: its payload is `size` bytes of `payload`, and `more` bytes that this version
 * does not know.
 */
static void put_chunk(unsigned int kind, uint32_t lane, const void *payload, uint32_t size, uint32_t more)
{
	const struct spool_chunk chunk = {
		.magic = SPOOL_CHUNK_MAGIC, .kind = (uint16_t)kind, .lane = lane, .size = size + more
	};
	unsigned char bytes[1024];
	const off_t at = lseek(spool->fd, 0, SEEK_END);

	cr_assert_leq((size + more + 7) / 8 * 8, sizeof(bytes));
	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes, payload, size);
	cr_assert_eq(pwrite(spool->fd, &chunk, sizeof(chunk), at), (ssize_t)sizeof(chunk));
	size = (size + more + 7) / 8 * 8;
	cr_assert_eq(pwrite(spool->fd, bytes, size, at + (off_t)sizeof(chunk)), (ssize_t)size);
}

/* The payload of the last chunk of this kind, which has `size` bytes. */
static void get_payload(unsigned int kind, void *payload, uint32_t size)
{
	struct spool_chunk chunk;
	bool found = false;

	for (uint64_t at = sizeof(struct spool_head); at < spool->end; at += sizeof(chunk) + (chunk.size + 7) / 8 * 8) {
		cr_assert_eq(pread(spool->fd, &chunk, sizeof(chunk), (off_t)at), (ssize_t)sizeof(chunk));
		if (chunk.kind != kind)
			continue;
		cr_assert_eq(chunk.size, size, "kind %u", kind);
		cr_assert_eq(pread(spool->fd, payload, size, (off_t)(at + sizeof(chunk))), (ssize_t)size);
		found = true;
	}
	cr_assert(found, "kind %u", kind);
}

static void expect_process(const struct spool_process *found)
{
	cr_assert_eq(found->info.pid, process.info.pid);
	cr_assert_eq(found->info.start_time, process.info.start_time);
	cr_assert_eq(found->info.parent_pid, process.info.parent_pid);
	cr_assert_eq(found->info.parent_start, process.info.parent_start);
	cr_assert_eq(found->info.clock, process.info.clock);
	cr_assert_eq(found->info.subbuf_size, process.info.subbuf_size);
	cr_assert_eq(found->info.nr_subbufs, process.info.nr_subbufs);
	cr_assert_eq(found->info.max_lanes, process.info.max_lanes);
	cr_assert_eq(found->info.overwrite, process.info.overwrite);
	cr_assert_str_eq(found->info.comm, process.info.comm);
	cr_assert_str_eq(found->info.exe, process.info.exe);
	cr_assert_eq(found->inode, process.inode);
	cr_assert_str_eq(found->file, process.file);
	cr_assert_eq(found->other_pids, process.other_pids);
}

/* A process as in the first spools of version 3. */
Test(spool_features, a_process_without_its_newest_fields)
{
	const struct spool_head head = { .file_version = 6 };
	unsigned char bytes[1024];

	get_payload(SPOOL_PROCESS, bytes, 616);
	cr_assert_eq(spool_remove(spool), 0);
	spool_close(spool);
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	put_chunk(SPOOL_PROCESS, 0, bytes, 608, 0);
	reopen();
	cr_assert_eq(spool->cut, 0);
	cr_assert_eq(spool->nr_entries, 1);
	cr_assert_str_eq(spool->entries[0].process.file, process.file);
	cr_assert_not(spool->entries[0].process.other_pids);
}

/* These structs have no padding that would affect the comparison. */
static void expect_all(unsigned int number)
{
	const struct spool_entry *entry = &spool->entries[number];

	expect_process(&entry->process);
	cr_assert(entry->lanes[0].ended && entry->ended);
	cr_assert_eq(memcmp(&entry->lanes[0].stats, &stats, sizeof(stats)), 0);
	cr_assert_eq(entry->losses.no_lane, losses.no_lane);
	cr_assert_eq(entry->losses.log_full, losses.log_full);
	cr_assert_eq(entry->losses.lease_errno, losses.lease_errno);
	cr_assert_eq(entry->nr_rates, 1);
	cr_assert_eq(entry->rates[0].id, 77);
	cr_assert_eq(entry->rates[0].rate.rate, rate.rate);
	cr_assert_eq(entry->rates[0].rate.suppressed, rate.suppressed);
	cr_assert_eq(memcmp(&spool->anchors[REC_CLOCK_TSC].anchors[0], &anchor, sizeof(anchor)), 0);
}

static void add_all(void)
{
	cr_assert_eq(spool_add_anchor(spool, REC_CLOCK_TSC, &anchor), 0);
	cr_assert_eq(spool_add_lane_end(spool, 0, 0, &stats), 0);
	cr_assert_eq(spool_add_rate(spool, 0, 77, &rate), 0);
	cr_assert_eq(spool_add_process_end(spool, 0, &losses), 0);
}

Test(spool_features, what_is_written_is_read)
{
	add_all();
	expect_all(0);
	reopen();
	expect_all(0);
}

/* The bytes are those of version 3, independent of the structs in memory. */
Test(spool_features, the_bytes_are_those_that_are_documented)
{
	unsigned char bytes[1024];
	uint64_t number;
	uint32_t word;

	add_all();
	get_payload(SPOOL_PROCESS, bytes, 616);
	memcpy(&number, bytes + 24, sizeof(number));
	cr_assert_eq(number, process.info.parent_start);
	cr_assert_str_eq((const char *)bytes + 84, "/bin/exe");
	cr_assert_str_eq((const char *)bytes + 352, "11-12.rec");
	memcpy(&word, bytes + 608, sizeof(word));
	cr_assert_eq(word, 1);
	get_payload(SPOOL_LANE_END, bytes, 128);
	memcpy(&number, bytes + 96, sizeof(number));
	cr_assert_eq(number, stats.lost_unread);
	memcpy(&word, bytes + 124, sizeof(word));
	cr_assert_eq(word, stats.broken);
	get_payload(SPOOL_PROCESS_END, bytes, 24);
	memcpy(&word, bytes + 16, sizeof(word));
	cr_assert_eq((int)word, losses.lease_errno);
	get_payload(SPOOL_RATE, bytes, 16);
	memcpy(&number, bytes + 8, sizeof(number));
	cr_assert_eq(number, rate.suppressed);
	get_payload(SPOOL_ANCHOR, bytes, 32);
	memcpy(&number, bytes + 24, sizeof(number));
	cr_assert_eq(number, anchor.error);
}

/* Payloads of a version whose types have grown. */
Test(spool_features, larger_structs_are_read)
{
	static const struct {
		unsigned int kind;
		uint32_t lane, size;
	} kinds[] = { { SPOOL_ANCHOR, REC_CLOCK_TSC, 32 },
		      { SPOOL_LANE_END, 0, 128 },
		      { SPOOL_RATE, 77, 16 },
		      { SPOOL_PROCESS_END, 0, 24 },
		      { SPOOL_PROCESS, 0, 616 } };
	unsigned char payloads[sizeof(kinds) / sizeof(*kinds)][1024];
	const struct spool_head head = { .file_version = 6 };

	add_all();
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		get_payload(kinds[i].kind, payloads[i], kinds[i].size);
	cr_assert_eq(spool_remove(spool), 0);
	spool_close(spool);
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	put_chunk(SPOOL_PROCESS, 0, payloads[4], kinds[4].size, MORE);
	for (unsigned int i = 0; i < 5; i++)
		put_chunk(kinds[i].kind, kinds[i].lane, payloads[i], kinds[i].size, MORE);
	reopen();
	cr_assert_eq(spool->cut, 0);
	cr_assert_eq(spool->nr_entries, 2);
	expect_all(0);
	expect_process(&spool->entries[1].process);
}

/* Payloads that are shorter than those of any version are damaged. */
Test(spool_features, smaller_structs_end_the_spool)
{
	const unsigned char bytes[1024] = { 0 };

	put_chunk(SPOOL_PROCESS_END, 0, bytes, 16, 0);
	reopen();
	cr_assert_gt(spool->cut, 0);
	cr_assert_not(spool->entries[0].ended);
}

Test(spool_features, unknown_kinds_are_passed_over)
{
	put_chunk(SPOOL_KINDS, 5, "what", 4, MORE);
	put_chunk(UINT16_MAX, UINT32_MAX, "", 0, 0);
	put_chunk(SPOOL_TEXT, SPOOL_TEXTS, "name\0text", 9, 0);
	put_chunk(SPOOL_ANCHOR, REC_CLOCK_MONO + 1, &anchor, sizeof(anchor), 0);
	reopen();
	expect_pages(PAGES);
	cr_assert_eq(spool->entries[0].nr_texts, 0);
	cr_assert_eq(add_page(spool, PAGES), 0);
	expect_pages(PAGES + 1);
	reopen();
	expect_pages(PAGES + 1);
}

/* In the joined spool, the process numbers in such chunks might be those of other processes. */
Test(spool_features, unknown_kinds_are_left_out_when_spools_are_joined)
{
	struct spool *other = create(other_path);

	put_chunk(SPOOL_KINDS, 5, "what", 4, MORE);
	add_all();
	reopen();
	cr_assert_eq(spool_append(other, spool), 0);
	cr_assert_eq(spool_remove(spool), 0);
	spool_close(spool);
	spool = other;
	strcpy(path, other_path);
	reopen();
	cr_assert_eq(spool->cut, 0);
	cr_assert_eq(spool->nr_entries, 2);
	expect_process(&spool->entries[1].process);
	cr_assert_eq(spool->entries[1].lanes[0].pages, PAGES);
	for (uint64_t at = sizeof(struct spool_head), size; at < spool->end; at += size) {
		struct spool_chunk chunk;

		cr_assert_eq(pread(spool->fd, &chunk, sizeof(chunk), (off_t)at), (ssize_t)sizeof(chunk));
		cr_assert_lt(chunk.kind, SPOOL_KINDS);
		size = sizeof(chunk) + (chunk.size + 7) / 8 * 8;
	}
}

/* -------------------------------------------------------------------------------------------------------- the stage */

/* A recorder is killed, with a page in its stage, whose head then has these bits. */
static void leave_stage(uint64_t compatible, uint64_t incompatible)
{
	const pid_t child = fork();
	int status, fd;

	if (!child) {
		if (spool_stage(spool, 4u << 20, 0) || add_page(spool, PAGES))
			_exit(1);
		raise(SIGKILL);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status));
	cr_assert_eq(pread(spool->fd, &spool->head, sizeof(spool->head), 0), (ssize_t)sizeof(spool->head));
	cr_assert(spool->head.stage[0]);
	fd = open(spool->head.stage, O_WRONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(pwrite(fd, &compatible, 8, offsetof(struct stage_head, compatible)), 8);
	cr_assert_eq(pwrite(fd, &incompatible, 8, offsetof(struct stage_head, incompatible)), 8);
	close(fd);
}

Test(spool_features, a_stage_with_compatible_bits_is_taken)
{
	leave_stage(UINT64_MAX, STAGE_FEATURES_INCOMPATIBLE);
	reopen();
	expect_pages(PAGES + 1);
	cr_assert_not(spool->head.stage[0]);
}

/* Neither a recovery nor a sweep removes such a stage. */
Test(spool_features, a_stage_with_an_unknown_incompatible_bit_stays)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct spool_head head;
	struct spool *opened;
	char stage[1024];

	leave_stage(0, UINT64_C(1) << 63);
	memcpy(&head, &spool->head, sizeof(head));
	memcpy(stage, head.stage, sizeof(stage));
	spool_close(spool);
	cr_assert_eq(spool_open(path, &opened), -EPROTO);
	cr_assert_eq(rename(path, other_path), 0);
	cr_assert_eq(stage_sweep(fd, false, false), 0);
	cr_assert_eq(rename(other_path, path), 0);
	cr_assert_eq(access(stage, F_OK), 0);
	close(fd);
	cr_assert_eq(unlink(stage), 0);
	cr_assert_eq(spool_open(path, &spool), 0);
	cr_assert(spool->stage_is_gone);
	expect_pages(PAGES);
}
