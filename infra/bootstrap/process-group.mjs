/** A terminal, npm and a shell may each forward the same Ctrl-C to us; within this time they count as one. */
export const sameKeypressMs = 400;

/** Sends a signal to a process or, with a negative id, to a group; ignores that it has already ended. @param {number} pid @param {NodeJS.Signals} signal */
export function signalQuietly(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/** Sends SIGTERM to every process of a group, and SIGKILL to what is left after `graceMs`. @param {number} group @param {number} graceMs */
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
