import { Count } from '../count.ts';
import { observationOf } from './observation-of.ts';

/** Dialogs (alert, confirm, prompt) that a tab showed without a click; one that is shown on leaving does not count. */
export const DialogsObservation = observationOf('dialogs', { count: Count });
