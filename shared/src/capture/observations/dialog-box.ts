import { Type } from 'typebox';
import { observationOf } from './observation-of.ts';

/** The most buttons of a box that are told. */
const BOX_BUTTONS_MAX = 5;

/** A box with buttons that a document itself draws in the middle or a corner of what is in view: what it says, and its buttons. */
export const DialogBoxObservation = observationOf('dialog_box', {
  text: Type.String({ maxLength: 600 }),
  buttons: Type.Array(Type.String({ maxLength: 60 }), { maxItems: BOX_BUTTONS_MAX }),
});
