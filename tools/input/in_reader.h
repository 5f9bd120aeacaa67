/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows of one input at a time, in one of the formats. A format is a function that delivers the
 * next row, and what it has to remember between two rows; everything else is common.
 */

#ifndef IN_READER_H
#define IN_READER_H

#include <simidx_sketch.h>

#include "common/tl_report.h"
#include "input/in_causes.h"
#include "input/in_columns.h"
#include "input/in_lines.h"
#include "input/in_room.h"

struct in_reader;

/** A file format. */
struct in_format {
	const char *name;    /* as given to --format */
	unsigned takes;      /* IN_TAKES_ flags: which options of struct in_columns */
	int is_whole;        /* a file is one row */
	int is_binary;       /* its rows are no lines */
	/** Deliver the next row into `row`, which is empty; NULL when this build cannot. */
	enum in_result (*next)(struct in_reader *reader, struct in_row *row);
	/**
	 * Learn from the beginning of an input what its rows need to be read, such as the names of
	 * columns; next() does it if nobody has. NULL = there is nothing to learn.
	 *
	 * @return IN_ROW; IN_END: there is nothing; IN_FATAL with a reason
	 */
	enum in_result (*begin)(struct in_reader *reader);
	const struct in_syntax *syntax; /* of a table (in_table.h) */
	size_t state_size;   /* of reader->state; all zero when an input begins; 0 = has none */
	/** Free what the state holds, but not the state itself; NULL = holds nothing. */
	void (*close)(void *state);
};

/** The formats, and the functions behind them. */
extern const struct in_format in_format_text;
extern const struct in_format in_format_lines;
extern const struct in_format in_format_tsv;
extern const struct in_format in_format_csv;
extern const struct in_format in_format_jsonl;
extern const struct in_format in_format_bin;
extern const struct in_format in_format_npy;
extern const struct in_format in_format_dump;
extern const struct in_format in_format_features;
extern const struct in_format in_format_ids;
extern const struct in_format in_format_labels;
extern const struct in_format in_format_full;

/** Reads one input after another, keeping its buffers. */
struct in_reader {
	const struct in_format *format;
	const struct in_columns *columns; /* how rows are written; borrowed */
	const char *path;          /* borrowed; "-" for standard input */
	unsigned bits;             /* of fingerprints */
	uint64_t line;             /* of the last row, or its number where there are no lines;
				    * 0 when the row is the whole file */
	uint64_t bytes;            /* of the inputs before this one */
	uint64_t row;              /* number of the row that is being read, from 1 */
	uint64_t row_begins;       /* byte of the (decompressed) input at which it begins */
	char reason[1024];         /* after IN_FATAL, IN_REJECTED, IN_SKIPPED */
	struct in_causes causes;   /* of IN_REJECTED, in all inputs */
	struct in_lines lines;
	void *state;               /* what the format remembers of this input; or NULL */
	int packs_stay;            /* set it, and a file that is one text is never unpacked */
	int names_tell;            /* set it where nobody has asked for a format: a pipe, whose
				    * name tells none, is not taken as a text if it has rows */
	int keeps_lines;           /* set it, and the line of each row is kept as it came */
	struct in_room kept;       /* it, its end included: the first `kept_size` bytes */
	size_t kept_size;          /* 0 = the row has no line */
	struct in_room head;       /* with keeps_lines: the line of --header, too */
	size_t head_size;          /* 0 = there is none, or it is not yet read */
	int takes_weights;         /* set it, and in jsonl "weights" and "weights2" are read */
};

/**
 * An empty reader for fingerprints of `bits` bits, with the default columns; others may be set
 * then.
 */
void in_reader_init(struct in_reader *reader, unsigned bits);

/**
 * Have a function called whenever reading is about to wait for more input: the time to do what
 * was put off.
 *
 * @param idle  gets the descriptor that is read; anything but 0 ends the input as its end does
 * @param ctx   passed through
 */
void in_reader_when_idle(struct in_reader *reader, int (*idle)(void *ctx, int fd), void *ctx);

