import type { CommandAnswer } from './devtools.ts';

/**
 * How far left and above its start all of a page goes, in CSS pixels: not 0 for one that is written from right to left
 * and wider than the view. Screenshots count from the left edge, scripts and boxes of elements from the start. Pure.
 */
export function pageStart({
  cssLayoutViewport: layout,
  cssVisualViewport: visual,
}: Pick<CommandAnswer<'Page.getLayoutMetrics'>, 'cssLayoutViewport' | 'cssVisualViewport'>): { x: number; y: number } {
  return { x: layout.pageX + visual.offsetX - visual.pageX, y: layout.pageY + visual.offsetY - visual.pageY };
}
