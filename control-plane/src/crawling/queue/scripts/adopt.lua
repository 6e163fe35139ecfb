-- nothing -> leased: MongoDB names this lease, and Redis has lost all or part of it.
-- KEYS  1 job  2 leased  3 fence
-- ARGV  1 job id  2 organization  3 priority class (0, 1, 2)  4 fence  5 node  6 lease in ms  7 prefix of the shard's keys
-- Reply 1 leased now, 0 the job waits, or is leased already under this fence or a later one
local id, org, fence, node, lease, prefix = ARGV[1], ARGV[2], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local state, holder = unpack(redis.call('HMGET', KEYS[1], 'state', 'fence'))

if state and state ~= 'leased' then return 0 end
if state and redis.call('ZSCORE', KEYS[2], id) and tonumber(holder) >= tonumber(fence) then return 0 end

local time = redis.call('TIME')
local deadline = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + lease)
redis.call('HSET', KEYS[1], 'org', org, 'band', ARGV[3], 'state', 'leased', 'fence', fence, 'node', node)
local own = prefix .. 'node:' .. node
for _, leased in ipairs({ KEYS[2], own, prefix .. 'leases:' .. org }) do redis.call('ZADD', leased, deadline, id) end
redis.call('PEXPIRE', own, 2 * lease)
if tonumber(redis.call('GET', KEYS[3]) or '0') < tonumber(fence) then redis.call('SET', KEYS[3], fence) end
return 1
