-- Counts requests in a window of time; the first request starts the window.
-- KEYS: the counter. ARGV: length of a window in ms, number of requests, or of bytes.
-- Returns the number of requests in the window so far, and its remaining time in ms.
local requests = redis.call('INCRBY', KEYS[1], ARGV[2])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return { requests, redis.call('PTTL', KEYS[1]) }
