/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_crash.h"

#include "common/tl_msg.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A handler can make no message, so it is made before. */
static char message[20000];

/* The signal has its usual effect again, and comes once more. */
static void tell(int number)
{
	ssize_t written = write(STDERR_FILENO, message, strlen(message));

	(void)written;
	raise(number);
}

void tl_crash_names(const char *word)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGABRT };
	struct sigaction action;
	int is_first = !*message;

	snprintf(message, sizeof(message),
		 "%s: ended while an index was open, which may be damaged: 'simidx-query verify "
		 "%s' tells, and --untrusted reads such an index\n",
		 tl_program(), word);
	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_handler = tell;
	action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
	for (size_t i = 0; is_first && i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}
