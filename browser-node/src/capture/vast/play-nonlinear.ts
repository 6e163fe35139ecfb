import type { VastDisplay, VastResource } from '@adsweep/shared/vast/vast-document.ts';
import { playVpaid } from './play-vpaid.ts';
import { clickAd, notShown, type ShowOutcome, type TimedPlayer } from './player.ts';
import { OVER_THE_VIDEO, showDisplays, shownForm, vpaidScript } from './show-display.ts';
import type { Logged } from './tracker-log.ts';
import { absolute } from './wrapper-chain.ts';

/** Codes of VAST 4.3, 2.3.6.3. */
const NO_CREATIVE = 101;
const NOT_FETCHED = 502;
const NO_SUPPORTED_FORM = 503;

/** The nonlinear forms of an ad, whose URLs are relative to `base`, and its index among the ads that are played. */
type NonLinearAd = { ad: number; nonLinears: readonly VastDisplay[]; base: string };

/** Runs the first VPAID script among the forms of a nonlinear ad, else shows the first form that a page can show. */
export async function playNonLinear(player: TimedPlayer, { ad, nonLinears, base }: NonLinearAd): Promise<ShowOutcome> {
  for (const display of nonLinears) {
    const script = vpaidScript(display);
    if (script) return showScript(player, ad, display, script, base);
  }
  const display = nonLinears.find((one) => shownForm(one));
  if (!display) return notShown(nonLinears.length > 0 ? NO_SUPPORTED_FORM : NO_CREATIVE);
  return showOverlay(player, ad, display, base);
}

async function showScript(
  player: TimedPlayer,
  ad: number,
  form: VastDisplay,
  { value }: VastResource,
  base: string,
): Promise<ShowOutcome> {
  const script = absolute(value, base);
  const { adParameters } = form;
  const clickThrough = absolute(form.clickThrough, base);
  const vpaid = { ad, part: 'nonlinear' as const, form, script, adParameters, clickThrough, ...player.size };
  const { errorCode, playedMs, picture, isCut } = await playVpaid(player, vpaid);
  return { shown: 'vpaid', played_ms: playedMs, media: [], error_code: errorCode, picture, isCut };
}

async function showOverlay(player: TimedPlayer, ad: number, display: VastDisplay, base: string): Promise<ShowOutcome> {
  const [shown] = await showDisplays(player, [display], base, OVER_THE_VIDEO);
  if (!shown?.isLoaded) return notShown(NOT_FETCHED);
  await player.log.fire(ad, ({ part, event }) => part === 'ad' && event === 'impression');
  const isDue = ({ part, event }: Logged) => part === 'nonlinear' && (event === 'creativeView' || event === 'start');
  await player.log.fire(ad, isDue);
  const url = absolute(display.clickThrough, base);
  // Overlays other than images may have links of their own (VAST 4.3, 3.12).
  if (url === '' && shown.form !== 'static') await player.click(null, shown.id);
  else await clickAd(player, ad, { part: 'nonlinear', form: display, url });
  return { shown: 'nonlinear', played_ms: 0, media: [], error_code: null, picture: shown.picture, isCut: false };
}
