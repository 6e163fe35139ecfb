-- delayed -> waiting, for those that are due.
-- KEYS  1 delayed  2 ring
-- ARGV  1 prefix of the shard's keys  2 the most jobs to move
-- Reply in how many ms the next one is due, -1 when none is delayed
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[2])

for _, id in ipairs(due) do
  redis.call('ZREM', KEYS[1], id)
  local hash = prefix .. 'job:' .. id
  local org, band, state = unpack(redis.call('HMGET', hash, 'org', 'band', 'state'))
  if state == 'delayed' then
    redis.call('HSET', hash, 'state', 'waiting')
    redis.call('ZADD', prefix .. 'waiting:' .. band .. ':' .. org, string.format('%.0f', now * 1000), id)
    if not redis.call('LPOS', KEYS[2], org) then redis.call('RPUSH', KEYS[2], org) end
  end
end
local nextDue = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
return nextDue and math.max(0, tonumber(nextDue) - now) or -1
