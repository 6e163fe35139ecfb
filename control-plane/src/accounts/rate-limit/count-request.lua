-- Counts a request in the window of its key; the first request of a window begins it.
-- KEYS: the counter. ARGV: the length of a window in ms.
-- Answers the requests of the window so far, and how many ms are left of it.
local requests = redis.call('INCR', KEYS[1])
if requests == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return { requests, redis.call('PTTL', KEYS[1]) }
