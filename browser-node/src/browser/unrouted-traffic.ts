import type { ProtocolFilter, ProtocolMessage } from './cdp-messages.ts';

/**
 * Keeps from Playwright the network traffic of targets whose requests it does not route: it makes objects of every
 * request, which the node does not use. It is the last filter, because the others read the traffic.
 */
export class UnroutedTraffic implements ProtocolFilter {
  readonly #lineOf: (sessionId: string) => string[];
  readonly #routes: (sessionId: string) => boolean;

  /**
   * `lineOf`: a session and those around it; none where it is not the one that Playwright has with a target, but a
   * further one.
   */
  constructor(lineOf: (sessionId: string) => string[], routes: (sessionId: string) => boolean) {
    this.#lineOf = lineOf;
    this.#routes = routes;
  }

  /** The requests of a worker are paused in the session of its page, and reported in its own. */
  incoming({ method, sessionId = '' }: ProtocolMessage): boolean {
    if (!method?.startsWith('Network.')) return true;
    const line = this.#lineOf(sessionId);
    return line.length === 0 || line.some((one) => this.#routes(one));
  }
}
