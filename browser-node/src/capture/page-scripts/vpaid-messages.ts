/** An event of a VPAID ad; `atMs` as Unix time. */
export type VpaidMessage = { event: string; values: string[]; atMs: number };

/**
 * Runs in the page, in a world of its own: takes down what the frame of a VPAID ad tells, and answers what came since it was last asked.
 * With `stop` it has the ad stopped.
 */
export function vpaidMessages({ token, stop }: { token: string; stop: boolean }): VpaidMessage[] {
  const MESSAGES_MAX = 500;
  const store = globalThis as { adsweepVpaid?: { waiting: VpaidMessage[]; count: number } };
  if (!store.adsweepVpaid) {
    const kept: { waiting: VpaidMessage[]; count: number } = { waiting: [], count: 0 };
    store.adsweepVpaid = kept;
    addEventListener('message', ({ data }) => {
      if (data?.token !== token || typeof data.event !== 'string' || kept.count++ >= MESSAGES_MAX) return;
      const values = Array.isArray(data.values)
        ? data.values.slice(0, 5).map((one: unknown) => String(one).slice(0, 2_000))
        : [];
      kept.waiting.push({ event: data.event.slice(0, 100), values, atMs: Date.now() });
    });
  }
  if (stop)
    for (const frame of Array.from(document.querySelectorAll('iframe')))
      frame.contentWindow?.postMessage({ token, command: 'stop' }, '*');
  return store.adsweepVpaid.waiting.splice(0);
}
