/* SPDX-License-Identifier: MIT */
/*
 * The edges of docs/MEMORY-MODEL.md between threads and between processes, each as a small program of what the code
 * does: unchanged, the outcome that must not occur is unreachable in every execution; with any one ordering of the edge
 * weakened it is reachable.
 */
#include "tests/litmus/case.h"

#include <criterion/criterion.h>

/* ------------------------------------------------------------------------------------ owners, and what is made once */

static bool o1_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 0 && REG(2, 2) == 0;
}

Test(edges, o1_a_lane_passed_on)
{
	enum { WORDS, OWNER };
	static const struct litmus o1 = {
		.name = "O1: a lane passed on",
		.init = { [OWNER] = 1 },
		.is_bad = o1_bad,
		.threads = { { ST(WORDS, 1, RELAXED, "tail, stamps, descriptors"),
			       ST(OWNER, 0, RELEASE, "rec_lane_give_back() lane.c, leave() lane_share.c: owner",
				  EDGE) },
			     { CAS(OWNER, 0, 2, 1, ACQ_REL, "exchange_owner() lane.c, take() lane_share.c",
				   EDGE_TO(RELEASE)),
			       LD(WORDS, 2, RELAXED, "rec_ring_repair() ring_init.c", IF(1, 0)) } },
	};

	litmus_check(&o1);
}

static bool shared_bad(const struct litmus_end *end)
{
	return REG(3, 1) == 2 && REG(3, 2) == 0;
}

/* A shared lane: a reader that sees the second thread's commit sees what the first one wrote. */
Test(edges, o1_a_lane_passed_on_and_read)
{
	enum { DATA, OWNER, COMMIT };
	static const struct litmus shared = {
		.name = "O1: a lane passed on, and read",
		.init = { [OWNER] = 1 },
		.is_bad = shared_bad,
		.threads = { { ST(DATA, 1, RELAXED, "an event"),
			       ST(OWNER, 0, RELEASE, "leave() lane_share.c: owner", EDGE) },
			     { CAS(OWNER, 0, 2, 1, ACQ_REL, "take() lane_share.c", EDGE_TO(RELEASE)),
			       ST(COMMIT, 2, RELEASE, "publish_path() ring_commit.c", IF(1, 0), EDGE) },
			     { LD(COMMIT, 1, ACQUIRE, "rec_ring_turn() ring_reader.c", EDGE),
			       LD(DATA, 2, RELAXED, "the reader", IF(1, 2)) } },
	};

	litmus_check(&shared);
}

static bool k3_bad(const struct litmus_end *end)
{
	/* The old thread seemed gone, and the new one, which has its id, takes lanes. */
	return REG(1, 1) == 0 && REG(2, 1) == 0;
}

Test(edges, k3_a_lane_taken_over_and_a_new_thread)
{
	enum { BEREFT, EXISTS };
	static const struct litmus k3 = {
		.name = "K3: a lane taken over, and a new thread with the id",
		.is_bad = k3_bad,
		.threads = { { ST(BEREFT, 1, RELAXED, "rec_lane_take_over() lane.c: bereft"),
			       FENCE(SEQ_CST, "rec_lane_take_over() lane.c", EDGE_TO(ACQ_REL)),
			       LD(EXISTS, 1, RELAXED, "the kernel's list of threads") },
			     { ST(EXISTS, 1, RELAXED, "the kernel's list of threads"),
			       FENCE(SEQ_CST, "the kernel switches to the thread", EDGE_TO(ACQ_REL)),
			       LD(BEREFT, 1, ACQUIRE, "rec_lane_may_own() lane.c", SPARE(RELAXED)) } },
	};

	litmus_check(&k3);
}

static bool o3_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 0 && REG(2, 2) == 1;
}

