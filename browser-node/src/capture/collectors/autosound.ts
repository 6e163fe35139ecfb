import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { AUTOSOUND_CALLS } from '@adsweep/shared/capture/observations/interruption.ts';
import type { Page } from 'playwright-core';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { readMedia } from '../page-scripts/sound.ts';
import { ATTEMPTS_MAX, FRAMES_MAX } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { framesOf } from '../session/frames.ts';
import type { Landing } from '../session/landings.ts';
import type { Collector } from './collector.ts';

/** An attempt to play sound, over all of its samples. `volume` is that of the loudest sample that was not muted. */
export type Attempt = ObservationOf<'autosound'>['facts'];

/** Attempts to play sound without a click, as reported by the page scripts: the loudest of each tab. */
export const autosound: Collector = {
  name: 'autosound',
  start(capture) {
    const byPage = new Map<Page, Map<string, Attempt>>();
    capture.reports.on('sound', (page, [id, call, muted, volume, started, audio]) => {
      const via = AUTOSOUND_CALLS.find((known) => known === call);
      if (!id || !via || !(Number(volume) >= 0)) return;
      const attempts = byPage.get(page) ?? new Map<string, Attempt>();
      byPage.set(page, attempts);
      const moment = { via, muted: muted === 'true', volume: Number(volume), started: started === 'true' };
      keepLoudest(attempts, id, { ...moment, has_audio: audio === 'true' });
    });
    return async (draft) => {
      for (const landing of capture.landings.all) {
        const reported = [...(byPage.get(landing.page)?.values() ?? [])];
        const attempts = reported.some(isSound) ? reported : [...reported, ...(await audibleMedia(capture, landing))];
        const url = landing.tab.url;
        for (const facts of attempts) draft.observations.push({ kind: 'autosound', landing: landing.ord, url, facts });
      }
    };
  },
};

/** Audible media elements of a tab's documents, read from the DOM: used if the page scripts reported nothing audible. */
async function audibleMedia(capture: CaptureSession, { page, tab }: Landing): Promise<Attempt[]> {
  if (page.isClosed() || !tab.committed) return [];
  const frames = (await framesOf(capture, tab.session)).slice(0, FRAMES_MAX);
  const found = await Promise.all(
    frames.map(({ session, frameId }) =>
      // A frame that was removed is silent.
      evaluateInIsolatedWorld(session, frameId, readMedia, { max: ATTEMPTS_MAX }, COMMAND_MS).catch(() => []),
    ),
  );
  const attempts = found.flat().map(({ autoplay, volume, started }): Attempt => {
    return { via: autoplay ? 'autoplay' : 'play', muted: false, volume, started, has_audio: true };
  });
  return attempts.slice(0, ATTEMPTS_MAX);
}

/** Adds one sample of the attempt `id`. Beyond the limit a louder attempt replaces the quietest one. Pure except for `attempts`. */
export function keepLoudest(attempts: Map<string, Attempt>, id: string, moment: Attempt): void {
  const known = attempts.get(id);
  if (!known && attempts.size >= ATTEMPTS_MAX) {
    const [quietestId, quietest] = [...attempts].reduce((a, b) => (loudness(b[1]) < loudness(a[1]) ? b : a));
    if (loudness(quietest) >= loudness(moment)) return;
    attempts.delete(quietestId);
  }
  attempts.set(id, known ? joined(known, moment) : moment);
}

function joined(a: Attempt, b: Attempt): Attempt {
  const audible = [a, b].filter(({ muted }) => !muted);
  return {
    via: a.via,
    muted: audible.length === 0,
    volume: Math.max(...(audible.length > 0 ? audible : [a, b]).map(({ volume }) => volume)),
    started: a.started || b.started,
    has_audio: a.has_audio || b.has_audio,
  };
}

const isSound = ({ muted, volume, has_audio }: Attempt): boolean => !muted && volume > 0 && has_audio;

const loudness = ({ muted, volume, has_audio, started }: Attempt): number =>
  (!muted && volume > 0 ? 4 : 0) + (has_audio ? 2 : 0) + (started ? 1 : 0);
