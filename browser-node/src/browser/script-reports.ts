import { randomBytes } from 'node:crypto';
import { addedCommand, type ProtocolFilter, type ProtocolMessage } from './cdp-messages.ts';

const WORKERS = new Set(['worker', 'shared_worker', 'service_worker']);
/**
 * Frames of the stack that Chromium adds to a request, a log entry and a console line. The default is 200, each with the URL that the script
 * claims to have: up to 1 MB for every frame.
 */
const STACK_FRAMES_MAX = 8;

/**
 * How our page scripts report to us: through a function that Chromium defines in every document, under a random name that our scripts remove
 * before those of the page run. A page's own console lines and errors are no reports, so all of them can be dropped unread; workers, in
 * which no script of ours reports, do not even send theirs. Playwright gets reports as console lines, which it attributes to pages.
 */
export class ScriptReports implements ProtocolFilter {
  /** The name of the function. */
  readonly name = `_${randomBytes(16).toString('hex')}`;
  readonly #workers = new Set<string>();

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
    else if (method === 'Target.detachedFromTarget') this.#workers.delete(params?.sessionId as string);
    else if (method === 'Runtime.bindingCalled' && params?.name === this.name) {
      message.method = 'Runtime.consoleAPICalled';
      message.params = asConsoleLine(params);
    }
    return true;
  }

  #attached({ sessionId, targetInfo }: Attached): void {
    if (WORKERS.has(targetInfo.type)) this.#workers.add(sessionId);
  }
}

type Attached = { sessionId: string; targetInfo: { type: string } };

const asConsoleLine = ({ payload, executionContextId }: Record<string, unknown>): Record<string, unknown> => ({
  type: 'debug',
  args: [{ type: 'string', value: payload }],
  executionContextId,
  timestamp: Date.now(),
});
