-- leased -> leased, with a new deadline.
-- KEYS  1 job  2 leased  3 lost
-- ARGV  1 job id  2 fence  3 lease in ms  4 prefix of the shard's keys
-- Reply the age of the lease in ms, at least 1, or 0: the job is not leased under this fence
local id, fence, lease, prefix = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local state, holder, node, org = unpack(redis.call('HMGET', KEYS[1], 'state', 'fence', 'node', 'org'))

if state ~= 'leased' or holder ~= fence then return 0 end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local deadline = string.format('%.0f', now + lease)
local own = prefix .. 'node:' .. node
for _, leased in ipairs({ KEYS[2], own, prefix .. 'leases:' .. org }) do redis.call('ZADD', leased, deadline, id) end
redis.call('PEXPIRE', own, 2 * lease)
-- A fence is the time of the lease in microseconds, see acquire.lua.
local age = math.max(1, math.floor(now - tonumber(fence) / 1000))
-- A job can take an hour: a node that has kept one for a while works.
if age >= 3 * lease then forgetLosses(KEYS[3], node) end
return age
