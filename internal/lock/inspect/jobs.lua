-- Reads jobs, all in this one step, and writes nothing. A key that cannot be read hides no other. After the first
-- command that is refused none is called any more: each refusal is a line in the server's log of refusals. The
-- step is then made again without that command.
-- KEYS   of each job: lock, fence, paused, resumed, slots, job, runs, queue, waiters
-- ARGV   1 how many runs and waiters of each (0: none of either, and the latest slot alone),
--        2 how many fields of a job are read, 3... these, then commands that are not to be called
-- reply  jobsReply in reply.go

local depth, fields, barred = tonumber(ARGV[1]), {}, {}
for i = 3, 2 + tonumber(ARGV[2]) do fields[#fields + 1] = ARGV[i] end
for i = 3 + #fields, #ARGV do barred[ARGV[i]] = true end
local refused
local entry, ledger_field, slot = WIRE.MaxEntry + 1, 10240, WIRE.MaxSlot + 1 -- bytes, so that none of ours is cut, and what is cut is none

-- ask calls a command, and returns what it says, or nil and a part that says why there is nothing.
local function ask(command, ...)
  if refused or barred[command] then return nil, {0, 0, command} end
  local said = redis.pcall(command, ...)
  if type(said) ~= 'table' or not said.err then return said end
  if string.find(said.err, 'WRONGTYPE', 1, true) then return nil, {-1, 0} end
  refused = {-1, command, string.sub(said.err, 1, 300)}
  return nil, {0, 0, command}
end

-- found is a part: what could be read, each text within a bound.
local function found(number, texts, most)
  local part = {1, number}
  for i = 1, #texts do part[2 + i] = string.sub(texts[i] or '', 1, most) end
  return part
end

local function text(key)
  local said, fault = ask('GETRANGE', key, 0, WIRE.RecordEnd)
  return fault or found(0, {said}, WIRE.RecordEnd + 1)
end

-- counter is a fence; where it is empty, with what PTTL says of it.
local function counter(key)
  local said, fault = ask('GETRANGE', key, 0, WIRE.RecordEnd)
  if fault or said ~= '' then return fault or found(0, {said}, WIRE.RecordEnd + 1) end
  local left, fault = ask('PTTL', key)
  return fault or found(left, {said}, WIRE.RecordEnd + 1)
end

local function lock(key)
  local left, fault = ask('PTTL', key)
  if fault then return fault end
  local value, fault = ask('GETRANGE', key, 0, WIRE.RecordEnd)
  return fault or found(left, {value}, WIRE.RecordEnd + 1)
end

local function queue(key)
  local n, fault = ask('ZCARD', key)
  if fault then return fault end
  if depth == 0 then return {1, n} end
  local ids, fault = ask('ZRANGE', key, 0, depth - 1)
  return fault or found(n, ids, 64)
end

local function waiters(key, first)
  if #first <= 2 then return {1, 0} end
  local said, fault = ask('HMGET', key, unpack(first, 3))
  return fault or found(0, said, entry)
end

local function touched(value) return tonumber(string.match(value, '^%a+ (%d+)')) or 0 end

-- latest is the slot that was written last.
local function latest(slots)
  local name, value
  for i = 1, #slots, 2 do
    if not value or touched(slots[i + 1]) > touched(value) then name, value = slots[i], slots[i + 1] end
  end
  return {name, value}
end

local function slots(key)
  local n, fault = ask('HLEN', key)
  if fault then return fault end
  if n == 0 or n > 64 then return {1, n} end
  local said, fault = ask('HGETALL', key)
  if fault then return fault end
  return found(n, depth > 0 and said or latest(said), slot)
end

local function ledger(key)
  local said, fault = ask('HMGET', key, unpack(fields))
  return fault or found(0, said, ledger_field)
end

local function runs(key)
  if depth == 0 then return {1, 0} end
  local said, fault = ask('LRANGE', key, 0, depth - 1)
  return fault or found(0, said, entry)
end

local time = ask('TIME')
local now = time and time[1] * 1000 + math.floor(time[2] / 1000) or 0
local jobs = {}
for i = 1, #KEYS, 9 do
  local first = queue(KEYS[i + 7])
  jobs[#jobs + 1] = {
    lock(KEYS[i]), counter(KEYS[i + 1]), text(KEYS[i + 2]), first, waiters(KEYS[i + 8], first), slots(KEYS[i + 4]),
    ledger(KEYS[i + 5]), runs(KEYS[i + 6]), text(KEYS[i + 3]),
  }
end
return refused or {1, now, jobs}
