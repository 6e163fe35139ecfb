import { Type } from 'typebox';
import { Count } from '../count.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

const Pixels = Type.Integer({ minimum: -10_000_000, maximum: 10_000_000 });

/**
 * Where a frame or picture with something to see stands in a tab's page, in CSS pixels from the page's top left corner, how much of it
 * shines through (0 to 1), and how large what it holds is: the largest picture, film, drawing or frame in it. `parent`: the same number
 * for frames that stand in the same document. Of pictures, only those are told that are shown far smaller than they are.
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
});
