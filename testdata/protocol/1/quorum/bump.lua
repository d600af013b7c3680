local function run_of(record) return string.match(record, '^{"run":"(%w+)",') or '' end
local function term_of(record) return string.match(record, '^{"run":"%w+","vote":"(%x+%.%x+)%.%d+",') or '' end
local function split(record)
local head, suffix = string.match(record, '^({"run":"%w+",)(.*)$')
if not head then return '', record end
local vote = string.match(suffix, '^"vote":"[%x.]+",') or ''
return head .. vote, string.sub(suffix, #vote + 1)
end
local function mark_of(record)
local _, suffix = split(record)
return string.match(suffix, '^"(%w+)":') or ''
end
local function with_mark(record, mark)
local head, suffix = split(record)
return head .. mark .. suffix
end
local call, try = redis.call, redis.pcall
local lock, fence, tombstone, paused, resumed, slots, job, runs, bad, queue, waiters = unpack(KEYS)
local id, words, slot, name = ARGV[1], ARGV[3], ARGV[5], ARGV[6]
local history, max_age = string.match(ARGV[2], '^(%d+) ?(%d*)$')
history = tonumber(history)
local jobs = ARGV[7] ~= '' and ARGV[7] or nil
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local asked, host = tonumber(ARGV[4]), string.match(words, '^%S+')
if asked <= 0 then asked = now + asked end
local function mine(record) return run_of(record) == id and mark_of(record) ~= 'ended' end
local function wrong(n, fault)
if not string.find(fault.err, 'WRONGTYPE', 1, true) then return end
return {-1, n, try('TYPE', KEYS[n]).ok or ''}
end
local function text(n, last)
local value = try('GETRANGE', KEYS[n], 0, last or 1023)
if type(value) == 'string' then return value end
return nil, wrong(n, value) or call('GETRANGE', KEYS[n], 0, 0)
end
local function prove_writes() call('PEXPIRE', tombstone, 60000) end
local function prove_release()
prove_writes()
call('DEL', tombstone)
end
local function prove_grant()
call('SET', tombstone, '', 'XX', 'PX', 60000)
prove_release()
end
local function last_fence()
local counter, fault = text(2, 32)
if fault then return nil, fault end
if counter == '' and call('PTTL', fence) == -2 then return 0 end
if string.match(counter, '^%d+$') then counter = counter .. ' p0' end
local last, floor = string.match(counter, '^(%d+) p(%d+)$')
if not last or #counter > 32 or #floor > 9 then return nil, {-2} end
if tonumber(floor) > 1 then return nil, {-3, tonumber(floor)} end
if tonumber(last) >= 2 ^ 53 then return nil, {-2} end
return tonumber(last)
end
local function next_fence(clock)
local last, fault = last_fence()
if fault then return nil, fault end
local number = math.max(last + 1, clock)
if number >= 2 ^ 53 then return nil, {-2} end
return number
end
local function set_fence(number) call('SET', fence, string.format('%.0f', number), 'PX', 7776000000) end
local function set_lock(value, left)
if left == -1 then return call('SET', lock, value) end
call('SET', lock, value, 'PX', math.max(left, 1))
end
local term = ARGV[8]
local function ownership()
local held, fault = text(1)
if fault then return nil, fault end
if held == '' and call('PTTL', lock) == -2 then return 4, held end
local other = term_of(held)
if not mine(held) or other == '' then return 5, held end
if other == term then return 1, held end
return other < term and 2 or 3, held
end
local function revoked()
local last = try('GETRANGE', tombstone, 0, 16)
return type(last) == 'string' and last >= term, last == ''
end
local function take(record, ttl, held, older)
local _, marks = split(older or '')
local stop = string.match(marks, '^"stop":"%w+",') or ''
local vote = string.format('"vote":"%s.%s",', term, ARGV[9])
record = string.sub(with_mark(record, vote .. stop), 1, -2)
set_lock(record .. string.format(',"at":%.0f}', now - held), tonumber(ttl))
end
local owner, held = ownership()
if not owner then return held end
if owner ~= 1 then return {0} end
local last, fault = last_fence()
if fault then return fault end
if last < tonumber(ARGV[10]) then set_fence(tonumber(ARGV[10])) end
return {1}
