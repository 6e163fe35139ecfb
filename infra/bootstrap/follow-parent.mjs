/**
 * Loaded before a verb's program: when the bootstrap that started it is killed, the channel between them closes and the
 * program stops as if asked to. Without this, a killed `npm start` would leave a farm running.
 */
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
