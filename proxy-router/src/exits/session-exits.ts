const SESSIONS_MAX = 50_000;

/** Which exit a session had last: it stays there while other exits fail and come back. Times are Unix milliseconds. */
export class SessionExits {
  readonly #exits = new Map<string, { exitId: string; expires: number }>();

  find(session: string, now: number): string | undefined {
    const known = this.#exits.get(session);
    return known && now < known.expires ? known.exitId : undefined;
  }

  remember(session: string, exitId: string, expires: number): void {
    this.#exits.delete(session);
    this.#exits.set(session, { exitId, expires });
    const [oldest] = this.#exits.keys();
    if (this.#exits.size > SESSIONS_MAX && oldest !== undefined) this.#exits.delete(oldest);
  }
}
