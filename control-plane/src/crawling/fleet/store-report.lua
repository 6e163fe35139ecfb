-- Stores the report of a node's process.
-- KEYS  1 reports by process  2 slots of the node that reported last
-- ARGV  1 process  2 report  3 maximum number of processes  4 its slots
-- Reply 1 stored, 0 it is a new process beyond the maximum
local known = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1
if not known and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[4])
return 1
