-- Notes at one master which pauses a majority has ended, and who was away then: a run that comes there tells it. Ends them
-- here, too.
-- ARGV   5 what is to be noted: "id@master " of each master that was away, "id " once a majority has noted that,
--        6 ms for which these pauses can be wanted

local known = ends()
for entry in string.gmatch(ARGV[5], '%S+ ') do
  if not string.find(' ' .. known, ' ' .. entry, 1, true) then known = entry .. known end
end
known = string.match(string.sub(known, 1, 1000), '^(.* )') or '' -- the oldest go
call('PEXPIRE', gone, 60000) -- after a first write a server that is out of memory does not refuse SET
call('SET', resumed, known, 'PX', math.max(tonumber(ARGV[6]), call('PTTL', resumed), 1))
lift(known)
return said(2)
