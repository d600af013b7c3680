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
local function unslotted()
if slot == '' then return end
local v = try('HGET', slots, slot)
if type(v) == 'table' then return wrong(6, v) or call('HGET', slots, slot) end
call('HLEN', slots)
end
local function taken(code, value)
local number, at = string.match(value, '"fence":(%d+),"at":(%d+)}$')
return {code, tonumber(number), tonumber(at), now, 0, told_to_stop(value) and 1 or 0}
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
local held = text(1, 1023)
if mine(held) then return confirm(held, ARGV[8]) end
return {0}
