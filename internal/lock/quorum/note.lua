-- Notes at one master which pauses a majority has ended, and which masters were away then: a run that comes there tells
-- it. Ends them here, too.
-- ARGV   9 what is noted: "id@master " of each master that was away, "id " once a majority has noted that,
--        10 ms for which these pauses can be wanted

local known = ends()
for entry in string.gmatch(ARGV[9], '%S+ ') do
  if not string.find(' ' .. known, ' ' .. entry, 1, true) then known = entry .. known end
end
known = string.match(string.sub(known, 1, 1000), '^(.* )') or '' -- the oldest go
prove_writes()
call('SET', resumed, known, 'PX', math.max(tonumber(ARGV[10]), call('PTTL', resumed), 1))
lift(known)
return state(2)
