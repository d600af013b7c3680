-- How a lease begins: what acquire and confirm share. Stands behind prelude.lua, slots.lua and ledger.lua.

-- taken is the reply that this run has the lock.
local function taken(code, value)
  local number, at = string.match(value, '"fence":(%d+),"at":(%d+)}$')
  return {code, tonumber(number), tonumber(at), now, 0, mark_of(value) == 'stop' and 1 or 0}
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
