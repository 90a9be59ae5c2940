/* SPDX-License-Identifier: MIT */
/*
 * A program of three parts: event_main OBJECT... loads shared objects, has each of them write, unloads it, and does it
 * once more. Without arguments it uses the parts it was linked with. Prints "same id" if all parts have one event.
 */
#include <stdio.h>

#ifdef LOADS
#include <dlfcn.h>

int main(int argc, char **argv)
{
	unsigned int id, first = 0;

	for (int round = 0; round < 2; round++) {
		for (int i = 1; i + 1 < argc; i += 2) {
			void *object = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
			void *function = object ? dlsym(object, argv[i + 1]) : NULL;

			if (!function) {
				fprintf(stderr, "%s: %s\n", argv[i], dlerror());
				return 1;
			}
			id = ((unsigned int (*)(void))function)();
			first = first ? first : id;
			if (!id || id != first)
				return 1;
			dlclose(object);
		}
	}
	puts("same id");
	return 0;
}
#else
unsigned int part_a(void);
unsigned int part_b(void);
unsigned int part_c(void);

int main(void)
{
	const unsigned int a = part_a(), b = part_b(), c = part_c();

	if (!a || a != b || b != c)
		return 1;
	puts("same id");
	return 0;
}
#endif
