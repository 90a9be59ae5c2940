/* SPDX-License-Identifier: MIT */
/*
 * The edges of docs/MEMORY-MODEL.md between a lane's writers and its readers, each as a small program of what the code
 * does: unchanged, the outcome that must not occur is unreachable in every execution; with any one ordering of the edge
 * weakened it is reachable.
 */
#include "tests/litmus/case.h"

#include <criterion/criterion.h>

/* -------------------------------------------------------------------------------------------- C1: what is committed */

static bool c1_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 0;
}

Test(edges, c1_an_event)
{
	enum { DATA, COMMIT };
	static const struct litmus c1 = {
		.name = "C1: an event",
		.is_bad = c1_bad,
		.threads = { { ST(DATA, 1, RELAXED, "payload"),
			       ST(COMMIT, 1, RELEASE, "rec_commit() ring.h: commit", EDGE) },
			     { LD(COMMIT, 1, ACQUIRE, "rec_ring_turn() ring_reader.c: commit", EDGE),
			       LD(DATA, 2, RELAXED, "payload", IF(1, 1)) } },
	};

	litmus_check(&c1);
}

static bool c1_page_bad(const struct litmus_end *end)
{
	/*
	 * The reader sees that the writer has left the page, but not the page's size; or that it has entered the next
	 * page, but not that page's first number.
	 */
	return REG(2, 1) == 2 && (REG(2, 2) != 2 || REG(2, 3) != 1);
}

/* The writer moves to the next page; the previous commit position was on the page that it leaves. */
Test(edges, c1_a_page)
{
	enum { SIZE, FIRST, COMMIT };
	static const struct litmus c1 = {
		.name = "C1: a page",
		.is_bad = c1_page_bad,
		.threads = { { ST(COMMIT, 1, RELEASE, "rec_commit() ring.h: commit", SPARE(RELAXED)),
			       ST(SIZE, 2, RELAXED, "change_subbuf() ring.c: size and entries of the page left"),
			       ST(FIRST, 1, RELAXED, "publish_path() ring_commit.c: first, refused"),
			       ST(COMMIT, 2, RELEASE, "publish_path() ring_commit.c: commit", EDGE) },
			     { LD(COMMIT, 1, ACQUIRE, "rec_ring_turn() ring_reader.c: commit", EDGE),
			       LD(SIZE, 2, RELAXED, "rec_ring_extent(): size", IF(1, 2)),
			       LD(FIRST, 3, RELAXED, "rec_ring_read(): first", IF(1, 2)) } },
	};

	litmus_check(&c1);
}

/* -------------------------------------------------------------------------------------------- L1 to L3: links, head */

static bool l1_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 1;
}

/*
 * The head H was filled again since position 1 of the last lap was on it. A reader that takes H must not rely on that
 * position: it would cut off H's new events where the old ones ended.
 */
Test(edges, l1_commit_after_the_link)
{
	enum { COMMIT, LINK };
	static const struct litmus l1 = {
		.name = "L1: the commit position after the link",
		.init = { [COMMIT] = 1 },
		.is_bad = l1_bad,
		.threads = { { ST(COMMIT, 2, RELEASE, "publish_path() ring_commit.c: commit, off H", SPARE(RELAXED)),
			       CAS(LINK, 0, 1, 1, ACQ_REL, "move_head() ring.c: NORMAL to HEAD", EDGE_TO(ACQUIRE)) },
			     { LD(LINK, 1, ACQUIRE, "find_head() ring_reader.c: the link to H", EDGE),
			       LD(COMMIT, 2, ACQUIRE, "swap() ring_reader.c: commit", IF(1, 1), SPARE(RELAXED)) } },
	};

	litmus_check(&l1);
}

enum { NORMAL, HEAD, UPDATE };

static bool l2_bad(const struct litmus_end *end)
{
	return REG(2, 1) == HEAD && REG(2, 2) == NORMAL;
}

/*
 * The search began at the old head and found the new one after it, while the mover has not finished: the link before
 * must show its mark, HEAD or UPDATE, and not what it was a lap ago.
 */
