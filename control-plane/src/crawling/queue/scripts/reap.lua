-- leased -> nothing, for those whose deadline has passed.
-- KEYS  1 leased
-- ARGV  1 prefix of the shard's keys  2 the most jobs to take
-- Reply { job id, fence, organization, job id, ... }; each expired lease is told to one reaper alone
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[2])
local reaped = {}

for _, id in ipairs(expired) do
  local hash = prefix .. 'job:' .. id
  local state, fence, node, org = unpack(redis.call('HMGET', hash, 'state', 'fence', 'node', 'org'))
  redis.call('ZREM', KEYS[1], id)
  if state == 'leased' then
    redis.call('DEL', hash)
    redis.call('ZREM', prefix .. 'node:' .. node, id)
    reaped[#reaped + 1] = id
    reaped[#reaped + 1] = fence
    reaped[#reaped + 1] = org
  end
end
return reaped
