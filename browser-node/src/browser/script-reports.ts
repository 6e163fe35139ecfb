import { randomBytes } from 'node:crypto';
import {
  type Attached,
  addedCommand,
  type ProtocolFilter,
  type ProtocolMessage,
  WORKER_TYPES,
} from './cdp-messages.ts';

/**
 * Frames of the stack that Chromium adds to a request, a log entry and a console line. The default is 200, each with
 * the URL that the script claims to have: up to 1 MB for every frame.
 */
const STACK_FRAMES_MAX = 8;

/**
 * How our page scripts report to us: through a function that Chromium defines in every document, under a random name
 * that our scripts remove before those of the page run. A page's own console lines and errors are no reports, so all of
 * them can be dropped unread; workers, in which no script of ours reports, do not even send theirs. Playwright gets
 * reports as console lines, which it attributes to pages. Each begins with the id of the frame whose document reported
 * it, which only Chromium tells us, and `|`.
 */
export class ScriptReports implements ProtocolFilter {
  /** The name of the function. */
  readonly name = `_${randomBytes(16).toString('hex')}`;
  readonly #workers = new Set<string>();
  /** The frame of each JavaScript context, by session and context. */
  readonly #frames = new Map<string, Map<unknown, string>>();

  outgoing(message: ProtocolMessage): ProtocolMessage[] {
    const { method, sessionId = '' } = message;
    if (method !== 'Runtime.enable') return [message];
    // Chromium answers it as it does `Runtime.enable`.
    if (this.#workers.has(sessionId)) return [{ ...message, method: 'Runtime.disable' }];
    return [
      message,
      addedCommand(sessionId, { method: 'Runtime.setMaxCallStackSizeToCapture', params: { size: STACK_FRAMES_MAX } }),
      addedCommand(sessionId, { method: 'Runtime.addBinding', params: { name: this.name } }),
    ];
  }

  incoming(message: ProtocolMessage): boolean {
    const { method, params } = message;
    if (method === 'Target.attachedToTarget') this.#attached(params as Attached);
    else if (method === 'Target.detachedFromTarget') this.#detached(params?.sessionId as string);
    else if (method?.startsWith('Runtime.executionContext')) this.#noteContexts(message);
    else if (method === 'Runtime.bindingCalled' && params?.name === this.name) {
      const frameId = this.#frames.get(message.sessionId ?? '')?.get(params.executionContextId) ?? '';
      message.method = 'Runtime.consoleAPICalled';
      message.params = asConsoleLine(frameId, params);
    }
    return true;
  }

  #noteContexts({ method, params, sessionId = '' }: ProtocolMessage): void {
    const frames = this.#frames.get(sessionId) ?? new Map<unknown, string>();
    this.#frames.set(sessionId, frames);
    if (method === 'Runtime.executionContextsCleared') frames.clear();
    if (method === 'Runtime.executionContextDestroyed') frames.delete(params?.executionContextId);
    const { id, auxData } = (params?.context ?? {}) as Partial<Context>;
    if (auxData?.isDefault && auxData.frameId) frames.set(id, auxData.frameId);
  }

  #detached(sessionId: string): void {
    this.#workers.delete(sessionId);
    this.#frames.delete(sessionId);
  }

  #attached({ sessionId, targetInfo }: Attached): void {
    if (WORKER_TYPES.has(targetInfo.type)) this.#workers.add(sessionId);
  }
}

/** A JavaScript context as Chromium describes it; `isDefault`: it is the one in which the scripts of the page run. */
type Context = { id: number; auxData: { isDefault?: boolean; frameId?: string } };

const asConsoleLine = (
  frameId: string,
  { payload, executionContextId }: Record<string, unknown>,
): Record<string, unknown> => ({
  type: 'debug',
  args: [{ type: 'string', value: `${frameId}|${payload}` }],
  executionContextId,
  timestamp: Date.now(),
});
