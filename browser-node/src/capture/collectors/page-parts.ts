import { MONEY } from '@adsweep/shared/capture/money.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import { FORM_FIELDS, type FormField } from '@adsweep/shared/capture/observations/content.ts';
import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { type PageParts, readParts } from '../page-scripts/read-parts.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import { type FrameAt, readFrames } from '../session/frames.ts';
import { clipUrl } from '../session/urls.ts';
import type { Collector } from './collector.ts';
import type { FramedObservation } from './framed-observations.ts';

/** Limits per document. */
const LIMITS = {
  nodes: 20_000,
  forms: 3,
  boxes: 3,
  prices: 6,
  preselected: 3,
  url: CAPTURE_URL_LENGTH_MAX,
  money: MONEY.source,
};
/** Observations of this collector per capture, so that others fit in too. */
const PARTS_MAX = 60;

/** The forms, dialog-like boxes, prices and preselected checkboxes of landings. */
export const pageParts: Collector = {
  name: 'page_parts',
  start: (capture) => async (draft) => {
    let left = PARTS_MAX;
    for (const { ord, tab } of capture.landings.shown()) {
      const reading = { script: readParts, argument: LIMITS, deadlineMs: underLoad(capture, ANSWER_MS) };
      // The documents' collector notes how many are left out of the same frames.
      const { read, unread } = await readFrames(capture, tab.session, reading);
      if (unread > 0) capture.notes.push(note('forms', { landing: ord, count: unread }));
      const seen = read.flatMap(({ at, result }) => (result ? observationsOfParts(result, ord, at) : []));
      draft.observations.push(...seen.slice(0, left));
      if (seen.length > left)
        capture.notes.push(note('observations', { count: seen.length - left, collector: 'page_parts' }));
      left = Math.max(0, left - seen.length);
    }
  },
};

/** The observations of one document. Pure. */
function observationsOfParts(
  { forms, boxes, prices, preselected }: PageParts,
  landing: number,
  at: FrameAt,
): FramedObservation[] {
  const of = { landing, url: clipUrl(at.url), frameId: at.frameId };
  const clean = (text: string) => text.toWellFormed();
  return [
    ...forms.map(({ fields, action_url, text }): FramedObservation => {
      const known = fields.filter((field): field is FormField => FORM_FIELDS.includes(field as FormField));
      return { ...of, kind: 'form', facts: { fields: known, action_url: clean(action_url), text: clean(text) } };
    }),
    ...boxes.map(
      ({ text, buttons }): FramedObservation => ({
        ...of,
        kind: 'dialog_box',
        facts: { text: clean(text), buttons: buttons.map(clean) },
      }),
    ),
    ...preselected.map((label): FramedObservation => ({ ...of, kind: 'preselected', facts: { label: clean(label) } })),
    ...prices.map(
      (price): FramedObservation => ({ ...of, kind: 'price', facts: { ...price, text: clean(price.text) } }),
    ),
  ];
}
