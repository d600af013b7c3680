-- Keeps the end of what the command of a run printed. It is made once, when the release was answered.
-- KEYS   1 output, 2 job
-- ARGV   1 run id, 2 its host, 3 "how status attempt total", all as words, 4 the bytes, 5 the job's field tail
-- reply  {1} kept, or {2} kept before
-- First write: LPUSH, which Redis refuses when it is out of memory. A list that may not be shortened does not grow.

local call = redis.call
local output, job, id = KEYS[1], KEYS[2], ARGV[1]
if string.sub(call('LINDEX', output, 0) or '', 1, #id + 1) == id .. ' ' then return {2} end
if call('LINDEX', output, WIRE.MostOutputs) then call('LTRIM', output, 0, WIRE.MostOutputs - 1) end
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local entry = string.format('%s %s %.0f %s\n', id, ARGV[2], now, ARGV[3]) .. ARGV[4]
call('LPUSH', output, entry)
call('PEXPIRE', output, WIRE.OutputRemembered)

-- kept is how many entries have room; the newest has it always.
local kept, bytes = 1, #ARGV[4]
while kept < WIRE.MostOutputs do
  local older = call('LINDEX', output, kept)
  if not older then break end
  bytes = bytes + #older - (string.find(older, '\n', 1, true) or 0)
  if bytes > WIRE.MostOutputBytes then break end
  kept = kept + 1
end
call('LTRIM', output, 0, kept - 1)
call('HSET', job, 'tail', ARGV[5])
call('PEXPIRE', job, WIRE.Remembered)
return {1}
