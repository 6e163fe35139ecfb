import { Interrupted } from './setup-problem.mjs';

/** One line per step on stderr: with running seconds on a terminal, otherwise a line at its start and at its end. */

const tickMs = 200;

/**
 * Runs one step and shows its progress. @template T
 * @param {string} label what is being done, such as "npm packages" @param {() => Promise<T>} work @returns {Promise<T>}
 */
export async function showStep(label, work) {
  const started = Date.now();
  const stopTicking = process.stderr.isTTY ? tick(label, started) : announce(label);
  try {
    const outcome = await work();
    stopTicking();
    say(`  done    ${label.padEnd(44)} ${seconds(started)}`);
    return outcome;
  } catch (error) {
    stopTicking();
    say(`  ${error instanceof Interrupted ? 'stopped' : 'FAILED '} ${label.padEnd(44)} ${seconds(started)}`);
    throw error;
  }
}

/** @param {string} line */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Seconds since an instant, such as "4.2 s". @param {number} started milliseconds since the epoch */
export function seconds(started) {
  return `${((Date.now() - started) / 1000).toFixed(1)} s`;
}

/** @param {string} label */
function announce(label) {
  say(`  ...     ${label}`);
  return () => {};
}

/** @param {string} label @param {number} started */
function tick(label, started) {
  const draw = () => process.stderr.write(`\r\x1b[2K  ...     ${label.padEnd(44)} ${seconds(started)}`);
  draw();
  const timer = setInterval(draw, tickMs);
  return () => {
    clearInterval(timer);
    process.stderr.write('\r\x1b[2K');
  };
}
