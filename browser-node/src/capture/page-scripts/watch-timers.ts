import type { Natives } from './natives.ts';

/**
 * - `navigates`: a timer of the tab's own document whose source contains a navigation; `ms`: when it is due.
 * - `pending`, `pending_in_frame`: the last timer that the tab's document, or a frame of its origin, waits for, or a frame of another origin;
 *   `ms`: when that is due, 0 = it waits for none any more.
 */
export type TimerSubject = 'navigates' | 'pending' | 'pending_in_frame';

/**
 * Runs in the page: reports timers of more than a second, whatever function they run: a page may call its navigation by any other name. For
 * shorter ones a call costs no more than a comparison. Intervals do not count, unless their source counts down.
 */
export function watchTimers(
  { precede, sourceOf }: Natives,
  report: (subject: 'navigates' | 'pending' | 'pending_in_frame', ms: number) => void,
): void {
  const [DELAY_MIN, DELAY_MAX, COUNTDOWN_MS, REPORTS_MAX] = [1_000, 7_900, 7_900, 20];
  const [PENDING_MAX, PENDING_REPORTS_MAX] = [50, 40];
  const NAVIGATES =
    /\blocation\s*(=[^=]|\.\s*(href|search|pathname)\s*=[^=]|\[|\.\s*(assign|replace|reload)\b)|\.\s*(submit|click)\s*\(\s*\)|\bwindow\s*\.\s*open\b|\bnavigation\s*\.\s*navigate\b/;
  const COUNTS_DOWN = /--|-=|[<>]=?\s*[01]\b|===?\s*0\b/;
  const matches = (pattern: RegExp) =>
    Function.prototype.call.bind(RegExp.prototype.exec, pattern) as (text: string) => unknown;
  const [navigates, countsDown] = [matches(NAVIGATES), matches(COUNTS_DOWN)];
  const isTop = window.parent === window;
  const hasOriginOfTop = () => {
    try {
      return Boolean(window.top?.document);
    } catch {
      return false;
    }
  };
  const subject = isTop || hasOriginOfTop() ? 'pending' : 'pending_in_frame';
  const now = performance.now.bind(performance);
  const ownValue = Object.getOwnPropertyDescriptor;
  let reports = 0;
  const announce = (ms: number) => {
    if (isTop && reports++ < REPORTS_MAX) report('navigates', ms);
  };

  // Filled, so that no accessor of the page on `Array.prototype` is called.
  const ids: unknown[] = new Array(PENDING_MAX).fill(null);
  const dueAt: number[] = new Array(PENDING_MAX).fill(0);
  let next = 0;
  let reportedAt = 0;
  let pendingReports = 0;
  const reportPending = () => {
    let last = 0;
    for (let index = 0; index < PENDING_MAX; index++)
      if ((dueAt[index] as number) > last) last = dueAt[index] as number;
    if (last === reportedAt || pendingReports++ >= PENDING_REPORTS_MAX) return;
    reportedAt = last;
    const ms = last - now();
    report(subject, ms > 0 ? ms : 0);
  };
  const pending = (id: unknown, ms: number) => {
    ids[next] = id;
    dueAt[next] = now() + ms;
    next = (next + 1) % PENDING_MAX;
    reportPending();
  };
  const isLong = (ms: number) => ms > DELAY_MIN && ms <= DELAY_MAX;
  const cleared = (_: unknown, id: unknown) => {
    if (typeof id !== 'number') return;
    for (let index = 0; index < PENDING_MAX; index++) {
      if (ids[index] !== id || dueAt[index] === 0) continue;
      dueAt[index] = 0;
      reportPending();
    }
  };

  const msOf = (delay: unknown) => (typeof delay === 'number' || typeof delay === 'string' ? +delay : 0);
  precede(
    window,
    'setTimeout',
    (_, script, delay) => isLong(msOf(delay)) && navigates(sourceOf(script)) && announce(msOf(delay)),
    (id, _, delay) => isLong(msOf(delay)) && pending(id, msOf(delay)),
  );
  const isCountdown = (script: unknown, delay: unknown) => {
    const ms = msOf(delay);
    return ms >= DELAY_MIN / 4 && ms <= DELAY_MAX && countsDown(sourceOf(script));
  };
  precede(
    window,
    'setInterval',
    (_, script, delay) => isCountdown(script, delay) && navigates(sourceOf(script)) && announce(COUNTDOWN_MS),
    (id, script, delay) => isCountdown(script, delay) && pending(id, COUNTDOWN_MS),
  );
  for (const name of ['clearTimeout', 'clearInterval']) precede(window, name, cleared);
  precede(AbortSignal, 'timeout', (_, ms) => isLong(msOf(ms)) && pending(null, msOf(ms)));
  const { Scheduler: scheduler } = window as { Scheduler?: { prototype: object } };
  const taskDue = (options: unknown) => {
    const delay = typeof options === 'object' && options !== null ? ownValue(options, 'delay')?.value : undefined;
    if (isLong(msOf(delay))) pending(null, msOf(delay));
  };
  if (scheduler) precede(scheduler.prototype, 'postTask', (_, __, options) => taskDue(options));
}
