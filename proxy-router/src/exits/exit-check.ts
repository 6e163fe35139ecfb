import type { ExitSession } from '../providers/exit.ts';
import { type ExitEvidence, NO_EVIDENCE, readEvidence } from './exit-evidence.ts';
import type { ExitSource } from './exit-source.ts';

const SESSIONS_MAX = 10_000;

/** The results of checking exits, once for each exit and session. `url` null: exits are not checked. */
export class ExitCheck {
  readonly #source: ExitSource;
  readonly #url: URL | null;
  readonly #known = new Map<string, Promise<ExitEvidence>>();

  constructor(source: ExitSource, url: string) {
    this.#source = source;
    this.#url = url === '' ? null : new URL(url);
  }

  /** Throws ConnectionFailure where the exit is at fault; it is asked again the next time then. */
  async evidenceOf(use: ExitSession): Promise<ExitEvidence> {
    if (this.#url === null) return NO_EVIDENCE;
    const key = `${use.exit.id}\n${use.session}`;
    const asked = this.#known.get(key) ?? readEvidence(this.#source, this.#url, use);
    this.#remember(key, asked);
    try {
      return await asked;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  #remember(key: string, asked: Promise<ExitEvidence>): void {
    this.#known.set(key, asked);
    const [oldest] = this.#known.keys();
    if (this.#known.size > SESSIONS_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}
