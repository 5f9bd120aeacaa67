-- SPDX-License-Identifier: MIT
-- Copyright the libsimidx authors
--
-- What changes an index, in one step to all others. doc/redis.md has the layout. KEYS[1] is the
-- header, the others are keys of tables, in the order in which changes need them. ARGV[1] is what is
-- asked, ARGV[2] the generation, ARGV[3] what keys begin with. Numbers of 64 bits are 8 bytes,
-- big-endian, or decimal digits: a number of Lua has 53 bits. Numbers of keys are 3 bytes.

local H, K = KEYS[1], ARGV[3]
local call, sub, find, byte = redis.call, string.sub, string.find, string.byte
local unpack_from = struct.unpack
local MANY = string.rep('\255', 8) -- in the place of an id: the ids are in a set
local ZERO = string.rep('\0', 8)
local ver -- what versions are raised to

if call('HGET', H, 'gen') ~= ARGV[2] and ARGV[1] ~= 'create' then
	return {'moved'}
end

local function number(s)
	return struct.pack('>I8', tonumber(s or '0'))
end

-- Label and time of a record; fingerprint: bytes 2 to 9.
local function parts(r)
	local f, at, time = byte(r, 1), 10, nil
	if not f or f < 2 then
		return ''
	end
	if f % 2 >= 1 then
		at = at + 8
	end
	if f % 16 >= 8 then
		time = struct.unpack('>I4', r, at)
		at = at + 4
	end
	return f % 4 >= 2 and sub(r, at) or '', time
end

-- ---- keys of tables, by their numbers ----

local held = {}   -- what they have; '': nothing
local added = {}  -- rows that were appended to it since
local steps = {}  -- with which step the version began that they had before this call
local before = {} -- that version, of keys for which it is wanted
local raised = {} -- keys whose version this call has raised: what is held has the old one
local n_read = 1

-- Read the keys up to this one, and return their bytes. What has another type looks like nothing
-- there: STRLEN ends the call then.
local function read(last)
	local bytes = 0
	while n_read < last do
		local upto = math.min(last, n_read + 1000)
		local values = call('MGET', unpack(KEYS, n_read + 1, upto))
		for i = 1, upto - n_read do
			local s = values[i]
			if not s then
				call('STRLEN', KEYS[n_read + i])
				s = ''
			end
			held[n_read + i] = s
			steps[n_read + i] = #s < 8 and 0 or unpack_from('>I5', s, 4)
			bytes = bytes + #s
		end
		n_read = upto
	end
	return bytes
end

local function get(k)
	local more = added[k]
	if more then
		held[k] = held[k] .. more
		added[k] = nil
	end
	return held[k]
end

local function set(k, s)
	held[k] = s
	call('SET', KEYS[k], s)
end

-- Where a row begins: rows of 16 bytes follow a version of 8.
local function find_row(s, fp)
	local p = find(s, fp, 9, true)
	while p and (p - 9) % 16 ~= 0 do
		p = find(s, fp, p + 1, true)
	end
	return p
end

-- The id in the row of a fingerprint, and where that begins.
local function row_of(k, fp)
	local s = get(k)
	local p = find_row(s, fp)
	return p and sub(s, p + 8, p + 15), p
end

