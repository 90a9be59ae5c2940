/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the writer's side, the reader's side and the checks of a ring share, and those for making a ring.
 */
#ifndef RING_PRIVATE_H
#define RING_PRIVATE_H

#include <librecorder/detail/ring.h>
#include <librecorder/source.h>
#include <sched.h>
#include <string.h>

static inline struct rec_subbuf_header *subbuf_header(const struct rec_handle *handle, uint32_t id)
{
	return (struct rec_subbuf_header *)(void *)(handle->data - REC_SUBBUF_HEADER_SIZE +
						    ((size_t)id << handle->shift));
}

/* The calling thread's CPU. `word` was read through rec_handle.cpu; without rseq it is a negative state of rseq's. */
static inline uint32_t rec_cpu_number(uint32_t word)
{
	return (int32_t)word >= 0 ? word : (uint32_t)sched_getcpu();
}

/* The gate of a handle. A handler or another thread may close it at any time; see lane_control.c for the order. */
static inline bool rec_gate_is_open(const struct rec_handle *handle)
{
	return rec_load_relaxed(&handle->any_room) == handle->capacity;
}

static inline void rec_gate_open(struct rec_handle *handle)
{
	rec_store_relaxed(&handle->any_room, handle->capacity);
	rec_store_relaxed(&handle->room, handle->clock == REC_CLOCK_TSC ? handle->capacity : 0);
}

static inline void rec_gate_close(struct rec_handle *handle)
{
	rec_store_relaxed(&handle->room, 0);
	rec_store_relaxed(&handle->any_room, 0);
}

/*
 * Make the lane that `handle` points to an empty ring of handle->nr_subbufs sub-buffers. The reader page is sub-buffer
 * 0, the ring is 1, 2, … in order (facts D1: the ids of a first mapping). The lane must not be visible to others yet.
 * `handle` is complete except for the thread.
 */
void rec_ring_init(struct rec_handle *handle);

/*
 * Settle the marks of a ring whose writer is gone. If there is no HEAD, the first UPDATE from the tail on becomes the
 * HEAD, and nothing is lost. Any other UPDATE was left by a writer that died while it moved the head, and is removed.
 * Any process that may write links may call this, once no writer is left. Returns 0, or -EBADMSG: the links do not form
 * a ring.
 */
int rec_ring_settle(struct rec_link *links, uint32_t nr_subbufs, uint32_t tail);

/*
 * Take back the reservations that the last writer of this lane left and that will never be committed, and count them as
 * torn. The next writer begins where the last commit ended. Call this only while no writer has the lane.
 */
void rec_ring_repair(struct rec_handle *handle);

/*
 * Whether the ring holds enough for a reader that waits for `percent` of it (facts C11): the sub-buffers that the
 * writer has reached, minus those lost and read. The one being written is included, so that 100 can be reached.
 */
bool rec_ring_is_hit(const struct rec_lane *lane, const struct rec_lane_reader *words, uint32_t percent);

/* Wake all sleepers on the lane's futex. Signal-safe; errno is preserved. */
void rec_ring_wake(struct rec_lane_reader *words);

/*
 * Whether everything that was ever in the ring was read, or reported as lost. The caller has the lane; nothing is
 * reserved.
 */
bool rec_ring_is_empty(const struct rec_handle *handle);

/*
 * Remake an empty ring, with the shape that the handle already has. Numbers and counters continue. The caller has the
 * lane and its reader's side, no writer is inside, and the lane's subbuf_size is 0.
 */
void rec_ring_restart(struct rec_handle *handle);

/*
 * The open word of a lane. Its lower bits hold the stack pointer that the outermost writer had when it began; the bits
 * above hold the number of writers inside that one, even if they will never finish.
 */
#define REC_OPEN_SHIFT	   57
#define REC_OPEN_ONE	   (UINT64_C(1) << REC_OPEN_SHIFT)
#define REC_OPEN_DEPTH(open) ((uint32_t)((open) >> REC_OPEN_SHIFT))
#define REC_OPEN_FRAME(open) ((open) & (REC_OPEN_ONE - 1))
#define REC_OPEN_DEPTH_MAX 127u

/*
 * A value of rec_slot.open only: the event was reserved by the fast path on a lane that was taken for this event, and
 * that must be given back after it.
 */
#define REC_OPEN_BORROWED UINT64_C(1)

