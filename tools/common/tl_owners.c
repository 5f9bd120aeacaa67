/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_owners.h"

#include "common/tl_example.h"
#include "common/tl_msg.h"

#include <stdio.h>
#include <string.h>

/*
 * Who has which options, what else stands in a line with them, and an example of their values. An
 * option of several stands where it is looked for most.
 */
static const struct {
	const char *who, *does, *others, *options;
} owners[] = {
	{ "simidx-query search", "finds what is near", "INDEX FILE", "text" },
	{ "simidx-query search", "finds what is near", "--text INDEX FILE",
	  "nearest=10 radius=3 accept=100 limit=10 explain first count exists newer-than=30d" },
	{ "simidx-query clusters", "prints groups of documents", "INDEX",
	  "link=single max-size=100 order" },
	{ "simidx-query delete", "deletes documents", "INDEX", "older-than=30d" },
	{ "simidx-query stats", "tells what is in an index", "INDEX",
	  "color=never static check block-index=never kernel=auto" },
	{ "simidx-load", "stores rows in an index", "--mode if-new INDEX INPUT", "emit=new" },
	{ "simidx-load", "stores rows in an index", "NEW", "from=INDEX" },
	{ "simidx-load", "stores rows in an index", "INDEX INPUT",
	  "mode=if-new create=must max-errors=10 times time=date on-duplicate=first commit=10000 "
	  "merge=never durability=normal wait=1000 force write=insert plan=3x22 expect=10M "
	  "layout=rows fill=90 ids=none fp2 no-fp2 permissions=640 extractor=words1 grams=2 "
	  "stop=en words=FILE stem=english weights=log top=20 seed=1 min-tokens=5 short=reject" },
	{ "simidx-dedup", "compares files and rows", "--stream --index INDEX INPUT",
	  "remember=text" },
	{ "simidx-dedup", "compares files and rows", "--stream INPUT",
	  "output=FILE output-dir=DIR dups=FILE index=INDEX" },
	{ "simidx-dedup", "compares files and rows", "-r DIR",
	  "recursive hidden exclude=PATTERN max-bytes=1M binary list-binary=FILE" },
	{ "simidx-dedup", "compares files and rows", "INPUT",
	  "similarity=0.9 stream against=INDEX keep=newest prefer=DIR pairs drop-list "
	  "evidence=FILE max-group=100 identical no-verify spill=1G rejects=FILE summary=FILE" },
};

/* The word of a list that is an option of this name, with its example; NULL = none. */
static const char *find_option(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; *list; list += strcspn(list, " "), list += *list == ' ')
		if (strncmp(list, word, n) == 0 && strchr("= ", list[n]))
			return list;
	return NULL;
}

int tl_owners_refuse(const char *word, const char *spelled)
{
	static char line[160];
	const char *option, *value;

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		option = find_option(owners[i].options, word);
		if (!option)
			continue;
		value = option[strlen(word)] == '=' ? option + strlen(word) + 1 : "";
		snprintf(line, sizeof(line), "%s --%s%s%.*s %s", owners[i].who, word,
			 *value ? " " : "", (int)strcspn(value, " "), value, owners[i].others);
		tl_example_is(line);
		return tl_usage_error("unknown option '%s'; it is an option of %s, which %s",
				      spelled, owners[i].who, owners[i].does);
	}
	return 0;
}