Test(edges, l2_a_head_being_moved)
{
	enum { INTO_OLD, INTO_NEW };
	static const struct litmus l2 = {
		.name = "L2: a head being moved",
		.is_bad = l2_bad,
		.threads = { { CAS(INTO_OLD, NORMAL, HEAD, 1, ACQ_REL, "move_head() ring.c, a lap ago: NORMAL to HEAD",
				   SPARE(RELAXED)),
			       CAS(INTO_OLD, HEAD, UPDATE, 2, ACQ_REL, "move_head() ring.c: HEAD to UPDATE",
				   SPARE(RELAXED)),
			       CAS(INTO_NEW, NORMAL, HEAD, 3, ACQ_REL, "move_head() ring.c: NORMAL to HEAD",
				   EDGE_TO(ACQUIRE)) },
			     { LD(INTO_NEW, 1, ACQUIRE, "find_head() ring_reader.c: a link", EDGE),
			       LD(INTO_OLD, 2, ACQUIRE, "find_head() ring_reader.c: the one in front",
				  IF(1, HEAD), SPARE(RELAXED)) } },
	};

	litmus_check(&l2);
}

static bool both_won(const struct litmus_end *end)
{
	return REG(1, 1) == HEAD && REG(2, 2) == HEAD;
}

/* Mover and reader want the same head: it is one word, so an exchange suffices, with any order. */
Test(edges, l2_one_of_them_wins)
{
	enum { LINK };
	static const struct litmus l2 = {
		.name = "L2: one of them wins",
		.init = { [LINK] = HEAD },
		.is_bad = both_won,
		.threads = { { CAS(LINK, HEAD, UPDATE, 1, ACQ_REL, "move_head() ring.c: HEAD to UPDATE",
				   EDGE_TO(SPLIT)) },
			     { LD(LINK, 1, ACQUIRE, "find_head() ring_reader.c", SPARE(RELAXED)),
			       CAS(LINK, HEAD, NORMAL, 2, ACQ_REL, "swap() ring_reader.c: the exchange", IF(1, HEAD),
				   EDGE_TO(SPLIT)) } },
	};

	litmus_check(&l2);
}

static bool l3_link_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 7 && REG(2, 2) != 2;
}

/* Page 7 goes in; a reader that gets there by the exchanged link finds the page's own link set. */
Test(edges, l3_the_link_of_the_page)
{
	enum { INTO, OWN };
	static const struct litmus l3 = {
		.name = "L3: the link of the page that goes in",
		.init = { [INTO] = 1, [OWN] = 1 },
		.is_bad = l3_link_bad,
		.threads = { { ST(OWN, 2, RELEASE, "swap() ring_reader.c: the page's link", SPARE(RELAXED)),
			       CAS(INTO, 1, 7, 1, ACQ_REL, "swap() ring_reader.c: the exchange", EDGE_TO(ACQUIRE)) },
			     { LD(INTO, 1, ACQUIRE, "rec_read_link(), next_subbuf() ring.c", EDGE),
			       LD(OWN, 2, ACQUIRE, "rec_read_link(), move_head() ring.c", IF(1, 7), SPARE(RELAXED)) } },
	};

	litmus_check(&l3);
}

static bool l3_data_bad(const struct litmus_end *end)
{
	return REG(1, 1) == 9;
}

/* The reader's loads from the page that it gives back do not see later stores by a writer. */
Test(edges, l3_the_data_of_the_page)
{
	enum { INTO, DATA };
	static const struct litmus l3 = {
		.name = "L3: the data of the page that goes in",
		.init = { [INTO] = 1, [DATA] = 1 },
		.is_bad = l3_data_bad,
		.threads = { { LD(DATA, 1, RELAXED, "one that was given the page"),
			       CAS(INTO, 1, 7, 2, ACQ_REL, "swap() ring_reader.c: the exchange", EDGE_TO(ACQUIRE)) },
			     { LD(INTO, 1, ACQUIRE, "rec_read_link(), next_subbuf() ring.c"),
			       ST(DATA, 9, RELAXED, "payload", IF(1, 7)) } },
	};

	litmus_check(&l3);
}

/* ------------------------------------------------------------------------------------------------- I1: the iterator */

static bool i1_bad(const struct litmus_end *end)
{
	/* The copy has new bytes, although the tail seems to be where it was. */
	return REG(2, 1) == 1 && REG(2, 2) == 0;
}

