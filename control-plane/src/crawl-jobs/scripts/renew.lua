-- leased -> leased, with a new deadline.
-- KEYS  1 job  2 leased
-- ARGV  1 scan  2 fence  3 lease in ms
-- Reply 1 renewed, 0 this fence does not hold the job here
local scan, fence, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local state, holder = unpack(redis.call('HMGET', KEYS[1], 'state', 'fence'))

if state ~= 'leased' or holder ~= fence then return 0 end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], string.format('%.0f', now + lease), scan)
return 1
