/* SPDX-License-Identifier: MIT */
/*
 * Decides when a ring is enlarged: if its thread found it nearly full, or takes too long to return to it. The size is
 * doubled each time.
 */
#include "cli/kernel/kernel_grow.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/kernel/kernel_ring.h"
#include "cli/base/now.h"

/* How often rings are checked while one fills: a busy CPU fills one of the kernel's default size in some 30 ms. */
#define GROW_MS 10

/* If a thread's turn takes this long, the disk or other programs keep it from its ring. */
#define LATE_MS 20u

/*
 * The write waits for a worker of the kernel on the ring's CPU. If a real-time thread occupies that CPU and real-time
 * throttling is off, it waits for that thread, and holds a lock that all users of tracing need; recorder-record.1 warns
 * of that. A thread that the disk keeps from its ring looks the same to us, and its ring has to grow.
 */
static void grow(struct kernel_ring *ring)
{
	const uint64_t kb = ring->kb * 2;
	const int fd = openat(ring->dir, "buffer_size_kb", O_WRONLY | O_CLOEXEC);
	char text[24];
	const int size = snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);

	/* If a ring cannot be enlarged, do not try it again. */
	if (fd >= 0 && write(fd, text, (size_t)size) == size)
		ring->kb = kb;
	else
		ring->max_kb = 0;
	if (fd >= 0)
		close(fd);
}

static void look_at(struct kernel_ring *ring, uint64_t now)
{
	const uint64_t busy = atomic_load_explicit(&ring->busy_ms, memory_order_relaxed);
	const bool late = busy && now > busy + LATE_MS && now > ring->looked_ms + LATE_MS;

	if (ring->kb * 2 > ring->max_kb)
		return;
	if (late)
		ring->looked_ms = now;
	if (atomic_exchange_explicit(&ring->turn, 0, memory_order_relaxed) >= ring->kb * 1024 / 4 * 3 ||
	    (late && kernel_ring_bytes(ring) > ring->kb * 1024 / 2))
		grow(ring);
}

/* Whether a ring's thread is in a turn. */
static bool any_busy(const struct kernel_grower *grower)
{
	for (unsigned int i = 0; i < grower->nr; i++)
		if (atomic_load(&grower->rings[i].busy_ms))
			return true;
	return false;
}

static bool look(struct kernel_grower *grower)
{
	const uint64_t now = now_ms();

	for (unsigned int i = 0; i < grower->nr; i++)
		look_at(&grower->rings[i], now);
	return any_busy(grower);
}

static bool is_over(const struct kernel_grower *grower, int timeout)
{
	struct pollfd stop = { .fd = grower->stop, .events = POLLIN };

	return poll(&stop, 1, timeout) > 0;
}

void *kernel_grower_main(void *arg)
{
	struct kernel_grower *grower = arg;

	do {
		/* A thread that began before the sleep was announced does not wake us. */
		atomic_store(&grower->sleeps, true);
		while (!any_busy(grower) && !is_over(grower, 0) && sem_wait(&grower->wake) < 0)
			;
		/* A turn's result is stored at its end, so at least one check follows that. */
		while (!is_over(grower, GROW_MS) && look(grower))
			;
	} while (!is_over(grower, 0));
	return NULL;
}

void kernel_grower_wake(struct kernel_grower *grower)
{
	if (atomic_exchange(&grower->sleeps, false))
		sem_post(&grower->wake);
}
