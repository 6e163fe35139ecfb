-- leased -> nothing: the attempt is over, or the node gives the job back.
-- KEYS  1 job  2 leased
-- ARGV  1 job id  2 fence  3 prefix of the shard's keys
-- Reply 1 ended, 0 this fence does not hold the job here
local id, fence = ARGV[1], ARGV[2]
local state, holder, node = unpack(redis.call('HMGET', KEYS[1], 'state', 'fence', 'node'))

if state ~= 'leased' or holder ~= fence then return 0 end

redis.call('ZREM', KEYS[2], id)
redis.call('ZREM', ARGV[3] .. 'node:' .. node, id)
redis.call('DEL', KEYS[1])
return 1
