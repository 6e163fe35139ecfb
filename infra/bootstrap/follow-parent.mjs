/**
 * Preloaded into a verb's program: when the bootstrap is killed, the IPC channel closes and the program stops as on SIGTERM. Otherwise a
 * killed `npm start` would leave a farm running.
 */
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
