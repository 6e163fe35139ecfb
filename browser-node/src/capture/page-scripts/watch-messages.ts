import type { Natives } from './natives.ts';

/**
 * Runs in the page: reports that other windows send it more messages than it can be meant to handle, with the origin of
 * the one that sent the last. Each message waits in the memory of the page, so it reports at once; and again for as
 * long as it goes on.
 */
export function watchMessages({ listen, getter }: Natives, report: (origin: string) => void): void {
  const [MESSAGES_MAX, WITHIN_MS, REPORTS_MAX] = [5_000, 1_000, 20];
  const now = performance.now.bind(performance);
  const sourceOf = getter<unknown>(MessageEvent.prototype, 'source');
  const isTrusted = getter<boolean>(new MessageEvent('message'), 'isTrusted');
  const originOf = getter<string>(MessageEvent.prototype, 'origin');
  let [count, since, reports] = [0, now(), 0];
  const notice = (event: Event) => {
    // Libraries send messages to their own window instead of using timers; what a script dispatches has the origin that
    // it gives it.
    if (isTrusted(event) !== true || sourceOf(event) === window || ++count < MESSAGES_MAX) return;
    const at = now();
    if (at - since < WITHIN_MS && reports++ < REPORTS_MAX) report(`${originOf(event)}`);
    count = 0;
    since = at;
  };
  listen(window, 'message', notice, true);
}
