/* SPDX-License-Identifier: MIT */
/*
 * The quickest way to record something: rec_printf, like trace_printk in the kernel. Nothing is declared, and nothing
 * is formatted while the program runs: a record holds the arguments, and becomes text when it is read.
 *
 *	recorder record ./03_printf
 *	recorder report
 */
#include <librecorder/event.h>

static unsigned int gcd(unsigned int a, unsigned int b)
{
	rec_printf("a=%u b=%u", a, b);
	return b ? gcd(b, a % b) : a;
}

int main(void)
{
	unsigned int result = gcd(1071, 462);

	rec_printf("the %s is %u", "greatest common divisor", result);
	return result == 21 ? 0 : 1;
}
