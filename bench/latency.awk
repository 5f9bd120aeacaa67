# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Draws the mean time of a single query by the number of documents, both axes logarithmic, a line
# for each contestant; of runs of the same size the last one counts:
#   awk -f bench/svg.awk -f bench/latency.awk OUTPUT-OF-BN_SEARCH... >latency.svg

function log10(x) { return log(x) / log(10) }
function x_of(documents) { return 60 + (log10(documents) - x_low) * x_step }
function y_of(us) { return 30 + (y_high - log10(us)) * y_step }

# "1 us" and so on, of a power of ten.
function time_of(power) {
	if (power < 3)
		return 10 ^ power " µs"
	return 10 ^ (power - 3) " ms"
}

function axes(    i) {
	for (i = y_low; i <= y_high; i++) {
		printf "<path stroke=\"#ddd\" d=\"M60 %.1fH%.1f\"/>\n", y_of(10 ^ i), right
		text(55, y_of(10 ^ i) + 4, "end", time_of(i))
	}
	for (i = x_low; i <= x_high; i++) {
		printf "<path stroke=\"#999\" d=\"M%.1f %.1fv4\"/>\n", x_of(10 ^ i), y_of(10 ^ y_low)
		text(x_of(10 ^ i), y_of(10 ^ y_low) + 17, "middle",
			"10<tspan font-size=\"8\" dy=\"-4\">" i "</tspan>")
	}
	text(x_of(10 ^ ((x_low + x_high) / 2)), y_of(10 ^ y_low) + 34, "middle",
		"documents, 64-bit fingerprints; all within 3 bits")
	text(60, 18, "start", "one query")
}

# By ascending number of documents.
function line(who, i,    n, sizes, j, k, tmp, points) {
	n = split(sizes_of[who], sizes, " ")
	for (j = 2; j <= n; j++)
		for (k = j; k > 1 && sizes[k] + 0 < sizes[k - 1] + 0; k--) {
			tmp = sizes[k]
			sizes[k] = sizes[k - 1]
			sizes[k - 1] = tmp
		}
	for (j = 1; j <= n; j++) {
		points = points sprintf("%.1f,%.1f ", x_of(sizes[j]), y_of(us[who, sizes[j]]))
		printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", x_of(sizes[j]),
			y_of(us[who, sizes[j]]), colour(i)
	}
	printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" points=\"%s\"/>\n",
		colour(i), who ~ /^simidx/ ? "2.5" : "1.2", points
	end_x[i] = x_of(sizes[n])
	end_y[i] = y_of(us[who, sizes[n]])
}

# Names at the ends of the lines, the higher one first, none over another.
function names(n,    i, j, lowest, done, y) {
	lowest = -100
	for (i = 1; i <= n; i++) {
		j = next_name(n, done)
		done[j] = 1
		y = end_y[j] + 4 > lowest + 14 ? end_y[j] + 4 : lowest + 14
		printf "<g fill=\"%s\"%s>", colour(j),
			contestants[j] ~ /^simidx/ ? " font-weight=\"bold\"" : ""
		text(end_x[j] + 8, y, "start", contestants[j])
		print "</g>"
		if (end_x[j] > right - 100)
			lowest = y
	}
}

function next_name(n, done,    i, best) {
	for (i = 1; i <= n; i++)
		if (!(i in done) && (!best || end_y[i] < end_y[best]))
			best = i
	return best
}

value("work") == "single" && value("class") == "all" && value("set") == "uniform" &&
value("us") > 0 {
	who = value("contestant")
	sub(/@.*/, "", who)
	documents = value("documents") + 0
	time = value("us") + 0
	if (!(who in sizes_of))
		contestants[++n] = who
	if (!((who, documents) in us))
		sizes_of[who] = sizes_of[who] " " documents
	us[who, documents] = time
	if (!least || documents < least)
		least = documents
	if (documents > most)
		most = documents
	if (!quickest || time < quickest)
		quickest = time
	if (time > slowest)
		slowest = time
}

function floor_of(x) { return x < int(x) ? int(x) - 1 : int(x) }
function ceiling_of(x) { return -floor_of(-x) }

END {
	if (!n)
		exit 1
	x_low = floor_of(log10(least) + 1e-9)
	x_high = ceiling_of(log10(most) - 1e-9)
	y_low = floor_of(log10(quickest))
	y_high = ceiling_of(log10(slowest))
	if (x_high == x_low)
		x_high++
	if (y_high == y_low)
		y_high++
	right = 620
	x_step = (right - 60) / (x_high - x_low)
	y_step = 60
	begin(right + 100, 30 + y_step * (y_high - y_low) + 45)
	axes()
	for (i = 1; i <= n; i++)
		line(contestants[i], i)
	names(n)
	print "</svg>"
}