Test(edges, o3_a_lane_taken_over)
{
	enum { OWNER, BEREFT };
	static const struct litmus o3 = {
		.name = "O3: a lane taken over",
		.init = { [OWNER] = 1, [BEREFT] = 1 },
		.is_bad = o3_bad,
		.threads = { { CAS(OWNER, 1, 2, 1, RELAXED, "exchange_owner() lane.c"),
			       ST(BEREFT, 0, RELEASE, "rec_lane_take_over() lane.c: bereft", EDGE) },
			     { LD(BEREFT, 1, ACQUIRE, "rec_lane_may_own() lane.c: bereft", EDGE),
			       LD(OWNER, 2, RELAXED, "give_back_all() lane_thread.c: owner", IF(1, 0)) } },
	};

	litmus_check(&o3);
}

static bool o2_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 0 && REG(2, 2) == 0;
}

Test(edges, o2_reader_words_passed_on)
{
	enum { READ, OWNER };
	static const struct litmus o2 = {
		.name = "O2: reader words passed on",
		.init = { [OWNER] = 1 },
		.is_bad = o2_bad,
		.threads = { { ST(READ, 1, RELAXED, "accounts, hint, links"),
			       ST(OWNER, 0, RELEASE, "rec_view_leave_words() reader_lane.c: owner", EDGE) },
			     { CAS(OWNER, 0, 2, 1, ACQ_REL, "own_lane() reader_lane.c: the exchange", EDGE_TO(RELEASE)),
			       LD(READ, 2, RELAXED, "rec_ring_reader_init() ring_reader.c", IF(1, 0)) } },
	};

	litmus_check(&o2);
}

static bool message_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 0;
}

/* The plain pattern: a word announces other data. */
static void check_message(const char *name, const char *what, const char *release, const char *acquire)
{
	enum { WHAT, WORD };
	struct litmus message = {
		.name = name,
		.is_bad = message_bad,
		.threads = { { ST(WHAT, 1, RELAXED, what), ST(WORD, 1, RELEASE, release, EDGE) },
			     { LD(WORD, 1, ACQUIRE, acquire, EDGE), LD(WHAT, 2, RELAXED, what, IF(1, 1)) } },
	};

	litmus_check(&message);
}

Test(edges, b1_header)
{
	check_message("B1: a buffer's header", "header", "show_buffer() process.c: ready",
		      "read_header() reader.c: ready");
}

Test(edges, b2_a_loan)
{
	check_message("B2: a loan", "patterns, earlier words", "set_recorder() reader_loan.c: recorder",
		      "rec_view_loan() reader_loan.c; copy_loan() process.c: recorder");
}

Test(edges, g1_log)
{
	check_message("G1: the log", "record", "rec_log_append_locked() log.c: log_used",
		      "rec_view_log() reader.c: log_used");
}

Test(edges, s1_the_end_of_a_program)
{
	check_message("S1: the end of a program", "commit", "rec_process_exit() process.c: state",
		      "rec_view_alive() reader.c: state");
}

Test(edges, p1_a_call_site)
{
	check_message("P1: the number of a call site", "number", "site_number() printf.c: buffer",
		      "site_number() printf.c: buffer");
}

Test(edges, f1_a_condition)
{
	check_message("F1: a condition", "steps, texts", "rec_enable_word() enable.c: the word",
		      "rec_event_condition() event_macros.h: the word");
}

Test(edges, n1_a_lane_that_was_made)
{
	check_message("N1: a lane that was made", "positions, links", "shape() ring_init.c: subbuf_size",
		      "rec_view_look() reader_lane.c: subbuf_size");
}

Test(edges, n2_a_handle_that_was_made)
{
	check_message("N2: the handle of a lane", "handle",
		      "make_lane() lane.c: made; rec_share_add() lane_share.c: shared",
		      "rec_lane_is_made() lane.c; slot_at() lane_share.c");
}

/* --------------------------------------------------------------------------------------------------- events: W, E */

#define ON     1
#define WANTED 2

static bool on_while_stopped(const struct litmus_end *end)
{
	return end->last[1] == 1 && (end->last[0] & ON);
}

