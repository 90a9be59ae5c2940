/* SPDX-License-Identifier: MIT */
/*
 * Stacks as a tree. The stacks are sorted, so those that have the same addresses up to some depth are neighbours: a
 * branch is a range of them. Branches with the most time come first; without times, the most frequent ones.
 */
#include "cli/report/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/io/bytes.h"

/* Columns for each level. */
#define INDENT 5

/* The number of levels with a vertical line; deeper levels have none. */
#define LEVELS_MAX 62u

/* A branch: adjacent stacks with the same address at a level. */
struct branch {
	const struct profile_stack **stacks;
	size_t nr;
	uint64_t address;
	struct profile_total total;
};

struct tree {
	const struct profile *p;
	size_t long_size; /* size of an address */
	bool big;	  /* byte order of the addresses, which is the file's */
	uint64_t lines;	  /* a bit for each level whose vertical line continues */
	bool is_short_of_memory;
};

static int by_addresses(const void *a, const void *b, void *arg)
{
	const struct tree *tree = arg;
	const struct profile_stack *x = *(const struct profile_stack *const *)a;
	const struct profile_stack *y = *(const struct profile_stack *const *)b;
	const size_t nr = x->addresses->size < y->addresses->size ? x->addresses->size : y->addresses->size;
	uint32_t left, right;

	for (size_t i = 0; i + sizeof(left) <= nr; i += sizeof(left)) {
		left = bytes_get32(x->addresses->text + i, tree->big);
		right = bytes_get32(y->addresses->text + i, tree->big);
		if (left != right)
			return left < right ? -1 : 1;
	}
	return (x->addresses->size > y->addresses->size) - (x->addresses->size < y->addresses->size);
}

static int by_time(const void *a, const void *b, void *arg)
{
	const struct branch *x = a, *y = b;

	if (x->total.time != y->total.time)
		return x->total.time > y->total.time ? -1 : 1;
	if (x->total.count != y->total.count)
		return x->total.count > y->total.count ? -1 : 1;
	/* Otherwise equal branches are ordered by address, so that the output is always the same. */
	return by_addresses(x->stacks, y->stacks, arg);
}

/* False: the stack is not that deep, or has the mark of its end (all bits set) at this level. */
static bool address_at(const struct tree *tree, const struct profile_stack *stack, unsigned int level,
		       uint64_t *ret_address)
{
	const size_t offset = tree->long_size * level;
	const char *at = stack->addresses->text + offset;

	if (offset + tree->long_size > stack->addresses->size)
		return false;
	*ret_address = tree->long_size == 8 ? bytes_get64(at, tree->big) : bytes_get32(at, tree->big);
	return *ret_address != (tree->long_size == 8 ? UINT64_MAX : UINT32_MAX);
}

/* The branches of sorted stacks at a level, sorted. The caller frees them. NULL: no stack is that deep. */
static struct branch *branches_of(struct tree *tree, const struct profile_stack **stacks, size_t nr_stacks,
				  unsigned int level, size_t *ret_nr)
{
	struct branch *branches = calloc(nr_stacks, sizeof(*branches));
	bool continues = false;
	uint64_t address;

	*ret_nr = 0;
	tree->is_short_of_memory = tree->is_short_of_memory || !branches;
	for (size_t i = 0; branches && i < nr_stacks; i++) {
		if (!address_at(tree, stacks[i], level, &address)) {
			continues = false;
			continue;
		}
		if (!continues || branches[*ret_nr - 1].address != address)
			branches[(*ret_nr)++] = (struct branch){ .stacks = &stacks[i], .address = address };
		continues = true;
		branches[*ret_nr - 1].nr++;
		profile_merge_total(&branches[*ret_nr - 1].total, &stacks[i]->total);
	}
	if (*ret_nr)
		qsort_r(branches, *ret_nr, sizeof(*branches), by_time, tree);
	else
		free(branches);
	return *ret_nr ? branches : NULL;
}

