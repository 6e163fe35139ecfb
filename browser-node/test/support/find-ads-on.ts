import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { OpenContext } from '../../src/browser/open-context.ts';
import { findAds } from '../../src/capture/discovery/find-ads.ts';
import type { FoundAd } from '../../src/capture/discovery/found-ad.ts';
import type { CaptureRequest } from '../../src/capture/session/capture-outcome.ts';
import { leaveSession, openSession, openTab, watchContext } from '../../src/capture/session/capture-session.ts';
import { closeTabs } from '../../src/capture/session/close-tabs.ts';
import { Landings } from '../../src/capture/session/landings.ts';
import { Visit } from '../../src/capture/session/visit.ts';
import { url as urlTarget } from '../../src/capture/targets/url.ts';
import type { CaptureWorld } from './capture-world.ts';

const silent = createLogger('test', 'fatal');

/** The ads that are found on a page of a world's web, once it has settled. */
export const findAdsOn = (world: CaptureWorld, url: string): Promise<FoundAd[]> =>
  world.withContext((open, request) => findAdsIn(open, request(url)));

/** The ads that are found on the page of a request in a new context, once it has settled. Throws if the page does not load. */
export async function findAdsIn(open: OpenContext, request: CaptureRequest): Promise<FoundAd[]> {
  const watch = await watchContext(open);
  const session = openSession(watch, { limits: request.limits }, new AbortController().signal, silent);
  try {
    const capture = { ...session, visit: new Visit(), landings: new Landings(session.tabs), publisherUrl: '' };
    const tab = await openTab(capture);
    if (!tab) throw new Error('no tab opened');
    const { error, failure } = await urlTarget.visit(capture, tab, request);
    if (error || failure) throw new Error(error || failure?.cause);
    return await findAds(capture, tab);
  } finally {
    await closeTabs(session, async () => null);
    leaveSession(session);
    await watch.close();
  }
}
