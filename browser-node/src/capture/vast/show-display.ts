import type { VastDisplay, VastResource } from '@adsweep/shared/vast/vast-document.ts';
import type { ResourceState, ShownResource } from '../page-scripts/video-player.ts';
import type { NetworkJournal } from '../session/network-journal.ts';
import { isOfServer } from '../session/urls.ts';
import type { PlayerPage } from './player-page.ts';
import { lastResponse } from './requests-by-url.ts';
import { absolute } from './wrapper-chain.ts';

/** Time for resources to load and render, and for those that are still loading then. */
const DRAW_MS = 1_500;
const LATE_MS = 4_000;
const POLL_MS = 100;
const SIDE_MAX = 2_000;
const DEFAULT_SIZE = { width: 300, height: 250 };
const SCRIPT = /javascript|flash/i;

/** The position of an overlay over the video, as CSS: in the middle, at the bottom. */
export const OVER_THE_VIDEO = 'left:0;right:0;bottom:0;margin:auto';

export type ShowingParts = { page: PlayerPage; journal: Pick<NetworkJournal, 'entries'> };

/**
 * A display ad that was shown, as the resource with this id; `isLoaded`: whether its resource loaded; `picture` null =
 * no screenshot could be taken.
 */
export type Shown = {
  id: string;
  display: VastDisplay;
  form: ShownResource['form'];
  width: number;
  height: number;
  isLoaded: boolean;
  picture: Buffer | null;
};

/** The form of a display ad that a page can show: an image, a frame or HTML. */
export const shownForm = ({ resources }: Pick<VastDisplay, 'resources'>): VastResource | undefined =>
  resources.find(({ value, creativeType }) => value !== '' && !SCRIPT.test(creativeType));

/** The form of a display ad as a page shows it, with an absolute URL; null where there is none. */
export function resourceOf(
  display: Pick<VastDisplay, 'resources'>,
  base: string,
): Pick<ShownResource, 'form' | 'value'> | null {
  const resource = shownForm(display);
  if (!resource) return null;
  const { form } = resource;
  const value = form === 'html' ? resource.value : absolute(resource.value, base);
  return form === 'html' || isOfServer(value) ? { form, value } : null;
}

/** The script of a nonlinear VPAID ad. */
export const vpaidScript = ({ apiFramework, resources }: VastDisplay): VastResource | undefined =>
  /^vpaid$/i.test(apiFramework) ? resources.find(({ creativeType }) => /javascript/i.test(creativeType)) : undefined;

/**
 * Shows display ads below each other, or over the video, and takes screenshots. Ads without a form that a page can show
 * are left out.
 */
export async function showDisplays(
  parts: ShowingParts,
  displays: readonly VastDisplay[],
  base: string,
  over: ShownResource['over'],
): Promise<Shown[]> {
  const { page } = parts;
  const shown: { id: string; display: VastDisplay; resource: Omit<ShownResource, 'id'> }[] = [];
  for (const display of displays) {
    const form = resourceOf(display, base);
    if (!form) continue;
    const resource = { ...form, ...sizeOf(display), over };
    shown.push({ id: await page.show(resource), display, resource });
  }
  if (shown.length > 0) await page.pause(DRAW_MS);
  const giveUpAt = performance.now() + LATE_MS;
  const results: Shown[] = [];
  for (const { id, display, resource } of shown) {
    const { form, width, height } = resource;
    let state = await resourceState(parts, id, resource);
    while (state === 'loading' && !page.isGone && performance.now() < giveUpAt) {
      await page.pause(POLL_MS);
      state = await resourceState(parts, id, resource);
    }
    // A frame may be readable long before it has loaded completely.
    const isLoaded = state === 'loaded' || (state === 'loading' && form === 'iframe');
    results.push({ id, display, form, width, height, isLoaded, picture: await page.picture(await page.box(id)) });
  }
  return results;
}

/**
 * The state of a resource that is shown. A frame renders error responses as well, so its state is that of the response.
 */
export async function resourceState(
  { page, journal }: ShowingParts,
  id: string,
  { form, value }: Pick<ShownResource, 'form' | 'value'>,
): Promise<ResourceState> {
  if (form !== 'iframe') return (await page.resourceState(id)) ?? 'failed';
  const response = lastResponse(journal, value);
  if (!response) return 'loading';
  const { statusCode, gateway, fault } = response;
  if (statusCode >= 400 || gateway) return 'failed';
  if (statusCode > 0) return 'loaded';
  return fault === '' ? 'loading' : 'failed';
}

function sizeOf({ width, height }: VastDisplay): { width: number; height: number } {
  if (!width || !height) return DEFAULT_SIZE;
  return { width: Math.min(Math.round(width), SIDE_MAX), height: Math.min(Math.round(height), SIDE_MAX) };
}
