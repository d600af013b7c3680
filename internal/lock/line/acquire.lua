-- Takes the lock if it is free, begins its ttl anew if this run has it, or waits in the queue for it: joining the
-- queue, looking again and confirming a hand-over are all this step. Stands behind
-- prelude.lua, begin.lua and queue.lua.
-- ARGV   8 record without fence and at, 9 ttl in ms, 10 "once", "wait", or "poll" to wait without messages;
--        11 how many may wait (0: all), 12 how many runs of the slot may fail,
--        13 "1" if a pause does not count
-- reply  acquireReply in reply.go
-- First write of a run that takes a lock for which nobody waits: the fence, or nothing has been written.

local record, ttl, mode, most, tries = ARGV[8], ARGV[9], ARGV[10], tonumber(ARGV[11]), ARGV[12]
local waits, ignores_pauses = mode ~= 'once', ARGV[13] == '1'

local function give(number)
  prove_grant()
  if waits then return taken(1, grant(number, record, WIRE.Unconfirmed)) end
  return begin(1, grant(number, record, ttl))
end

-- take gives the free lock to the first in the queue, or to this run if nobody is.
local function take()
  local number, fault = next_fence(now)
  if fault then return fault end
  if ignores_pauses then
    if call('PTTL', paused) ~= -2 then
      if waits and call('ZRANK', queue, id) then
        drop(id)
        if first() then note_look() end
      end
      return give(number)
    end
  else
    local paused_now = pause_lock()
    if paused_now then return paused_now ~= true and paused_now or nil end
  end
  if first() then
    prove_release()
    advance(id, true)
    local value = text(1)
    if value ~= '' then return mine(value) and taken(1, value) or nil end
  end
  return give(number)
end

-- here reports whether a waiter is there to whom so many connections listen; nil: nobody can tell.
local function here(run, connections)
  if connections and connections > 0 then return true end
  local seen, callable = waiter(run)
  return not (connections and callable) and now - math.max(seen, since) <= WIRE.Silent
end

-- present counts the waiters that are there, up to most. It wakes none: one question is for a thousand of them.
local function present()
  local runs, n = call('ZRANGE', queue, 0, -1), 0
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

-- clear takes those out who stand just before this run and are no more, and returns its place.
local function clear()
  local rank = call('ZRANK', queue, id)
  while rank > 0 do
    local run = call('ZRANGE', queue, rank - 1, rank - 1)[1]
    if now - waiter(run) <= WIRE.WaitersRemembered then break end
    drop(run)
    rank = rank - 1
  end
  return rank + 1
end

local function join()
  local last = call('ZRANGE', queue, -1, -1, 'WITHSCORES')
  call('ZADD', queue, (tonumber(last[2]) or 0) + 1, id)
end

-- look announces this waiter and says where it stands.
local function look(left, held, joined)
  call('PEXPIRE', queue, WIRE.WaitersRemembered) -- Redis does not refuse it when it is out of memory, nor, after it, HSET
  local place, listeners = clear(), mode == 'wait' and tell(id, 'p') or 0
  call('HSET', waiters, id, string.format('%.0f %d %s %s %s', now, listeners > 0 and 1 or 0, string.match(words, '%S+$'), tries, record))
  note_look()
  return {0, left, held, place, listeners, joined, now}
end

local function wait(left, held)
  if call('ZRANK', queue, id) then return look(left, held, 0) end
  if most > 0 and call('ZCARD', queue) >= most and present() >= most then return {3, left, held, now} end
  join()
  return look(left, held, 1)
end

-- dismiss is the reply to a run for whose slot nothing is to be done any more. Its place falls to the next.
local function dismiss(free, held)
  local code, value = slot_finished(slot, tries, run_of(held))
  if not code then return end
  if waits and call('ZRANK', queue, id) then
    leave(id)
    if first() then note_look() end
    if free then advance() end
  end
  return {code, value}
end

local held, fault = '', nil
local left = call('PTTL', lock)
if left ~= -2 then
  held, fault = text(1)
  if fault then return fault end
  if mine(held) then return confirm(held, ttl) end
  if ignores_pauses and is_pause(held) then left, held = -2, '' end
  prove_writes()
end
if call('PTTL', tombstone) ~= -2 then return {4} end
if left ~= -2 then call('DEL', tombstone) end -- as in prove_release
fault = (waits or left == -2) and unfit(waits) or unfit_slots()
if fault then return fault end
if slot ~= '' then
  local answer = dismiss(left == -2, held)
  if answer then return answer end
end
if left == -2 then
  local answer = take()
  if answer then return answer end
  left, held = call('PTTL', lock), text(1)
end
if not waits then return {0, left, held, now} end
return wait(left, held)
