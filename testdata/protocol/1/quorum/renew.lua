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
local whose, held = standing()
if whose == 'same' then
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {1, stop_of(held) == '' and 0 or 1}
end
redis.call('PEXPIRE', KEYS[3], 60000)
return {(whose == 'another' or not whose) and 0 or -1}
