import { Type } from 'typebox';
import { Count } from '../fields.ts';
import { observationOf } from './observation-of.ts';

/** The calls by which a page tries to play sound. */
export const AUTOSOUND_CALLS = ['play', 'autoplay', 'audio_context', 'speech'] as const;

/**
 * One attempt to play sound without a click, at its loudest: by which call, whether it was muted, its volume (1 = full,
 * above 1 = amplified), whether the browser let it start, and whether the media has an audio track. Of each tab the
 * loudest attempts are kept.
 */
export const AutosoundObservation = observationOf('autosound', {
  via: Type.Enum(AUTOSOUND_CALLS),
  muted: Type.Boolean(),
  volume: Type.Number({ minimum: 0 }),
  started: Type.Boolean(),
  has_audio: Type.Boolean(),
});

/**
 * JavaScript dialogs (alert, confirm, prompt), and print dialogs if there are several, that a tab opened without a
 * click; `beforeunload` dialogs do not count.
 */
export const DialogsObservation = observationOf('dialogs', { count: Count });

/** What a page can request of a visitor's device, or do to its clipboard, with one call. */
export const DEMANDS = [
  'vibration',
  'notifications',
  'push',
  'fullscreen',
  'clipboard_read',
  'clipboard_write',
] as const;
export type Demand = (typeof DEMANDS)[number];

/** When it was requested: without a click, or by a click on an empty area. */
const TRIGGERS = ['none', 'click_anywhere'] as const;

/** A page made such a call unprompted, whether or not the browser allowed it. Once per tab and kind. */
export const UnpromptedCallObservation = observationOf('unprompted_call', {
  demand: Type.Enum(DEMANDS),
  trigger: Type.Enum(TRIGGERS),
});
