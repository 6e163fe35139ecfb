import type { Observation, ObservationKind, ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { POPUP_URLS_MAX } from '@adsweep/shared/capture/observations/navigation.ts';
import { ATTEMPTS_MAX } from '../session/budgets.ts';
import { loudness } from './loudness.ts';

/**
 * What was recorded of one frame. `frameId`: CDP's id of the frame that is responsible for it, as Chromium reported it;
 * null: it is not known, so the page is. It is not uploaded.
 */
export type FramedObservation<K extends ObservationKind = ObservationKind> = ObservationOf<K> & {
  frameId: string | null;
};

/** What two frames did that counts as one; null: it does not, each is listed. */
type Joins = { [K in ObservationKind]?: (a: FactsOf<K>, b: FactsOf<K>) => FactsOf<K> | null };
type FactsOf<K extends ObservationKind> = ObservationOf<K>['facts'];

const COUNT_MAX = 1_000_000;
const sum = (a: number, b: number): number => Math.min(COUNT_MAX, a + b);

/** What is counted for a tab as a whole, by kind. */
const JOINS: Joins = {
  dialogs: (a, b) => ({ count: sum(a.count, b.count) }),
  popups: (a, b) => ({
    windows: sum(a.windows, b.windows),
    without_gesture: sum(a.without_gesture, b.without_gesture),
    urls: [...a.urls, ...b.urls].slice(0, POPUP_URLS_MAX),
  }),
  fingerprint: (a, b) => ({
    canvas_reads: sum(a.canvas_reads, b.canvas_reads),
    audio_renders: sum(a.audio_renders, b.audio_renders),
    fonts: sum(a.fonts, b.fonts),
  }),
  unprompted_call: (a, b) => (a.demand === b.demand && a.trigger === b.trigger ? a : null),
  main_thread: (a, b) => (a.busy_share >= b.busy_share ? a : b),
  worker_load: (a, b) => ({
    workers: sum(a.workers, b.workers),
    busy_share: Math.max(a.busy_share, b.busy_share),
    over_ms: Math.max(a.over_ms, b.over_ms),
    socket_url: a.socket_url || b.socket_url,
  }),
  invalid_certificate: (a, b) => (a.host === b.host ? a : null),
};

/**
 * The observations of one capture: what the frames of a tab did together is one where it is judged as a whole, such as
 * their dialogs. Pure; frames are left out.
 */
export function combineObservations(framed: readonly FramedObservation[]): Observation[] {
  const combined: Observation[] = [];
  for (const { frameId: _, ...observation } of framed) {
    const joined = combined.some((known, at) => {
      const facts = joinedFacts(known, observation);
      if (facts) combined[at] = { ...known, facts } as Observation;
      return facts !== null;
    });
    if (!joined) combined.push(observation);
  }
  return withLoudest(combined);
}

function joinedFacts(a: Observation, b: Observation): Observation['facts'] | null {
  if (a.kind !== b.kind || a.landing !== b.landing) return null;
  const join = JOINS[a.kind] as ((a: unknown, b: unknown) => Observation['facts'] | null) | undefined;
  return join?.(a.facts, b.facts) ?? null;
}

/** Of the sounds of each tab, the loudest. */
function withLoudest(all: Observation[]): Observation[] {
  const sounds = all.filter((one): one is ObservationOf<'autosound'> => one.kind === 'autosound');
  const kept = new Set<Observation>();
  for (const ofTab of Map.groupBy(sounds, ({ landing }) => landing).values())
    for (const one of ofTab.toSorted((a, b) => loudness(b.facts) - loudness(a.facts)).slice(0, ATTEMPTS_MAX))
      kept.add(one);
  return all.filter((one) => one.kind !== 'autosound' || kept.has(one));
}
