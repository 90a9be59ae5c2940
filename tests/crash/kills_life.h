/* SPDX-License-Identifier: MIT */
/*
 * The lives of tests/crash/test_kills.c and test_recorder.c. A life has a program that writes (victim_kills.c), a
 * recorder beside it, memory that they share with the test, directories of the test's own, and the account of what they
 * left.
 */
#ifndef KILLS_LIFE_H
#define KILLS_LIFE_H

#include "chance.h"
#include "kills_account.h"

#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/types.h>

/* How long a test waits for another process. */
#define PATIENCE_NS 60000000000u

struct life {
	bool overwrite, attach;
	unsigned int kb;
	pid_t writer, recorder;
	uint64_t seed; /* of this life alone */
};

/* The sums of the test so far. An event that was refused counts both as event and as lost. */
struct figures {
	uint64_t kills, lives, events, read, lost, lost_committed, torn, repeated, pages, corrupt;
};

extern struct figures figures;
extern struct kills_notes *notes;
extern char recorder[512]; /* the command */
extern char run_dir[600];  /* where the recorder puts buffers and files */

void set_up(void);
void tear_down(void);

/* Prints the data needed to understand a failed life. Kills the processes that are still running. */
void describe_life(const struct life *life);

void nap(uint64_t ns);

/* The status of a child, or -1 while it runs; and the same after waiting for its end. */
int poll_end(pid_t pid);
int wait_end(const struct life *life, pid_t pid);
void wait_group(pid_t group);
void kill_and_wait(pid_t pid);

/* Wait until the word is set. False: the process ended before. */
bool wait_word(const struct life *life, const uint32_t *word, pid_t pid);

/*
 * Draw a life, in which each thread writes about this number of events. The second function removes what the life left.
 */
void begin_life(struct life *life, uint32_t events);
void end_life(const struct life *life);

/* The environment variables; valid until the next call. */
const char *const *make_env(const struct life *life);
void start_writer(struct life *life);

/*
 * Start the recorder with the writer as its command; or, if the life was drawn so, start the writer and attach a
 * recorder to it.
 */
void start_recorder(struct life *life, const char *output);

/* The arguments of a recorder that attaches to the writer. */
struct attach_words {
	char file[700], pid[24];
	const char *argv[8];
};

void attach_words(const struct life *life, const char *output, struct attach_words *words);

/* The paths of the existing buffers, in `found`. */
size_t find_buffers(glob_t *found);
bool has_buffer(void);
bool open_buffer(const struct life *life, struct rec_view **ret_view);

/* Let the writer begin, once the recorder has attached. */
void open_gate(const struct life *life);

/* Take all events that the lanes still hold. Returns the number of losses that were not reported to a reader yet. */
uint64_t drain_by_hand(const struct life *life, struct kills_account *account, struct rec_view *view);

/* Each event that was committed was read, or is reported as lost. `exactly`: and no other loss is reported. */
void check_sums(const struct life *life, struct kills_account *account, uint64_t lost, bool exactly);

/* Make files of all that recorders left, and examine all files. */
void recover_all(const struct life *life);
void judge_files(const struct life *life);

/* The figures, as a line of JSON. */
void report(const char *whom);

#endif
