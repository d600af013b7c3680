-- Tells who has each of some locks, and writes nothing. It stands alone.
-- KEYS   the locks
-- ARGV   1 for how many seconds the server must be up to be believed (0: it need not)
-- reply  HoldersReply in holders.go

local call = redis.call
local wanted = tonumber(ARGV[1])
if wanted > 0 then
  local up = tonumber(string.match(call('INFO', 'server'), 'uptime_in_seconds:(%d+)') or '0')
  if up < wanted then return {5, wanted - up} end
end
local time = call('TIME')
local reply = {1, time[1] * 1000 + math.floor(time[2] / 1000)}
for i = 1, #KEYS do
  local left = call('PTTL', KEYS[i])
  if left == -2 then
    reply[2 + i] = {}
  else
    local value = redis.pcall('GETRANGE', KEYS[i], 0, WIRE.RecordEnd)
    if type(value) ~= 'string' then
      if not string.find(value.err, 'WRONGTYPE', 1, true) then return call('GETRANGE', KEYS[i], 0, 0) end
      return {-1, i, redis.pcall('TYPE', KEYS[i]).ok or ''}
    end
    reply[2 + i] = {left, value}
  end
end
return reply