/** Free what a reader holds. */
void in_reader_free(struct in_reader *reader);

/**
 * Begin with an input, ending the one before.
 *
 * @param path    stays the caller's until the next call
 * @param format  its format
 * @param is_stdin  read standard input; path is only its name
 * @return IN_ROW; with a reason IN_REJECTED when it cannot be opened, IN_SKIPPED for a directory,
 *         IN_FATAL when memory is short
 */
enum in_result in_reader_open(struct in_reader *reader, const char *path,
			      const struct in_format *format, int is_stdin);

/** After a file could not be opened, by errno: what may help, or "". */
const char *in_advise_open(const char *path);

/**
 * Begin with a part of a file that is one or more whole rows, ending the input before. Of the rest
 * of the file only the header is looked at, if it has one.
 *
 * @param path    as in_reader_open(); only its name
 * @param fd      stays the caller's and where it is; not compressed
 * @param offset, size  in bytes; as row_begins and in_reader_row_size() told
 * @return IN_ROW; with a reason IN_REJECTED when the file cannot be read or ends before, IN_FATAL
 *         when memory is short
 */
enum in_result in_reader_open_part(struct in_reader *reader, const char *path,
				   const struct in_format *format, int fd, uint64_t offset,
				   size_t size);

/**
 * Pass over the first rows of an input whose rows are lines, after in_reader_open(). A file that
 * is not compressed is sought in; of others the bytes are read.
 *
 * @param offset  where the last of these rows ends: in_lines_offset()
 * @param line    how many lines they have: lines.line
 * @return IN_ROW; IN_FATAL with a reason, also if there are no such rows
 */
enum in_result in_reader_pass(struct in_reader *reader, uint64_t offset, uint64_t line);

/** The next row. */
enum in_result in_reader_next(struct in_reader *reader, struct in_row *row);

/** Bytes that the last row takes in the (decompressed) input, its line end included. */
uint64_t in_reader_row_size(const struct in_reader *reader);

/** Bytes read of all inputs so far, as they are stored: compressed or not. */
uint64_t in_reader_bytes(const struct in_reader *reader);

/** Write "FILE:LINE", or "FILE" where the line is 0, cut to `size` bytes. */
void in_write_place(const char *path, uint64_t line, char *out, size_t size);

/** Where the last row came from, as in_write_place() writes it; valid until the next call. */
const char *in_reader_place(const struct in_reader *reader);

