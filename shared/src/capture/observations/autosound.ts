import { Type } from 'typebox';
import { observationOf } from './observation-of.ts';

/** The calls by which a page tries to play sound. */
export const AUTOSOUND_CALLS = ['play', 'autoplay', 'audio_context'] as const;
export type AutosoundCall = (typeof AUTOSOUND_CALLS)[number];

/**
 * One attempt to play sound without a click, at its loudest: by which call, whether it was muted, its volume (1 = full, above 1 =
 * amplified), whether the browser let it start, and whether there is sound in it. Of each tab the loudest attempts are kept.
 */
export const AutosoundObservation = observationOf('autosound', {
  via: Type.Enum(AUTOSOUND_CALLS),
  muted: Type.Boolean(),
  volume: Type.Number({ minimum: 0 }),
  started: Type.Boolean(),
  has_audio: Type.Boolean(),
});
