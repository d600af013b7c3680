local held = redis.pcall('GETRANGE', KEYS[1], 0, 42)
if type(held) ~= 'string' and not string.find(held.err, 'WRONGTYPE', 1, true) then return held end
if type(held) == 'string' and string.sub(held, 1, 36) == '{"run":"' .. ARGV[1] .. '",' and string.sub(held, 37, 43) ~= '"ended"' then
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local time = redis.call('TIME')
return {1, time[1] * 1000 + math.floor(time[2] / 1000), string.sub(held, 37, 43) == '"stop":' and 1 or 0}
end
local refused = redis.pcall('PEXPIRE', KEYS[1], '')
if not string.find(refused.err, 'not an integer', 1, true) then return refused end
if redis.call('PTTL', KEYS[1]) == -2 then return {-1} end
return {0}
