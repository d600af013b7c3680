-- What an operator's step adds where one server has the lock. Stands behind queue.lua and before operate.lua.

local function unfit_keys() return unfit(true) end

local function is_own() return true end

local function pass_lock() advance() end

-- spend_fence gives a fence to nobody, so that a run that was unlocked does not take its lock back.
local function spend_fence()
  local last = last_fence()
  if last and last > 0 and last < 2 ^ 53 - 1 then set_fence(last + 1) end
end

local function add_state(reply)
  local run = first()
  reply[7], reply[8], reply[9] = run or '', run and call('HGET', waiters, run) or '', ''
  return reply
end
