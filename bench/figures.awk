# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The table of figures.sh: figures.goals, then the lines of all runs. A figure is the median of
# the runs; beside it the least and the greatest of all rounds of all runs where a program tells
# them, else of the runs.

function member(name,    at) {
	at = index($0, "\"" name "\":")
	if (!at)
		return ""
	at = substr($0, at + length(name) + 3)
	if (!sub(/^"/, "", at))
		sub(/[,}].*/, "", at)
	sub(/".*/, "", at)
	return at == "null" ? "" : at
}

function trim(text) {
	sub(/^ +/, "", text)
	sub(/ +$/, "", text)
	return text
}

function power(n,    p) {
	for (p = 0; n >= 10 && n % 10 == 0; p++)
		n /= 10
	return n == 1 ? "10^" p : n "*10^" p
}

# Put a number among sorted ones.
function insert(list, n, value) {
	for (; n > 1 && list[n - 1] > value; n--)
		list[n] = list[n - 1]
	list[n] = value
}

function median(list, n) {
	return (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2
}

function add(time, value, low, high) {
	insert(times, ++n_values, time + 0)
	insert(values, n_values, value + 0)
	if (n_values == 1 || low < least)
		least = low
	if (n_values == 1 || high > greatest)
		greatest = high
}

# The figure of one run, if it is there.
function take(f, n, r,    what, of, who, work, here, base, time) {
	who = contestant[f]
	sub(/AUTO/, auto[n], who)
	work = part[f] "," n "," r "," set_of[f] "," class[f] ","
	here = work works[f] "," who
	if (!(here in us))
		return
	split(what_of[f], what, ":")
	base = "uniform," n "," r ",uniform,all,single," who
	if (what[1] ~ /^over_/) {
		if (ratio[here, what[1]] != "")
			add(us[here], ratio[here, what[1]], ratio[here, what[1] "_min"],
			    ratio[here, what[1] "_max"])
		return
	}
	if (what[1] == "than")
		of = us[work works[f] "," what[2]]
	else if (what[1] == "than-work")
		of = us[work what[2] "," who]
	else if (what[1] == "us/uniform")
		of = us[base]
	else if (what[1] == "p99/uniform")
		of = p99[base]
	else if (what[1] == "ns/id")
		of = matches[here] / 1000
	else if (what[1] == "ms")
		of = 1000
	time = what[1] == "p99/uniform" ? p99[here] : us[here]
	if (of > 0)
		add(time, time / of, time / of, time / of)
}

function print_figure(f, n,    r, goal, figure) {
	n_values = 0
	for (r = 1; r <= runs[n]; r++)
		take(f, n, r)
	goal = goals[f, n] == "" ? "-" : goals[f, n]
	printf "%-34s %7s ", name[f], power(n)
	if (!n_values) {
		printf "%9s %7s %9s %19s  skipped\n", "-", goal, "-", ""
		return
	}
	figure = median(values, n_values)
	printf "%9.2f %7s %9.3f %9.3f..%-8.3f  %s\n", median(times, n_values), goal, figure, least,
		greatest, goal == "-" ? "" : figure <= goal + 0 ? "met" : "MISSED"
}

FNR == NR {
	if (/^#/)
		next
	split($0, column, "|")
	f = ++n_figures
	name[f] = trim(column[1])
	part[f] = trim(column[2])
	set_of[f] = trim(column[3])
	class[f] = trim(column[4])
	works[f] = trim(column[5])
	contestant[f] = trim(column[6])
	what_of[f] = trim(column[7])
	for (i = 8; i <= 10; i++)
		goals[f, 10 ^ (i - 2)] = trim(column[i])
	next
}

/"figures":/ {
	in_part = member("part")
	n = member("documents")
	if (!(n in runs))
		size[++n_sizes] = n
	runs[n] += 0
	if (/"figures":"run"/) {
		run = member("run")
		seconds[n] += member("seconds")
		if (run > runs[n])
			runs[n] = run
	} else if (/"figures":"auto"/)
		auto[n] = member("plan")
	else
		skipped[++n_skipped] = power(n) " " in_part ": " member("reason")
	next
}

member("cpu") != "" {
	machine = member("cpu") ", " member("compiler") ", " member("library")
}

member("contestant") != "" && member("us") != "" {
	key = in_part "," n "," run "," member("set") "," member("class") "," member("work") "," \
		member("contestant")
	us[key] = member("us")
	p99[key] = member("p99_us")
	matches[key] = member("matches")
	split("over_arrays,over_mih,over_base", kinds, ",")
	for (k = 1; k <= 3; k++) {
		ratio[key, kinds[k]] = member(kinds[k])
		ratio[key, kinds[k] "_min"] = member(kinds[k] "_min")
		ratio[key, kinds[k] "_max"] = member(kinds[k] "_max")
	}
}

END {
	printf "%s\n", machine
	for (i = 1; i <= n_sizes; i++)
		printf "%s documents: %d runs, %d s\n", power(size[i]), runs[size[i]],
			seconds[size[i]]
	printf "\n%-34s %7s %9s %7s %9s %19s\n", "figure", "size", "us", "goal", "median",
		"least..greatest"
	for (f = 1; f <= n_figures; f++)
		for (i = 1; i <= n_sizes; i++)
			print_figure(f, size[i])
	for (i = 1; i <= n_skipped; i++)
		print "skipped: " skipped[i]
}
