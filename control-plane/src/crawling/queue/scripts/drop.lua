-- waiting or delayed -> nothing: its scans were cancelled.
-- KEYS  1 job  2 round-robin set (`ring`)  3 delayed  4 spent
-- ARGV  1 prefix of the shard's keys  2 job id
-- Reply 1 dropped, 0 there was no such job, or a node has it
local prefix, id = ARGV[1], ARGV[2]
local org, class, state = unpack(redis.call('HMGET', KEYS[1], 'org', 'band', 'state'))

if state == 'delayed' then
  redis.call('ZREM', KEYS[3], id)
elseif state == 'waiting' then
  local waiting = prefix .. 'waiting:'
  redis.call('ZREM', waiting .. class .. ':' .. org, id)
  redis.call('ZREM', waiting .. class, id)
  if not hasWaitingJobs(prefix, org) then
    local at = redis.call('ZSCORE', KEYS[2], org)
    redis.call('ZREM', KEYS[2], org)
    if at then
      redis.call('ZADD', KEYS[4], at, org)
      redis.call('PEXPIRE', KEYS[4], 3600000)
    end
    redis.call('DEL', prefix .. 'turns:' .. org)
  end
else
  return 0
end
redis.call('DEL', KEYS[1])
return 1
