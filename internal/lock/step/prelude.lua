-- What the steps of both stores share. It stands behind record.lua and before all else. All times are the server's, in
-- ms. WIRE.X is the constant X of internal/lock/wire.
-- KEYS   1 lock, 2 fence, 3 tombstone of the run, 4 paused, 5 resumed, 6 slots, 7 job, 8 runs, 9 bad, 10 queue, 11 waiters.
--        A store leaves alone what is not its own: resumed is a quorum's, queue and waiters are one server's.
--        An operator's step has 12 output.
-- ARGV   1 run id, or the id of an operator's change, 2 how many runs the ledger keeps (0: nothing is written of it), and
--        behind a blank how old the last success may become, in ms (0: there is no limit any more), if the run says so,
--        3 "host user pid command slot" as words, 4 when the run asked first (0 or less: so many ms ago), 5 slot ("":
--        none), 6 name of the lock, 7 the set of names: no key of the step, since it lives in another slot of a Cluster,
--        where it is ""; from 8 on what the step is told beside

local call, try = redis.call, redis.pcall
local lock, fence, tombstone, paused, resumed, slots, job, runs, bad, queue, waiters = unpack(KEYS)
local id, words, slot, name = ARGV[1], ARGV[3], ARGV[5], ARGV[6]
local history, max_age = string.match(ARGV[2], '^(%d+) ?(%d*)$')
history = tonumber(history)
local jobs = ARGV[7] ~= '' and ARGV[7] or nil
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local asked, host = tonumber(ARGV[4]), string.match(words, '^%S+')
if asked <= 0 then asked = now + asked end

-- mine: the record is this run's. An ended run has no lock, only what is left of its min-hold.
local function mine(record) return run_of(record) == id and mark_of(record) ~= 'ended' end

-- wrong is the reply that KEYS[n] is something else; nil if that is not what is wrong.
local function wrong(n, fault)
  if not string.find(fault.err, 'WRONGTYPE', 1, true) then return end
  return {-1, n, try('TYPE', KEYS[n]).ok or ''}
end

-- text is the start of a string; or nil and the reply that the key is something else. What is refused ends the step: in
-- the line of a call, the client finds the name of the command.
local function text(n, last)
  local value = try('GETRANGE', KEYS[n], 0, last or WIRE.RecordEnd)
  if type(value) == 'string' then return value end
  return nil, wrong(n, value) or call('GETRANGE', KEYS[n], 0, 0)
end

-- prove_writes ends the step if the server refuses writes: then it does not know who holds the lock. It changes nothing:
-- there is no tombstone, or one that lives no longer. After it a server that is out of memory refuses no SET and no HSET.
local function prove_writes() call('PEXPIRE', tombstone, WIRE.Tombstone) end

-- prove_release ends the step if the server refuses what renewing and releasing will need.
local function prove_release()
  prove_writes()
  call('DEL', tombstone)
end

-- prove_grant is prove_release that ends the step, too, if the server is out of memory: SET comes first.
local function prove_grant()
  call('SET', tombstone, '', 'XX', 'PX', WIRE.Tombstone)
  prove_release()
end

-- last_fence is the counter, 0 if there is none; or nil and the reply that it is no number, or has a floor above this
-- protocol behind it.
local function last_fence()
  local counter, fault = text(2, 32)
  if fault then return nil, fault end
  if counter == '' and call('PTTL', fence) == -2 then return 0 end
  if string.match(counter, '^%d+$') then counter = counter .. ' p0' end
  local last, floor = string.match(counter, '^(%d+) p(%d+)$')
  if not last or #counter > 32 or #floor > 9 then return nil, {-2} end
  if tonumber(floor) > WIRE.Protocol then return nil, {-3, tonumber(floor)} end
  if tonumber(last) >= 2 ^ 53 then return nil, {-2} end
  return tonumber(last)
end

-- next_fence is the next number, at least clock; or nil and a reply.
local function next_fence(clock)
  local last, fault = last_fence()
  if fault then return nil, fault end
  local number = math.max(last + 1, clock)
  if number >= 2 ^ 53 then return nil, {-2} end
  return number
end

-- set_fence lets the counter live for so long that after it the clock carries on.
local function set_fence(number) call('SET', fence, string.format('%.0f', number), 'PX', WIRE.Remembered) end

-- set_lock writes a value that has so much left, as PTTL says it: in its last ms that is 0, and without an end -1.
local function set_lock(value, left)
  if left == -1 then return call('SET', lock, value) end
  call('SET', lock, value, 'PX', math.max(left, 1))
end
