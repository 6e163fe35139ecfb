import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';

/**
 * Landings that try to play sound on open (spec 2.5). An attempt counts although the browser blocked it; what is muted, has volume 0
 * or no audio track is not sound.
 */
export const autosound: Detector = { name: 'autosound', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const heard = observationsOf(observations, 'autosound').filter(isSound);
  if (heard.length === 0) return [];
  const detail = [...new Set(heard.map(describeAttempt))].join('; ');
  return [{ tag_slug: 'autosound', detail, url: '', surface: 'page' }];
}

function isSound({ facts }: ObservationOf<'autosound'>): boolean {
  return !facts.muted && facts.volume > 0 && facts.has_audio;
}

function describeAttempt({ landing, facts }: ObservationOf<'autosound'>): string {
  return `landing ${landing}: sound by ${facts.via}, ${facts.started ? 'it played' : 'the browser blocked it'}`;
}
