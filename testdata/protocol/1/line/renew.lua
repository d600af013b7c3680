local function run_of(record) return string.match(record, '^{"run":"(%w+)",') or '' end
local function term_of(record) return string.match(record, '^{"run":"%w+","vote":"(%x+%.%x+)%.%d+",') or '' end
local function split(record)
local head, suffix = string.match(record, '^({"run":"%w+",)(.*)$')
if not head then return '', record end
local vote = string.match(suffix, '^"vote":"[%x.]+",') or ''
return head .. vote, string.sub(suffix, #vote + 1)
end
local function mark_of(record)
local _, suffix = split(record)
return string.match(suffix, '^"(%w+)":') or ''
end
local function with_mark(record, mark)
local head, suffix = split(record)
return head .. mark .. suffix
end
local held = redis.pcall('GETRANGE', KEYS[1], 0, 1023)
if type(held) ~= 'string' and not string.find(held.err, 'WRONGTYPE', 1, true) then return held end
if type(held) == 'string' and run_of(held) == ARGV[1] and mark_of(held) ~= 'ended' then
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local time = redis.call('TIME')
return {1, time[1] * 1000 + math.floor(time[2] / 1000), mark_of(held) == 'stop' and 1 or 0}
end
local refused = redis.pcall('PEXPIRE', KEYS[1], '')
if not string.find(refused.err, 'not an integer', 1, true) then return refused end
if redis.call('PTTL', KEYS[1]) == -2 then return {4} end
return {5}
