import type { VastDisplay, VastResource } from '@adsweep/shared/vast/vast-document.ts';
import type { ShownResource } from '../page-scripts/video-player.ts';
import { absolute } from './declared-trackers.ts';
import type { PlayerPage } from './player-page.ts';

/** Time for what is shown to load. */
const LOAD_MS = 1_500;
const SIDE_MAX = 2_000;
const DEFAULT_SIZE = { width: 300, height: 250 };
const SCRIPT = /javascript|flash/i;

/** Something that was shown; `isLoaded` false = its picture did not come; `picture` null = none could be taken. */
export type Shown = {
  form: ShownResource['form'];
  width: number;
  height: number;
  isLoaded: boolean;
  picture: Buffer | null;
};

/** The form of a display ad that a page can show: a picture, a frame or markup. */
export const shownForm = ({ resources }: VastDisplay): VastResource | undefined =>
  resources.find(({ value, creativeType }) => value !== '' && !SCRIPT.test(creativeType));

/** The script of a nonlinear VPAID ad. */
export const vpaidScript = ({ apiFramework, resources }: VastDisplay): VastResource | undefined =>
  /^vpaid$/i.test(apiFramework) ? resources.find(({ creativeType }) => /javascript/i.test(creativeType)) : undefined;

/** Shows display ads one below the other, or over the video, and pictures them. What has no form that a page can show is left out. */
export async function showDisplays(
  page: PlayerPage,
  displays: readonly VastDisplay[],
  base: string,
  over: boolean,
): Promise<(Shown & { display: VastDisplay })[]> {
  const shown: { display: VastDisplay; resource: ShownResource }[] = [];
  for (const display of displays) {
    const form = shownForm(display);
    if (!form) continue;
    const value = form.form === 'html' ? form.value : absolute(form.value, base);
    if (form.form !== 'html' && !/^https?:/i.test(value)) continue;
    const resource = {
      id: `display-${over ? 'over' : 'below'}-${shown.length}`,
      form: form.form,
      value,
      ...sizeOf(display),
      over,
    };
    await page.show(resource);
    shown.push({ display, resource });
  }
  if (shown.length > 0) await page.pause(LOAD_MS);
  const pictured: (Shown & { display: VastDisplay })[] = [];
  for (const { display, resource } of shown) {
    const box = await page.box(resource.id);
    const { form, width, height } = resource;
    pictured.push({ display, form, width, height, isLoaded: box !== null, picture: await page.picture(box) });
  }
  return pictured;
}

function sizeOf({ width, height }: VastDisplay): { width: number; height: number } {
  if (!width || !height) return DEFAULT_SIZE;
  return { width: Math.min(Math.round(width), SIDE_MAX), height: Math.min(Math.round(height), SIDE_MAX) };
}