Test(edges, i1_a_copy_of_a_page)
{
	enum { TAIL, DATA };
	static const struct litmus i1 = {
		.name = "I1: a copy of a page that is entered",
		.is_bad = i1_bad,
		.threads = { { CAS(TAIL, 0, 1, 1, RELAXED, "reserve_inside() ring.c: D"),
			       FENCE(RELEASE, "reserve_inside() ring.c: after D", EDGE),
			       ST(DATA, 1, RELAXED, "change_subbuf(), put_lead(), payload") },
			     { LD(DATA, 1, RELAXED, "copy_out() reader_iter.c"),
			       FENCE(ACQUIRE, "copy_out() reader_iter.c: after the copy", EDGE),
			       LD(TAIL, 2, RELAXED, "tail_visit() reader_iter.c") } },
	};

	litmus_check(&i1);
}

static bool i2_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && (REG(2, 2) == 0 || (REG(2, 2) == 2 && REG(2, 3) == 5));
}

/* The writer entered the sub-buffer and died; the next owner of the lane puts the tail back. */
Test(edges, i2_a_tail_taken_back)
{
	enum { TAIL, DATA, VISIT };
	static const struct litmus i2 = {
		.name = "I2: a copy of a page that was entered and given up",
		.init = { [VISIT] = 5 },
		.is_bad = i2_bad,
		.threads = { { CAS(TAIL, 0, 1, 1, RELAXED, "reserve_inside() ring.c: D"),
			       FENCE(RELEASE, "reserve_inside() ring.c: after D", EDGE),
			       ST(DATA, 1, RELAXED, "change_subbuf(), put_lead(), payload"),
			       ST(VISIT, 0, RELAXED, "forget_subbufs() ring_left.c: visit"),
			       FENCE(RELEASE, "forget_subbufs() ring_left.c", EDGE),
			       ST(TAIL, 2, RELAXED, "put_tail_back() ring_left.c: tail") },
			     { LD(DATA, 1, RELAXED, "copy_out() reader_iter.c"),
			       FENCE(ACQUIRE, "copy_out() reader_iter.c: after the copy", EDGE),
			       LD(TAIL, 2, ACQUIRE, "tail_visit() reader_iter.c: tail", EDGE),
			       LD(VISIT, 3, RELAXED, "stands() reader_iter.c: visit") } },
	};

	litmus_check(&i2);
}

static bool i1_outside_bad(const struct litmus_end *end)
{
	/* The copy of a reader page has new bytes, although the page still seems to be outside the ring. */
	return REG(3, 1) == 1 && REG(3, 2) == 0;
}

/* A reader page is put into the ring, entered, and overwritten. */
Test(edges, i1_a_copy_of_the_reader_page)
{
	enum { LINK, TAIL, DATA };
	static const struct litmus i1 = {
		.name = "I1: a copy of a reader page that goes into the ring",
		.is_bad = i1_outside_bad,
		.threads = { { CAS(LINK, 0, 1, 1, ACQ_REL, "swap() ring_reader.c: the link into the page",
				   SPARE(RELAXED)) },
			     { LD(LINK, 1, ACQUIRE, "next_subbuf() ring.c, by rec_read_link()", SPARE(RELAXED)),
			       CAS(TAIL, 0, 1, 2, RELAXED, "reserve_inside() ring.c: D", IF(1, 1)),
			       FENCE(RELEASE, "reserve_inside() ring.c: after D", EDGE),
			       ST(DATA, 1, RELAXED, "change_subbuf(), put_lead(), payload", IF(1, 1)) },
			     { LD(DATA, 1, RELAXED, "copy_out() reader_iter.c"),
			       FENCE(ACQUIRE, "copy_out() reader_iter.c: after the copy", EDGE),
			       LD(LINK, 2, ACQUIRE, "is_outside_ring() reader_iter.c: the link", SPARE(RELAXED)) } },
	};

	litmus_check(&i1);
}

static bool n3_bad(const struct litmus_end *end)
{
	/* Data of the remade lane were seen, although the lane had its old size before and after. */
	return REG(2, 1) == 1 && REG(2, 2) == 1 && REG(2, 3) == 1;
}

