/* SPDX-License-Identifier: MIT */
/*
 * For bench_start: does not use librecorder, but makes the system calls that a buffer needs: to find out which process
 * this is and which clock can be trusted, and to make a file in shared memory, use four of its pages, and remove it at
 * the end.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH	  "/dev/shm/start_floor"
#define FILE_SIZE ((size_t)70680576) /* the size of a buffer with the library's defaults (docs/SHM-LAYOUT.md) */
#define PAGE	  ((size_t)4096)
#define LOG	  (67 * PAGE)

/* Linux 5.14 */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static int read_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t n;

	if (fd < 0)
		return 1;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n <= 0;
}

static int make_file(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	const int fd = open(PATH, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	unsigned char *map;
	int r;

	if (fd < 0)
		return 1;
	fcntl(fd, F_OFD_SETLK, &lock);
	r = ftruncate(fd, (off_t)FILE_SIZE);
	map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	return r < 0 || map == MAP_FAILED || madvise(map, 3 * PAGE, MADV_POPULATE_WRITE) < 0 ||
	       madvise(map + LOG, PAGE, MADV_POPULATE_WRITE) < 0;
}

int main(void)
{
	char *volatile memory = malloc(1);
	char link[256];
	int r;

	r = read_file("/proc/thread-self/stat");
	r |= readlink("/proc/thread-self/ns/pid", link, sizeof(link)) < 0;
	r |= readlink("/proc/thread-self/exe", link, sizeof(link)) < 0;
	read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
	r |= make_file();
	unlink(PATH);
	free(memory);
	return r;
}
