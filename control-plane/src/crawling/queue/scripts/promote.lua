-- delayed -> waiting, for those that are due.
-- KEYS  1 delayed  2 round-robin set (`ring`)  3 clock
-- ARGV  1 prefix of the shard's keys  2 maximum number of jobs
-- Reply number of promoted jobs
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[2])
local moved = 0

for _, id in ipairs(due) do
  redis.call('ZREM', KEYS[1], id)
  local hash = prefix .. 'job:' .. id
  local org, class, state = unpack(redis.call('HMGET', hash, 'org', 'band', 'state'))
  if state == 'delayed' then
    local waiting = prefix .. 'waiting:' .. class
    local since = string.format('%.0f', now * 1000)
    redis.call('HSET', hash, 'state', 'waiting')
    redis.call('ZADD', waiting .. ':' .. org, since, id)
    redis.call('ZADD', waiting, since, id)
    redis.call('ZADD', KEYS[2], 'NX', redis.call('GET', KEYS[3]) or '0', org)
    moved = moved + 1
  end
end
return moved
