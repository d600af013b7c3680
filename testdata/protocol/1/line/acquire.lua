local call, try = redis.call, redis.pcall
local lock, fence, line, who, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id = ARGV[1]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
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
local function mine(record)
return record and string.sub(record, 1, 36) == '{"run":"' .. id .. '",' and string.sub(record, 37, 43) ~= '"ended"'
end
local function taken(code, value)
local number, at = string.match(value, '"fence":(%d+),"at":(%d+)}$')
return {code, tonumber(number), tonumber(at), now}
end
local function confirm(value, ttl)
call('PEXPIRE', lock, ttl)
return taken(2, value)
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
local ms, callable, record = string.match(call('HGET', who, run) or '', '^(%d+) ([01]) (.*)$')
return tonumber(ms) or 0, callable == '1', record
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
local function announce(ms)
for place, run in ipairs(call('ZRANGE', line, 0, 2)) do publish(run, string.format('n %d %d', ms, place)) end
end
local function drop(run)
call('ZREM', line, run)
call('HDEL', who, run)
if not first() then call('DEL', who) end
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
local function advance(caller)
gap()
local back = since > 0 and now - since <= unconfirmed
local excused = back and (latest >= since or caller and call('ZRANK', line, caller))
local number, run = next_fence(), first()
if not number then return rouse() end
while run do
local seen, callable, record = waiter(run)
drop(run)
local ms = record and (run == caller and unconfirmed or kept(run, seen, callable, excused))
if ms then
grant(number, record, ms)
announce(ms)
end
run = not ms and first()
end
if first() then remember_looks() end
end
local record, ttl, mode, most = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local waits = mode ~= 'once'
local function take()
local number, fault = next_fence()
if fault then return fault end
if first() then
advance(id)
local value = text(1, 1023)
if value ~= '' then return mine(value) and taken(1, value) or nil end
end
return taken(1, grant(number, record, waits and unconfirmed or ttl))
end
local function here(run, connections)
if connections and connections > 0 then return true end
local seen, callable = waiter(run)
return not (connections and callable) and now - math.max(seen, since) <= silent
end
local function present()
local runs, n = call('ZRANGE', line, 0, -1), 0
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
local rank = call('ZRANK', line, id)
while rank > 0 do
local run = call('ZRANGE', line, rank - 1, rank - 1)[1]
if now - waiter(run) <= forget then break end
drop(run)
rank = rank - 1
end
return rank + 1
end
local function join()
local last = call('ZRANGE', line, -1, -1, 'WITHSCORES')
call('ZADD', line, (tonumber(last[2]) or 0) + 1, id)
end
local function look(left, held, joined)
call('PEXPIRE', line, forget)
local place, listeners = clear(), mode == 'wait' and tell(id, 'p') or 0
call('HSET', who, id, string.format('%.0f %d %s', now, listeners > 0 and 1 or 0, record))
gap()
latest = now
remember_looks()
return {0, left, held, place, listeners, joined, now}
end
local function wait(left, held)
if call('ZRANK', line, id) then return look(left, held, 0) end
if most > 0 and call('ZCARD', line) >= most and present() >= most then return {3, left, held, now} end
join()
return look(left, held, 1)
end
local held, fault = '', nil
local left = call('PTTL', lock)
if left ~= -2 then
held, fault = text(1, 1023)
if fault then return fault end
if mine(held) then return confirm(held, ttl) end
call('PEXPIRE', gone, 60000)
end
if call('PTTL', gone) ~= -2 then return {4} end
fault = (waits or left == -2) and unfit(waits)
if fault then return fault end
if left == -2 then
local answer = take()
if answer then return answer end
left, held = call('PTTL', lock), text(1, 1023)
end
if not waits then return {0, left, held, now} end
return wait(left, held)
