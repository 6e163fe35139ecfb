/** Why the set-up cannot go on, in words for the person at the terminal; `lines` say what to do or what was seen. */
export class SetupProblem extends Error {
  /** @param {string} message @param {string[]} [lines] */
  constructor(message, lines = []) {
    super(message);
    this.lines = lines;
  }
}

/** CTRL-C, or another polite request to stop, came while the set-up ran. */
export class Interrupted extends Error {
  /** @param {NodeJS.Signals} signal */
  constructor(signal) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}
