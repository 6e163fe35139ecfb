import assert from 'node:assert/strict';
import type { Observation, ObservationKind, ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { detect } from '../../src/analysis/detectors/detect.ts';
import { type Evidence, NO_EVIDENCE } from '../../src/analysis/evidence/evidence.ts';

/** The page on which tests of detectors see something. */
export const PAGE = 'https://win.example/lp';
export const SOUND: ObservationOf<'autosound'>['facts'] = {
  via: 'play',
  muted: false,
  volume: 1,
  started: true,
  has_audio: true,
};

export const observed = <K extends ObservationKind>(
  kind: K,
  facts: ObservationOf<K>['facts'],
  landing = 0,
  url = PAGE,
): Observation => ({ kind, landing, url, facts }) as ObservationOf<K>;

export type Page = { title?: string; text?: string; html?: string; url?: string };
export const documentOf = ({ title = '', text = '', html = '', url = PAGE }: Page) => ({
  landing: 0,
  frame: '',
  url,
  title,
  text,
  html,
});

/** The tags of a page. Throws if a detector failed. */
export function slugsOf(page: Page, observations: Observation[] = [], more: Partial<Evidence> = {}): string[] {
  const { findings, failed } = detect({ ...NO_EVIDENCE, ...more, documents: [documentOf(page)], observations });
  assert.deepEqual(failed, []);
  return findings.map(({ tag_slug }) => tag_slug);
}
