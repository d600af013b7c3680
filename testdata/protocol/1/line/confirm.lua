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
local held = text(1, 1023)
if mine(held) then return confirm(held, ARGV[2]) end
return {0}
