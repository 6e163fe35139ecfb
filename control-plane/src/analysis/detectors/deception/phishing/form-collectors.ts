import type { CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import { inlineScripts, isScript } from '../malicious-script.ts';
import { isAboutDeception, type SeenPage } from '../seen-page.ts';

/** Endpoints for forms without a server of their own. No honest login uses them. */
const COLLECTORS =
  /^https?:\/\/(api\.telegram\.org\/bot|(discord|discordapp)\.com\/api\/webhooks\/|formspree\.io\/|formsubmit\.co\/|getform\.io\/|script\.google\.com\/macros\/|webhook\.site\/|hooks\.zapier\.com\/|api\.web3forms\.com\/|submit-form\.com\/|formcarry\.com\/|usebasin\.com\/|formbold\.com\/|api\.staticforms\.xyz\/|forms\.un-static\.com\/|[\w-]+\.m\.pipedream\.net\/)/i;
const COLLECTOR_IN_SCRIPT =
  /api\.telegram\.org\/bot|(?:discord|discordapp)\.com\/api\/webhooks\/|webhook\.site\/[\w-]{8}/gi;
/**
 * Services for the forms of sites without a server, whose contact forms honest pages have too: a script must send
 * secrets there.
 */
const FORM_SERVICE_IN_SCRIPT =
  /formspree\.io\/f\/|api\.web3forms\.com\/|formsubmit\.co\/|getform\.io\/|submit-form\.com\/|api\.emailjs\.com\/|script\.google\.com\/macros\/s\//gi;
const REACH_TO_SERVICE = 600;
/**
 * A longer script is a bundle, which contains everything somewhere: there the endpoint counts with the words of secrets
 * within so many characters.
 */
const SCRIPT_OF_PAGE_MAX = 20_000;
const REACH = 3_000;
/** Endpoints of one script that are looked at: a script that repeats them says nothing new. */
const PLACES_MAX = 100;
const SECRET_WORDS = /passw|passwd|pwd|\bpass\b|\botp\b|cvv|cvc|seed|mnemonic/i;
/** Event handlers in HTML that a browser serialised. */
const HANDLERS = /\son[a-z]+="([^"]*)"/g;

/** Whether forms are sent to a URL whose owner collects them for others. */
export const isCollector = (url: string): boolean => COLLECTORS.test(url);

/**
 * The messenger endpoint that a script of the landing posts form data to; null: none. What a page only shows, such as
 * code in a forum, does not run.
 */
export function collectorIn(page: SeenPage, bodies: CapturedBody[]): string | null {
  const { html } = page;
  const isAbout = isAboutDeception(page);
  // Few pages name an endpoint, and only these are read for what runs.
  const ofPage = html
    .filter((one) => one.search(COLLECTOR_IN_SCRIPT) >= 0 || one.search(FORM_SERVICE_IN_SCRIPT) >= 0)
    .flatMap((one) => [...inlineScripts(one), ...[...one.matchAll(HANDLERS)].map(([, code = '']) => code)]);
  const loaded = bodies.filter((body) => isScript(body) || (body.excerpts && !isAbout));
  const scripts = [
    ...ofPage.map((script) => ({ script, length: script.length })),
    ...loaded.map((body) => ({ script: body.text ?? body.excerpts ?? '', length: body.bytes })),
  ];
  for (const { script, length } of scripts) {
    const found = collectorOf(script, length);
    if (found) return found;
  }
  return null;
}

/** The endpoint that a script, or its excerpts, sends to. `length`: that of the whole script. */
function collectorOf(script: string, length: number): string | null {
  for (const { 0: found, index } of script.matchAll(COLLECTOR_IN_SCRIPT).take(PLACES_MAX)) {
    const around = script.slice(Math.max(0, index - REACH), index + REACH);
    if (length <= SCRIPT_OF_PAGE_MAX || SECRET_WORDS.test(around)) return found;
  }
  if (length > SCRIPT_OF_PAGE_MAX) return null;
  for (const { 0: found, index } of script.matchAll(FORM_SERVICE_IN_SCRIPT).take(PLACES_MAX)) {
    const around = script.slice(Math.max(0, index - REACH_TO_SERVICE), index + REACH_TO_SERVICE);
    if (SECRET_WORDS.test(around)) return found;
  }
  return null;
}
