-- The run that asks, and its place: what acquire, confirm and release share. It stands before them.
-- KEYS   1 lock, 2 fence, 3 line (run id -> ticket), 4 who (run id -> "last seen", "1" if it can be called, and record;
--        "looks" -> see line.lua), 5 tombstone of this run
-- ARGV   1 run id

local call, try = redis.call, redis.pcall
local lock, fence, line, who, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id = ARGV[1]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- wrong is the reply that KEYS[n] is something else; nil if that is not what is wrong.
local function wrong(n, fault)
  if not string.find(fault.err, 'WRONGTYPE', 1, true) then return end
  local t = redis.pcall('TYPE', KEYS[n])
  return {-1, n, t.ok or ''}
end

-- text is the start of a string; or nil and a reply if the key is something else.
local function text(n, last)
  local v = try('GETRANGE', KEYS[n], 0, last)
  if type(v) == 'string' then return v end
  return nil, wrong(n, v) or v
end

-- mine: the record is this run's; an ended run has no lock, only the rest of its min-hold.
local function mine(record)
  return record and string.sub(record, 1, 36) == '{"run":"' .. id .. '",' and string.sub(record, 37, 43) ~= '"ended"'
end

local function taken(code, value)
  local number, at = string.match(value, '"fence":(%d+),"at":(%d+)}$')
  return {code, tonumber(number), tonumber(at), now}
end

-- confirm begins the ttl of this run's lock.
local function confirm(value, ttl)
  call('PEXPIRE', lock, ttl)
  return taken(2, value)
end
