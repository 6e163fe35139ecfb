-- Stores the cap on an organization's leases, and adds the organization to the round-robin set if it has left it at a smaller cap.
-- KEYS  1 round-robin set (`ring`)  2 clock  3 caps
-- ARGV  1 prefix of the shard's keys  2 organization  3 cap ('': none)
-- Reply 1 more of its jobs can be leased now, 0 nothing changed for waiting jobs
local org, cap = ARGV[2], ARGV[3]
if (redis.call('HGET', KEYS[3], org) or '') == cap then return 0 end

if cap == '' then redis.call('HDEL', KEYS[3], org) else redis.call('HSET', KEYS[3], org, cap) end
if not hasWaitingJobs(ARGV[1], org) then return 0 end
return redis.call('ZADD', KEYS[1], 'NX', redis.call('GET', KEYS[2]) or '0', org)
