local function standing()
local held = redis.pcall('GETRANGE', KEYS[1], 0, 1023)
if type(held) ~= 'string' then
if not string.find(held.err, 'WRONGTYPE', 1, true) then redis.call('GETRANGE', KEYS[1], 0, 0) end
local t = redis.pcall('TYPE', KEYS[1])
return nil, {-1, 1, t.ok or ''}
end
if held == '' and redis.call('PTTL', KEYS[1]) == -2 then return 'nobody', held end
if string.sub(held, 1, 36) ~= ARGV[1] or string.sub(held, 37, 44) ~= '"vote":"' then return 'another', held end
local term = string.sub(held, 45, 61)
if term == ARGV[2] then return 'same', held end
return term < ARGV[2] and 'older' or 'newer', held
end
local function revoked()
local last = redis.pcall('GETRANGE', KEYS[3], 0, 16)
return type(last) == 'string' and last >= ARGV[2], last == ''
end
local protocol = 1
local function counter()
local text = redis.pcall('GETRANGE', KEYS[2], 0, 32)
if type(text) ~= 'string' then
if not string.find(text.err, 'WRONGTYPE', 1, true) then return nil, text end
local t = redis.pcall('TYPE', KEYS[2])
return nil, {-1, 2, t.ok or ''}
end
if text == '' and redis.call('PTTL', KEYS[2]) == -2 then return 0 end
if string.match(text, '^%d+$') then text = text .. ' p0' end
local n, floor = string.match(text, '^(%d+) p(%d+)$')
if not n or #text > 32 or #floor > 9 then return nil, {-2} end
if tonumber(floor) > protocol then return nil, {-3, tonumber(floor)} end
if tonumber(n) >= 2 ^ 53 then return nil, {-2} end
return tonumber(n)
end
local function setCounter(n) redis.call('SET', KEYS[2], string.format('%.0f', n), 'PX', 7776000000) end
local function clock()
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function stop_of(held) return string.match(held, '^"stop":"%w+",', 67) or '' end
local function take(rest, ttl, held, mark)
local record = ARGV[1] .. '"vote":"' .. ARGV[2] .. '.' .. ARGV[3] .. '",' .. mark .. string.sub(rest, 1, -2)
redis.call('SET', KEYS[1], record .. string.format(',"at":%.0f}', clock() - held), 'PX', ttl)
end
local call, try = redis.call, redis.pcall
local lock, gone, paused = KEYS[1], KEYS[3], KEYS[4]
local resumed, slots, job, runs, bad, jobs = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id, history, words, slot, name = string.sub(ARGV[1], 9, 34), tonumber(ARGV[8] or '0'), ARGV[9] or '', ARGV[11] or '', ARGV[12]
local now = clock()
local asked, host = now - (tonumber(ARGV[10]) or 0), string.match(words, '^%S+')
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
local day = 86400000
local function vanished(open)
if not open or #open >= 4096 or string.sub(open, 1, 26) == id then return end
return string.match(open, '^%w+ %S+ %S+ %S+ %S+ %S+ %d+ %d+ %d+ %d+$')
end
local function list(name, due)
if not due then
if note('ZADD', jobs, 'NX', now, name) == 1 then note('PEXPIRE', jobs, ledger_life) end
return
end
note('ZADD', jobs, now, name)
note('PEXPIRE', jobs, ledger_life)
note('HSET', job, 'listed', math.floor(now / day))
note('ZREMRANGEBYSCORE', jobs, '-inf', now - ledger_life)
end
local function open_run(who, fence, asked, at, name)
local known = note('HMGET', job, 'open', 'listed')
if not known then return 0 end
local open = known[1] or ''
local before = vanished(open)
if before then settle(before, 'vanished', '-', '') end
if string.sub(open, 1, 27) ~= id .. ' ' then
note('HSET', job, 'open', string.format('%s %s 0 %.0f %.0f %.0f', id, who, fence, asked, at))
note('PEXPIRE', job, ledger_life)
end
local due = tonumber(known[2]) ~= math.floor(now / day)
if jobs then list(name, due) end
if jobs or refused then return 0 end
return due and 1 or 2
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
local most_doubts = 8
local function slot_refused()
local v = slot ~= '' and try('HGET', slots, slot)
return type(v) == 'table' and v or nil
end
local function wrong_slots(refused)
if not string.find(refused.err, 'WRONGTYPE', 1, true) then return refused end
local t = redis.pcall('TYPE', slots)
return {-1, 6, t.ok or ''}
end
local function undoubted(failed, run) return (string.gsub(failed, ' ' .. run .. '/[^ /]*/%-/%S*', '')) end
local function begin_here()
if slot == '' then return end
local _, closed, begun, failed = slot_state(slot)
if closed then return end
if begun ~= '-' and string.sub(begun, 1, 26) ~= id then failed = and_failed(failed, tried(begun, '-', '-')) end
local value = open_slot(id .. '/' .. host, undoubted(failed, id))
return put_slot(slot, value) and call('HSET', slots, slot, value)
end
local function end_here(how, status, lost, gone)
if slot == '' then return end
local _, _, begun, failed = slot_state(slot)
local known = undoubted(failed, id)
for run in string.gmatch(gone, '%w+') do
known = string.gsub(known, ' (' .. run .. '/[^ /]*)/%-/%S*', string.format(' %%1/vanished/-/%.0f', now))
end
if known ~= failed then put_slot(slot, open_slot(begun, known)) end
local refused = end_slot(slot, host, how, status, lost)
if how == '' and string.find(slot_state(slot), '^open %d+ %-$') then try('HDEL', slots, slot) end
return refused
end
local function doubts_of(text)
local list = {}
for entry in string.gmatch(text, '[^\n]+') do
if #list < most_doubts and vanished(entry) then list[#list + 1] = entry end
end
return list
end
local function doubts_here()
local known = note('HMGET', job, 'open', 'doubts')
return known and table.concat(doubts_of((known[1] or '') .. '\n' .. (known[2] or '')), '\n') or ''
end
local function open_here(fence, at)
local known = note('HMGET', job, 'open', 'doubts', 'listed')
if not known then return '' end
local doubts = table.concat(doubts_of((known[1] or '') .. '\n' .. (known[2] or '')), '\n')
note('HSET', job, 'open', string.format('%s %s 0 %.0f %.0f %.0f', id, words, fence, asked, at), 'doubts', doubts)
note('PEXPIRE', job, ledger_life)
list(name, tonumber(known[3]) ~= math.floor(now / day))
return doubts
end
local function settle_gone(doubts, gone)
local others, settled = {}, false
for n = #doubts, 1, -1 do
if string.find(gone, string.sub(doubts[n], 1, 26), 1, true) then
settle(doubts[n], 'vanished', '-', '')
settled = true
else
table.insert(others, 1, doubts[n])
end
end
return others, settled
end
local function entered()
for n = 0, math.min(history, 50) - 1 do
local entry = note('LINDEX', runs, n)
if not entry or string.sub(entry, 1, 27) == id .. ' ' then return entry end
end
end
local function close_here(how, status, attempts, lost, fence, held, leased, gone, heard)
local known = note('HMGET', job, 'open', 'doubts')
if not known then return end
local open, text, settled = known[1] or '', known[2] or '', false
local mine = string.match('\n' .. open .. '\n' .. text .. '\n', '\n(' .. id .. ' [^\n]*)\n')
if not mine and how == '' then return end
local late, first = not mine and entered(), string.sub(open, 1, 27) == id .. ' '
if late and string.find(late, string.format(' %s %s', how, status), 1, true) then return end
local others = doubts_of(open .. '\n' .. text)
local alone = first and #others == 0
if leased then others, settled = settle_gone(others, gone) end
local began, at = string.match(mine or '', ' (%d+) (%d+)$')
began, at = tonumber(began) or asked, tonumber(at) or now - held
local run = string.format('%s %s %s %s %.0f %.0f', id, words, attempts, fence, began, at)
if not late and (settled or not first) then
note('HSET', job, 'open', run)
note('PEXPIRE', job, ledger_life)
end
close_run(run, at, how, status, lost)
if alone or late and not settled then return end
if first and heard then others = {} end
open = (first and not leased or others[1] == open) and table.remove(others, 1) or ''
note('HSET', job, 'open', open, 'doubts', table.concat(others, '\n'))
end
local function is_pause(value) return string.sub(value, 1, 10) == '{"pause":"' end
local function is_wish(value)
return string.find(value, '^{"pause":"' .. string.rep('%w', 26) .. '","v":%d+,.*}$') ~= nil
end
local function text(n)
local v = try('GETRANGE', KEYS[n], 0, 1023)
if type(v) == 'string' then return v end
if not string.find(v.err, 'WRONGTYPE', 1, true) then return nil, v end
local t = try('TYPE', KEYS[n])
return nil, {-1, n, t.ok or ''}
end
local function rest()
local wanted, fault = text(4)
if not wanted or wanted == '' then return nil, fault end
if not is_wish(wanted) then return nil, {-1, 4, 'string'} end
local left = call('PTTL', paused)
call('PEXPIRE', gone, 60000)
if left == -1 then call('SET', lock, wanted) else call('SET', lock, wanted, 'PX', math.max(left, 1)) end
return wanted
end
local function lift(ended)
if ended == '' then return end
for _, key in ipairs({paused, lock}) do
local value = try('GETRANGE', key, 0, 1023)
if type(value) == 'string' and is_wish(value) and string.find(ended, string.sub(value, 11, 36), 1, true) then call('DEL', key) end
end
end
local function ends()
local value = try('GETRANGE', resumed, 0, 1023)
return type(value) == 'string' and value or ''
end
local function able()
redis.call('SET', KEYS[3], '', 'XX', 'PX', 60000)
redis.call('PEXPIRE', KEYS[3], 60000)
redis.call('DEL', KEYS[3])
end
lift(ARGV[14])
local whose, held = standing()
if not whose then return held end
local given_up, untouched = revoked()
if whose == 'newer' or given_up then return {4} end
if whose == 'same' then return {2} end
local refused = slot_refused()
if refused then return wrong_slots(refused) end
if slot ~= '' then call('HLEN', slots) end
local state, closed = '', false
if slot ~= '' then state, closed = slot_state(slot) end
if closed then return {6, state} end
local unbowed, fault = ARGV[13] == '1', nil
if unbowed and whose == 'another' and is_pause(held) then whose = 'nobody' end
if whose ~= 'another' and not unbowed then
local pause
pause, fault = rest()
if fault then return fault end
if pause then whose, held = 'another', pause end
end
if whose == 'another' then
redis.call('PEXPIRE', KEYS[3], 60000)
local busy = {0, redis.call('PTTL', KEYS[1]), held, clock()}
if slot ~= '' or history > 0 then busy[5], busy[6] = state, doubts_here() end
return busy
end
local server, wanted = '', tonumber(ARGV[7])
if wanted > 0 then
local info = redis.call('INFO', 'server')
server = string.match(info, 'run_id:(%x+)') or ''
local up = tonumber(string.match(info, 'uptime_in_seconds:(%d+)') or '0')
if up < wanted then return {5, wanted - up} end
end
local last
last, fault = counter()
if fault then return fault end
local fence = math.max(last + 1, tonumber(ARGV[6]))
if fence >= 2 ^ 53 then return {-2} end
if untouched then able() end
setCounter(fence)
refused = begin_here()
if refused then return refused end
take(ARGV[4], ARGV[5], 0, whose == 'older' and stop_of(held) or '')
if slot == '' and history == 0 then return {1, fence, server, ends()} end
return {1, fence, server, ends(), state, open_here(fence, now)}