/* One process switches an event on, another one stops the buffer: the event is off. */
Test(edges, w1_on_and_stopped)
{
	enum { WORD, STOPPED };
	static const struct litmus w1 = {
		.name = "W1: on and stopped",
		.is_bad = on_while_stopped,
		.threads = { { OR(WORD, WANTED, ACQ_REL, "rec_enable_word() enable.c: WANTED", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "rec_enable_word() enable.c", SPARE(ACQ_REL)),
			       LD(STOPPED, 1, ACQUIRE, "follow_stopped() enable.c: stopped", SPARE(RELAXED)),
			       OR(WORD, ON, ACQ_REL, "follow_stopped() enable.c: ON", IF(1, 0), SPARE(RELAXED)),
			       FENCE(SEQ_CST, "follow_stopped() enable.c", IF(1, 0), EDGE_TO(ACQ_REL)),
			       LD(STOPPED, 2, ACQUIRE, "follow_stopped() enable.c: stopped again", IF(1, 0),
				  SPARE(RELAXED)),
			       AND(WORD, WANTED, ACQ_REL, "follow_stopped() enable.c: not ON", IF(2, 1),
				   SPARE(RELAXED)) },
			     { ST(STOPPED, 1, RELEASE, "rec_enable_stop() enable.c: stopped", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "rec_enable_stop() enable.c", EDGE_TO(ACQ_REL)),
			       LD(WORD, 1, ACQUIRE, "follow_stopped() enable.c: the word", SPARE(RELAXED)),
			       AND(WORD, WANTED, ACQ_REL, "follow_stopped() enable.c: not ON", IF(1, ON | WANTED),
				   SPARE(RELAXED)) } },
	};

	litmus_check(&w1);
}

static bool off_while_started(const struct litmus_end *end)
{
	return end->last[1] == 0 && end->last[0] == WANTED;
}

/* One process switches an event on, another one starts the buffer: the event is on. */
Test(edges, w1_wanted_and_started)
{
	enum { WORD, STOPPED };
	static const struct litmus w1 = {
		.name = "W1: wanted and started",
		.init = { [STOPPED] = 1 },
		.is_bad = off_while_started,
		.threads = { { OR(WORD, WANTED, ACQ_REL, "rec_enable_word() enable.c: WANTED", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "rec_enable_word() enable.c", EDGE_TO(ACQ_REL)),
			       LD(STOPPED, 1, ACQUIRE, "follow_stopped() enable.c: stopped", SPARE(RELAXED)),
			       OR(WORD, ON, ACQ_REL, "follow_stopped() enable.c: ON", IF(1, 0), SPARE(RELAXED)) },
			     { ST(STOPPED, 0, RELEASE, "rec_enable_stop() enable.c: stopped", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "rec_enable_stop() enable.c", EDGE_TO(ACQ_REL)),
			       LD(WORD, 1, ACQUIRE, "follow_stopped() enable.c: the word", SPARE(RELAXED)),
			       OR(WORD, ON, ACQ_REL, "follow_stopped() enable.c: ON", IF(1, WANTED),
				  SPARE(RELAXED)) } },
	};

	litmus_check(&w1);
}

#define STOP  1
#define START 2

static bool off_though_started_last(const struct litmus_end *end)
{
	return end->last[1] == START && end->last[0] == WANTED;
}

/* One process stops the buffer, another one starts it. If the start is the last change, the event is on. */
Test(edges, w1_stopped_and_started)
{
	enum { WORD, STOPPED };
	static const struct litmus w1 = {
		.name = "W1: stopped and started",
		.init = { [WORD] = ON | WANTED, [STOPPED] = START },
		.is_bad = off_though_started_last,
		.threads = { { ST(STOPPED, STOP, RELEASE, "rec_enable_stop() enable.c: stopped", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "rec_enable_stop() enable.c", SPARE(ACQ_REL)),
			       LD(STOPPED, 1, ACQUIRE, "follow_stopped() enable.c: stopped", SPARE(RELAXED)),
			       AND(WORD, WANTED, ACQ_REL, "follow_stopped() enable.c: not ON", IF(1, STOP),
				   SPARE(RELAXED)),
			       FENCE(SEQ_CST, "follow_stopped() enable.c", IF(1, STOP), EDGE_TO(ACQ_REL)),
			       LD(STOPPED, 2, ACQUIRE, "follow_stopped() enable.c: stopped again", IF(1, STOP),
				  SPARE(RELAXED)),
			       OR(WORD, ON, ACQ_REL, "follow_stopped() enable.c: ON", IF(2, START),
				  SPARE(RELAXED)) },
			     { ST(STOPPED, START, RELEASE, "rec_enable_stop() enable.c: stopped", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "rec_enable_stop() enable.c", EDGE_TO(ACQ_REL)),
			       LD(WORD, 1, ACQUIRE, "follow_stopped() enable.c: the word", SPARE(RELAXED)),
			       OR(WORD, ON, ACQ_REL, "follow_stopped() enable.c: ON", IF(1, WANTED),
				  SPARE(RELAXED)) } },
	};

	litmus_check(&w1);
}

