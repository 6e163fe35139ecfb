import type { Capture } from './capture.ts';

/** A capture in which nothing was seen. `started_at` is ISO 8601, `elapsed_ms` in ms. */
export const emptyCapture = (about: Pick<Capture, 'started_at' | 'elapsed_ms' | 'browser'>): Capture => ({
  ...about,
  exit: null,
  traffic: null,
  landings: [],
  requests: [],
  observations: [],
  artifacts: [],
  notes: [],
});
