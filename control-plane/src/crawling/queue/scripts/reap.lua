-- leased -> nothing, for those whose deadline has passed.
-- KEYS  1 leased
-- ARGV  1 prefix of the shard's keys  2 the most jobs to take
-- Reply { scan, fence, scan, fence, ... }; each expired lease is told to one reaper alone
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[2])
local reaped = {}

for _, scan in ipairs(expired) do
  local job = prefix .. 'job:' .. scan
  local state, fence, node = unpack(redis.call('HMGET', job, 'state', 'fence', 'node'))
  redis.call('ZREM', KEYS[1], scan)
  if state == 'leased' then
    redis.call('DEL', job)
    redis.call('ZREM', prefix .. 'node:' .. node, scan)
    reaped[#reaped + 1] = scan
    reaped[#reaped + 1] = fence
  end
end
return reaped
