/* SPDX-License-Identifier: MIT */
/*
 * A file that replaces another: its mode and owner, and the data that must be on the disk when the source may be
 * deleted.
 */
#include "format/io/out_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/test_out_file.XXXXXX", path[64];
static struct stat target; /* of the file that was written last */

static void begin(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/out", dir);
	umask(022);
}

static void end(void)
{
	unlink(path);
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

TestSuite(out_file, .init = begin, .fini = end);

/* Steps of out_file_commit(), a letter each: file, rename, directory. Modes are checked when they are set. */
static char steps[16];
static int fail_file, fail_dir; /* errno */
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_fsync(int fd);
int __real_fchown(int fd, uid_t owner, gid_t group);
int __wrap_fchown(int fd, uid_t owner, gid_t group);
static bool no_chown;

int __wrap_fchown(int fd, uid_t owner, gid_t group)
{
	struct stat st;

	/* Before the file has the mode of the file that it replaces, no other user can open it. */
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0600);
	if (!no_chown)
		return __real_fchown(fd, owner, group);
	errno = EPERM;
	return -1;
}

int __wrap_rename(const char *from, const char *to)
{
	strcat(steps, "r");
	return __real_rename(from, to);
}

int __wrap_fsync(int fd)
{
	struct stat st;
	int *fail;

	cr_assert_eq(fstat(fd, &st), 0);
	strcat(steps, S_ISDIR(st.st_mode) ? "d" : "f");
	fail = S_ISDIR(st.st_mode) ? &fail_dir : &fail_file;
	if (!*fail)
		return 0;
	errno = *fail;
	/* After an interruption the next attempt succeeds. */
	if (*fail == EINTR)
		*fail = 0;
	return -1;
}

static int replace(const char *text)
{
	struct out_file file;
	int err;

	steps[0] = '\0';
	cr_assert_eq(out_file_open(path, &file), 0);
	cr_assert_eq(out_write_at(file.fd, text, strlen(text), 0), 0);
	err = out_file_commit(&file);
	memset(&target, 0, sizeof(target));
	stat(path, &target);
	return err;
}

static void expect_text(const char *text)
{
	char got[16] = "";
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	cr_assert_eq(read(fd, got, sizeof(got) - 1), (ssize_t)strlen(text));
	close(fd);
	cr_assert_str_eq(got, text);
}

Test(out_file, a_new_file_has_the_rights_of_the_umask)
{
	cr_assert_eq(replace("new"), 0);
	cr_assert_eq(target.st_mode & 07777, 0644);
	expect_text("new");
}

Test(out_file, a_replaced_file_keeps_its_mode)
{
	static const mode_t modes[] = { 0600, 0640, 0664, 0666, 0604 };

	for (unsigned int i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		cr_assert_eq(replace("old"), 0);
		cr_assert_eq(chmod(path, modes[i]), 0);
		cr_assert_eq(replace("new"), 0);
		cr_assert_eq(target.st_mode & 07777, modes[i]);
		expect_text("new");
	}
}

Test(out_file, a_replaced_file_keeps_its_owner)
{
	if (getuid())
		cr_skip_test("only root can give files away");
	cr_assert_eq(replace("old"), 0);
	cr_assert_eq(chown(path, 1234, 2345), 0);
	cr_assert_eq(replace("new"), 0);
	cr_assert_eq(target.st_uid, 1234);
	cr_assert_eq(target.st_gid, 2345);
}

/* In a directory like /tmp another user's file may be replaced, but its owner does not get our data. */
Test(out_file, a_file_that_was_put_in_the_way_has_no_rights)
{
	if (getuid())
		cr_skip_test("only root can give files away");
	cr_assert_eq(chmod(dir, 01777), 0);
	cr_assert_eq(replace("old"), 0);
	cr_assert_eq(chown(path, 1234, 2345), 0);
	cr_assert_eq(chmod(path, 0666), 0);
	cr_assert_eq(replace("new"), 0);
	cr_assert_eq(target.st_uid, 0);
	cr_assert_eq(target.st_gid, 0);
	cr_assert_eq(target.st_mode & 07777, 0644);
	/* If the directory belongs to the other user, the file in it becomes theirs. */
	cr_assert_eq(chown(dir, 1234, 2345), 0);
	cr_assert_eq(chown(path, 1234, 2345), 0);
	cr_assert_eq(replace("new"), 0);
	cr_assert_eq(target.st_uid, 1234);
}

/* If we may not give the file to its former group, our group gets no more rights than others. */
Test(out_file, rights_of_a_group_go_to_no_other)
{
	cr_assert_eq(replace("old"), 0);
	cr_assert_eq(chmod(path, 0662), 0);
	no_chown = true;
	cr_assert_eq(replace("new"), 0);
	cr_assert_eq(target.st_mode & 07777, 0622);
	expect_text("new");
}

/* What a program without a standard error prints goes neither into its output nor into its scratch data. */
Test(out_file, not_in_place_of_a_closed_standard_error)
{
	const int saved = dup(STDERR_FILENO);
	struct out_file file;
	ssize_t printed[2];
	int err, scratch;

	close(STDERR_FILENO);
	err = out_file_open(path, &file);
	printed[0] = write(STDERR_FILENO, "text", 4);
	scratch = out_file_scratch(path);
	printed[1] = write(STDERR_FILENO, "text", 4);
	dup2(saved, STDERR_FILENO);
	close(saved);
	cr_assert_eq(err, 0);
	cr_assert_geq(scratch, 0);
	cr_expect_eq(printed[0], -1);
	cr_expect_eq(printed[1], -1);
	cr_expect_gt(file.fd, STDERR_FILENO);
	cr_expect_gt(scratch, STDERR_FILENO);
	close(scratch);
	out_file_abandon(&file);
}

/* The data are on the disk before the name, and both before the source may be deleted. */
Test(out_file, it_is_on_the_disk)
{
	const int tried = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	const bool nameless = tried >= 0;

	close(tried);
	cr_assert_eq(replace("new"), 0);
	/* If the file system supports files without names, the file has no name at first, and a kill leaves nothing. */
	cr_assert_str_eq(steps, nameless ? "ffrd" : "frd");
	fail_file = fail_dir = EINTR;
	cr_assert_eq(replace("new"), 0);
	cr_assert_str_eq(steps, nameless ? "fffrdd" : "ffrdd");
	fail_file = fail_dir = EINVAL;
	cr_assert_eq(replace("no disk"), 0, "a file system without a disk");
	expect_text("no disk");
}

Test(out_file, a_disk_that_fails)
{
	cr_assert_eq(replace("old"), 0);
	fail_file = EIO;
	cr_assert_eq(replace("new"), -EIO);
	cr_assert_str_eq(steps, "f");
	expect_text("old");
	fail_file = 0;
	fail_dir = EIO;
	cr_assert_eq(replace("new"), -EIO);
	expect_text("new");
}
