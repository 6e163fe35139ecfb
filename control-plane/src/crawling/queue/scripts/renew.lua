-- leased -> leased, with a new deadline.
-- KEYS  1 job  2 leased
-- ARGV  1 job id  2 fence  3 lease in ms  4 prefix of the shard's keys
-- Reply 1 renewed, 0 the job is not leased under this fence
local id, fence, lease, prefix = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local state, holder, node, org = unpack(redis.call('HMGET', KEYS[1], 'state', 'fence', 'node', 'org'))

if state ~= 'leased' or holder ~= fence then return 0 end

local time = redis.call('TIME')
local deadline = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + lease)
local own = prefix .. 'node:' .. node
for _, leased in ipairs({ KEYS[2], own, prefix .. 'leases:' .. org }) do redis.call('ZADD', leased, deadline, id) end
redis.call('PEXPIRE', own, 2 * lease)
return 1
