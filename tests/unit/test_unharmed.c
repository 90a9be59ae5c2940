/* SPDX-License-Identifier: MIT */
/*
 * State that the library leaves unchanged, on every path of an event and in every call of its interface: errno, the
 * signal mask, the floating point environment, whether the thread may be cancelled, standard output and error.
 */
#include <librecorder/clock.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>

#include "librecorder/process/debug.h"
#include "reader_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(host, plain, u64(number));
REC_EVENT(host, texts, string(text), stringn(some), bytes(data), array(s16, row, 2));
REC_EVENT(host, reals, real(a, 0), real(b, 3), real(c, 18));
REC_EVENT(host, named, named(op, SIGHUP, SIGINT), flag(on), ptr(at));

struct state {
	int error;
	int rounding;
	sigset_t mask;
	int cancel;
#if defined(__x86_64__)
	uint32_t mxcsr; /* all except the flags of exceptions that occurred */
	uint16_t x87;
#endif
};

static void look(struct state *ret_state)
{
	memset(ret_state, 0, sizeof(*ret_state));
	ret_state->error = errno;
	ret_state->rounding = fegetround();
	pthread_sigmask(SIG_BLOCK, NULL, &ret_state->mask);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &ret_state->cancel);
	pthread_setcancelstate(ret_state->cancel, NULL);
#if defined(__x86_64__)
	__asm__ volatile("stmxcsr %0" : "=m"(ret_state->mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(ret_state->x87));
	ret_state->mxcsr &= ~UINT32_C(0x3f);
#endif
}

/*
 * An unusual state: our own errno, rounding and mask, denormals flushed, the x87 in single precision.
 */
static void make_unusual(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, SIGALRM);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	fesetround(FE_UPWARD);
#if defined(__x86_64__)
	uint32_t mxcsr;
	uint16_t x87;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	mxcsr |= 1u << 15 | 1u << 6;
	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(x87));
	x87 = (uint16_t)(x87 & ~0x300);
	__asm__ volatile("fldcw %0" : : "m"(x87));
#endif
}

static bool is_same(const struct state *a, const struct state *b)
{
	return a->error == b->error && a->rounding == b->rounding && a->cancel == b->cancel &&
	       !memcmp(&a->mask, &b->mask, sizeof(a->mask))
#if defined(__x86_64__)
	       && a->mxcsr == b->mxcsr && a->x87 == b->x87
#endif
		;
}

#define UNHARMED(...)                                                                                                  \
	do {                                                                                                           \
		struct state before, after;                                                                            \
                                                                                                                       \
		errno = 77;                                                                                            \
		look(&before);                                                                                         \
		__VA_ARGS__;                                                                                           \
		look(&after);                                                                                          \
		cr_expect(is_same(&before, &after), "%s: errno %d, rounding %d (was %d)", #__VA_ARGS__, after.error,   \
			  after.rounding, before.rounding);                                                            \
	} while (0)

static void begin(void)
{
	reader_begin(4, false);
	rec_enable("*");
	make_unusual();
}

static void each_event(void)
{
	static const int16_t row[2] = { 1, -1 };

	UNHARMED(REC(host, plain, 1));
	UNHARMED(REC(host, texts, "text", "some", 3, row, sizeof(row), row));
	UNHARMED(REC(host, texts, NULL, "", 0, NULL, 0, row));
	UNHARMED(REC(host, reals, 1.5, -0.0005, 1e300));
	UNHARMED(REC(host, reals, NAN, INFINITY, -INFINITY));
	UNHARMED(REC(host, reals, 4e-320, 9.3e18, -1e-5));
	UNHARMED(REC(host, named, SIGINT, true, row));
	UNHARMED(rec_printf("%d %s %p %5.3s", 1, "text", (const void *)row, "more"));
	UNHARMED(rec_printf("plain"));
}

/* From the first event, which leases a lane, until the lane has wrapped several times. */
Test(unharmed, events, .init = begin, .fini = reader_end, .timeout = 300)
{
	for (unsigned int i = 0; i < 300; i++)
		each_event();
}

static void *trace_in_thread(void *arg)
{
	(void)arg;
	make_unusual();
	UNHARMED(rec_thread_attach());
	each_event();
	UNHARMED(rec_thread_name("a thread"));
	return NULL;
}

Test(unharmed, threads, .init = begin, .fini = reader_end, .timeout = 300)
{
	pthread_t thread;

	for (unsigned int i = 0; i < 10; i++) {
		cr_assert_eq(pthread_create(&thread, NULL, trace_in_thread, NULL), 0);
		pthread_join(thread, NULL);
	}
}

/* No lane is free or shared: losing an event has no other effect. */
Test(unharmed, at_the_cap, .init = begin, .fini = reader_end, .timeout = 300)
{
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 4096, 4096 });
	each_event();
}

Test(unharmed, discard_mode, .timeout = 300)
{
	reader_begin(4, true);
	rec_enable("*");
	make_unusual();
	for (unsigned int i = 0; i < 300; i++)
		each_event();
	reader_end();
}

