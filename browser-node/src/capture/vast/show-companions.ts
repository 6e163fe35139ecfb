import { companionScreenshot } from '@adsweep/shared/capture/artifacts.ts';
import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { VastCompanionAds, VastDisplay } from '@adsweep/shared/vast/vast-document.ts';
import { clipUrl } from '../session/urls.ts';
import { isAbout } from './ad-trackers.ts';
import { type Player, screenshotFile } from './player.ts';
import { showDisplays } from './show-display.ts';
import { absolute } from './wrapper-chain.ts';

/** The most companions of one ad that are shown. */
const COMPANIONS_MAX = 5;

/** The companions of an ad as they were shown; `isMissing`: one that the ad requires was not. */
export type ShownCompanions = { companions: PlayedAd['companions']; isMissing: boolean };

/**
 * Shows the companions of an ad and takes screenshots of them; their views are reported unless the ad must not be
 * shown.
 */
export async function showCompanions(
  player: Player,
  { companionAds, base }: { companionAds: VastCompanionAds[]; base: string },
  ad: number,
): Promise<ShownCompanions> {
  const tried = companionAds.flatMap(({ companions }) => companions).slice(0, COMPANIONS_MAX);
  const shown = await showDisplays(player, tried, base, null);
  const loaded = shown.filter(({ isLoaded }) => isLoaded).map(({ display }) => display);
  // Companions that we did not try do not count as missing.
  const isShown = (display: VastDisplay) => loaded.includes(display) || !tried.includes(display);
  const isMissing = !companionAds.every((one) => hasRequired(one, isShown));
  for (const display of isMissing ? [] : loaded)
    await player.log.fire(
      ad,
      (tracker) => tracker.part === 'companion' && tracker.event === 'creativeView' && isAbout(tracker, display),
    );
  const companions = shown.map(({ display, form, width, height, picture }) => {
    const name = companionScreenshot(player.files.filter((file) => file.name.startsWith('companion-')).length);
    if (picture) player.files.push(screenshotFile(name, picture));
    const click_through = clipUrl(absolute(display.clickThrough, base));
    return { form, width, height, click_through, picture: picture && name };
  });
  return { companions, isMissing };
}

/** Whether enough of an ad's companions are shown for the ad to be shown (VAST 4.3, 3.13). Pure. */
export function hasRequired(
  { required, companions }: VastCompanionAds,
  isShown: (companion: VastDisplay) => boolean,
): boolean {
  if (required === 'all') return companions.every(isShown);
  return required !== 'any' || companions.length === 0 || companions.some(isShown);
}
