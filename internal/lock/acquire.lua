-- Takes the lock if it is free, or begins its ttl anew if this run has it.
-- KEYS   1 lock, 2 fence, 3 tombstone of this run
-- ARGV   1 run id, 2 record without fence and at, 3 ttl in ms
-- reply  {1, fence, at, now}   taken now; times are the server's, in ms
--        {2, fence, at, now}   taken before, by this run
--        {0, pttl, record}     busy; pttl -1: for ever; at most 1 KiB of the record
--        {4}                   this run has been given up
--        {-1, n, type}         KEYS[n] is no string
--        {-2}                  the fence is no number below 2^53
-- First write: the fence, or nothing has been written.

local function text(n, last)
  local v = redis.pcall('GETRANGE', KEYS[n], 0, last)
  if type(v) == 'string' then return v end
  if not string.find(v.err, 'WRONGTYPE', 1, true) then return nil, v end
  local t = redis.pcall('TYPE', KEYS[n])
  return nil, {-1, n, t.ok or ''}
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local left = redis.call('PTTL', KEYS[1])
if left ~= -2 then
  local held, fault = text(1, 1023)
  if fault then return fault end
  local fence, at = string.match(held, '"fence":(%d+),"at":(%d+)}$')
  if at and string.sub(held, 1, 36) == '{"run":"' .. ARGV[1] .. '",' and string.sub(held, 37, 43) ~= '"ended"' then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    return {2, tonumber(fence), tonumber(at), now}
  end
  redis.call('PEXPIRE', KEYS[3], 60000) -- a server that refuses writes does not know who holds the lock
  return {0, left, held}
end
if redis.call('PTTL', KEYS[3]) ~= -2 then return {4} end

local counter, fault = text(2, 31)
if fault then return fault end
if counter == '' and redis.call('PTTL', KEYS[2]) == -2 then counter = '0' end
local fence = string.match(counter, '^%d+$') and math.max(tonumber(counter) + 1, now) or 2 ^ 53
if fence >= 2 ^ 53 then return {-2} end
redis.call('SET', KEYS[2], string.format('%.0f', fence))
redis.call('SET', KEYS[1], string.sub(ARGV[2], 1, -2) .. string.format(',"fence":%.0f,"at":%.0f}', fence, now), 'PX', ARGV[3])
return {1, fence, now, now}
