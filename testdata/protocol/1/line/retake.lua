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
local function slot_state(name)
local value = try('HGET', slots, name)
if type(value) ~= 'string' then value = '' end
if string.find(value, '^closed %d+ %S') then return value, true, '-', '' end
local begun, failed = string.match(value, '^open %d+ (%S+)(.*)$')
return value, false, begun or '-', failed or ''
end
local function slot_refused()
local v = slot ~= '' and try('HGET', slots, slot)
return type(v) == 'table' and v or nil
end
local function unfit_slots()
local fault = slot_refused()
if fault then return wrong(6, fault) or call('HGET', slots, slot) end
if slot ~= '' then call('HLEN', slots) end
end
local function tried(run_host, how, status, more) return string.format(' %s/%s/%s/%.0f%s', run_host, how, status, now, more or '') end
local function and_failed(failed, try_of)
if string.find(failed, string.sub(try_of, 1, 2 + 26), 1, true) then return failed end
return failed .. try_of
end
local function and_vanished(failed, begun)
return begun == '-' and failed or and_failed(failed, tried(begun, 'vanished', '-'))
end
local function open_slot(begun, failed) return string.format('open %.0f %s%s', now, begun, failed) end
local function slot_finished(name, tries, holder)
local value, closed, begun, failed = slot_state(name)
if closed then return 6, value end
if string.sub(begun, 1, 26) ~= holder then
failed = and_vanished(failed, begun)
value = open_slot('-', failed)
end
local _, n = string.gsub(failed, ' ', '')
if n >= tonumber(tries) then return 7, value end
end
local function forget_slots()
local n = try('HLEN', slots)
if type(n) ~= 'number' or n <= 16 or n > 1000 then return end
local all, oldest, least = try('HGETALL', slots), nil, math.huge
for i = 1, #all, 2 do
local touched = tonumber(string.match(all[i + 1], '^%a+ (%d+) ')) or 0
if touched < least then oldest, least = all[i], touched end
end
if oldest then try('HDEL', slots, oldest) end
end
local function put_slot(name, value)
local reply = try('HSET', slots, name, value)
if type(reply) == 'table' then return reply end
try('PEXPIRE', slots, 1296000000)
forget_slots()
end
local function begin_slot(name, host)
local _, closed, begun, failed = slot_state(name)
if closed or string.sub(begun, 1, 26) == id then return end
return put_slot(name, open_slot(id .. '/' .. host, and_vanished(failed, begun)))
end
local function end_slot(name, host, how, status, lost)
local _, closed, begun, failed = slot_state(name)
local mine = string.sub(begun, 1, 26) == id
if closed or how == '' and not mine then return end
local try_of = tried(id .. '/' .. host, how, status, lost == '1' and '/lost' or '')
if how == 'ok' then return put_slot(name, string.format('closed %.0f%s', now, try_of)) end
if how ~= '' then failed = and_failed(failed, try_of) end
return put_slot(name, open_slot(mine and '-' or begun, failed))
end
local refused = history == 0
local function note(...)
if refused then return end
local reply = try(...)
if type(reply) ~= 'table' or not reply.err then return reply end
refused = true
end
local function enter(list, entry)
note('LTRIM', list, history > 1 and 0 or 1, math.max(history - 2, 0))
note('LPUSH', list, entry)
note('PEXPIRE', list, 7776000000)
end
local function enter_run(entry, how)
enter(runs, entry)
if how ~= 'ok' then enter(bad, entry) end
end
local function ended_run(open, how, status, more)
local run, fence, asked, at = string.match(open, '^(.*) (%d+) (%d+) (%d+)$')
if not run then run, fence, asked, at = string.match(open, '^%S*') .. ' - - 0 - - 0', 0, 0, 0 end
local waited = tonumber(asked) > 0 and math.max(at - asked, 0) or 0
return string.format('%s %.0f %.0f %s %.0f %s %s%s', run, fence - at, waited, at, math.max(now - at, 0), how, status, more)
end
local function record_end(open, how, status, more)
local entry = ended_run(open, how, status, more)
note('HSET', job, 'open', '', 'last', entry)
enter_run(entry, how)
note('HINCRBY', job, 'count:' .. how, 1)
return entry
end
local day = 86400000
local function vanished(open)
if not open or #open >= 4096 or string.match(open, '^%w+') == id then return end
return string.match(open, '^%w+ %S+ %S+ %S+ %S+ %S+ %d+ %d+ %d+ %d+$')
end
local function list(name, due)
if not due then
if note('ZADD', jobs, 'NX', now, name) == 1 then note('PEXPIRE', jobs, 7776000000) end
return
end
note('ZADD', jobs, now, name)
note('PEXPIRE', jobs, 7776000000)
note('HSET', job, 'listed', math.floor(now / day))
note('ZREMRANGEBYSCORE', jobs, '-inf', now - 7776000000)
end
local function limit_fields(before, number, since)
local limit = string.format('%s %.0f', max_age, number)
if max_age == '0' or string.find(before or '', '^[1-9]') then return 'max_age', limit end
return 'max_age', limit, 'max_age_since', string.format('%.0f', since)
end
local function open_run(run, fence, asked, at, name)
local known = note('HMGET', job, 'open', 'listed', 'max_age')
if not known then return 0 end
local open = known[1] or ''
local before = vanished(open)
if before then record_end(before, 'vanished', '-', '') end
if string.match(open, '^%S+') ~= id then
local entry = string.format('%s %s 0 %.0f %.0f %.0f', id, run, fence, asked, at)
if max_age == '' then note('HSET', job, 'open', entry)
else note('HSET', job, 'open', entry, limit_fields(known[3], fence, at)) end
note('PEXPIRE', job, 7776000000)
end
local due = tonumber(known[2]) ~= math.floor(now / day)
if jobs then list(name, due) end
if jobs or refused then return 0 end
return due and 1 or 2
end
local function taken(code, value)
local number, at = string.match(value, '"fence":(%d+),"at":(%d+)}$')
return {code, tonumber(number), tonumber(at), now, 0, mark_of(value) == 'stop' and 1 or 0}
end
local function begin(code, value)
local fault = slot ~= '' and begin_slot(slot, host)
if fault then
call('DEL', lock)
return wrong(6, fault) or call('HSET', slots, slot, '')
end
local reply = taken(code, value)
reply[5] = open_run(words, reply[2], asked, reply[3], name)
return reply
end
local function confirm(value, ttl)
call('PEXPIRE', lock, ttl)
return begin(2, value)
end
local function is_pause(value) return string.sub(value, 1, 10) == '{"pause":"' end
local function is_wish(value)
return string.find(value, '^{"pause":"' .. string.rep('%w', 26) .. '","v":%d+,.*}$') ~= nil
end
local function activate_pause()
local wanted, fault = text(4)
if fault or wanted == '' then return nil, nil, fault end
if not is_wish(wanted) then return nil, nil, {-1, 4, 'string'} end
local left = call('PTTL', paused)
prove_writes()
set_lock(wanted, left)
return wanted, left
end
local ttl, record, number, ignores_pauses = ARGV[8], ARGV[9], tonumber(ARGV[10]), ARGV[11] == '1'
local function by_pause(held)
if is_pause(held) then return true end
local pause, _, fault = activate_pause()
return pause ~= nil, fault
end
local held, fault = text(1)
if held and mine(held) then return confirm(held, ttl) end
prove_writes()
if not held then return {0} end
if call('PTTL', tombstone) ~= -2 then return {4} end
local left = call('PTTL', lock)
if left ~= -2 and not is_pause(held) then return {0} end
local last = last_fence()
if not last or last < number then return {3} end
if last > number then return {0} end
if not ignores_pauses then
local paused_now
paused_now, fault = by_pause(held)
if fault then return fault end
if paused_now then return {5} end
end
call('SET', lock, record, 'PX', ttl)
return begin(2, record)
