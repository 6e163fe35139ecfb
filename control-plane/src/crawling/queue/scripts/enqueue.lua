-- nothing -> waiting, or nothing -> delayed. A job that its queue does not know (any more) counts as nothing.
-- KEYS  1 job  2 ring  3 delayed  4 waiting:0:<org>  5 waiting:1:<org>  6 leased
-- ARGV  1 job id  2 organization  3 band (0, 1)  4 delay in ms
-- Reply 1 it is queued now, 0 this job was in its queue already
local id, org, delay = ARGV[1], ARGV[2], tonumber(ARGV[4])
local state, band = unpack(redis.call('HMGET', KEYS[1], 'state', 'band'))
local queues = { waiting = KEYS[4 + (band or 0)], delayed = KEYS[3], leased = KEYS[6] }

local isKnown = state and redis.call('ZSCORE', queues[state], id)
if isKnown and state ~= 'waiting' then return 0 end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not isKnown then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'org', org, 'band', ARGV[3], 'state', delay > 0 and 'delayed' or 'waiting')
end
if not isKnown and delay > 0 then
  redis.call('ZADD', KEYS[3], string.format('%.0f', now + delay), id)
  return 1
end
if not isKnown then redis.call('ZADD', KEYS[4 + ARGV[3]], string.format('%.0f', time[1] * 1000000 + time[2]), id) end
-- An organization stands in the ring once, as long as anything of it waits.
if not redis.call('LPOS', KEYS[2], org) then redis.call('RPUSH', KEYS[2], org) end
return isKnown and 0 or 1
