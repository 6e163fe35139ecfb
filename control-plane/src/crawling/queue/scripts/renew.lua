-- leased -> leased, with a new deadline.
-- KEYS  1 job  2 leased
-- ARGV  1 job id  2 fence  3 lease in ms  4 prefix of the shard's keys
-- Reply 1 renewed, 0 this fence does not hold the job here
local id, fence, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local state, holder, node = unpack(redis.call('HMGET', KEYS[1], 'state', 'fence', 'node'))

if state ~= 'leased' or holder ~= fence then return 0 end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, leased in ipairs({ KEYS[2], ARGV[4] .. 'node:' .. node }) do
  redis.call('ZADD', leased, string.format('%.0f', now + lease), id)
end
redis.call('PEXPIRE', ARGV[4] .. 'node:' .. node, 2 * lease)
return 1
