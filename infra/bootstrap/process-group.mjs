/** A terminal, npm and a shell may each pass the same CTRL-C on to us; within this time they are one. */
export const sameKeypressMs = 400;

/** Sends a signal to a process or, with a negative id, to a group that may have ended in the meantime. @param {number} pid @param {NodeJS.Signals} signal */
export function signalQuietly(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/** Ends every process of a group: asks first, kills what is left after `graceMs`. @param {number} group @param {number} graceMs */
export async function endGroup(group, graceMs) {
  signalQuietly(-group, 'SIGTERM');
  const until = Date.now() + graceMs;
  while (groupIsAlive(group) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
  signalQuietly(-group, 'SIGKILL');
}

/** @param {number} group */
function groupIsAlive(group) {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}
