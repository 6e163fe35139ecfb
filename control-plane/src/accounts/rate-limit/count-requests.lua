-- Counts requests in the window of their key; the first request of a window begins it.
-- KEYS: the counter. ARGV: the length of a window in ms, how many requests.
-- Answers the requests of the window so far, and how many ms are left of it.
local requests = redis.call('INCRBY', KEYS[1], ARGV[2])
if requests == tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return { requests, redis.call('PTTL', KEYS[1]) }