static bool w2_bad(const struct litmus_end *end)
{
	/* The event was not found in the log, and the rule was not found when the event was registered. */
	return REG(1, 1) == 0 && REG(2, 1) == 0;
}

Test(edges, w2_switched_while_registered)
{
	enum { RULE, LOG };
	static const struct litmus w2 = {
		.name = "W2: rule and log",
		.is_bad = w2_bad,
		.threads = { { ST(RULE, 1, RELEASE, "publish() rules.c: changes", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "rec_view_switch() reader_control.c", EDGE_TO(ACQ_REL)),
			       LD(LOG, 1, ACQUIRE, "copy_log() reader_control.c: log_used", SPARE(RELAXED)) },
			     { ST(LOG, 1, RELEASE, "rec_log_append_locked() log.c: log_used", SPARE(RELAXED)),
			       FENCE(SEQ_CST, "follow_rules() event.c", EDGE_TO(ACQ_REL)),
			       LD(RULE, 1, ACQUIRE, "copy_text() rules.c: changes", SPARE(RELAXED)) } },
	};

	litmus_check(&w2);
}

Test(edges, a2_bases)
{
	check_message("A2: bases", "bases", "set_bases() reader_stats.c: resets",
		      "rec_bases_of() ring_private.h: resets");
}

Test(edges, w3_rules)
{
	check_message("W3: rules", "text", "publish() rules.c: changes", "copy_text() rules.c: changes");
}

static bool w3_torn_bad(const struct litmus_end *end)
{
	/* Bytes of the second change from now were copied, although not even the first change was seen. */
	return REG(2, 1) == 0 && REG(2, 2) == 1 && REG(2, 3) == 0;
}

Test(edges, w3_rules_overwritten)
{
	enum { TEXT, CHANGES };
	static const struct litmus w3 = {
		.name = "W3: rules overwritten",
		.is_bad = w3_torn_bad,
		.threads = { { ST(CHANGES, 1, RELEASE, "publish() rules.c: changes", SPARE(RELAXED)),
			       FENCE(RELEASE, "publish() rules.c: before the text", EDGE),
			       ST(TEXT, 1, RELAXED, "publish() rules.c: the text"),
			       ST(CHANGES, 2, RELEASE, "publish() rules.c: changes", SPARE(RELAXED)) },
			     { LD(CHANGES, 1, ACQUIRE, "copy_text() rules.c: changes", SPARE(RELAXED)),
			       LD(TEXT, 2, RELAXED, "copy_text() rules.c: the text"),
			       FENCE(ACQUIRE, "copy_text() rules.c: after the text", EDGE),
			       LD(CHANGES, 3, RELAXED, "copy_text() rules.c: changes again") } },
	};

	litmus_check(&w3);
}

static bool e1_bad(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 0;
}

Test(edges, e1_an_event_just_registered)
{
	enum { ID, ENABLED };
	static const struct litmus e1 = {
		.name = "E1: an event just registered",
		.is_bad = e1_bad,
		.threads = { { ST(ID, 1, RELAXED, "register_locked() event.c: id"),
			       ST(ENABLED, 1, RELEASE, "register_locked() event.c: enabled", EDGE) },
			     { LD(ENABLED, 1, RELAXED, "rec_event_on() event_macros.h: enabled"),
			       LD(ENABLED, 3, ACQUIRE, "rec_event_id() event_macros.h: enabled", IF(1, 1), EDGE),
			       LD(ID, 2, RELAXED, "rec_event_id() event_macros.h: id", IF(1, 1)) } },
	};

	litmus_check(&e1);
}