static void print_indent(const struct tree *tree, unsigned int level)
{
	for (unsigned int i = 0; i <= level; i++)
		printf("%*c ", INDENT, i < LEVELS_MAX && tree->lines & (UINT64_C(1) << i) ? '|' : ' ');
}

static void print_numbers(const struct branch *branch, const struct profile_total *all)
{
	const struct profile_total *total = &branch->total;
	const uint64_t part = all->time ? total->time : total->count, whole = all->time ? all->time : all->count;

	printf("  %d%% (%" PRIu64 ")", whole ? (int)((part * 100 + whole / 2) / whole) : 0, total->count);
	if (total->time) {
		printf(" time:%" PRIu64 " max:", total->time);
		profile_print_time(total->max, total->max_ts);
		fputs(" min:", stdout);
		profile_print_time(total->min, total->min_ts);
		printf(" avg:%" PRIu64, total->time / total->count);
	}
	putchar('\n');
}

static void print_branches(struct tree *tree, const struct branch *branches, size_t nr, unsigned int level,
			   unsigned int depth);

/* Print the next functions that all stacks of a branch have in common, then the branches in which they differ. */
static void print_inside(struct tree *tree, const struct branch *branch, unsigned int level, unsigned int depth,
			 char line)
{
	size_t nr;
	struct branch *inner = branches_of(tree, branch->stacks, branch->nr, ++depth, &nr), *next;

	while (inner && nr == 1) {
		print_indent(tree, level);
		printf("%*c    ", INDENT, line);
		profile_print_function(tree->p, inner->address);
		putchar('\n');
		next = branches_of(tree, inner->stacks, inner->nr, ++depth, &nr);
		free(inner);
		inner = next;
	}
	if (inner)
		print_branches(tree, inner, nr, level + 1, depth);
	free(inner);
}

/* `level` is a level of the tree, `depth` a position in the stacks. */
static void print_branches(struct tree *tree, const struct branch *branches, size_t nr, unsigned int level,
			   unsigned int depth)
{
	const uint64_t passes = level + 1 < LEVELS_MAX ? UINT64_C(1) << (level + 1) : 0;
	struct profile_total all = { 0 };

	for (size_t i = 0; i < nr; i++)
		profile_merge_total(&all, &branches[i].total);
	tree->lines |= passes;
	print_indent(tree, level + 1);
	putchar('\n');
	for (size_t i = 0; i < nr; i++) {
		const bool is_last = i + 1 == nr;
		const char line = is_last ? ' ' : '|';

		print_indent(tree, level);
		printf("%*c ", INDENT, '+');
		if (is_last)
			tree->lines &= ~passes;
		profile_print_function(tree->p, branches[i].address);
		putchar('\n');
		print_indent(tree, level);
		printf("%*c ", INDENT, line);
		print_numbers(&branches[i], &all);
		print_inside(tree, &branches[i], level, depth, line);
		print_indent(tree, level + 1);
		putchar('\n');
	}
	tree->lines &= ~passes;
	print_indent(tree, level);
	putchar('\n');
}

bool profile_tree(const struct profile *p, const struct profile_line *line)
{
	struct tree tree = { .p = p,
			     .long_size = tep_get_long_size(p->r->table->tep) == 4 ? 4 : 8,
			     .big = p->r->table->big };
	const struct profile_stack **stacks;
	struct branch *branches;
	size_t nr;

	if (!line->nr_stacks)
		return true;
	stacks = calloc(line->nr_stacks, sizeof(struct profile_stack *));
	if (!stacks)
		return false;
	for (size_t i = 0; i < line->nr_stacks; i++)
		stacks[i] = &line->stacks[i];
	qsort_r(stacks, line->nr_stacks, sizeof(struct profile_stack *), by_addresses, &tree);
	branches = branches_of(&tree, stacks, line->nr_stacks, 0, &nr);
	if (branches)
		print_branches(&tree, branches, nr, 0, 0);
	free(branches);
	free(stacks);
	return !tree.is_short_of_memory;
}
