/** Why the set-up cannot continue, as a message to the user; `lines`: what to do, or the output of the failed command. */
export class SetupProblem extends Error {
  /** @param {string} message @param {string[]} [lines] */
  constructor(message, lines = []) {
    super(message);
    this.lines = lines;
  }
}

/** A signal such as Ctrl-C arrived during the set-up. */
export class Interrupted extends Error {
  /** @param {NodeJS.Signals} signal */
  constructor(signal) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}