/* A reader looks at a lane that it does not have, while the lane is remade. */
Test(edges, n3_a_lane_made_anew)
{
	enum { SIZE, NEW };
	static const struct litmus n3 = {
		.name = "N3: a lane that is made anew, looked at by others",
		.init = { [SIZE] = 1 },
		.is_bad = n3_bad,
		.threads = { { ST(SIZE, 0, RELAXED, "hide() lane_control.c: subbuf_size"),
			       FENCE(RELEASE, "hide() lane_control.c", EDGE),
			       ST(NEW, 1, RELAXED, "rec_ring_restart() ring_init.c, and what is written then") },
			     { LD(SIZE, 1, ACQUIRE, "rec_view_look() reader_lane.c: subbuf_size", SPARE(RELAXED)),
			       LD(NEW, 2, RELAXED, "count(), copy_out(): what is looked at"),
			       FENCE(ACQUIRE, "rec_ring_count(), copy_out(): after it", EDGE),
			       LD(SIZE, 3, ACQUIRE, "rec_view_still() reader_lane.c: subbuf_size", SPARE(RELAXED)) } },
	};

	litmus_check(&n3);
}

static bool n3_pair_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 2 && REG(2, 3) == 1;
}

/* Size and number of sub-buffers belong to one shape. */
Test(edges, n3_a_shape)
{
	enum { SIZE, NUMBER };
	static const struct litmus n3 = {
		.name = "N3: a lane's shape while it is made anew",
		.init = { [SIZE] = 1, [NUMBER] = 1 },
		.is_bad = n3_pair_bad,
		.threads = { { ST(SIZE, 0, RELAXED, "hide() lane_control.c: subbuf_size"),
			       FENCE(RELEASE, "hide() lane_control.c", EDGE),
			       ST(NUMBER, 2, RELAXED, "shape() ring_init.c: nr_subbufs") },
			     { LD(SIZE, 1, ACQUIRE, "rec_view_look() reader_lane.c: subbuf_size", SPARE(RELAXED)),
			       LD(NUMBER, 2, ACQUIRE, "rec_view_look() reader_lane.c: nr_subbufs", EDGE),
			       LD(SIZE, 3, RELAXED, "rec_view_look() reader_lane.c: subbuf_size again") } },
	};

	litmus_check(&n3);
}

/*
 * An exchange that acquires and releases would not do instead of the fence: it does not hold back what comes after it.
 */
Test(edges, i1_no_exchange_will_do)
{
	enum { TAIL, DATA };
	static const struct litmus i1 = {
		.name = "I1 with an exchange in the fence's place",
		.is_bad = i1_bad,
		.threads = { { CAS(TAIL, 0, 1, 1, ACQ_REL, ""), ST(DATA, 1, RELAXED, "") },
			     { LD(DATA, 1, RELAXED, ""), FENCE(SEQ_CST, ""), LD(TAIL, 2, ACQUIRE, "") } },
	};

	cr_assert(litmus_run(&i1).bad);
}

/* -------------------------------------------------------------------------------------- K1, K2: announce, then look */

static bool k1_bad(const struct litmus_end *end)
{
	/* The writer saw no reader waiting, the reader nothing to read. */
	return REG(1, 1) == 0 && REG(2, 1) == 0;
}

Test(edges, k1_wake_up)
{
	enum { COMMIT, WAITERS };
	static const struct litmus k1 = {
		.name = "K1: commit and waiters",
		.is_bad = k1_bad,
		.threads = { { ST(COMMIT, 1, RELEASE, "publish_path() ring_commit.c: commit", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "look_for_waiters() ring_commit.c", EDGE_TO(ACQ_REL)),
			       LD(WAITERS, 1, RELAXED, "look_for_waiters() ring_commit.c") },
			     { ST(WAITERS, 1, RELAXED, "begin_lane() reader_wait.c"),
			       FENCE(SEQ_CST, "begin() reader_wait.c", EDGE_TO(ACQ_REL)),
			       LD(COMMIT, 1, ACQUIRE, "look_at() reader_wait.c", SPARE(RELAXED)) } },
	};

	litmus_check(&k1);
}

static bool t1_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 0;
}

Test(edges, t1_polling_for_whole_pages)
{
	enum { COMMIT, TOUCHED };
	static const struct litmus t1 = {
		.name = "T1: the count of pages, then the commit position",
		.is_bad = t1_bad,
		.threads = { { ST(COMMIT, 1, RELEASE, "publish_path() ring_commit.c: commit", SPARE(RELAXED)),
			       FENCE(RELEASE, "publish_path() ring_commit.c: before pages_touched", EDGE),
			       OR(TOUCHED, 1, RELAXED, "publish_path() ring_commit.c: pages_touched") },
			     { LD(TOUCHED, 1, ACQUIRE, "rec_ring_read() ring_reader.c: pages_touched", EDGE),
			       LD(COMMIT, 2, ACQUIRE, "rec_ring_turn() ring_reader.c: commit", SPARE(RELAXED)) } },
	};

	litmus_check(&t1);
}

