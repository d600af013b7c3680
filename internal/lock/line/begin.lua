-- How a lease begins: what acquire and confirm share. Stands behind run.lua, slots.lua and ledger.lua.

-- unslotted is the reply that slots is something else, or that nobody may look; nil for a run without a slot.
local function unslotted()
  if slot == '' then return end
  local v = try('HGET', slots, slot)
  if type(v) == 'table' then return wrong(6, v) or call('HGET', slots, slot) end
  call('HLEN', slots) -- who may not count slots would let none go
end

-- taken is the reply that this run has the lock.
local function taken(code, value)
  local number, at = string.match(value, '"fence":(%d+),"at":(%d+)}$')
  return {code, tonumber(number), tonumber(at), now, 0, told_to_stop(value) and 1 or 0}
end

-- begin is taken, of a lease that begins for good.
local function begin(code, value)
  local fault = slot ~= '' and begin_slot(slot, host)
  if fault then
    call('DEL', lock)
    return wrong(6, fault) or call('HSET', slots, slot, '') -- refused again, it ends the step and is named
  end
  local reply = taken(code, value)
  reply[5] = open_run(words, reply[2], asked, reply[3], name)
  return reply
end

-- confirm begins the ttl of this run's lock.
local function confirm(value, ttl)
  call('PEXPIRE', lock, ttl)
  return begin(2, value)
end
