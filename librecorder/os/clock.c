/* SPDX-License-Identifier: MIT */
/* Clocks and anchors. */
#include <librecorder/clock.h>
#include <librecorder/detail/ring.h>

#include "librecorder/os/clock_private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Readings per anchor. Even on a busy machine about one reading in eight is not interrupted. */
#define ANCHOR_TRIES 16

static uint64_t read_ns(clockid_t id)
{
	struct timespec time = { 0 };

	clock_gettime(id, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t rec_clock_mono(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

#if defined(__x86_64__)
/*
 * The kernel watches the counters of all CPUs and abandons this clocksource if they disagree, stop or change their
 * speed. Asking the CPU itself (CPUID) would take 8 us in a virtual machine, longer than all else here.
 */
static bool kernel_trusts_tsc(void)
{
	char name[8] = "";
	const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, name, sizeof(name) - 1);
	close(fd);
	return n == 4 && memcmp(name, "tsc\n", 4) == 0;
}
#endif

uint32_t rec_clock_best(void)
{
#if defined(__x86_64__)
	if (kernel_trusts_tsc())
		return REC_CLOCK_TSC;
#endif
	return REC_CLOCK_MONO;
}

bool rec_clock_is_allowed(void)
{
	int mode = PR_TSC_ENABLE;

	/* Only x86 has this mode. All five arguments are passed, because valgrind checks them. */
	return prctl(PR_GET_TSC, &mode, 0ul, 0ul, 0ul) < 0 || mode == PR_TSC_ENABLE;
}

int rec_clock_anchor(uint32_t clock, struct rec_anchor *ret_anchor)
{
	struct rec_anchor best = { .error = UINT64_MAX };
	unsigned int tries;

#if defined(__x86_64__)
	if (clock != REC_CLOCK_TSC && clock != REC_CLOCK_MONO)
		return -EINVAL;
#else
	if (clock != REC_CLOCK_MONO)
		return -EINVAL;
#endif
	for (tries = 0; tries < ANCHOR_TRIES; tries++) {
		const uint64_t before = rec_clock_mono();
		const uint64_t now = rec_clock_read(clock);
		const uint64_t after = rec_clock_mono();
		/* Rounded up, plus a nanosecond for the clock's own granularity. */
		const uint64_t error = (after - before + 1) / 2 + 1;

		if (error < best.error)
			best = (struct rec_anchor){ .clock = now,
						    .mono = before + (after - before) / 2,
						    .error = error };
	}
	best.realtime = read_ns(CLOCK_REALTIME) - rec_clock_mono() + best.mono;
	if (clock == REC_CLOCK_MONO) {
		best.clock = best.mono;
		best.error = 0;
	}
	*ret_anchor = best;
	return 0;
}
