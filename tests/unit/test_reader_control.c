/* SPDX-License-Identifier: MIT */
/*
 * Views that switch a child's events. test_rules.c tests the rules alone; test_reader_control_race.c what other
 * processes do meanwhile.
 */
#include "librecorder/core/rules.h"
#include "librecorder/process/event_private.h"
#include "tests/unit/own_buffer.h"
#include "tests/unit/reader_fixture.h"
#include "tests/unit/switched_events.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin(void)
{
	reader_begin(4, false);
}

TestSuite(reader_control, .init = begin, .fini = reader_end);

/* ---------------------------------------------------------------------------------------------- a program to switch */

/* The requests to the child, and its answers. */
enum deed {
	REGISTER, /* register system:name */
	LOOK,   /* look at event `number` */
	ENABLE, /* the program itself switches system:name */
	FORK,   /* fork, and let the child continue */
};

struct order {
	enum deed deed;
	uint32_t number;
	char system[16];
	char name[16];
};

struct answer {
	uint32_t number; /* of the event */
	uint32_t id;
	uint32_t word;
	uint32_t stopped;
	char path[PATH_MAX];
};

/* Continue in a forked child; the parent waits for its end. */
static void become_child(void)
{
	const pid_t pid = fork();

	if (pid > 0) {
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static unsigned int carry_out(const struct order *order)
{
	char text[64];

	snprintf(text, sizeof(text), "%s:%s", order->system, order->name);
	switch (order->deed) {
	case REGISTER:
		return make(order->system, order->name);
	case ENABLE:
		rec_enable(text);
		break;
	case FORK:
		become_child();
		break;
	default:
		break;
	}
	return order->number;
}

static void serve(struct rec_handle *lane, int pipe)
{
	struct answer answer = { 0 };
	struct order order;

	(void)lane;
	while (recv(pipe, &order, sizeof(order), MSG_WAITALL) == sizeof(order)) {
		answer.number = carry_out(&order);
		answer.id = answer.number < nr_made ? made[answer.number].event.id : 0;
		answer.word = answer.number < nr_made ? word_of(answer.number) : 0;
		answer.stopped = rec_process_header()->stopped;
		strcpy(answer.path, rec_process_path());
		if (write(pipe, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
}

/* The program, and a view of it. */
struct program {
	pid_t pid;
	int pipe;
	char path[PATH_MAX];
	struct rec_view *view;
};

static struct program start(void)
{
	struct program p = { 0 };

	p.pid = reader_child(serve, p.path, &p.pipe);
	p.view = reader_view_of(p.path);
	return p;
}

static void end(struct program *p)
{
	rec_view_close(p->view);
	close(p->pipe);
	cr_assert_eq(waitpid(p->pid, NULL, 0), p->pid);
}

static struct answer ask(const struct program *p, enum deed deed, const char *system, const char *name, uint32_t number)
{
	struct order order = { .deed = deed, .number = number };
	struct answer answer;

	snprintf(order.system, sizeof(order.system), "%s", system);
	snprintf(order.name, sizeof(order.name), "%s", name);
	cr_assert_eq(write(p->pipe, &order, sizeof(order)), (ssize_t)sizeof(order));
	cr_assert_eq(recv(p->pipe, &answer, sizeof(answer), MSG_WAITALL), (ssize_t)sizeof(answer));
	return answer;
}

static uint32_t look(const struct program *p, uint32_t number)
{
	return ask(p, LOOK, "", "", number).word;
}

/* ------------------------------------------------------------------------------------------------------- switching */

Test(reader_control, events_that_are_there)
{
	struct program p = start();
	const struct answer x = ask(&p, REGISTER, "a", "x", 0), y = ask(&p, REGISTER, "a", "y", 0);

	cr_assert_eq(x.word, 0);
	cr_assert_eq(rec_view_switch(p.view, "a:x", true), 1);
	cr_assert_eq(look(&p, x.number), BOTH);
	cr_assert_eq(rec_view_enabled(p.view, x.id), BOTH);
	cr_assert_eq(look(&p, y.number), 0);
	cr_assert_eq(rec_view_switch(p.view, "a", true), 2);
	cr_assert_eq(rec_view_switch(p.view, "b:*,?:x", false), 1);
	cr_assert_eq(look(&p, x.number), 0);
	cr_assert_eq(look(&p, y.number), BOTH);
	cr_assert_eq(rec_view_switch(p.view, "b:*", true), 0);
	end(&p);
}

Test(reader_control, events_to_come)
{
	struct program p = start();
	struct answer a;

	cr_assert_eq(rec_view_switch(p.view, "a:*", true), 0);
	a = ask(&p, REGISTER, "a", "x", 0);
	cr_assert_eq(a.word, BOTH);
	cr_assert_eq(ask(&p, REGISTER, "b", "x", 0).word, 0);
	cr_assert_eq(rec_view_switch(p.view, "a:*", false), 1);
	cr_assert_eq(look(&p, a.number), 0);
	cr_assert_eq(ask(&p, REGISTER, "a", "y", 0).word, 0);
	/* The program's own selectors apply to events that no rule from outside names. */
	ask(&p, ENABLE, "*", "*", 0);
	cr_assert_eq(look(&p, a.number), BOTH, "a word is what was done to it last");
	cr_assert_eq(ask(&p, REGISTER, "a", "z", 0).word, 0);
	cr_assert_eq(ask(&p, REGISTER, "b", "y", 0).word, BOTH);
	end(&p);
}

Test(reader_control, a_rule_is_forgotten)
{
	struct program p = start();
	struct answer a;

	rec_view_switch(p.view, "a:*", true);
	a = ask(&p, REGISTER, "a", "x", 0);
	cr_assert_eq(rec_view_forget(p.view, "a:*"), 0);
	cr_assert_eq(look(&p, a.number), BOTH, "words stay");
	cr_assert_eq(ask(&p, REGISTER, "a", "y", 0).word, 0);
	cr_assert_eq(rec_view_forget(p.view, "never:said"), 0);
	cr_assert_eq(rec_view_forget(p.view, "a:"), -EINVAL);
	cr_assert_eq(rec_view_forget(p.view, NULL), -EINVAL);
	end(&p);
}

Test(reader_control, one_by_its_id)
{
	struct program p = start();
	const struct answer a = ask(&p, REGISTER, "a", "x", 0);

	cr_assert_eq(rec_view_switch_event(p.view, a.id, REC_ENABLE_WANTED), 0);
	cr_assert_eq(look(&p, a.number), BOTH);
	cr_assert_eq(rec_view_switch_event(p.view, a.id, 0), 0);
	cr_assert_eq(look(&p, a.number), 0);
	cr_assert_eq(rec_view_switch_event(p.view, REC_EVENT_ID_FIRST - 1, REC_ENABLE_WANTED), -EINVAL);
	cr_assert_eq(rec_view_switch_event(p.view, REC_EVENT_ID_FIRST + REC_EVENTS_MAX, REC_ENABLE_WANTED), -EINVAL);
	cr_assert_eq(rec_view_switch_event(p.view, REC_EVENT_ID_FIRST + REC_EVENTS_MAX - 1, REC_ENABLE_WANTED), -EINVAL,
		     "it has no memory");
	end(&p);
}

Test(reader_control, stopped_and_started)
{
	struct program p = start();
	const struct answer a = ask(&p, REGISTER, "a", "x", 0), b = ask(&p, REGISTER, "a", "y", 0);

	rec_view_switch(p.view, "a:x", true);
	cr_assert_not(rec_view_stopped(p.view));
	cr_assert_eq(rec_view_stop(p.view), 0);
	cr_assert(rec_view_stopped(p.view));
	cr_assert_eq(ask(&p, LOOK, "", "", a.number).stopped, 1);
	cr_assert_eq(look(&p, a.number), REC_ENABLE_WANTED);
	cr_assert_eq(rec_view_switch(p.view, "a:y,later:*", true), 1);
	cr_assert_eq(look(&p, b.number), REC_ENABLE_WANTED);
	cr_assert_eq(ask(&p, REGISTER, "later", "x", 0).word, REC_ENABLE_WANTED);
	cr_assert_eq(rec_view_stop(p.view), 0);
	cr_assert_eq(rec_view_switch(p.view, "a:x", false), 1);
	cr_assert_eq(rec_view_start(p.view), 0);
	cr_assert_not(rec_view_stopped(p.view));
	cr_assert_eq(look(&p, a.number), 0);
	cr_assert_eq(look(&p, b.number), BOTH);
	cr_assert_eq(look(&p, 2), BOTH);
	end(&p);
}

Test(reader_control, a_forked_child_has_the_same)
{
	struct program p = start();
	const struct answer x = ask(&p, REGISTER, "a", "x", 0), y = ask(&p, REGISTER, "a", "y", 0);
	struct rec_view *view;
	struct answer child;

	rec_view_switch(p.view, "a:x", true);
	rec_view_switch(p.view, "later:*", true);
	rec_view_stop(p.view);
	child = ask(&p, FORK, "", "", x.number);
	cr_assert_str_neq(child.path, p.path);
	cr_assert_eq(child.stopped, 1);
	cr_assert_eq(child.word, REC_ENABLE_WANTED);
	view = reader_view_of(child.path);
	cr_assert_eq(rec_view_start(view), 0);
	cr_assert_eq(look(&p, x.number), BOTH);
	cr_assert_eq(look(&p, y.number), 0);
	cr_assert_eq(ask(&p, REGISTER, "later", "x", 0).word, BOTH);
	cr_assert(rec_view_stopped(p.view), "its parent is another program");
	cr_assert_eq(rec_view_switch(view, "a:*", true), 2);
	cr_assert_eq(rec_view_enabled(p.view, y.id), 0);
	rec_view_close(view);
	end(&p);
}

Test(reader_control, the_dead_are_not_switched)
{
	struct program p = start();

	cr_assert_eq(kill(p.pid, SIGKILL), 0);
	cr_assert_eq(waitpid(p.pid, NULL, 0), p.pid);
	cr_assert_eq(rec_view_switch(p.view, "a:*", true), -ESRCH);
	cr_assert_eq(rec_view_switch(p.view, "a:", true), -EINVAL);
	cr_assert_eq(rec_view_switch_event(p.view, REC_EVENT_ID_FIRST, REC_ENABLE_WANTED), -ESRCH);
	cr_assert_eq(rec_view_forget(p.view, "a:*"), -ESRCH);
	cr_assert_eq(rec_view_start(p.view), -ESRCH);
	cr_assert_eq(rec_view_stop(p.view), -ESRCH);
	cr_assert_not(rec_view_stopped(p.view));
	rec_view_close(p.view);
	close(p.pipe);
}

Test(reader_control, invalid_patterns)
{
	static const char *const bad[] = { "", ":", "a:", ":a", "a:b:c", "a b", "a,", ",a", "a:[x]" };
	struct rec_view *view = reader_view();
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(rec_view_switch(view, bad[i], true), -EINVAL, "%s", bad[i]);
	cr_assert_eq(rec_view_switch(view, NULL, true), -EINVAL);
	rec_view_close(view);
}

Test(reader_control, too_many_rules)
{
	struct program p = start();
	const struct answer a = ask(&p, REGISTER, "a", "x", 0);
	char patterns[32];
	unsigned int nr = 0;
	int r;

	do {
		snprintf(patterns, sizeof(patterns), "a:x,system%u:*", nr);
		r = rec_view_switch(p.view, patterns, false);
	} while (r == 1 && ++nr < REC_RULES_SIZE);
	cr_assert_eq(r, -ENOSPC);
	snprintf(patterns, sizeof(patterns), "a:x,system%u:*", nr);
	cr_assert_eq(rec_view_switch(p.view, patterns, true), -ENOSPC);
	cr_assert_eq(look(&p, a.number), 0, "nothing was changed");
	cr_assert_eq(rec_view_switch_event(p.view, a.id, REC_ENABLE_WANTED), 0, "that needs no rule");
	cr_assert_eq(rec_view_forget(p.view, "a:x,system7:*"), 0);
	cr_assert_eq(rec_view_switch(p.view, "a:x", true), 1);
	end(&p);
}

/* The file system has no room for the words. */
static bool is_full;
int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (!is_full)
		return __real_fallocate(fd, mode, offset, size);
	errno = ENOSPC;
	return -1;
}

Test(reader_control, no_room_for_words)
{
	struct rec_view *view = reader_view();
	struct rec_rules rules;

	make("a", "x");
	cr_assert_eq(rec_view_switch(view, "a:y", true), 0);
	rules = *own_rules();
	is_full = true;
	cr_assert_eq(rec_view_switch(view, "a:*", true), -ENOMEM);
	cr_assert_eq(rec_view_switch(view, "a:y", false), -ENOMEM);
	is_full = false;
	cr_assert_eq(word_of(0), 0);
	cr_assert_eq(memcmp(&rules, own_rules(), sizeof(rules)), 0);
	rec_view_close(view);
}

Test(reader_control, a_view_of_oneself)
{
	struct rec_view *view = reader_view(), *other = reader_view();
	unsigned int number = make("own", "x");

	cr_assert_eq(rec_view_switch(view, "own:*", true), 1);
	cr_assert_eq(rec_view_switch(other, "own:y", true), 0);
	cr_assert_eq(word_of(number), BOTH);
	cr_assert_eq(rec_stop(), 0);
	cr_assert(rec_view_stopped(view));
	cr_assert_eq(word_of(number), REC_ENABLE_WANTED);
	cr_assert_eq(rec_view_start(other), 0);
	cr_assert_eq(word_of(number), BOTH);
	cr_assert_not(rec_printf_on());
	/* rec_printf's event does not count, because this program has not used it. */
	cr_assert_eq(rec_view_switch(view, "ftrace:bprint", true), 0);
	cr_assert(rec_printf_on());
	rec_view_close(other);
	rec_view_close(view);
}

/* ------------------------------------------------------------------------------------------------------ cancelled */

static int switch_all(struct rec_view *view)
{
	return rec_view_switch(view, "ftrace:bprint", true);
}

static int borrow_all(struct rec_view *view)
{
	return rec_view_borrow(view, "ftrace:bprint");
}

static struct cancelled {
	int (*call)(struct rec_view *view);
	struct rec_view *view;
	int result;
} cancelled;

static void *be_cancelled(void *arg)
{
	(void)arg;
	pthread_cancel(pthread_self());
	cancelled.result = cancelled.call(cancelled.view);
	pthread_testcancel();
	return NULL;
}

/* Of a thread that is cancelled in the call, neither the lock nor a mapping remains. */
static void check_cancelled(int (*call)(struct rec_view *view))
{
	struct rec_view *other = reader_view();
	pthread_t thread;
	void *end;

	cancelled = (struct cancelled){ call, reader_view(), -1 };
	cr_assert_eq(pthread_create(&thread, NULL, be_cancelled, NULL), 0);
	cr_assert_eq(pthread_join(thread, &end), 0);
	cr_expect_eq(end, PTHREAD_CANCELED);
	cr_expect_geq(cancelled.result, 0, "%d", cancelled.result);
	cr_expect_eq(rec_view_stop(other), 0);
	cr_expect_eq(rec_view_start(cancelled.view), 0);
	rec_view_close(cancelled.view);
	rec_view_close(other);
}

Test(reader_control, cancelled)
{
	check_cancelled(switch_all);
	check_cancelled(borrow_all);
}
