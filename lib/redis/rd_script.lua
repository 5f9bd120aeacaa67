-- SPDX-License-Identifier: MIT
-- Copyright the libsimidx authors
--
-- What changes an index, in one step to all others. doc/redis.md has the layout. KEYS[1] is the
-- header, ARGV[1] what is asked, ARGV[2] the generation, ARGV[3] what keys begin with. Numbers of
-- 64 bits are 8 bytes, big-endian, or decimal digits: a number of Lua has 53 bits.

local H, K = KEYS[1], ARGV[3]
local call, sub, find, byte = redis.call, string.sub, string.find, string.byte
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

local TABLE = {}
for t = 0, 31 do
	TABLE[t] = K .. t .. ':'
end

local function table_key(prefixes, t)
	return TABLE[t] .. sub(prefixes, 8 * t + 1, 8 * t + 8)
end

-- Where a row begins: rows of 16 bytes follow a version of 8.
local function find_row(s, fp)
	local p = 8
	repeat
		p = find(s, fp, p + 1, true)
	until not p or (p - 9) % 16 == 0
	return p
end

-- The version of a prefix: what a key begins with, which all changes but appended rows set, and the
-- number of its rows.
local function version_of(s)
	return s == '' and ZERO or sub(s, 4, 8) .. struct.pack('>I3', (#s - 8) / 16)
end

local function raise(prefixes, T)
	for t = 0, T - 1 do
		call('SETRANGE', table_key(prefixes, t), '0', ver)
	end
end

local function append(k, row)
	if call('APPEND', k, row) == 16 then
		call('SET', k, ver .. row)
	end
end

-- A fingerprint has one row in each table. The second document with it moves the ids to a set.
local function add_rows(fp, id, prefixes, T)
	local s = call('GET', table_key(prefixes, 0)) or ''
	local p = find_row(s, fp)
	if not p then
		for t = 0, T - 1 do
			append(table_key(prefixes, t), fp .. id)
		end
		return
	end
	local had = sub(s, p + 8, p + 15)
	if had ~= MANY then
		call('SADD', K .. 'i:' .. fp, had)
		for t = 0, T - 1 do
			local k = table_key(prefixes, t)
			local q = find_row(call('GET', k) or '', fp)
			if q then
				call('SETRANGE', k, q + 7, MANY)
			end
		end
	end
	call('SADD', K .. 'i:' .. fp, id)
	raise(prefixes, T)
end

-- Remove a row if its id is this one, or MANY.
local function cut_row(k, fp, id)
	local s = call('GET', k) or ''
	local p = find_row(s, fp)
	local had = p and sub(s, p + 8, p + 15)
	if had ~= id and had ~= MANY then
		return
	end
	if #s == 24 then
		call('DEL', k)
	else
		call('SET', k, ver .. sub(s, 9, p - 1) .. sub(s, p + 16))
	end
end

local function remove_rows(fp, id, prefixes, T)
	local s = call('GET', table_key(prefixes, 0)) or ''
	local p = find_row(s, fp)
	local had = p and sub(s, p + 8, p + 15)
	if had == MANY then
		call('SREM', K .. 'i:' .. fp, id)
		if call('EXISTS', K .. 'i:' .. fp) == 1 then
			return raise(prefixes, T)
		end
	end
	for t = 0, T - 1 do
		cut_row(table_key(prefixes, t), fp, id)
	end
end

-- Store a record, or remove it ('').
local function set_document(c, record)
	local k = K .. 'd:' .. c.bucket
	if record ~= '' then
		if call('HSET', k, c.field, record) == 1 and call('HLEN', k) == 1 then
			call('ZADD', K .. 'b', '0', c.bucket)
		end
	else
		call('HDEL', k, c.field)
		if call('EXISTS', k) == 0 then
			call('ZREM', K .. 'b', c.bucket)
		end
	end
end

-- ---- changes ----

local FIELDS = 8 -- of a change

local function read_change(at)
	return {
		id = ARGV[at], id8 = ARGV[at + 1], bucket = sub(ARGV[at + 2], 1, 16),
		field = sub(ARGV[at + 2], 17), before = ARGV[at + 3], after = ARGV[at + 4],
		from = ARGV[at + 5], to = ARGV[at + 6], conditions = ARGV[at + 7],
	}
end

-- Whether all that a change rests on is as it was. A condition has 18 bytes: table (2), prefix (8)
-- and version. seen: bytes of the keys that were read.
local function holds(c, whole, seen)
	if (call('HGET', K .. 'd:' .. c.bucket, c.field) or '') ~= c.before then
		return false
	end
	for at = 1, #c.conditions, 18 do
		local t, is = sub(c.conditions, at, at + 1), whole
		if t ~= '--' then
			local k = TABLE[tonumber(t)] .. sub(c.conditions, at + 2, at + 9)
			local s = call('GET', k) or ''
			seen[k] = #s
			is = version_of(s)
		end
		if is ~= sub(c.conditions, at + 10, at + 17) then
			return false
		end
	end
	return true
end

-- Bytes that a change may read. Keys of another type end the call here, when nothing is stored.
local function weigh(c, T, seen)
	local n = 0
	for _, r in ipairs({c.before, c.after}) do
		if r ~= '' then
			call('SCARD', K .. 'i:' .. sub(r, 2, 9))
		end
	end
	for t = 0, T - 1 do
		local a, b = c.from ~= '' and table_key(c.from, t), c.to ~= '' and table_key(c.to, t)
		if a and not seen[a] then
			seen[a] = call('STRLEN', a)
		end
		if b and not seen[b] then
			seen[b] = call('STRLEN', b)
		end
	end
	for _, bytes in pairs(seen) do
		n = n + bytes
	end
	return n
end

-- A label is free that another change of the call takes away.
local function refuse_labels(list, by_id)
	local again
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

-- Note the versions of the prefixes of a change, before it is stored.
local function note_old(c, T, old)
	for _, prefixes in ipairs({c.from, c.to}) do
		for t = 0, (prefixes ~= '' and T or 0) - 1 do
			local name = string.format('%02d', t) .. sub(prefixes, 8 * t + 1, 8 * t + 8)
			old[name] = old[name] or version_of(call('GET', table_key(prefixes, t)) or '')
		end
	end
end

-- Table, prefix, version before and after this call, of each prefix that was noted.
local function tell_versions(old)
	local out = {}
	for name, v in pairs(old) do
		local k = K .. tonumber(sub(name, 1, 2)) .. ':' .. sub(name, 3)
		out[#out + 1] = name .. v .. version_of(call('GET', k) or '')
	end
	return table.concat(out)
end

local function store(c, T)
	local a, b = sub(c.before, 2, 9), sub(c.after, 2, 9)
	if a == b then
		raise(c.to, T)
	else
		if c.before ~= '' then
			remove_rows(a, c.id8, c.from, T)
		end
		if c.after ~= '' then
			add_rows(b, c.id8, c.to, T)
		end
	end
	set_document(c, c.after)
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
-- 10 tables, 11 whether old versions are wanted, 12 changes, 13... their fields.
local function write()
	local T, n, budget = tonumber(ARGV[10]), tonumber(ARGV[12]), 2000000
	if call('GET', K .. 'w:' .. ARGV[4]) ~= ARGV[5] then
		return {'stale'}
	end
	if ARGV[7] ~= '' and (call('HGET', H, 'resumed') or '0') ~= ARGV[7] then
		return {'resumed'}
	end
	local whole = number(call('HGET', H, 'version'))
	local list, by_id, refused, old = {}, {}, {}, {}
	-- Keys of other types, and counts that are no numbers, end it before anything is stored.
	call('ZCARD', K .. 'b')
	call('ZCARD', K .. 't')
	call('HLEN', K .. 'l')
	call('HINCRBY', H, 'documents', 0)
	call('HINCRBY', H, 'labels', 0)
	for i = 1, n do
		local c = read_change(13 + FIELDS * (i - 1))
		c.old_label, c.old_time = parts(c.before)
		c.new_label, c.new_time = parts(c.after)
		local seen = {}
		local is_right = holds(c, whole, seen)
		budget = budget - weigh(c, T, seen)
		if budget < 0 and i > 1 then
			break
		end
		c.refused = not is_right
		list[i] = c
		by_id[c.id] = c
	end
	refuse_labels(list, by_id)
	ver = number(call('HINCRBY', H, 'version', 1))
	local documents, labels = 0, 0
	for i, c in ipairs(list) do
		refused[i] = c.refused and '1' or '0'
		if not c.refused and c.old_label ~= '' and c.old_label ~= c.new_label then
			call('HDEL', K .. 'l', c.old_label)
		end
	end
	for _, c in ipairs(list) do
		if not c.refused then
			if ARGV[11] == '1' or #list < n then
				note_old(c, T, old)
			end
			store(c, T)
			documents = documents + (c.after ~= '' and 1 or 0) - (c.before ~= '' and 1 or 0)
			labels = labels + (c.new_label ~= '' and 1 or 0) - (c.old_label ~= '' and 1 or 0)
		end
	end
	call('HINCRBY', H, 'documents', documents)
	call('HINCRBY', H, 'labels', labels)
	refused = table.concat(refused)
	if ARGV[8] == '1' and #list == n and not find(refused, '1', 1, true) then
		call('HSET', H, 'mark', ARGV[9])
	end
	call('SET', K .. 'w:' .. ARGV[4], ARGV[6], 'EX', 86400)
	return {'ok', refused, whole, ver, tell_versions(old)}
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

local function row_of(k, fp)
	local s = call('GET', k) or ''
	local p = find_row(s, fp)
	return p and sub(s, p + 8, p + 15), p
end

-- What is wrong with the rows of a document: '' or a letter.
local function rows_wrong(c, fp, T)
	for t = 0, T - 1 do
		local had = row_of(table_key(c.to, t), fp)
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
local function mend_rows(c, fp, T)
	raise_version()
	call('SADD', K .. 'i:' .. fp, c.id8)
	for t = 0, T - 1 do
		local k = table_key(c.to, t)
		local had, p = row_of(k, fp)
		if not had then
			append(k, fp .. MANY)
		elseif had ~= MANY then
			call('SADD', K .. 'i:' .. fp, had)
			call('SETRANGE', k, p + 7, MANY)
		end
	end
	raise(c.to, T)
end

-- ARGV: 4 whether to mend, 5 tables, 6 documents, 7... their fields, as of changes. Tells of each:
-- letters of what is wrong, and a comma.
local function check()
	local mend, T, out = ARGV[4] == '1', tonumber(ARGV[5]), {}
	for i = 1, tonumber(ARGV[6]) do
		local c, wrong = read_change(7 + FIELDS * (i - 1)), ''
		c.new_label, c.new_time = parts(c.after)
		if call('HGET', K .. 'd:' .. c.bucket, c.field) == c.after then
			local fp = sub(c.after, 2, 9)
			wrong = rows_wrong(c, fp, T)
			if wrong ~= '' and mend then
				mend_rows(c, fp, T)
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
-- ARGV: 4 kind, 5 key or label, 6 fingerprint, 7 whether to mend, 8... the fields of a change.
local function drop()
	local kind, what, fp, c = ARGV[4], ARGV[5], ARGV[6], read_change(8)
	local is = (call('HGET', K .. 'd:' .. c.bucket, c.field) or '') == c.before
	if kind == 'row' then
		is = is and row_of(what, fp) == c.id8
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
		cut_row(what, fp, c.id8)
	elseif kind == 'id' then
		call('SREM', K .. 'i:' .. fp, c.id8)
	elseif kind == 'label' then
		call('HDEL', K .. 'l', what)
	elseif kind == 'time' then
		call('ZREM', K .. 't', c.id)
	elseif kind == 'bucket' then
		call('ZADD', K .. 'b', 0, what)
	elseif kind == 'document' then
		set_document(c, '')
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
