-- leased -> nothing, for those whose deadline has passed. Deadlines that no lease can have are brought forward: the clock of Redis was set back.
-- KEYS  1 leased  2 round-robin set (`ring`)  3 clock  4 caps  5 spent  6 lost
-- ARGV  1 prefix of the shard's keys  2 maximum number of jobs  3 lease in ms
-- Reply { job id, fence, organization, job id, ... }; each expired lease is returned to one caller only
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[2])
local reaped = {}

local latest = string.format('%.0f', now + ARGV[3])
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. latest, '+inf', 'LIMIT', 0, ARGV[2])) do
  redis.call('ZADD', KEYS[1], 'XX', latest, id)
end

for _, id in ipairs(expired) do
  local hash = prefix .. 'job:' .. id
  local state, fence, node, org, since, charged =
    unpack(redis.call('HMGET', hash, 'state', 'fence', 'node', 'org', 'since', 'charged'))
  redis.call('ZREM', KEYS[1], id)
  if state == 'leased' then
    chargeSlotTime({ KEYS[2], KEYS[3], KEYS[5] }, org, since, charged, now)
    redis.call('DEL', hash)
    redis.call('ZREM', prefix .. 'node:' .. node, id)
    countLoss(KEYS[6], node, now, tonumber(ARGV[3]))
    redis.call('ZREM', prefix .. 'leases:' .. org, id)
    -- An organization that was at its cap returns to the round-robin set.
    if redis.call('HEXISTS', KEYS[4], org) == 1 and hasWaitingJobs(prefix, org) then
      redis.call('ZADD', KEYS[2], 'NX', redis.call('GET', KEYS[3]) or '0', org)
    end
    reaped[#reaped + 1] = id
    reaped[#reaped + 1] = fence
    reaped[#reaped + 1] = org
  end
end
return reaped
