import { companionScreenshot } from '@adsweep/shared/capture/artifacts.ts';
import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { VastCompanionAds, VastDisplay } from '@adsweep/shared/vast/vast-document.ts';
import { clipUrl } from '../session/urls.ts';
import { absolute, isAbout } from './declared-trackers.ts';
import { pictureFile } from './picture-file.ts';
import type { Player } from './player.ts';
import { hasRequired } from './required-companions.ts';
import { showDisplays } from './show-display.ts';

/** Companions of one ad that are shown. */
const COMPANIONS_MAX = 5;

/** What became of the companions of an ad; `isMissing`: one that the ad must not be shown without. */
export type ShownCompanions = { companions: PlayedAd['companions']; isMissing: boolean };

/** Shows the companions of an ad and pictures them; their views are told unless the ad is not to be shown. */
export async function showCompanions(
  player: Player,
  { companionAds, base }: { companionAds: VastCompanionAds[]; base: string },
  ad: number,
): Promise<ShownCompanions> {
  const tried = companionAds.flatMap(({ companions }) => companions).slice(0, COMPANIONS_MAX);
  const shown = await showDisplays(player, tried, base, null);
  const loaded = shown.filter(({ isLoaded }) => isLoaded).map(({ display }) => display);
  // Those that were not tried are missing because of us alone.
  const isShown = (display: VastDisplay) => loaded.includes(display) || !tried.includes(display);
  const isMissing = !companionAds.every((one) => hasRequired(one, isShown));
  for (const display of isMissing ? [] : loaded)
    await player.log.fire(
      ad,
      (tracker) => tracker.part === 'companion' && tracker.event === 'creativeView' && isAbout(tracker, display),
    );
  const companions = shown.map(({ display, form, width, height, picture }) => {
    const name = companionScreenshot(player.files.filter((file) => file.name.startsWith('companion-')).length);
    if (picture) player.files.push(pictureFile(name, picture));
    const click_through = clipUrl(absolute(display.clickThrough, base));
    return { form, width, height, click_through, picture: picture && name };
  });
  return { companions, isMissing };
}
