import { CREATIVE_HTML, CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import type { Captured } from '../capture-world.ts';
import type { Site } from '../site.ts';
import { CLICK, type Creative, PUBLISHER, SHOP } from './creative.ts';
import { compareRequests, withoutEmptyQuery } from './request-agreement.ts';

/** The expected facts about the capture of a creative, one short line each. Pure. */
export function expectedFacts(creative: Creative): string[] {
  const { size, document = PUBLISHER, landing, chain = [CLICK, SHOP], inert = '', isUnchecked } = creative;
  const landed = landing
    ? [`lands at ${landing} by ${chain.join(' > ')}`, 'landing with screenshot']
    : ['lands nowhere'];
  return [
    size ? `shows ${size.join('x')}` : 'shows nothing',
    ...(size ? [`screenshot of ${size.join('x')}`] : []),
    `document ${document}`,
    `on ${PUBLISHER}`,
    'markup as rendered',
    ...landed,
    `click tracker requested ${landing && chain.includes(CLICK) ? 1 : 0} times`,
    ...(landing && !isUnchecked ? [inert ? `${inert} opens nothing` : 'everything opens the landing'] : []),
  ].sort();
}

/** The facts about a capture in the same form, with the differences between its requests and the log of the servers. */
export function capturedFacts(captured: Captured, site: Site, creative: Creative): string[] {
  return [
    ...(captured.failure ? [`failed: ${captured.failure}`] : []),
    ...renderedFacts(captured, creative),
    ...landingFacts(captured),
    `click tracker requested ${site.urls().filter((url) => withoutEmptyQuery(url) === CLICK).length} times`,
    ...captured
      .observed('creative_interactive')
      .map(({ facts }) => (facts.inert ? `${facts.inert} opens nothing` : 'everything opens the landing')),
    ...captured.observed('auto_redirect').map(({ facts }) => `navigated to ${facts.to} without a click`),
    ...captured
      .observed('popups')
      .flatMap(({ facts: { windows } }) => (windows > 1 ? [`${windows} windows opened at once`] : [])),
    ...requestFacts(captured, site),
  ].sort();
}

function renderedFacts(captured: Captured, { markup, emulator }: Creative): string[] {
  const { creative } = captured.outcome.capture;
  if (!creative) return ['no creative'];
  const { width, height, url, page_url } = creative;
  const screenshot = captured.file(CREATIVE_SCREENSHOT);
  const ratio = findEmulator(emulator ?? '')?.device.deviceScaleFactor ?? 1;
  const sides = screenshot && [screenshot.width, screenshot.height].map((side) => Math.round(side / ratio));
  const html = Buffer.from(captured.file(CREATIVE_HTML)?.bytes ?? []).toString();
  return [
    width * height > 0 ? `shows ${width}x${height}` : 'shows nothing',
    ...(sides ? [`screenshot of ${sides.join('x')}`] : []),
    `document ${url}`,
    `on ${page_url}`,
    markup.test(html) ? 'markup as rendered' : `markup ${html.slice(0, 200)}`,
  ];
}

function landingFacts({ landings }: Captured): string[] {
  if (landings.length === 0) return ['lands nowhere'];
  return landings.flatMap(({ final_url, redirect_chain, screenshot }) => [
    `lands at ${final_url.replace(/\?$/, '')} by ${redirect_chain.map(({ url }) => withoutEmptyQuery(url)).join(' > ')}`,
    screenshot ? 'landing with screenshot' : 'landing without screenshot',
  ]);
}

function requestFacts(captured: Captured, site: Site): string[] {
  const { onlyLogged, onlyRecorded } = compareRequests(captured, site);
  const requested = site.urls().filter((url) => new URL(url).host === new URL(PUBLISHER).host);
  return [
    ...onlyLogged.map((url) => `only in the log: ${url}`),
    ...onlyRecorded.map((url) => `only in the record: ${url}`),
    ...requested.map((url) => `requested from the publisher: ${url}`),
  ];
}