-- The version of a prefix: what a key begins with, which all changes but appended rows set, and the
-- number of its rows.
local function version_of(k)
	local s, more = held[k], added[k]
	return #s < 8 and ZERO or
		sub(raised[k] or s, 4, 8) .. struct.pack('>I3', (#s - 8 + (more and #more or 0)) / 16)
end

-- The same as it was, while nothing is stored.
local function version_before(k)
	before[k] = before[k] or version_of(k)
	return before[k]
end

local function raise(keys)
	for _, k in ipairs(keys) do
		raised[k] = ver
		call('SETRANGE', KEYS[k], '0', ver)
	end
end

local function append(k, row)
	if held[k] == '' then
		set(k, ver .. row)
	else
		added[k] = added[k] and added[k] .. row or row
		call('APPEND', KEYS[k], row)
	end
end

-- Say in a row that the ids are in a set.
local function say_many(k, p)
	local s = get(k)
	held[k] = sub(s, 1, p + 7) .. MANY .. sub(s, p + 16)
	call('SETRANGE', KEYS[k], p + 7, MANY)
end

-- A fingerprint has one row in each table. The second document with it moves the ids to a set.
local function add_rows(fp, id, keys)
	local had = row_of(keys[1], fp)
	if not had then
		local row = fp .. id
		for t = 1, #keys do
			append(keys[t], row)
		end
		return
	end
	if had ~= MANY then
		call('SADD', K .. 'i:' .. fp, had)
		for _, k in ipairs(keys) do
			local _, p = row_of(k, fp)
			if p then
				say_many(k, p)
			end
		end
	end
	call('SADD', K .. 'i:' .. fp, id)
	raise(keys)
end

-- Remove a row if its id is this one, or MANY.
local function cut_row(k, fp, id)
	local s = get(k)
	local had, p = row_of(k, fp)
	if had ~= id and had ~= MANY then
		return
	end
	if #s == 24 then
		held[k] = ''
		call('DEL', KEYS[k])
	else
		set(k, ver .. sub(s, 9, p - 1) .. sub(s, p + 16))
	end
end

local function remove_rows(fp, id, keys)
	if row_of(keys[1], fp) == MANY then
		call('SREM', K .. 'i:' .. fp, id)
		if call('EXISTS', K .. 'i:' .. fp) == 1 then
			return raise(keys)
		end
	end
	for _, k in ipairs(keys) do
		cut_row(k, fp, id)
	end
end

-- ---- documents ----

-- Remove a record.
local function drop_record(c)
	local k = K .. 'd:' .. c.bucket
	call('HDEL', k, c.field)
	if call('EXISTS', k) == 0 then
		call('ZREM', K .. 'b', c.bucket)
	end
end

-- Store records that were collected: of each bucket the words of HSET.
local function put_records(buckets)
	for bucket, words in pairs(buckets) do
		local k = K .. 'd:' .. bucket
		if call('HSET', k, unpack(words)) == call('HLEN', k) then
			call('ZADD', K .. 'b', '0', bucket)
		end
	end
end

-- ---- changes ----

local FIELDS = 8 -- of a change

local NONE, NUMBERS = {}, nil

-- Keys of the rows of a document: of all tables, or none where it has no record.
local function keys_of(record, s, at, T)
	if record == '' then
		return NONE
	end
	NUMBERS = NUMBERS or '>' .. string.rep('I3', T)
	local keys = {unpack_from(NUMBERS, s, at)}
	keys[T + 1] = nil -- where it ended
	return keys
end

local function read_change(at, T)
	local was, is, keys = ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
	return {
		id = ARGV[at], id8 = ARGV[at + 1], bucket = sub(ARGV[at + 2], 1, 16),
		field = sub(ARGV[at + 2], 17), before = was, after = is,
		from = keys_of(was, keys, 1, T), to = keys_of(is, keys, was ~= '' and 3 * T + 1 or 1, T),
		conditions = ARGV[at + 6], last = tonumber(ARGV[at + 7]),
	}
end

-- Read the records of changes: those with one bucket that follow each other are asked for together.
local function read_records(list)
	local from = 1
	while from <= #list do
		local bucket, fields = list[from].bucket, {}
		while #fields < 64 and list[from + #fields] and list[from + #fields].bucket == bucket do
			fields[#fields + 1] = list[from + #fields].field
		end
		for i, record in ipairs(call('HMGET', K .. 'd:' .. bucket, unpack(fields))) do
			list[from + i - 1].is = record or ''
		end
		from = from + #fields
	end
end

local met = {} -- fingerprints of changes of this call

-- Look for the row of a record. Returns bytes that this change takes: those of one key to append rows,
-- of all keys to change some. A set of ids that is none ends the call here, when nothing is stored.
local function look_at(record, keys, is_new)
	if record == '' then
		return 0
	end
	local fp, bytes = sub(record, 2, 9), #held[keys[1]]
	if met[fp] or row_of(keys[1], fp) then
		call('SCARD', K .. 'i:' .. fp)
		is_new = false
	end
	met[fp] = true
	for t = 2, is_new and 1 or #keys do
		bytes = bytes + #held[keys[t]]
	end
	return bytes
end

local ahead = 0 -- changes whose keys are read with those of another one, where they are small

-- Read what a change needs. Returns bytes that this takes.
local function prepare(list, i)
	local c, bytes, n = list[i], 0, n_read
	if c.last > n then
		bytes = read(list[math.min(i + ahead, #list)].last)
		ahead = bytes < 2048 * (n_read - n) and math.min(2 * ahead + 1, 15) or 0
	end
	return bytes + look_at(c.before, c.from, false) + look_at(c.after, c.to, c.before == '')
end

-- Whether all that a change rests on is as it was. A condition has 11 bytes: the key, or 0 for the
-- whole index, and the version: a step and the number of rows.
local function holds(c, whole)
	if c.is ~= c.before then
		return false
	end
	local conditions = c.conditions
	for at = 1, #conditions, 11 do
		local k, step, n = unpack_from('>I3I5I3', conditions, at)
		if k == 0 then
			if whole ~= sub(conditions, at + 3, at + 10) then
				return false
			end
		elseif step ~= steps[k] or n * 16 ~= #held[k] - (step > 0 and 8 or 0) then
			return false
		end
	end
	return true
end

-- A label is free that another change of the call takes away.
local function refuse_labels(list)
	local by_id, again = {}
	for _, c in ipairs(list) do
		by_id[c.id] = c
	end
	repeat
		again = false
		local taken = {}
		for _, c in ipairs(list) do
			local l = c.new_label
			if not c.refused and l ~= '' and l ~= c.old_label then
				local owner = call('HGET', K .. 'l', l)
				local o = owner and by_id[owner]
				if taken[l] or (owner and owner ~= c.id and
					not (o and not o.refused and o.new_label ~= l)) then
					c.refused = true
					again = true
				end
				taken[l] = true
			end
		end
	until not again
end

-- Keys whose versions the caller wants to know, where this call has changed them.
local function wanted_keys(s, is_whole)
	local keys = {}
	if is_whole then
		for at = 1, #s, 3 do
			keys[#keys + 1] = (unpack_from('>I3', s, at))
		end
	else -- the changes that are left rest on any of them
		for k = 2, n_read do
			keys[#keys + 1] = k
		end
	end
	for _, k in ipairs(keys) do
		version_before(k)
	end
	return keys
end

-- Number, version before and after this call of each of these keys.
local function tell_versions(keys)
	local out = {}
	for _, k in ipairs(keys) do
		out[#out + 1] = struct.pack('>I3', k) .. before[k] .. version_of(k)
	end
	return table.concat(out)
end

local function store(c, buckets)
	local a, b = sub(c.before, 2, 9), sub(c.after, 2, 9)
	if a == b then
		raise(c.to)
	else
		if c.before ~= '' then
			remove_rows(a, c.id8, c.from)
		end
		if c.after ~= '' then
			add_rows(b, c.id8, c.to)
		end
	end
	if c.after == '' then
		drop_record(c)
	else
		local words = buckets[c.bucket] or {}
		words[#words + 1] = c.field
		words[#words + 1] = c.after
		buckets[c.bucket] = words
	end
	if c.new_label ~= '' and c.new_label ~= c.old_label then
		call('HSET', K .. 'l', c.new_label, c.id)
	end
	if c.new_time and c.new_time ~= c.old_time then
		call('ZADD', K .. 't', c.new_time, c.id)
	elseif c.old_time and not c.new_time then
		call('ZREM', K .. 't', c.id)
	end
end

-- ARGV: 4 writer, 5 its number, 6 the next one, 7 resumed or '', 8 whether the mark is stored, 9 mark,
-- 10 tables, 11 keys whose versions are wanted, 12 changes, 13... their fields.
local function write()
	local T, n, budget = tonumber(ARGV[10]), tonumber(ARGV[12]), 2000000
	if call('GET', K .. 'w:' .. ARGV[4]) ~= ARGV[5] then
		return {'stale'}
	end
	if ARGV[7] ~= '' and (call('HGET', H, 'resumed') or '0') ~= ARGV[7] then
		return {'resumed'}
	end
	local whole = number(call('HGET', H, 'version'))
	local given, list, refused, buckets = {}, {}, {}, {}
	local has_labels = false
	-- Keys of other types, and counts that are no numbers, end it before anything is stored.
	call('ZCARD', K .. 'b')
	call('ZCARD', K .. 't')
	call('HLEN', K .. 'l')
	call('HINCRBY', H, 'documents', 0)
	call('HINCRBY', H, 'labels', 0)
	for i = 1, n do
		given[i] = read_change(13 + FIELDS * (i - 1), T)
	end
	read_records(given)
	for i = 1, n do
		local c = given[i]
		budget = budget - prepare(given, i)
		if budget < 0 and i > 1 then
			break
		end
		c.old_label, c.old_time = parts(c.before)
		c.new_label, c.new_time = parts(c.after)
		has_labels = has_labels or c.new_label ~= ''
		c.refused = not holds(c, whole)
		list[i] = c
	end
	if has_labels then
		refuse_labels(list)
	end
	local wanted = wanted_keys(ARGV[11], #list == n)
	ver = number(call('HINCRBY', H, 'version', 1))
	local documents, labels = 0, 0
	for i, c in ipairs(list) do
		refused[i] = c.refused and '1' or '0'
		-- Of a damaged index the list may have another document's id.
		if not c.refused and c.old_label ~= '' and c.old_label ~= c.new_label
				and call('HGET', K .. 'l', c.old_label) == c.id then
			call('HDEL', K .. 'l', c.old_label)
		end
	end
	for _, c in ipairs(list) do
		if not c.refused then
			store(c, buckets)
			documents = documents + (c.after ~= '' and 1 or 0) - (c.before ~= '' and 1 or 0)
			labels = labels + (c.new_label ~= '' and 1 or 0) - (c.old_label ~= '' and 1 or 0)
		end
	end
	put_records(buckets)
	call('HINCRBY', H, 'documents', documents)
	call('HINCRBY', H, 'labels', labels)
	refused = table.concat(refused)
	if ARGV[8] == '1' and #list == n and not find(refused, '1', 1, true) then
		call('HSET', H, 'mark', ARGV[9])
	end
	call('SET', K .. 'w:' .. ARGV[4], ARGV[6], 'EX', 86400)
	return {'ok', refused, whole, ver, tell_versions(wanted)}
end

-- ---- ids, making an index ----

-- Whether one string of digits is less than another.
local function less(a, b)
	return #a < #b or (#a == #b and a < b)
end

-- ARGV: 4 how many, 5 the least.
local function reserve()
	local next = call('HGET', H, 'next') or '0'
	if less(next, ARGV[5]) then
		next = ARGV[5]
		call('HSET', H, 'next', next)
	end
	if ARGV[4] ~= '0' then
		call('HINCRBY', H, 'next', ARGV[4])
	end
	return {'ok', next}
end

-- ARGV: 4 'absent' or 'any': what may be there, 5 tables, 6 description.
local function create()
	local gen = call('HGET', H, 'gen')
	if gen and (ARGV[4] == 'absent' or gen == ARGV[2]) then
		return {'exists', gen}
	elseif not gen and call('EXISTS', H) == 1 then
		return {'foreign'}
	end
	call('DEL', H)
	call('HSET', H, 'simidx', '1', 'gen', ARGV[2], 'tables', ARGV[5], 'description', ARGV[6],
		'documents', '0', 'labels', '0', 'next', '0', 'version', '0', 'resumed', '0')
	return {'ok', gen or ''}
end

-- ---- checking ----

-- What is wrong with the rows of a document: '' or a letter.
local function rows_wrong(c, fp)
	for _, k in ipairs(c.to) do
		local had = row_of(k, fp)
		if not had then
			return 'r'
		elseif had == MANY and call('SISMEMBER', K .. 'i:' .. fp, c.id8) == 0 then
			return 'r'
		elseif had ~= MANY and had ~= c.id8 then
			return 'r'
		end
	end
	return ''
end

-- Versions of what is mended, once a call.
local function raise_version()
	ver = ver or number(call('HINCRBY', H, 'version', 1))
end

-- Give a document its rows, whose ids are in a set from then on.
local function mend_rows(c, fp)
	raise_version()
	call('SADD', K .. 'i:' .. fp, c.id8)
	for _, k in ipairs(c.to) do
		local had, p = row_of(k, fp)
		if not had then
			append(k, fp .. MANY)
		elseif had ~= MANY then
			call('SADD', K .. 'i:' .. fp, had)
			say_many(k, p)
		end
	end
	raise(c.to)
end

-- ARGV: 4 whether to mend, 5 tables, 6 documents, 7... their fields, as of changes. Tells of each:
-- letters of what is wrong, and a comma.
local function check()
	local mend, T, out = ARGV[4] == '1', tonumber(ARGV[5]), {}
	for i = 1, tonumber(ARGV[6]) do
		local c, wrong = read_change(7 + FIELDS * (i - 1), T), ''
		read(c.last)
		c.new_label, c.new_time = parts(c.after)
		if call('HGET', K .. 'd:' .. c.bucket, c.field) == c.after then
			local fp = sub(c.after, 2, 9)
			wrong = rows_wrong(c, fp)
			if wrong ~= '' and mend then
				mend_rows(c, fp)
			end
			local owner = c.new_label ~= '' and call('HGET', K .. 'l', c.new_label)
			if c.new_label ~= '' and not owner then
				wrong = wrong .. 'l'
				if mend then
					call('HSET', K .. 'l', c.new_label, c.id)
				end
			elseif owner and owner ~= c.id then
				wrong = wrong .. 'L'
			end
			if c.new_time and tonumber(call('ZSCORE', K .. 't', c.id) or '') ~= c.new_time then
				wrong = wrong .. 't'
				if mend then
					call('ZADD', K .. 't', c.new_time, c.id)
				end
			end
		end
		out[i] = wrong
	end
	return {'ok', table.concat(out, ','), ver and '1' or '0'}
end

-- Whether something is left over, while its document is as it was seen; removed if that is to be mended.
-- ARGV: 4 kind, 5 key or label, 6 fingerprint, 7 whether to mend, 8... the fields of a change. A row
-- is in KEYS[2].
local function drop()
	local kind, what, fp, c = ARGV[4], ARGV[5], ARGV[6], read_change(8, 0)
	local is = (call('HGET', K .. 'd:' .. c.bucket, c.field) or '') == c.before
	if kind == 'row' then
		read(2)
		is = is and row_of(2, fp) == c.id8
	elseif kind == 'id' then
		is = is and call('SISMEMBER', K .. 'i:' .. fp, c.id8) == 1
	elseif kind == 'label' then
		is = is and call('HGET', K .. 'l', what) == c.id
	elseif kind == 'time' then
		is = is and call('ZSCORE', K .. 't', c.id)
	elseif kind == 'bucket' then
		is = call('EXISTS', K .. 'd:' .. what) == 1 and not call('ZSCORE', K .. 'b', what)
	end
	if not is or ARGV[7] == '0' then
		return {'ok', is and '1' or '0', '0'}
	end
	raise_version()
	if kind == 'row' then
		cut_row(2, fp, c.id8)
	elseif kind == 'id' then
		call('SREM', K .. 'i:' .. fp, c.id8)
	elseif kind == 'label' then
		call('HDEL', K .. 'l', what)
	elseif kind == 'time' then
		call('ZREM', K .. 't', c.id)
	elseif kind == 'bucket' then
		call('ZADD', K .. 'b', 0, what)
	elseif kind == 'document' then
		drop_record(c)
	else
		call('DEL', what)
	end
	return {'ok', '1', '1'}
end

-- ARGV: 4 the version that was counted at, 5 documents, 6 labels.
local function set_counts()
	if call('HGET', H, 'version') == ARGV[4] then
		call('HSET', H, 'documents', ARGV[5], 'labels', ARGV[6])
		return {'ok', '1'}
	end
	return {'ok', '0'}
end

local asked = {
	write = write, reserve = reserve, create = create, check = check, drop = drop,
	counts = set_counts,
	begin = function()
		return {'ok', call('HGET', H, 'resumed') or '0'}
	end,
	resume = function()
		return {'ok', tostring(call('HINCRBY', H, 'resumed', 1))}
	end,
}
return asked[ARGV[1]]()
