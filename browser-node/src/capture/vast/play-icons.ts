import { parseOffset } from '@adsweep/shared/vast/clock.ts';
import type { VastIcon } from '@adsweep/shared/vast/vast-document.ts';
import type { ShownResource } from '../page-scripts/video-player.ts';
import { isAbout, type Playhead } from './ad-trackers.ts';
import { resourceOf, resourceState, type ShowingParts } from './show-display.ts';
import type { Logged, Moment, TrackerLog } from './tracker-log.ts';

/** The most icons of one video that are shown. */
const ICONS_MAX = 10;
/** Width and height of an icon that declares none, in CSS pixels. */
const SIDE = 20;

type Size = { width: number; height: number };
/** An icon; its URLs are relative to `base`. */
export type IconToShow = { icon: VastIcon; base: string };
type Resource = Omit<ShownResource, 'id'>;
type Shown = IconToShow & {
  shown: { id: string; resource: Resource } | null;
  isViewReported: boolean;
  isOver: boolean;
};
type Parts = ShowingParts & { log: TrackerLog; size: Size };

/**
 * The icons over a video: each is shown from its offset on, for its duration, and its view is reported once it has
 * loaded (VAST 4.3, 3.11). Clicks go through them to the ad, whose landing is wanted.
 */
export class IconOverlay {
  readonly #parts: Parts;
  readonly #ad: number;
  readonly #icons: Shown[];

  constructor(parts: Parts, ad: number, icons: readonly IconToShow[]) {
    this.#parts = parts;
    this.#ad = ad;
    this.#icons = icons
      .slice(0, ICONS_MAX)
      .map((one) => ({ ...one, shown: null, isViewReported: false, isOver: false }));
  }

  /** Shows, reports and removes the icons that are due at this point of the video. */
  async update(at: Playhead, assetUrl: string): Promise<void> {
    for (const one of this.#icons.filter(({ isOver }) => !isOver)) {
      const { from, until } = spanOf(one.icon, at.durationMs);
      if (!one.shown && at.ms >= from) await this.#show(one);
      else if (one.shown) await this.#follow(one, at.ms >= until, { playheadMs: at.ms, assetUrl });
    }
  }

  async #show(one: Shown): Promise<void> {
    const form = resourceOf(one.icon, one.base);
    const resource = form && { ...form, ...positionOf(one.icon, this.#parts.size) };
    if (resource) one.shown = { id: await this.#parts.page.show(resource), resource };
    else one.isOver = true;
  }

  async #follow(one: Shown, isOver: boolean, moment: Moment): Promise<void> {
    const { id, resource } = one.shown!;
    if (!one.isViewReported && (await resourceState(this.#parts, id, resource)) === 'loaded') {
      one.isViewReported = true;
      const isDue = (tracker: Logged) =>
        tracker.part === 'icon' && tracker.event === 'iconView' && isAbout(tracker, one.icon);
      await this.#parts.log.fire(this.#ad, isDue, moment);
    }
    one.isOver = isOver;
    if (isOver) await this.#parts.page.remove([id]);
  }
}

/** When an icon is shown, in ms of the video. */
function spanOf({ offset, duration }: VastIcon, durationMs: number): { from: number; until: number } {
  const from = parseOffset(offset ?? '', durationMs) ?? 0;
  const ms = parseOffset(duration ?? '', durationMs);
  return { from, until: ms === null ? Number.POSITIVE_INFINITY : from + ms };
}

/**
 * The size and position of an icon over a player, as CSS; an icon that would be outside the player is at its edge.
 * Pure.
 */
export function positionOf(
  { width, height, xPosition, yPosition }: Pick<VastIcon, 'width' | 'height' | 'xPosition' | 'yPosition'>,
  player: Size,
): Size & { over: string } {
  const size = { width: Math.min(width || SIDE, player.width), height: Math.min(height || SIDE, player.height) };
  const edge = (position: string, far: 'right' | 'bottom', near: 'left' | 'top', max: number) =>
    position.toLowerCase() === far ? `${far}:0` : `${near}:${Math.min(Math.max(0, Number(position) || 0), max)}px`;
  const x = edge(xPosition, 'right', 'left', player.width - size.width);
  const y = edge(yPosition, 'bottom', 'top', player.height - size.height);
  return { ...size, over: `${x};${y};pointer-events:none` };
}
