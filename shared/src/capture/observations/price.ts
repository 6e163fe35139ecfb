import { Type } from 'typebox';
import { observationOf } from './observation-of.ts';

/**
 * An amount of money that a document names, with the words around it, and how it is shown: the height of its letters in CSS pixels, the
 * contrast of their colour with what is behind (WCAG 2.2, 1 to 21; 21 where a picture is behind), and whether it is in the page at all
 * and not beside it.
 */
export const PriceObservation = observationOf('price', {
  text: Type.String({ maxLength: 300 }),
  font_px: Type.Number({ minimum: 0, maximum: 10_000 }),
  contrast: Type.Number({ minimum: 1, maximum: 21 }),
  in_page: Type.Boolean(),
});
