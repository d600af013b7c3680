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
local function record_good(open, at, status, more, mean)
local entry = record_end(open, 'ok', status, more)
local n, ms = string.match(mean or '', '^(%d+) (%d+)$')
n = math.min(tonumber(n) or 0, 19)
ms = ((tonumber(ms) or 0) * n + math.max(now - at, 0)) / (n + 1)
note('HSET', job, 'good', entry, 'mean', string.format('%d %.0f', n + 1, ms))
end
local function close_run(words, at, how, status, lost)
local known = note('HMGET', job, 'open', 'mean')
if not known then return end
local more = lost == '1' and ' lost=1' or ''
if string.match(known[1] or '', '^%S+') == id then
if how == 'ok' then record_good(words, at, status, more, known[2])
elseif how ~= '' then record_end(words, how, status, more)
else note('HSET', job, 'open', '') end
note('PEXPIRE', job, 7776000000)
elseif how ~= '' then
local newest = note('LINDEX', runs, 0) or ''
local repeated = string.match(newest, '^%S+') == id and string.find(newest, ' ' .. how .. ' ' .. status, 1, true)
if not repeated then enter_run(ended_run(words, how, status, more), how) end
end
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
local keep, mark, waited = tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10] == '1'
local how, status, lost = ARGV[11], ARGV[12], ARGV[13]
local function keep_on(held)
call('PEXPIRE', lock, keep)
set_lock(with_mark(held, string.format('"ended":%.0f,', now)), keep)
end
local function give(held)
if held and mine(held) then
if keep > 0 then keep_on(held) else call('DEL', lock) end
return 1, keep > 0
end
prove_writes()
if held and run_of(held) == id then return 1, true end
return call('PTTL', lock) == -2 and 4 or 5
end
local function move(owner, kept)
if unfit(waited) then return end
if waited then leave(id) end
if not first() then return end
if kept and keep > 0 then announce(keep) end
if not kept and owner ~= 5 then advance() end
end
local function record_slot()
if slot == '' then return end
prove_writes()
return end_slot(slot, host, how, status, lost)
end
local held = text(1)
local fault = record_slot()
if fault and how ~= '' then return wrong(6, fault) or call('HSET', slots, slot, '') end
local owner, kept = give(held)
if mark > 0 then call('SET', tombstone, '1', 'PX', mark) end
move(owner, kept)
close_run(id .. ' ' .. words .. ' ' .. ARGV[14], tonumber(ARGV[15]), how, status, lost)
if owner == 5 then return {owner, call('PTTL', lock), held or '', now} end
return {owner}
