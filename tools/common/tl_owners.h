/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Options that another program or command of ours has.
 */

#ifndef TL_OWNERS_H
#define TL_OWNERS_H

/**
 * Refuse a long option that another program or command has, and show a line with it.
 *
 * @param word     its name without dashes
 * @param spelled  as it was given
 * @return 0 if none has it, or TL_TROUBLE with a message
 */
int tl_owners_refuse(const char *word, const char *spelled);

#endif /* TL_OWNERS_H */