static bool a1_bad(const struct litmus_end *end)
{
	/* `read` was 0 before and after, and yet the account is the one after the next. */
	return REG(2, 1) == 0 && REG(2, 2) == 2 && REG(2, 3) == 0;
}

/* Two accounts are used in turns; an outside reader looks at `read` again afterwards. */
Test(edges, a1_an_account_looked_at)
{
	enum { READ, ACCOUNT };
	static const struct litmus a1 = {
		.name = "A1: a reader's account, looked at by others",
		.is_bad = a1_bad,
		.threads = { { ST(READ, 1, RELEASE, "swap() ring_reader.c: read", SPARE(RELAXED)),
			       FENCE(RELEASE, "rec_reader_leave() ring_reader.c", EDGE),
			       ST(ACCOUNT, 2, RELAXED, "rec_reader_leave() ring_reader.c: the other account") },
			     { LD(READ, 1, ACQUIRE, "rec_ring_count() ring_count.c: read", SPARE(RELAXED)),
			       LD(ACCOUNT, 2, RELAXED, "rec_ring_count() ring_count.c: the account"),
			       FENCE(ACQUIRE, "rec_ring_count() ring_count.c", EDGE),
			       LD(READ, 3, RELAXED, "rec_ring_count() ring_count.c: read again") } },
	};

	litmus_check(&a1);
}

static bool a2_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 0;
}

/* A reader that sees a new value of `read` sees the account of that value, too. */
Test(edges, a1_an_account_made)
{
	enum { READ, ACCOUNT };
	static const struct litmus a2 = {
		.name = "A1: the account of a new position",
		.is_bad = a2_bad,
		.threads = { { ST(ACCOUNT, 1, RELAXED, "rec_reader_leave() ring_reader.c: the other account"),
			       ST(READ, 1, RELEASE, "swap() ring_reader.c, rec_ring_restart(): read", EDGE) },
			     { LD(READ, 1, ACQUIRE, "rec_ring_count(), _count_empty(), _reader_init(): read", EDGE),
			       LD(ACCOUNT, 2, RELAXED, "rec_reader_loss() ring_reader.c: the account", IF(1, 1)) } },
	};

	litmus_check(&a2);
}

static bool k1_again_bad(const struct litmus_end *end)
{
	/* The reader saw the wake-up, although that wake-up took back the reader's new announcement. */
	return REG(2, 1) == 1 && end->last[0] == 0;
}

Test(edges, k1_waiting_again)
{
	enum { WAITERS, WAKE };
	static const struct litmus k1 = {
		.name = "K1: waiting again",
		.init = { [WAITERS] = 1 },
		.is_bad = k1_again_bad,
		.threads = { { ST(WAITERS, 0, RELAXED, "rec_ring_wake() ring_commit.c"),
			       OR(WAKE, 1, ACQ_REL, "rec_ring_wake() ring_commit.c: wake", EDGE_TO(ACQUIRE)) },
			     { LD(WAKE, 1, ACQUIRE, "add_word() reader_wait.c", EDGE),
			       ST(WAITERS, 2, RELAXED, "begin_lane() reader_wait.c", IF(1, 1)) } },
	};

	litmus_check(&k1);
}

static bool k2_bad(const struct litmus_end *end)
{
	/* The gate is open, although its thread saw no selector. */
	return end->last[1] == 1 && REG(2, 1) == 0;
}

Test(edges, k2_request_and_gate)
{
	enum { REQUEST, ROOM };
	static const struct litmus k2 = {
		.name = "K2: selector and gate",
		.init = { [ROOM] = 2 },
		.is_bad = k2_bad,
		.threads = { { ST(REQUEST, 1, RELAXED, "rec_lane_resize(), rec_lane_disable() lane_control.c"),
			       FENCE(SEQ_CST, "close_gate() lane_control.c", EDGE_TO(ACQ_REL)),
			       ST(ROOM, 0, RELAXED, "close_gate() lane_control.c") },
			     { ST(ROOM, 1, RELAXED, "open_gate() lane_control.c"),
			       FENCE(SEQ_CST, "open_gate() lane_control.c", EDGE_TO(ACQ_REL)),
			       LD(REQUEST, 1, RELAXED, "open_gate() lane_control.c") } },
	};

	litmus_check(&k2);
}
