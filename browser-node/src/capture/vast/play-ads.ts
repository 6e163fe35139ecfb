import { companionScreenshot } from '@adsweep/shared/capture/artifacts/companion-screenshot.ts';
import { CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts/creative-screenshot.ts';
import { CREATIVE_VIDEO } from '@adsweep/shared/capture/artifacts/creative-video.ts';
import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import { parseClock } from '@adsweep/shared/vast/clock.ts';
import type { VastAd, VastDisplay, VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import { clipUrl } from '../session/clip-url.ts';
import { chooseMedia, isPlayedOn } from './choose-media.ts';
import { absolute, declaredTrackers, isAbout } from './declared-trackers.ts';
import { pictureFile } from './picture-file.ts';
import { type LinearParts, playLinear } from './play-linear.ts';
import { playVpaid, type VpaidPlayed } from './play-vpaid.ts';
import type { Resolution, ResolvedAd } from './resolution.ts';
import { showDisplays, shownForm, vpaidScript } from './show-display.ts';
import type { Logged, Moment } from './tracker-log.ts';

/** All ads of a tag together, and one of a pod. */
const ALL_ADS_MS = 32_000;
const PLAYED_MAX = 5;
const COMPANIONS_MAX = 5;

export type Player = Omit<LinearParts, 'until'> & {
  emulator: Pick<Emulator, 'browser' | 'category'>;
  size: { width: number; height: number };
  /** In device pixels. */
  pixelWidth: number;
  /** Clicks at what is shown, once for the whole tag; the trackers and the URL are the ad's own. */
  click: (url: string, trackers: string[]) => Promise<void>;
  files: CaptureFile[];
};

/** Plays the ads of a resolved tag one after the other, and writes down in `played` how it went. */
export async function playAds(player: Player, resolution: Resolution, played: PlayedAd[]): Promise<void> {
  const until = performance.now() + ALL_ADS_MS;
  for (const resolved of resolution.ads) {
    const { adServingId, universalAdIds } = resolved.ad;
    const about = { podSequence: played.length + 1, adServingId, universalAdIds };
    player.log.declare(played.length, declaredTrackers(resolution, resolved), about);
    const isInTime = played.length < PLAYED_MAX && performance.now() < until && !player.page.isGone;
    const ad = played.length;
    played.push(
      isInTime ? await playAd({ ...player, until }, resolution, resolved, ad) : notPlayed(resolution, resolved),
    );
  }
}

/** Why scripts of verification are not run (VAST 4.3, 3.17.3): this player has none of the interfaces they ask for. */
const NOT_SUPPORTED = 2;
const isVerificationNotExecuted = ({ part, event }: Logged): boolean =>
  part === 'verification' && event === 'verificationNotExecuted';

type Timed = Player & { until: number };
type Outcome = Pick<PlayedAd, 'shown' | 'played_ms' | 'media' | 'error_code'> & {
  picture: Buffer | null;
  mediafile_url?: string;
};

async function playAd(player: Timed, resolution: Resolution, resolved: ResolvedAd, ad: number): Promise<PlayedAd> {
  const base = resolution.rungs[resolved.rung]?.fetched?.url ?? '';
  const clickThrough = clickThroughOf(resolution, resolved);
  const companions = await showCompanions(player, resolved, base, ad);
  const { picture, ...outcome } = await showAd(player, resolved, base, ad, clickThrough);
  if (outcome.error_code !== null) {
    const moment = { errorCode: outcome.error_code };
    await player.log.fire(ad, ({ part, event }) => part === 'ad' && event === 'error', moment);
  }
  if (outcome.shown !== 'nothing') await player.log.fire(ad, isVerificationNotExecuted, { reason: NOT_SUPPORTED });
  if (picture && !player.files.some(({ name }) => name === CREATIVE_SCREENSHOT))
    player.files.push(pictureFile(CREATIVE_SCREENSHOT, picture));
  return { ...notPlayed(resolution, resolved), ...outcome, companions };
}

async function showAd(
  player: Timed,
  { ad: own }: ResolvedAd,
  base: string,
  ad: number,
  clickThrough: string,
): Promise<Outcome> {
  const linear = own.linears.find(({ mediaFiles }) => mediaFiles.length > 0) ?? own.linears[0];
  const scripts = linear
    ? chooseMedia(linear, player.emulator, player.pixelWidth).filter(({ kind }) => kind === 'vpaid')
    : [];
  const [script] = scripts;
  if (linear && script) {
    const vpaid = {
      ad,
      part: 'linear' as const,
      form: linear,
      script: absolute(script.file.url, base),
      adParameters: linear.adParameters,
      ...player.size,
    };
    const ended = await playVpaid(player.page, player.log, vpaid, player.until, () =>
      clickOf(player, ad, { part: 'linear', form: linear, url: clickThrough }, { assetUrl: vpaid.script }),
    );
    const hasFile = linear.mediaFiles.some((file) => isPlayedOn(player.emulator, file));
    if (ended.errorCode === null || !hasFile) return { ...ofScript(ended), mediafile_url: clipUrl(vpaid.script) };
  }
  if (linear) return showVideo(player, linear, base, ad, clickThrough);
  return showNonLinear(player, own, base, ad);
}

const ofScript = ({ playedMs, errorCode, picture }: VpaidPlayed): Outcome => ({
  shown: 'vpaid',
  played_ms: playedMs,
  media: [],
  error_code: errorCode,
  picture,
});

async function showVideo(
  player: Timed,
  linear: VastAd['linears'][number],
  base: string,
  ad: number,
  clickThrough: string,
): Promise<Outcome> {
  const choices = chooseMedia(linear, player.emulator, player.pixelWidth);
  const ended = await playLinear(player, { ad, linear, base, choices });
  const { media } = ended;
  const isPlayed = media.at(-1)?.outcome === 'played';
  if (isPlayed) {
    const assetUrl = media.at(-1)?.url ?? '';
    keepVideo(player, assetUrl);
    const moment = { playheadMs: ended.playedMs, assetUrl };
    await clickOf(player, ad, { part: 'linear', form: linear, url: clickThrough }, moment);
  }
  return {
    shown: isPlayed ? 'video' : 'nothing',
    played_ms: ended.playedMs,
    media,
    error_code: ended.errorCode,
    picture: ended.picture,
    ...(media.length > 0 && { mediafile_url: media.at(-1)?.url ?? '' }),
  };
}

async function showNonLinear(player: Timed, own: VastAd, base: string, ad: number): Promise<Outcome> {
  const nothing = { shown: 'nothing' as const, played_ms: 0, media: [], picture: null };
  const scripted = own.nonLinears.find((one) => vpaidScript(one));
  const script = scripted && vpaidScript(scripted);
  if (scripted && script) {
    const vpaid = {
      ad,
      part: 'nonlinear' as const,
      form: scripted,
      script: absolute(script.value, base),
      adParameters: scripted.adParameters,
      ...player.size,
    };
    const url = absolute(scripted.clickThrough, base);
    const ended = await playVpaid(player.page, player.log, vpaid, player.until, () =>
      clickOf(player, ad, { part: 'nonlinear', form: scripted, url }, { assetUrl: vpaid.script }),
    );
    return ofScript(ended);
  }
  const display = own.nonLinears.find((one) => shownForm(one));
  if (!display) return { ...nothing, error_code: own.nonLinears.length > 0 ? 503 : 101 };
  const [shown] = await showDisplays(player.page, [display], base, true);
  if (!shown?.isLoaded) return { ...nothing, error_code: 502 };
  await player.log.fire(ad, ({ part, event }) => part === 'ad' && event === 'impression');
  await player.log.fire(
    ad,
    ({ part, event }) => part === 'nonlinear' && (event === 'creativeView' || event === 'start'),
  );
  await clickOf(player, ad, { part: 'nonlinear', form: display, url: absolute(display.clickThrough, base) });
  return { ...nothing, shown: 'nonlinear', error_code: null, picture: shown.picture };
}

/** Wrappers' companions too, where the ad has none of its own (VAST 4.3, 2.3.5.2). */
async function showCompanions(
  player: Timed,
  { ad: own, wrappers }: ResolvedAd,
  base: string,
  ad: number,
): Promise<PlayedAd['companions']> {
  const all =
    own.companions.length > 0
      ? own.companions
      : (wrappers.findLast((at) => at.ad.companions.length > 0)?.ad.companions ?? []);
  const shown = await showDisplays(player.page, all.slice(0, COMPANIONS_MAX), base, false);
  for (const { display } of shown.filter(({ isLoaded }) => isLoaded))
    await player.log.fire(
      ad,
      (tracker) => tracker.part === 'companion' && tracker.event === 'creativeView' && isAbout(tracker, display),
    );
  return shown.map(({ display, form, width, height, picture }) => {
    const name = companionScreenshot(player.files.filter((file) => file.name.startsWith('companion-')).length);
    if (picture) player.files.push(pictureFile(name, picture));
    return {
      form,
      width,
      height,
      click_through: clipUrl(absolute(display.clickThrough, base)),
      picture: picture && name,
    };
  });
}

/** What a click on the player does: its trackers, its page, and what opened; a script handles its own clicks. */
async function clickOf(
  { log, click, size }: Timed,
  ad: number,
  { part, form, url }: Clicked,
  when: Moment = {},
): Promise<void> {
  if (url === '') return;
  const moment = { ...when, click: { x: Math.round(size.width / 2), y: Math.round(size.height / 2) } };
  const isDue = (tracker: Logged) =>
    tracker.part === part && tracker.event === 'clickTracking' && isAbout(tracker, form);
  const trackers = log.prepare(ad, isDue, moment);
  await click(log.fill(ad, url, moment), trackers);
}

/** What of an ad is clicked, and where its click leads, '' = nowhere. */
type Clicked = { part: 'linear' | 'nonlinear'; form: VastLinear | VastDisplay; url: string };

/** The ad's own, else that of the wrapper next to it (VAST 4.3, 2.3.5.2). */
function clickThroughOf({ rungs }: Resolution, { rung, ad, wrappers }: ResolvedAd): string {
  for (const at of [{ rung, ad }, ...wrappers.toReversed()]) {
    const url = at.ad.linears.find(({ clickThrough }) => clickThrough !== '')?.clickThrough;
    if (url) return absolute(url, rungs[at.rung]?.fetched?.url ?? '');
  }
  return '';
}

function keepVideo({ answers, files }: Timed, url: string): void {
  const kept = answers.media(url);
  if (!kept || files.some(({ name }) => name === CREATIVE_VIDEO)) return;
  files.push({
    name: CREATIVE_VIDEO,
    contentType: kept.contentType.slice(0, 100),
    bytes: kept.bytes,
    width: 0,
    height: 0,
  });
}

const WORD_MAX = 300;
const word = (text: string): string => text.slice(0, WORD_MAX).toWellFormed();

function notPlayed(resolution: Resolution, resolved: ResolvedAd): PlayedAd {
  const { rung, ad, wrappers } = resolved;
  const linear = ad.linears.find(({ mediaFiles }) => mediaFiles.length > 0) ?? ad.linears[0];
  return {
    rung,
    wrappers: wrappers.map((at) => at.rung),
    position: resolution.rungs[rung]?.document?.ads.indexOf(ad) ?? 0,
    id: word(ad.id),
    sequence: ad.sequence,
    ad_system: word(ad.adSystem),
    title: word(ad.adTitle),
    advertiser: word(ad.advertiser),
    shown: 'nothing',
    duration_ms: linear?.duration ? parseClock(linear.duration) : null,
    played_ms: 0,
    click_through: clipUrl(clickThroughOf(resolution, resolved)),
    error_code: null,
    mediafile_url: clipUrl(absolute(linear?.mediaFiles[0]?.url ?? '', resolution.rungs[rung]?.fetched?.url ?? '')),
    media: [],
    media_files: linear?.mediaFiles.length ?? 0,
    companions: [],
    // Of wrappers, too (VAST 4.3, 3.17).
    verifications: [...wrappers.map((at) => at.ad), ad]
      .flatMap(({ verifications }) => verifications)
      .slice(0, 50)
      .map(({ vendor, resources }) => word(vendor || (resources[0]?.apiFramework ?? ''))),
    interactive: ad.linears
      .flatMap(({ interactiveFiles }) => interactiveFiles.map(({ apiFramework }) => word(apiFramework)))
      .slice(0, 50),
    is_vpaid:
      ad.linears.some(({ mediaFiles }) => mediaFiles.some(({ apiFramework }) => /^vpaid$/i.test(apiFramework))) ||
      ad.nonLinears.some(({ apiFramework }) => /^vpaid$/i.test(apiFramework)),
  };
}
