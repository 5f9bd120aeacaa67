/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Members of JSON objects by their names, also of objects in them.
 */

#ifndef IN_MEMBER_H
#define IN_MEMBER_H

#ifdef HAVE_JSON

#include <jansson.h>

#include "input/in_causes.h"
#include "input/in_room.h"

/**
 * The member of an object that has this name. If there is none, and the name has points, the one
 * that the part behind a point names in the object that the part before it names.
 *
 * @param name, size  of the name; before a point at most 255 bytes
 * @return borrowed; NULL: there is none
 */
const json_t *in_member(const json_t *object, const char *name, size_t size);

/** What in_member_text() found. */
enum in_found_text {
	IN_TEXT_FOUND,
	IN_TEXT_MISSING,     /* there is no such member; of several, none */
	IN_TEXT_NO_STRING,   /* it is something else; of several, one is, and not null */
	IN_TEXT_NO_MEMORY
};

/**
 * The text in a member, or in several whose names are separated by commas: these are joined with
 * line ends between, and what is missing or null is empty if another one is there. A member with
 * all of the list as its name comes first.
 *
 * @param list  a name or several
 * @param room  where they are joined
 * @param text, size  set to the text; borrowed from the object or the room
 */
enum in_found_text in_member_text(const json_t *object, const char *list, struct in_room *room,
				  const char **text, size_t *size);

/**
 * Note which of the members that options name an object has. One text alone that is missing is a
 * reason to reject the row, and told as such.
 */
void in_member_see(struct in_causes *causes, const struct in_columns *columns,
		   const json_t *object);

/**
 * Keep the names of all members that are strings, as --text-field takes them, and that of the
 * longest one; "" = there is none, or its name is too long. Once.
 */
void in_member_strings(const json_t *object, struct in_causes *causes);

#endif

#endif /* IN_MEMBER_H */