/*
 * rec_reserve() for a function whose stack began at `here`, and that calls no other function that reserves while its
 * reservation is open. So a reservation that was left at the same depth is recognised (rec_reserve_rest()).
 */
REC_INLINE_ALWAYS void *rec_reserve_from(struct rec_handle *handle, uint32_t size, const void *here,
					 struct rec_slot *ret_slot)
{
	void *at = rec_reserve_fast(handle, size, 1, ret_slot);
	struct rec_slot rare;

	if (REC_LIKELY(at != NULL))
		return at;
	at = rec_reserve_rest(handle, size, here, &rare);
	*ret_slot = rare;
	return at;
}

/*
 * Whether code whose stack pointer was `then` will certainly never continue, because this thread is now in a function
 * that was called from `here`. False: this is not known. Signal-safe. One system call if `here` is above `then`.
 */
bool rec_ring_is_left(uint64_t then, uint64_t here);

/*
 * If `here` shows that the outermost writer was left, take back everything open, which is everything after the commit
 * position. Returns the new open word: that of the writer that the caller interrupts, or 0.
 */
uint64_t rec_ring_close_left(struct rec_handle *handle, uint64_t here);

/*
 * Called if writers inside the caller were left. Take back everything that was reserved after position `to`, or after
 * the commit position if that is later, count it as torn, and store `open` as the open word. Only the lane's writer
 * stack calls this.
 */
void rec_ring_take_back(struct rec_handle *handle, uint64_t to, uint64_t open);

/*
 * The number of events on a sub-buffer that the tail has left; `seq` is the sequence number of the positions there. If
 * the writer that left it did not store the number (step E), `left` has it.
 */
static inline uint32_t rec_entries_left(const struct rec_lane *lane, const struct rec_subbuf *subbuf, uint32_t seq)
{
	const uint64_t left = rec_load_relaxed(&lane->left);

	return left && REC_POS_SEQ(left) == (seq & (uint32_t)REC_POS_SEQ_MASK) ? (uint32_t)REC_POS_COUNT(left) :
										rec_load_relaxed(&subbuf->entries);
}

/* The number of events reserved between the two positions. */
uint64_t rec_ring_events_between(const struct rec_lane *lane, const struct rec_subbuf *subbufs,
				 const struct rec_link *links, uint32_t nr_subbufs, uint64_t from, uint64_t to);

/* A marker and the absolute time stamp after it. */
#define REC_RESTATE_SIZE (REC_MARKER_SIZE + REC_TIME_EXTEND_SIZE)

/* Count a refusal; the clock is read only for the first refusal of a run. */
void rec_ring_refuse(const struct rec_handle *handle, uint64_t *counter);

/*
 * Steps A to F of a writer that is inside. `slot` has the lane, the handle and the open word. If `nested`, the writer
 * interrupts another one, and the tail was at `start` before step C. Returns where to write the payload, or NULL: the
 * event is refused, and the writer is still inside.
 */
unsigned char *rec_ring_reserve(uint32_t size, bool nested, uint64_t start, struct rec_slot *slot);

/*
 * How far `pos` is ahead of the commit position. A position that the commit position has passed counts as farther ahead
 * than the tail.
 */
static inline uint32_t rec_ring_distance(const struct rec_lane *lane, uint64_t pos)
{
	const uint64_t commit = rec_load_relaxed(&lane->commit);
	const uint32_t subbufs = (REC_POS_SEQ(pos) - REC_POS_SEQ(commit)) & (uint32_t)REC_POS_SEQ_MASK;

	return (subbufs << REC_POS_OFF_BITS | (uint32_t)(pos & REC_POS_OFF_MASK)) -
	       (uint32_t)(commit & REC_POS_OFF_MASK);
}

/* Turn the event at `at`, at least 8 bytes long, into padding of the same length (facts A5.1) that is not a marker. */
void rec_put_padding(unsigned char *at, uint32_t total);

/* Raise a word that only the writer stack changes and that never decreases, even if writers interrupt each other. */
static inline void rec_ring_raise(uint64_t *word, uint64_t value)
{
	uint64_t was;

	do {
		was = rec_load_relaxed(word);
	} while (was < value && !rec_local_cmpxchg64(word, was, value));
}

/* The address of a position in the program's memory. */
static inline unsigned char *rec_at_position(const struct rec_handle *handle, uint64_t pos)
{
	return handle->data + ((uint64_t)REC_POS_ID(pos) << handle->shift) + REC_POS_OFF(pos);
}

