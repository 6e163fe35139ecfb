import type { Observation } from '@adsweep/shared/capture/observation.ts';
import type { Detector } from '../detector.ts';
import type { Evidence } from '../evidence.ts';
import type { Finding } from '../finding.ts';
import { textFact } from '../read-fact.ts';

/**
 * Landings that try to play sound on open (spec 2.5). An attempt counts although the browser blocked it; what is muted, has volume 0
 * or no audio track is not sound.
 */
export const autosound: Detector = { name: 'autosound', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const heard = observations.filter(({ kind }) => kind === 'autosound').filter(isSound);
  if (heard.length === 0) return [];
  const detail = [...new Set(heard.map(describeAttempt))].join('; ');
  return [{ tag_slug: 'autosound', detail, url: '', surface: 'page' }];
}

function isSound({ facts }: Observation): boolean {
  return facts.muted !== true && facts.volume !== 0 && facts.has_audio !== false;
}

function describeAttempt(observation: Observation): string {
  const via = textFact(observation, 'via') || 'unknown means';
  const started = observation.facts.started === true ? 'it played' : 'the browser blocked it';
  return `landing ${observation.landing}: sound by ${via}, ${started}`;
}
