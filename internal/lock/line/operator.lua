-- What an operator's step adds where one server has the lock. Stands behind queue.lua and before operate.lua.

local function unfit_keys() return unfit(true) end

local function is_own() return true end

local function pass_lock() advance() end

local function add_state(reply)
  local run = first()
  reply[7], reply[8], reply[9] = run or '', run and call('HGET', waiters, run) or '', ''
  return reply
end
