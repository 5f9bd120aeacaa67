/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Words that carry little meaning of their own. A change here changes fingerprints: it needs
 * another version of the profile.
 */

#include "text/sx_text_lists.h"

const char sx_stop_en[] =
	"a about after all also an and any are as at be been before being but by can could did "
	"do does for from had has have he her here him his how i if in into is it its just may "
	"me more most my no nor not of on one only or other our out over shall she should so "
	"some such than that the their them then there these they this those through to under "
	"until up upon us very was we were what when where which while who whom whose why will "
	"with would you your "
	"aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't it's shouldn't "
	"wasn't weren't won't wouldn't";

const char sx_stop_zh[] =
	"的 了 着 过 地 得 之 们 是 在 有 和 与 及 或 而 且 但 并 也 都 又 还 就 才 再 很 更 最 不 没 没有 "
	"我 你 他 她 它 我们 你们 他们 她们 它们 自己 这 那 这个 那个 这些 那些 这样 那样 此 其 某 每 各 "
	"一 一个 一些 一种 上 下 中 里 内 外 前 后 从 自 到 对 对于 关于 由 由于 被 把 将 向 往 为 为了 因 "
	"因为 所以 因此 如果 虽然 但是 而且 并且 或者 以及 以 于 用 给 让 使 可以 能 会 要 应 应该 等 等等 "
	"吗 呢 吧 啊 呀 什么 怎么 谁 哪 几 多 些 个 种 次 则 即 若 却 只 仅 所 者";
