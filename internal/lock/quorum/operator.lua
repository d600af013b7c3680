-- What an operator's step adds at one master of a quorum. Stands behind ended.lua and before operate.lua.

local function unfit_keys() end

local function is_own(record) return term_of(record) ~= '' end

local function pass_lock() activate_pause() end

local function spend_fence() end -- no run takes its lock back

local function add_state(reply)
  reply[7], reply[8], reply[9] = '', '', ends()
  return reply
end