/** Set the reason. Returns `result`, so that it can end a function. */
enum in_result in_fail(struct in_reader *reader, enum in_result result,
		       const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Add advice, "; ...", to the reason. */
void in_advise(struct in_reader *reader, const char *advice);

/**
 * The same as in_fail() for a row, line or text that is longer than `max`, or than there is memory
 * for.
 */
enum in_result in_fail_long(struct in_reader *reader, const char *what, size_t max);

/** The same where memory is short, which ends the input and all others. Returns IN_FATAL. */
enum in_result in_lack_memory(struct in_reader *reader);

/**
 * Whether this is why a function has returned IN_FATAL: to go on with other inputs would be in
 * vain.
 */
int in_reader_lacks_memory(const struct in_reader *reader);

/** Count why the row is going to be rejected. Returns whether it is the first one. */
int in_count_cause(struct in_reader *reader, enum in_cause cause);

/** For the line formats: the next line, its number and the reason if it is none. */
enum in_result in_next_line(struct in_reader *reader, const char **line, size_t *size);

/**
 * For the formats that join lines: keep what the buffer has from `line` up to where it goes on, if
 * lines are to be kept.
 *
 * @return IN_ROW; IN_FATAL with a reason
 */
enum in_result in_keep_line(struct in_reader *reader, const char *line);

/** For the formats with a header: the line that was kept last is that. */
void in_keep_head(struct in_reader *reader);

/**
 * For the binary formats: the next `n` bytes, one row; its number is counted in `line`.
 *
 * @return IN_ROW; IN_END; IN_FATAL with a reason, also when the input ends inside the row
 */
enum in_result in_next_bytes(struct in_reader *reader, size_t n, const unsigned char **bytes);

/** A little-endian number of so many bytes, at most 8. */
uint64_t in_little_endian(const void *bytes, size_t n);

/**
 * A fingerprint as the options say that it is written.
 *
 * @param what  its name for the message
 * @param bits  of it
 * @return IN_ROW; IN_REJECTED with a reason
 */
enum in_result in_fingerprint(struct in_reader *reader, const char *s, size_t n,
			      const char *what, unsigned bits, uint64_t *out);

/**
 * The time of a row: seconds since 1970 or RFC 3339; an empty one is not known.
 *
 * @param what  its name for the message
 * @return IN_ROW; IN_REJECTED with a reason
 */
enum in_result in_time(struct in_reader *reader, const char *s, size_t n, const char *what,
		       struct in_row *row);

/** Store a fingerprint that came as a number. Returns as in_fingerprint(). */
enum in_result in_number(struct in_reader *reader, uint64_t fp, struct in_row *row);

/** The same for two's complement: negative if the highest bit of the fingerprint is set. */
enum in_result in_signed_number(struct in_reader *reader, uint64_t number, struct in_row *row);

/**
 * The fingerprint of a row.
 *
 * @param text   needed for IN_TEXT rows
 * @param flags  SIMIDX_SKETCH_FP2 when a second one is wanted of texts and features
 * @param out    fp, fp2 and flags are set; a finished fingerprint is only copied
 * @return 0 or a SIMIDX_E_ code
 */
int in_sketch_row(const struct in_row *row, unsigned bits, simidx_text *text,
		  unsigned flags, simidx_sketch *out, simidx_error *err);

/** The format of an option whose words are the next ones, counted from 1; 0 = NULL. */
const struct in_format *in_format_at(int word);

/** The names of the formats that have documents, ending with NULL; and with those that only
 * simidx-load reads after them: ids, labels and full. */
extern const char *const in_format_names[];
extern const char *const in_format_load_names[];

/**
 * The format that a file name stands for. An ending of compression is left out of it.
 *
 * @param reason  set when the name is that of a format that cannot be read, else to NULL; NULL is
 *                allowed
 * @return a format (text for names that say nothing), or NULL with a reason
 */
const struct in_format *in_format_of_path(const char *path, const char **reason);

/** Whether a path, without an ending of compression, ends in one of a list, such as ".zip .tar". */
int in_path_ends_in(const char *path, const char *list);

/** Which option of `columns` makes no sense for a format, and why, or NULL. */
const char *in_format_misfit(const struct in_format *format, const struct in_columns *columns);

/** Whether rows of a format, written so, may have texts. */
int in_format_may_have_texts(const struct in_format *format, const struct in_columns *columns);

/** What to say when this build cannot read a format, or NULL. */
const char *in_format_missing(const struct in_format *format);

/** Why a file that was taken for one text, as its name says nothing else, may be none. */
enum in_doubt {
	IN_NO_DOUBT,
	IN_NAMED_JSON,      /* its name ends in .json */
	IN_NAMED_ROWS,      /* its name is one of rows, such as .jsonl, but it was found */
	IN_LISTS_FPS,       /* its first lines are fingerprints */
	IN_IS_FP,           /* of a row: its text is a fingerprint */
	IN_N_DOUBTS
};

/**
 * Look at the name and the first lines of a text.
 *
 * @param bits  of fingerprints
 */
enum in_doubt in_doubt_text(const char *path, const struct in_row *row, unsigned bits);

/**
 * The same of what was read.
 *
 * @param is_asked  somebody has said what format it is
 */
enum in_doubt in_doubt(const struct in_reader *reader, const struct in_row *row, int is_asked);

/** Tell what is worth a word of these, with the number and the first place of each; and free it. */
void in_doubts_tell(struct tl_remark doubts[IN_N_DOUBTS]);

#endif /* IN_READER_H */
