import { Type } from 'typebox';
import { Count } from '../fields.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

/**
 * The sensitive values that a form can ask for. `identifier`: the name of an account, for which sign-in pages ask
 * before the password.
 */
export const FORM_FIELDS = [
  'password',
  'card_number',
  'card_code',
  'one_time_code',
  'seed_phrase',
  'personal_id',
  'phone',
  'identifier',
] as const;
export type FormField = (typeof FORM_FIELDS)[number];

/**
 * A visible form of the document at `url`, or fields outside any form: what it asks for, the URL it is submitted to (''
 * = by a script, or none), and its text.
 */
export const FormObservation = observationOf('form', {
  fields: Type.Array(Type.Enum(FORM_FIELDS), { maxItems: FORM_FIELDS.length }),
  action_url: ObservedUrl,
  text: Type.String({ maxLength: 500 }),
});

/** The most buttons that are kept of a box. */
const BOX_BUTTONS_MAX = 5;

/** A box with buttons that a document draws in the middle or a corner of the viewport: its text and its buttons. */
export const DialogBoxObservation = observationOf('dialog_box', {
  text: Type.String({ maxLength: 600 }),
  buttons: Type.Array(Type.String({ maxLength: 60 }), { maxItems: BOX_BUTTONS_MAX }),
});

/**
 * An amount of money in a document, with the words around it, and how it is shown: its font size in CSS pixels, the
 * contrast of its colour with the background (WCAG 2.2, 1 to 21; 21 over an image), and whether it is inside the page's
 * area. One that is shown later, on scrolling or in a menu beside the page, is none.
 */
export const PriceObservation = observationOf('price', {
  text: Type.String({ maxLength: 300 }),
  font_px: Type.Number({ minimum: 0, maximum: 10_000 }),
  contrast: Type.Number({ minimum: 1, maximum: 21 }),
  in_page: Type.Boolean(),
});

/** A visible checkbox that was ticked before the visitor did anything, by its label. */
export const PreselectedObservation = observationOf('preselected', { label: Type.String({ maxLength: 300 }) });

const Pixels = Type.Integer({ minimum: -10_000_000, maximum: 10_000_000 });

/**
 * Where a frame or image with content is in a tab's page, in CSS pixels from the page's top left corner (for a frame of
 * a page that is read from right to left: from the top right one, to the left), its effective opacity (0 to 1), and the
 * size of its content: the largest image, video, canvas or frame in it. Frames in the same document have the same
 * `parent`. `is_fixed`: it stays where it is on the screen when the page is scrolled; absent: no. Only images that are
 * shown far smaller than they are are recorded.
 */
export const PlacementObservation = observationOf('placement', {
  element: Type.Enum(['frame', 'image']),
  parent: Count,
  x: Pixels,
  y: Pixels,
  width: Count,
  height: Count,
  opacity: Type.Number({ minimum: 0, maximum: 1 }),
  content_width: Count,
  content_height: Count,
  content_url: ObservedUrl,
  is_fixed: Type.Optional(Type.Boolean()),
});

/**
 * Everything that looks clickable on a creative was clicked once, until a click opened nothing (spec 2.5). `clicked`:
 * how many; `inert`: the one that opened nothing, such as `button#next`, '' = all of them opened something.
 */
export const CreativeInteractiveObservation = observationOf('creative_interactive', {
  clicked: Count,
  inert: Type.String({ maxLength: 200 }),
});
