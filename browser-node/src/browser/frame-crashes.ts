import type { Attached, ProtocolFilter, ProtocolMessage } from './cdp-messages.ts';

type Frame = { targetId: string; parent: string | undefined };

/**
 * Tells Playwright that a frame of another site whose renderer crashed is gone: of a crash in any frame it believes
 * that the whole page crashed, which shows everything else as before.
 */
export class FrameCrashes implements ProtocolFilter {
  /** The frames by the sessions that they have, with the session around each. */
  readonly #frames = new Map<string, Frame>();

  incoming(message: ProtocolMessage): boolean {
    const { method, params, sessionId } = message;
    if (method === 'Target.attachedToTarget') this.#attached(params as Attached, sessionId);
    else if (method === 'Target.detachedFromTarget') this.#frames.delete(params?.sessionId as string);
    else if (method === 'Inspector.targetCrashed') this.#crashed(message);
    return true;
  }

  #attached({ sessionId, targetInfo: { targetId, type } }: Attached, parent: string | undefined): void {
    if (type === 'iframe') this.#frames.set(sessionId, { targetId, parent });
  }

  #crashed(message: ProtocolMessage): void {
    const { sessionId = '' } = message;
    const frame = this.#frames.get(sessionId);
    if (!frame) return;
    this.#frames.delete(sessionId);
    message.method = 'Target.detachedFromTarget';
    message.params = { sessionId, targetId: frame.targetId };
    if (frame.parent === undefined) delete message.sessionId;
    else message.sessionId = frame.parent;
  }
}