/* A time extend or an absolute stamp, according to `type`. */
static inline void rec_put_stamp(unsigned char *at, uint64_t time, uint32_t type)
{
	const uint32_t word = (uint32_t)(time & REC_DELTA_MAX) << REC_TYPE_BITS | type;
	const uint32_t rest = (uint32_t)((time & REC_TIME_STAMP_MASK) >> REC_DELTA_BITS);

	memcpy(at, &word, sizeof(word));
	memcpy(at + 4, &rest, sizeof(rest));
}

/* The beginning of a sub-buffer: CPU and time of the events after it. REC_RESTATE_SIZE bytes. */
static inline void rec_put_restate(unsigned char *at, uint32_t cpu, uint64_t time)
{
	const struct rec_marker marker = { REC_MARKER_WORD, REC_MARKER_SIZE - 4, REC_MARKER_MAGIC, cpu };

	memcpy(at, &marker, sizeof(marker));
	rec_put_stamp(at + REC_MARKER_SIZE, time, REC_TYPE_TIME_STAMP);
}

/*
 * The link of a sub-buffer. Other processes write links too, so the number in a link is brought into range before it is
 * followed.
 */
static inline uint64_t rec_read_link(const struct rec_handle *handle, uint32_t id)
{
	return rec_load_acquire(&handle->links[id < handle->nr_subbufs ? id : 0].next);
}

static inline uint32_t rec_link_id(const struct rec_handle *handle, uint64_t link)
{
	const uint32_t id = REC_LINK_ID(link);

	return id < handle->nr_subbufs ? id : 0;
}

/* Whether the ring leads to this sub-buffer. The reader page points into the ring, but no link points to it. */
static inline bool rec_is_in_ring(const struct rec_handle *handle, uint32_t id)
{
	return REC_LINK_ID(rec_read_link(handle, rec_load_relaxed(&handle->links[id].prev))) == id;
}

/* The position at the beginning of `page`, which is the next reader page. */
static inline uint64_t rec_reader_next(uint64_t read, uint32_t page)
{
	return REC_POS(page, REC_POS_SEQ(read) + 1, 0, 0);
}

/*
 * The reader has finished with the reader page, whose descriptor is `page`: prepare the account that will be valid
 * from the next position on. It becomes valid when `words->read` is set to that position.
 */
void rec_reader_leave(const struct rec_lane *lane, struct rec_lane_reader *words, const struct rec_subbuf *page);

/* Events lost before a reader page. */
struct rec_loss {
	uint64_t gap;	  /* number of events overwritten since the last one read */
	uint64_t refused; /* all refusals, including those reported before */
	uint64_t reported;	  /* number of refusals reported before */
	uint64_t count;	  /* lost before this page, and since the last reset */
	uint64_t time;	  /* time of the first loss; 0: not known */
};

struct rec_loss rec_reader_loss(const struct rec_lane *lane, const struct rec_lane_reader *words, uint64_t read,
				const struct rec_subbuf *page);

/* The time when the gap began whose first event is `number`; 0: not known. */
uint64_t rec_gap_time(const struct rec_lane *lane, uint64_t number);

/* The earlier of two times, either of which may be 0, unknown. */
static inline uint64_t rec_earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* The end of the committed data on a page, and the number of events before it. */
struct rec_extent {
	uint32_t size;
	uint32_t entries;
	bool open; /* the commit position is still on it */
};

/* A reader's view of one lane. The pointers point into its mapping; everything else is its own checked copy. */
struct rec_ring_reader {
	const struct rec_lane *lane;
	const struct rec_subbuf *subbufs;
	const unsigned char *pages; /* sub-buffer 0, header included */
	struct rec_lane_reader *words;
	struct rec_link *links;
	uint32_t nr_subbufs;
	uint32_t subbuf_size;
	uint32_t page;		   /* the reader page */
	uint64_t read;		   /* as in struct rec_lane_reader */
	uint64_t swaps;		   /* in total */
	/* number of the last calls in a row that went round the whole ring and found no event */
	uint32_t vain;
	uint64_t touched;	   /* the lane's pages_touched at the last call */
	bool idle;		   /* the last call found no whole page */
	struct rec_extent extent;  /* extent of the reader page, as last seen */
	struct rec_page_iter iter; /* in the reader page, at `read` or before it; moved to `read` when it is needed */
	/* what the last call handed over; it counts as read at the next call. data NULL: nothing */
	struct rec_page pending;
};

