import { type CapturedLanding, subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/** The way to a landing, as evidence shows it. */
export type LandingSeen = { ord: number; url: string; domain: string; chain: string[] };

const URL_LENGTH_MAX = 2_048;
const CHAIN_MAX = 50;

/** The way to the landing that a scan is about; null: it has none. Pure. */
export function landingSeen(landings: CapturedLanding[]): LandingSeen | null {
  const landing = subjectLanding(landings);
  if (!landing || !/^https?:/i.test(landing.final_url)) return null;
  const domains = [...landing.redirect_chain.map(({ url }) => url), landing.final_url].map(registrableDomain);
  const chain = domains.filter((domain, at) => domain !== domains[at - 1]).slice(0, CHAIN_MAX);
  const { ord, final_url } = landing;
  return { ord, url: final_url.slice(0, URL_LENGTH_MAX), domain: registrableDomain(final_url), chain };
}
