-- waiting or delayed -> nothing: the scan was cancelled.
-- KEYS  1 job  2 ring  3 delayed
-- ARGV  1 prefix of the shard's keys  2 scan
-- Reply 1 dropped, 0 there was no such job, or a node has it
local prefix, scan = ARGV[1], ARGV[2]
local org, band, state = unpack(redis.call('HMGET', KEYS[1], 'org', 'band', 'state'))

if state == 'delayed' then
  redis.call('ZREM', KEYS[3], scan)
elseif state == 'waiting' then
  local waiting = prefix .. 'waiting:' .. org .. ':'
  redis.call('LREM', waiting .. band, 1, scan)
  if redis.call('LLEN', waiting .. 0) + redis.call('LLEN', waiting .. 1) == 0 then
    redis.call('LREM', KEYS[2], 1, org)
    redis.call('DEL', prefix .. 'turns:' .. org)
  end
else
  return 0
end
redis.call('DEL', KEYS[1])
return 1
