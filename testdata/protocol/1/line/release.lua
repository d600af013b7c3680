local call, try = redis.call, redis.pcall
local lock, fence, line, who, gone, paused = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[7]
local slots, job, runs, bad, jobs = KEYS[6], KEYS[8], KEYS[9], KEYS[10], ARGV[7] ~= '' and ARGV[7] or nil
local id, history, words, slot, name = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[5], ARGV[6]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local asked, host = ARGV[4] == '0' and now or tonumber(ARGV[4]), string.match(words, '^%S+')
local function wrong(n, fault)
if not string.find(fault.err, 'WRONGTYPE', 1, true) then return end
local t = redis.pcall('TYPE', KEYS[n])
return {-1, n, t.ok or ''}
end
local function text(n, last)
local v = try('GETRANGE', KEYS[n], 0, last)
if type(v) == 'string' then return v end
return nil, wrong(n, v) or v
end
local function run_of(record)
return string.match(record, '^{"run":"(%w+)",') or ''
end
local function is_pause(value) return string.sub(value, 1, 10) == '{"pause":"' end
local function is_wish(value)
return string.find(value, '^{"pause":"' .. string.rep('%w', 26) .. '","v":%d+,.*}$') ~= nil
end
local function told_to_stop(record) return string.sub(record, 37, 43) == '"stop":' end
local function mine(record)
return record and string.sub(record, 1, 36) == '{"run":"' .. id .. '",' and string.sub(record, 37, 43) ~= '"ended"'
end
local function slot_state(name)
local value = try('HGET', slots, name)
if type(value) ~= 'string' then value = '' end
if string.find(value, '^closed %d+ %S') then return value, true, '-', '' end
local begun, failed = string.match(value, '^open %d+ (%S+)(.*)$')
return value, false, begun or '-', failed or ''
end
local function tried(run_host, how, status, more) return string.format(' %s/%s/%s/%.0f%s', run_host, how, status, now, more or '') end
local function and_failed(failed, try_of)
if string.find(failed, string.sub(try_of, 1, 28), 1, true) then return failed end
return failed .. try_of
end
local function and_vanished(failed, begun)
return begun == '-' and failed or and_failed(failed, tried(begun, 'vanished', '-'))
end
local function open_slot(begun, failed) return string.format('open %.0f %s%s', now, begun, failed) end
local function slot_verdict(name, tries, holder)
local value, closed, begun, failed = slot_state(name)
if closed then return 6, value end
if string.sub(begun, 1, 26) ~= holder then
failed = and_vanished(failed, begun)
value = open_slot('-', failed)
end
local _, n = string.gsub(failed, ' ', '')
if n >= tonumber(tries) then return 7, value end
end
local slots_life, most_slots = 1296000000, 16
local function forget_slots()
local n = try('HLEN', slots)
if type(n) ~= 'number' or n <= most_slots or n > 1000 then return end
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
try('PEXPIRE', slots, slots_life)
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
local ledger_life = 7776000000
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
note('PEXPIRE', list, ledger_life)
end
local function enter_run(entry, how)
enter(runs, entry)
if how ~= 'ok' then enter(bad, entry) end
end
local function ended_run(open, how, status, more)
local who, fence, asked, at = string.match(open, '^(.*) (%d+) (%d+) (%d+)$')
if not who then who, fence, asked, at = string.match(open, '^%S*') .. ' - - 0 - - 0', 0, 0, 0 end
local waited = tonumber(asked) > 0 and math.max(at - asked, 0) or 0
return string.format('%s %.0f %.0f %s %.0f %s %s%s', who, fence - at, waited, at, math.max(now - at, 0), how, status, more)
end
local function settle(open, how, status, more)
local entry = ended_run(open, how, status, more)
note('HSET', job, 'open', '', 'last', entry)
enter_run(entry, how)
note('HINCRBY', job, 'count:' .. how, 1)
return entry
end
local function settle_good(open, at, status, more, mean)
local entry = settle(open, 'ok', status, more)
local n, ms = string.match(mean or '', '^(%d+) (%d+)$')
n = math.min(tonumber(n) or 0, 19)
ms = ((tonumber(ms) or 0) * n + math.max(now - at, 0)) / (n + 1)
note('HSET', job, 'good', entry, 'mean', string.format('%d %.0f', n + 1, ms))
end
local function close_run(words, at, how, status, lost)
local known = note('HMGET', job, 'open', 'mean')
if not known then return end
local more = lost == '1' and ' lost=1' or ''
if string.sub(known[1] or '', 1, 27) == id .. ' ' then
if how == 'ok' then settle_good(words, at, status, more, known[2])
elseif how ~= '' then settle(words, how, status, more)
else note('HSET', job, 'open', '') end
note('PEXPIRE', job, ledger_life)
elseif how ~= '' then
local newest = note('LINDEX', runs, 0) or ''
local repeated = string.sub(newest, 1, 27) == id .. ' ' and string.find(newest, ' ' .. how .. ' ' .. status, 1, true)
if not repeated then enter_run(ended_run(words, how, status, more), how) end
end
end
local unconfirmed = 2000
local untold = 6000
local silent = 12000
local forget = 3600000
local fence_life = 7776000000
local protocol = 1
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
local ms, callable, slot, tries, record = string.match(call('HGET', who, run) or '', '^(%d+) ([01]) (%S+) (%d+) (.*)$')
return tonumber(ms) or 0, callable == '1', record, slot, tries
end
local function first() return call('ZRANGE', line, 0, 0)[1] end
local function unfit(waits)
local front = try('ZRANGE', line, 0, 0)
local fault = front.err and wrong(3, front)
if fault then return fault end
if not waits and not first() then return end
local entry = try('HGET', who, id)
return type(entry) == 'table' and (wrong(4, entry) or call('HGET', who, id)) or nil
end
local latest, since
local function gap()
local a, b = string.match(call('HGET', who, 'looks') or '', '^(%d+) (%d+)$')
latest, since = tonumber(a) or now, tonumber(b) or 0
if now - latest > silent and since <= latest then since = now end
end
local function remember_looks()
call('HSET', who, 'looks', string.format('%.0f %.0f', latest, since))
call('PEXPIRE', who, forget)
end
local function note_look()
gap()
latest = now
remember_looks()
end
local function announce(ms, record)
ms = math.min(ms, tonumber(string.match(record or '', '"ttl":(%d+)')) or ms)
for place, run in ipairs(call('ZRANGE', line, 0, 2)) do publish(run, string.format('n %d %d', ms, place)) end
end
local function drop(run)
call('ZREM', line, run)
call('HDEL', who, run)
if not first() then call('DEL', who) end
end
local function leave(run)
local place, left = call('ZRANK', line, run), call('PTTL', lock)
drop(run)
if place and place < 3 and left > 0 then announce(left, text(1, 1023)) end
end
local function next_fence()
local counter, fault = text(2, 32)
if fault then return nil, fault end
if counter == '' and call('PTTL', fence) == -2 then counter = '0' end
if string.match(counter, '^%d+$') then counter = counter .. ' p0' end
local last, floor = string.match(counter, '^(%d+) p(%d+)$')
if not last or #counter > 32 or #floor > 9 then return nil, {-2} end
if tonumber(floor) > protocol then return nil, {-3, tonumber(floor)} end
local number = math.max(tonumber(last) + 1, now)
if number >= 2 ^ 53 then return nil, {-2} end
return number
end
local function grant(number, record, ms)
local granted = string.sub(record, 1, -2) .. string.format(',"fence":%.0f,"at":%.0f}', number, now)
call('SET', fence, string.format('%.0f', number), 'PX', fence_life)
call('SET', lock, granted, 'PX', ms)
return granted
end
local function kept(run, seen, callable, excused)
if now - math.max(seen, since) > silent then return end
local n = tell(run, 'g')
if n > 0 or not callable or excused then return unconfirmed end
if n < 0 then return untold end
end
local function rouse()
for _, run in ipairs(call('ZRANGE', line, 0, 99)) do
if tell(run, 'g') ~= 0 then return end
end
end
local function rest()
local wanted, fault = text(7, 1023)
if fault then return fault end
if wanted == '' then return end
if not is_wish(wanted) then return {-1, 7, 'string'} end
local left = call('PTTL', paused)
call('PEXPIRE', gone, 60000)
if left == -1 then
call('SET', lock, wanted)
else
call('SET', lock, wanted, 'PX', math.max(left, 1))
announce(left)
end
return true
end
local judged = {}
local function dismissal(slot, tries)
if not slot or slot == '-' then return end
local key = slot .. ' ' .. tries
if judged[key] == nil then
local name = string.gsub(slot, '%%(%x%x)', function(hex) return string.char(tonumber(hex, 16)) end)
local code, value = slot_verdict(name, tries, '')
judged[key] = code and (code == 6 and 'd ' or 't ') .. value or false
end
return judged[key]
end
local most_dismissed = 250
local function dismiss_front()
local front = call('ZRANGE', line, 0, most_dismissed - 1)
local entries, out, messages = call('HMGET', who, unpack(front)), {}, {}
for i, run in ipairs(front) do
local message = dismissal(string.match(entries[i] or '', '^%d+ [01] (%S+) (%d+) '))
if not message then break end
out[i], messages[i] = run, message
end
call('ZREM', line, unpack(out))
call('HDEL', who, unpack(out))
if not first() then call('DEL', who) end
for i, run in ipairs(out) do publish(run, messages[i]) end
return #out == most_dismissed
end
local function advance(caller, wholly)
local rested = rest()
if rested then return rested ~= true and rouse() or nil end
gap()
local back = since > 0 and now - since <= unconfirmed
local excused = back and (latest >= since or caller and call('ZRANK', line, caller))
local number, run = next_fence(), first()
if not number then return rouse() end
while run do
local seen, callable, record, slot, tries = waiter(run)
local ms
if run ~= caller and dismissal(slot, tries) then
if dismiss_front() and first() and not wholly then return rouse() end
else
drop(run)
ms = record and (run == caller and unconfirmed or kept(run, seen, callable, excused))
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
local ended = string.sub(held, 1, 36) .. string.format('"ended":%.0f,', now) .. string.sub(held, 37)
call('SET', lock, ended, 'PX', keep)
return 2
end
local function give(held)
if mine(held) then
if keep > 0 then return keep_on(held) end
return call('DEL', lock)
end
call('PEXPIRE', gone, 60000)
if held and string.sub(held, 1, 36) == '{"run":"' .. id .. '",' then return 2 end
return call('PTTL', lock) == -2 and -1 or 0
end
local function move(reply)
if unfit(waited) then return end
if waited then leave(id) end
if not first() then return end
if reply == 2 and keep > 0 then announce(keep) end
if reply == 1 or reply == -1 then advance() end
end
local function record_slot()
if slot == '' then return end
call('PEXPIRE', gone, 60000)
return end_slot(slot, host, how, status, lost)
end
local held, fault = text(1, 1023)
if fault and fault.err then return fault end
fault = record_slot()
if fault and how ~= '' then return wrong(6, fault) or call('HSET', slots, slot, '') end
local reply = give(held)
if mark > 0 then call('SET', gone, '1', 'PX', mark) end
move(reply)
close_run(id .. ' ' .. words .. ' ' .. ARGV[14], tonumber(ARGV[15]), how, status, lost)
if reply == 0 then return {0, call('PTTL', lock), held or '', now} end
return {reply}