Test(unharmed, calls_in_the_path_of_events, .init = begin, .fini = reader_end, .timeout = 300)
{
	static char large[8192];
	struct rec_slot slot = { 0 };
	struct rec_handle *handle = NULL;
	unsigned int lane = 0;
	void *payload = NULL;

	UNHARMED(handle = rec_lane_lease());
	cr_assert_not_null(handle);
	UNHARMED(rec_write(handle, large, 100));
	UNHARMED(rec_write(handle, large, sizeof(large)));
	UNHARMED(payload = rec_reserve(handle, 200, &slot));
	cr_assert_not_null(payload);
	UNHARMED(rec_write(handle, large, 100));
	UNHARMED(rec_discard(&slot, payload));
	UNHARMED(payload = rec_reserve(handle, 200, &slot));
	cr_assert_not_null(payload);
	UNHARMED(rec_commit(&slot));
	UNHARMED(rec_thread_lane(&lane));
	UNHARMED(rec_clock_read(REC_CLOCK_MONO));
	UNHARMED(rec_start());
	UNHARMED(rec_stop());
	UNHARMED(REC(host, plain, 2));
}

/* These calls may fail; then they may change errno, but no other state. */
Test(unharmed, other_calls, .init = begin, .fini = reader_end, .timeout = 300)
{
	struct rec_anchor anchor;
	unsigned int lane = 0;

	REC(host, plain, 1);
	cr_assert_eq(rec_thread_lane(&lane), 0);
	UNHARMED(rec_enable("host:*"); errno = 77);
	UNHARMED(rec_disable("host:*"); errno = 77);
	UNHARMED(rec_enable("no pattern"); errno = 77);
	UNHARMED(rec_lane_disable(lane); errno = 77);
	UNHARMED(rec_lane_enable(lane); errno = 77);
	UNHARMED(rec_lane_resize(lane, 8000); errno = 77);
	UNHARMED(rec_subbuf_resize(4096); errno = 77);
	UNHARMED(rec_lane_swap(&lane); errno = 77);
	UNHARMED(rec_lane_release(lane); errno = 77);
	UNHARMED(rec_thread_name("another"); errno = 77);
	UNHARMED(rec_clock_best(); errno = 77);
	UNHARMED(rec_clock_anchor(REC_CLOCK_MONO, &anchor); errno = 77);
	UNHARMED(rec_configure(NULL); errno = 77);
	UNHARMED(rec_save("/nonexistent/file"); errno = 77);
}

/* The handlers of fork run in both processes; the child's first event leases a lane of its own. */
Test(unharmed, fork, .init = begin, .fini = reader_end, .timeout = 300)
{
	int status = -1;
	pid_t child = -1;

	REC(host, plain, 1);
	UNHARMED(child = fork());
	if (child == 0) {
		each_event();
		UNHARMED(rec_process_exit());
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
}

/* What a program without a standard error prints does not go into the buffer that it reads. */
Test(unharmed, a_closed_standard_error, .init = begin, .fini = reader_end, .timeout = 300)
{
	const int saved = dup(STDERR_FILENO);
	const uint64_t magic = rec_process_header()->magic;
	struct rec_view *view = NULL;
	ssize_t printed;
	int r;

	close(STDERR_FILENO);
	r = rec_view_open(rec_process_path(), &view);
	printed = write(STDERR_FILENO, "a long line", 11);
	dup2(saved, STDERR_FILENO);
	close(saved);
	cr_assert_eq(r, 0);
	cr_expect_eq(printed, -1);
	cr_expect_eq(rec_process_header()->magic, magic);
	rec_view_close(view);
}

static bool got_through;

static void *trace_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	REC(host, plain, 2);
	got_through = true;
	pthread_testcancel();
	return arg;
}

/* An event is not a cancellation point, even if it is lost and REC_DEBUG=1 reports that. */
Test(unharmed, a_lost_event_of_a_cancelled_thread, .fini = reader_end, .timeout = 300)
{
	const int out = memfd_create("out", MFD_CLOEXEC), saved = dup(2);
	struct rec_options options = REC_OPTIONS_INIT;
	pthread_t thread;
	void *end;

	reader_begin(4, false);
	/* The only lane belongs to this thread. */
	options.memory_max = 1;
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_gt(rec_enable("host:*"), 0);
	REC(host, plain, 1);
	setenv("REC_DEBUG", "1", 1);
	rec_debug_start();
	dup2(out, 2);
	cr_assert_eq(pthread_create(&thread, NULL, trace_cancelled, NULL), 0);
	cr_assert_eq(pthread_join(thread, &end), 0);
	dup2(saved, 2);
	cr_expect(got_through);
	cr_expect_eq(end, PTHREAD_CANCELED);
	cr_expect_gt(lseek(out, 0, SEEK_END), 0, "the loss is reported");
}

/* Nothing is printed, whichever lane events go to. */
Test(unharmed, output, .init = begin, .fini = reader_end, .timeout = 300)
{
	const int out = memfd_create("out", MFD_CLOEXEC), saved[2] = { dup(1), dup(2) };

	dup2(out, 1);
	dup2(out, 2);
	each_event();
	rec_enable("no pattern");
	rec_save("/nonexistent/file");
	if (fork() == 0) {
		each_event();
		rec_process_exit();
		_exit(0);
	}
	wait(NULL);
	fflush(NULL);
	dup2(saved[0], 1);
	dup2(saved[1], 2);
	cr_expect_eq(lseek(out, 0, SEEK_END), 0);
}
