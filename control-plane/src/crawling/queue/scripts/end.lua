-- leased -> nothing: the attempt has ended, or the node released the job.
-- KEYS  1 job  2 leased  3 round-robin set (`ring`)  4 clock  5 caps  6 spent  7 means  8 lost
-- ARGV  1 job id  2 fence  3 prefix of the shard's keys  4 1: the node released the job
-- Reply 1 ended, 2 ended and the organization is below its cap again, 0 the job is not leased under this fence
local id, fence, prefix = ARGV[1], ARGV[2], ARGV[3]
local state, holder, node, org, since, charged, class =
  unpack(redis.call('HMGET', KEYS[1], 'state', 'fence', 'node', 'org', 'since', 'charged', 'band'))

if state ~= 'leased' or holder ~= fence then return 0 end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local isInSet = chargeSlotTime({ KEYS[3], KEYS[4], KEYS[6] }, org, since, charged, now)
-- The nodes that are needed follow from it: jobs that were given back have taken no time yet.
if ARGV[4] ~= '1' then measureJob(KEYS[7], class, since, now) end
redis.call('ZREM', KEYS[2], id)
redis.call('ZREM', prefix .. 'node:' .. node, id)
forgetLosses(KEYS[8], node)
if ARGV[4] == '1' then countRelease(KEYS[8], node, now) else forgetReleases(KEYS[8], node) end
redis.call('ZREM', prefix .. 'leases:' .. org, id)
redis.call('DEL', KEYS[1])
-- Without a cap it never left the round-robin set.
if isInSet then return 1 end
if redis.call('HEXISTS', KEYS[5], org) == 0 then return 1 end
if not hasWaitingJobs(prefix, org) then return 1 end
return 1 + redis.call('ZADD', KEYS[3], 'NX', redis.call('GET', KEYS[4]) or '0', org)