/* The sub-buffer, with its header. */
static inline const unsigned char *rec_reader_page(const struct rec_ring_reader *reader, uint32_t id)
{
	return reader->pages + (size_t)id * reader->subbuf_size;
}

/*
 * Begin to read: find out which sub-buffer is the reader page, even if the last reader died in the middle of a swap.
 * Returns 0 or -EBADMSG.
 */
int rec_ring_reader_init(struct rec_ring_reader *reader);

/* As rec_view_read() of <librecorder/reader.h>. */
int rec_ring_read(struct rec_ring_reader *reader, bool whole_only, struct rec_page *ret_page);

/* The page that the last rec_ring_read() handed over now counts as read. */
void rec_ring_read_done(struct rec_ring_reader *reader);

/*
 * Make sure that the reader page has new data, by a swap if necessary; reader->extent is the end of these data. 1, 0:
 * no new data, -EAGAIN, -EBADMSG. `pages` counts the swaps of one call and bounds them.
 */
int rec_ring_turn(struct rec_ring_reader *reader, bool whole_only, uint32_t *pages);

/* Move reader->iter to the position. */
void rec_ring_catch_up(struct rec_ring_reader *reader);

/* `events` and `size` bytes of the reader page count as read from now on. */
void rec_ring_set_read(struct rec_ring_reader *reader, uint32_t events, uint32_t size);

/*
 * The number of committed data bytes and events in sub-buffer `id` if the commit position is `commit`. Returns 0 or
 * -EBADMSG.
 */
int rec_ring_extent(const struct rec_ring_reader *reader, uint32_t id, uint64_t commit, struct rec_extent *ret_extent);

/* No lane ever has this many events. */
#define REC_NUMBER_MAX (UINT64_C(1) << 62)

struct rec_ring_event {
	struct rec_record record;
	uint64_t number;
	uint64_t lost; /* immediately before it */
	uint64_t lost_time;
};

/* As rec_view_peek(), rec_view_consume() and rec_view_read_page() of <librecorder/reader.h>. */
int rec_ring_peek(struct rec_ring_reader *reader, struct rec_ring_event *ret_event);
int rec_ring_consume(struct rec_ring_reader *reader, struct rec_ring_event *ret_event);
int rec_ring_copy(struct rec_ring_reader *reader, bool whole_only, void *page, size_t size, struct rec_page *ret_page);

/* The lane's counters since the lane was made. Its reader may be active while they are counted. */
struct rec_ring_counts {
	uint64_t committed;
	uint64_t entries; /* committed, neither read nor overwritten */
	uint64_t overrun;
	uint64_t read;
	uint64_t bytes;		/* of the entries' sub-buffers, minus what was read; if requested */
	uint64_t oldest;	/* time of the head, or of the reader page if the commit position is there */
	uint64_t lost_unread;	/* losses that were not reported yet */
	uint64_t lost_time;	/* time of the first of these; 0: not known */
};

/* The number of events that were reserved and not committed. Call this only if no writer is left. */
uint64_t rec_ring_open_events(const struct rec_ring_reader *reader);

/* Count. If `with_bytes`, examine each sub-buffer. Returns 0 or -EBADMSG. */
int rec_ring_count(const struct rec_ring_reader *reader, bool with_bytes, struct rec_ring_counts *ret_counts);

/*
 * The same for a lane that had a ring and has none now, and is therefore empty. Uses no memory that was given back.
 * Returns 0, or -EAGAIN: the lane is just changing.
 */
int rec_ring_count_empty(const struct rec_ring_reader *reader, struct rec_ring_counts *ret_counts);

/* Values of the lane's counters at its last reset. Acquire: they were complete before they were named (edge A2). */
static inline const struct rec_lane_bases *rec_bases_of(const struct rec_lane_reader *words)
{
	return &words->bases[rec_load_acquire(&words->resets) & 1];
}

/* The refusals of a lane that count as losses for a reader. */
static inline uint64_t rec_lane_refusals(const struct rec_lane *lane)
{
	return rec_load_relaxed(&lane->dropped) + rec_load_relaxed(&lane->commit_overrun) +
	       rec_load_relaxed(&lane->too_long) + rec_load_relaxed(&lane->nested_limit);
}

#endif
