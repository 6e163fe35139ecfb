import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupProblem } from './setup-problem.mjs';

const pollMs = 250;

/**
 * Runs `work` while no other set-up runs in this checkout. The lock is a file with its owner's process id; the lock of a dead owner is
 * taken over. `onWait` is called once with the owner that we wait for.
 * @template T @param {string} file @param {() => Promise<T>} work
 * @param {{ onWait: (owner: number) => void, timeoutMs?: number }} options @returns {Promise<T>}
 */
export async function withCheckoutLock(file, work, options) {
  mkdirSync(dirname(file), { recursive: true });
  await take(file, options.onWait, Date.now() + (options.timeoutMs ?? 30 * 60_000));
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** @param {string} file @param {(owner: number) => void} onWait @param {number} until */
async function take(file, onWait, until) {
  let announced = false;
  while (!tryToTake(file)) {
    const owner = ownerOf(file);
    if (owner === null) continue;
    if (!isAlive(owner)) setAside(file, owner);
    else if (Date.now() > until)
      throw new SetupProblem(`process ${owner} has been setting up this checkout for too long`, [
        `If it is not a set-up of Adsweep: rm ${file}`,
      ]);
    else {
      if (!announced) onWait(owner);
      announced = true;
      await delay(pollMs);
    }
  }
}

/** Creates the lock as a hard link, which appears atomically with the process id in it. @param {string} file */
function tryToTake(file) {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}

/** The process id in the lock; null if it has just been released. @param {string} file */
function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/** Moves a dead owner's lock away; puts it back if another waiter has meanwhile replaced it with its own. @param {string} file @param {number} deadOwner */
function setAside(file, deadOwner) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    if (ownerOf(aside) !== deadOwner) linkSync(aside, file);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(String(/** @type {NodeJS.ErrnoException} */ (error).code))) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
