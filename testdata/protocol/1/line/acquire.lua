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
local function publish(run, message)
local n = try('PUBLISH', lock .. ':' .. run, message)
return type(n) == 'number' and n or -1
end
local strays
local function tell(run, message)
local n = publish(run, message)
if n <= 0 then return n end
strays = strays or math.max(publish('', 'p'), 0)
return math.max(n - strays, 0)
end
local function waiter(run)
local ms, callable, slot, tries, record = string.match(call('HGET', waiters, run) or '', '^(%d+) ([01]) (%S+) (%d+) (.*)$')
return tonumber(ms) or 0, callable == '1', record, slot, tries
end
local function first() return call('ZRANGE', queue, 0, 0)[1] end
local function unfit(waits)
local front = try('ZRANGE', queue, 0, 0)
local fault = front.err and wrong(10, front)
if fault then return fault end
if not waits and not first() then return end
local entry = try('HGET', waiters, id)
return type(entry) == 'table' and (wrong(11, entry) or call('HGET', waiters, id)) or nil
end
local latest, since
local function gap()
local a, b = string.match(call('HGET', waiters, 'looks') or '', '^(%d+) (%d+)$')
latest, since = tonumber(a) or now, tonumber(b) or 0
if now - latest > 12000 and since <= latest then since = now end
end
local function remember_looks()
call('HSET', waiters, 'looks', string.format('%.0f %.0f', latest, since))
call('PEXPIRE', waiters, 3600000)
end
local function note_look()
gap()
latest = now
remember_looks()
end
local function announce(ms, record)
ms = math.min(ms, tonumber(string.match(record or '', '"ttl":(%d+)')) or ms)
for place, run in ipairs(call('ZRANGE', queue, 0, 2)) do publish(run, string.format('n %d %d', ms, place)) end
end
local function drop(run)
call('ZREM', queue, run)
call('HDEL', waiters, run)
if not first() then call('DEL', waiters) end
end
local function leave(run)
local place, left = call('ZRANK', queue, run), call('PTTL', lock)
drop(run)
if place and place < 3 and left > 0 then announce(left, text(1)) end
end
local function grant(number, record, ms)
local granted = string.sub(record, 1, -2) .. string.format(',"fence":%.0f,"at":%.0f}', number, now)
set_fence(number)
call('SET', lock, granted, 'PX', ms)
return granted
end
local function kept(run, seen, callable, excused)
if now - math.max(seen, since) > 12000 then return end
local n = tell(run, 'g')
if n > 0 or not callable or excused then return 2000 end
if n < 0 then return 6000 end
end
local function rouse()
for _, run in ipairs(call('ZRANGE', queue, 0, 99)) do
if tell(run, 'g') ~= 0 then return end
end
end
local function pause_lock()
local pause, left, fault = activate_pause()
if pause and left ~= -1 then announce(left) end
return pause and true or fault
end
local judged = {}
local function finished_message(slot, tries)
if not slot or slot == '-' then return end
local key = slot .. ' ' .. tries
if judged[key] == nil then
local name = string.gsub(slot, '%%(%x%x)', function(hex) return string.char(tonumber(hex, 16)) end)
local code, value = slot_finished(name, tries, '')
judged[key] = code and (code == 6 and 'd ' or 't ') .. value or false
end
return judged[key]
end
local most_dismissed = 250
local function dismiss_front()
local front = call('ZRANGE', queue, 0, most_dismissed - 1)
local entries, out, messages = call('HMGET', waiters, unpack(front)), {}, {}
for i, run in ipairs(front) do
local message = finished_message(string.match(entries[i] or '', '^%d+ [01] (%S+) (%d+) '))
if not message then break end
out[i], messages[i] = run, message
end
call('ZREM', queue, unpack(out))
call('HDEL', waiters, unpack(out))
if not first() then call('DEL', waiters) end
for i, run in ipairs(out) do publish(run, messages[i]) end
return #out == most_dismissed
end
local function advance(caller, wholly)
local paused_now = pause_lock()
if paused_now then return paused_now ~= true and rouse() or nil end
gap()
local back = since > 0 and now - since <= 2000
local excused = back and (latest >= since or caller and call('ZRANK', queue, caller))
local number, run = next_fence(now), first()
if not number then return rouse() end
while run do
local seen, callable, record, slot, tries = waiter(run)
local ms
if run ~= caller and finished_message(slot, tries) then
if dismiss_front() and first() and not wholly then return rouse() end
else
drop(run)
ms = record and (run == caller and 2000 or kept(run, seen, callable, excused))
if ms then
if run == caller then latest = now end
grant(number, record, ms)
announce(ms, record)
end
end
run = not ms and first()
end
if first() then remember_looks() end
end
local record, ttl, mode, most, tries = ARGV[8], ARGV[9], ARGV[10], tonumber(ARGV[11]), ARGV[12]
local waits, ignores_pauses = mode ~= 'once', ARGV[13] == '1'
local function give(number)
prove_grant()
if waits then return taken(1, grant(number, record, 2000)) end
return begin(1, grant(number, record, ttl))
end
local function take()
local number, fault = next_fence(now)
if fault then return fault end
if ignores_pauses then
if call('PTTL', paused) ~= -2 then
if waits and call('ZRANK', queue, id) then
drop(id)
if first() then note_look() end
end
return give(number)
end
else
local paused_now = pause_lock()
if paused_now then return paused_now ~= true and paused_now or nil end
end
if first() then
prove_release()
advance(id, true)
local value = text(1)
if value ~= '' then return mine(value) and taken(1, value) or nil end
end
return give(number)
end
local function here(run, connections)
if connections and connections > 0 then return true end
local seen, callable = waiter(run)
return not (connections and callable) and now - math.max(seen, since) <= 12000
end
local function present()
local runs, n = call('ZRANGE', queue, 0, -1), 0
gap()
for from = 1, #runs, 1000 do
local channels = {}
for i = from, math.min(from + 999, #runs) do channels[#channels + 1] = lock .. ':' .. runs[i] end
local counts = try('PUBSUB', 'NUMSUB', unpack(channels))
for i = 1, #channels do
if here(runs[from + i - 1], counts[2 * i]) then n = n + 1 end
if n >= most then return n end
end
end
return n
end
local function clear()
local rank = call('ZRANK', queue, id)
while rank > 0 do
local run = call('ZRANGE', queue, rank - 1, rank - 1)[1]
if now - waiter(run) <= 3600000 then break end
drop(run)
rank = rank - 1
end
return rank + 1
end
local function join()
local last = call('ZRANGE', queue, -1, -1, 'WITHSCORES')
call('ZADD', queue, (tonumber(last[2]) or 0) + 1, id)
end
local function look(left, held, joined)
call('PEXPIRE', queue, 3600000)
local place, listeners = clear(), mode == 'wait' and tell(id, 'p') or 0
call('HSET', waiters, id, string.format('%.0f %d %s %s %s', now, listeners > 0 and 1 or 0, string.match(words, '%S+$'), tries, record))
note_look()
return {0, left, held, place, listeners, joined, now}
end
local function wait(left, held)
if call('ZRANK', queue, id) then return look(left, held, 0) end
if most > 0 and call('ZCARD', queue) >= most and present() >= most then return {3, left, held, now} end
join()
return look(left, held, 1)
end
local function dismiss(free, held)
local code, value = slot_finished(slot, tries, run_of(held))
if not code then return end
if waits and call('ZRANK', queue, id) then
leave(id)
if first() then note_look() end
if free then advance() end
end
return {code, value}
end
local held, fault = '', nil
local left = call('PTTL', lock)
if left ~= -2 then
held, fault = text(1)
if fault then return fault end
if mine(held) then return confirm(held, ttl) end
if ignores_pauses and is_pause(held) then left, held = -2, '' end
prove_writes()
end
if call('PTTL', tombstone) ~= -2 then return {4} end
if left ~= -2 then call('DEL', tombstone) end
fault = (waits or left == -2) and unfit(waits) or unfit_slots()
if fault then return fault end
if slot ~= '' then
local answer = dismiss(left == -2, held)
if answer then return answer end
end
if left == -2 then
local answer = take()
if answer then return answer end
left, held = call('PTTL', lock), text(1)
end
if not waits then return {0, left, held, now} end
return wait(left, held)
