import type { Natives } from './natives.ts';

/**
 * - `navigates`: a timer of the tab's own document whose source contains a navigation; `ms`: when it is due.
 * - `pending`, `pending_in_frame`: the last timer that the tab's document, or a frame of its origin, waits for, or a
 * frame of another origin;
 *   `ms`: when that is due, 0 = it waits for none any more.
 */
export type TimerSubject = 'navigates' | 'pending' | 'pending_in_frame';

/**
 * Runs in the page: reports timers of more than a second, whatever function they run: a page may call its navigation by
 * any other name. For shorter ones a call costs no more than a comparison. Intervals do not count, unless their source
 * counts down.
 */
export function watchTimers(
  { precede, ownValue, sourceOf }: Natives,
  report: (subject: 'navigates' | 'pending' | 'pending_in_frame', ms: number) => void,
): void {
  const [DELAY_MIN, DELAY_MAX, COUNTDOWN_MS, REPORTS_MAX] = [1_000, 7_900, 7_900, 20];
  const [PENDING_MAX, PENDING_REPORTS_MAX] = [50, 40];
  // Tokens, with any white space between them. No regular expressions: one that matches changes `RegExp.lastMatch`.
  const tokens = (use: string) => use.split(' ');
  const OF_LOCATION = ['=', '[', '. href =', '. search =', '. pathname =', '. assign', '. replace', '. reload'];
  const NAVIGATES = [
    ...OF_LOCATION.map((use) => tokens(`location ${use}`)),
    ...['. submit ( )', '. click ( )', 'window . open', 'navigation . navigate'].map(tokens),
  ];
  const LEFT = ['< 0', '< 1', '<= 0', '<= 1', '> 0', '> 1', '>= 0', '>= 1', '== 0'];
  const COUNTS_DOWN = ['--', '-=', ...LEFT].map(tokens);
  const SPACES =
    ' \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
  const { call } = Function.prototype;
  const indexOf = call.bind(String.prototype.indexOf) as (text: string, part: string, from?: number) => number;
  const startsWith = call.bind(String.prototype.startsWith) as (text: string, part: string, at: number) => boolean;
  const charAt = call.bind(String.prototype.charAt) as (text: string, at: number) => string;
  const codeAt = call.bind(String.prototype.charCodeAt) as unknown as (text: string, at: number) => number;
  /** Whether a letter, digit or `_` is there. */
  const isWord = (source: string, at: number): boolean => {
    const code = codeAt(source, at);
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
  };
  /** The offset after a token, -1: it is not there, or is the beginning of a longer one. */
  const endOf = (source: string, at: number, token: string): number => {
    if (!startsWith(source, token, at)) return -1;
    const end = at + token.length;
    const goesOn = token === '=' ? startsWith(source, token, end) : isWord(source, end - 1) && isWord(source, end);
    return goesOn ? -1 : end;
  };
  const hasUse = (source: string, use: string[]): boolean => {
    // Most sources lack a token, which is found out fast.
    for (let token = 0; token < use.length; token++) if (indexOf(source, use[token] as string) < 0) return false;
    const first = use[0] as string;
    for (let from = indexOf(source, first); from >= 0; from = indexOf(source, first, from + 1)) {
      if (isWord(source, from) && isWord(source, from - 1)) continue;
      let at = endOf(source, from, first);
      for (let token = 1; token < use.length && at >= 0; token++) {
        while (at < source.length && indexOf(SPACES, charAt(source, at)) >= 0) at++;
        at = endOf(source, at, use[token] as string);
      }
      if (at >= 0) return true;
    }
    return false;
  };
  const hasAny = (source: string, uses: string[][]): boolean => {
    for (let at = 0; at < uses.length; at++) if (hasUse(source, uses[at] as string[])) return true;
    return false;
  };
  const isTop = window.parent === window;
  const navigates = (script: unknown) => isTop && hasAny(sourceOf(script), NAVIGATES);
  const hasOriginOfTop = () => {
    try {
      return Boolean(window.top?.document);
    } catch {
      return false;
    }
  };
  const subject = isTop || hasOriginOfTop() ? 'pending' : 'pending_in_frame';
  const now = performance.now.bind(performance);
  let reports = 0;
  const announce = (ms: number) => {
    if (reports++ < REPORTS_MAX) report('navigates', ms);
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
    (_, script, delay) => isLong(msOf(delay)) && navigates(script) && announce(msOf(delay)),
    (id, _, delay) => isLong(msOf(delay)) && pending(id, msOf(delay)),
  );
  const isCountdown = (script: unknown, delay: unknown) => {
    const ms = msOf(delay);
    return ms >= DELAY_MIN / 4 && ms <= DELAY_MAX && hasAny(sourceOf(script), COUNTS_DOWN);
  };
  precede(
    window,
    'setInterval',
    (_, script, delay) => isCountdown(script, delay) && navigates(script) && announce(COUNTDOWN_MS),
    (id, script, delay) => isCountdown(script, delay) && pending(id, COUNTDOWN_MS),
  );
  for (const name of ['clearTimeout', 'clearInterval']) precede(window, name, cleared);
  precede(AbortSignal, 'timeout', (_, ms) => isLong(msOf(ms)) && pending(null, msOf(ms)));
  const { Scheduler: scheduler } = window as { Scheduler?: { prototype: object } };
  const taskDue = (options: unknown) => {
    const delay = typeof options === 'object' && options !== null ? ownValue(options, 'delay') : undefined;
    if (isLong(msOf(delay))) pending(null, msOf(delay));
  };
  if (scheduler) precede(scheduler.prototype, 'postTask', (_, __, options) => taskDue(options));
}
