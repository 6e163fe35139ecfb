-- Claims or renews a piece of work.
-- KEYS  1 the work
-- ARGV  1 who claims it  2 for how many ms
-- Reply 1 it is the caller's, 0 someone else has it
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
