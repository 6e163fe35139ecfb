-- nothing -> waiting, or nothing -> delayed.
-- KEYS  1 job  2 ring  3 delayed  4 waiting:<org>:0  5 waiting:<org>:1
-- ARGV  1 scan  2 organization  3 band (0, 1)  4 delay in ms
-- Reply 1 it waits now, 0 there was a job of this scan already
local scan, org, band, delay = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end

if delay > 0 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('HSET', KEYS[1], 'org', org, 'band', band, 'state', 'delayed')
  redis.call('ZADD', KEYS[3], string.format('%.0f', now + delay), scan)
  return 1
end

-- An organization stands in the ring once, as long as anything of it waits.
if redis.call('LLEN', KEYS[4]) + redis.call('LLEN', KEYS[5]) == 0 then
  redis.call('RPUSH', KEYS[2], org)
end
redis.call('HSET', KEYS[1], 'org', org, 'band', band, 'state', 'waiting')
redis.call('RPUSH', KEYS[4 + band], scan)
return 1
