import type { DevTools, TargetSession } from './devtools.ts';

/** Questions of one capture, and scripts of one answer: a page may cause both without end. */
const [QUESTIONS_MAX, SCRIPTS_MAX] = [30, 20_000];

/**
 * The frames in which the scripts of a target run, by V8's ids of the scripts. A call stack names scripts by ids, which
 * no page can choose, and by URLs, which a page can.
 */
export class ScriptFrames {
  readonly #asked = new Map<TargetSession, Map<string, string>>();
  #questions = 0;

  constructor(devtools: DevTools) {
    devtools.on('Debugger.scriptParsed', ({ scriptId, executionContextAuxData }, session) => {
      const frames = this.#asked.get(session);
      const { frameId } = (executionContextAuxData ?? {}) as { frameId?: string };
      if (frames && frameId && frames.size < SCRIPTS_MAX) frames.set(scriptId, frameId);
    });
  }

  /**
   * The frames of the scripts that a target still has. V8 lists them when a debugger attaches to it, for no longer than
   * that: it does not stop at breakpoints. Empty where the target does not answer within `deadlineMs`, or was asked too
   * often.
   */
  async of(session: TargetSession, deadlineMs: number): Promise<ReadonlyMap<string, string>> {
    const known = this.#asked.get(session);
    if (known || this.#questions >= QUESTIONS_MAX) return known ?? new Map();
    this.#questions += 1;
    const frames = new Map<string, string>();
    this.#asked.set(session, frames);
    const enabling = session.send('Debugger.enable', undefined, deadlineMs);
    session.notify('Debugger.setSkipAllPauses', { skip: true });
    session.notify('Debugger.disable');
    // What was listed until the target was closed is still right.
    await enabling.catch(() => undefined);
    this.#asked.delete(session);
    return frames;
  }
}
