# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Draws F1 by radius or threshold, a panel for each extractor and rule, a line for each set:
#   awk -f bench/svg.awk -f bench/quality/plot.awk OUTPUT-OF-BN_QUALITY >f1.svg

function x_of(limit) { return left + 50 + limit / most[p] * (width - 70) }
function y_of(f1) { return top + 220 - f1 * 200 }

function line(panel, set, stroke,    i, n, part, limit, at, tmp, points) {
	n = split(limits[panel, set], limit, " ")
	for (i = 2; i <= n; i++)
		for (at = i; at > 1 && limit[at] + 0 < limit[at - 1] + 0; at--) {
			tmp = limit[at]
			limit[at] = limit[at - 1]
			limit[at - 1] = tmp
		}
	for (i = 1; i <= n; i++)
		points = points sprintf("%.1f,%.1f ", x_of(limit[i]),
			y_of(f1[panel, set, limit[i]]))
	printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"%s\"/>\n",
		stroke, points
}

# The first of 1, 2, 5, 10 and so on that makes no more than six steps.
function step_for(most,    step) {
	for (step = 1; most / step > 6; step *= index(step, "2") == 1 ? 2.5 : 2)
		;
	return step
}

function axes(    i) {
	text(left + 50 + (width - 70) / 2, top + 12, "middle", panel[p])
	for (i = 0; i <= 5; i++) {
		printf "<path stroke=\"#ddd\" d=\"M%.1f %.1fH%.1f\"/>\n", x_of(0), y_of(i / 5),
			x_of(most[p])
		text(x_of(0) - 5, y_of(i / 5) + 4, "end", sprintf("%.1f", i / 5))
	}
	for (i = 0; i <= most[p]; i += step_for(most[p])) {
		printf "<path stroke=\"#999\" d=\"M%.1f %.1fv4\"/>\n", x_of(i), y_of(0)
		text(x_of(i), y_of(0) + 15, "middle", i)
	}
	text(x_of(most[p] / 2), y_of(0) + 30, "middle", meaning[p])
	printf "<text transform=\"translate(%.1f %.1f) rotate(-90)\"", left + 16, y_of(0.5)
	print " text-anchor=\"middle\">F1</text>"
}

value("seed") == "mean" && value("f1") != "" {
	name = value("extractor") ", " value("rule")
	set = value("set")
	limit = value("limit") + 0
	if (!(name in number)) {
		panel[++panels] = name
		number[name] = panels
		meaning[panels] = "weighted distance, at most"
		if (value("rule") == "k")
			meaning[panels] = "radius k, bits"
	}
	if (!(set in seen)) {
		seen[set] = 1
		sets[++n_sets] = set
	}
	p = number[name]
	limits[p, set] = limits[p, set] " " limit
	f1[p, set, limit] = value("f1")
	if (limit > most[p])
		most[p] = limit
}

END {
	width = 380
	height = 280 * int((panels + 1) / 2) + 20 + 16 * int((n_sets + 3) / 4)
	begin(2 * width, height)
	for (p = 1; p <= panels; p++) {
		left = (p - 1) % 2 * width
		top = 280 * int((p - 1) / 2)
		axes()
		for (s = 1; s <= n_sets; s++)
			if ((p, sets[s]) in limits)
				line(p, sets[s], colour(s))
	}
	for (s = 1; s <= n_sets; s++) {
		top = height - 16 * int((n_sets + 3) / 4) + 16 * int((s - 1) / 4)
		left = 50 + (s - 1) % 4 * 170
		printf "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"3\" fill=\"%s\"/>\n",
			left, top - 4, colour(s)
		text(left + 18, top, "start", sets[s])
	}
	print "</svg>"
}
