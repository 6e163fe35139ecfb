import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { findAds } from '../../src/capture/discovery/find-ads.ts';
import type { FoundAd } from '../../src/capture/discovery/found-ad.ts';
import { leaveSession, openSession, openTab, watchContext } from '../../src/capture/session/capture-session.ts';
import { closeTabs } from '../../src/capture/session/close-tabs.ts';
import { Landings } from '../../src/capture/session/landings.ts';
import { Visit } from '../../src/capture/session/visit.ts';
import { url as urlTarget } from '../../src/capture/targets/url.ts';
import type { CaptureWorld } from './capture-world.ts';

const silent = createLogger('test', 'fatal');

/** The ads that are found on a page of a world's web, once it has settled. */
export function findAdsOn(world: CaptureWorld, url: string, emulator?: string): Promise<FoundAd[]> {
  return world.withContext(async (open, request) => {
    const limits = JOB_LIMITS.page;
    const watch = await watchContext(open);
    const session = openSession(watch, { limits }, new AbortController().signal, silent);
    try {
      const capture = { ...session, visit: new Visit(), landings: new Landings(session.tabs), publisherUrl: '' };
      const tab = await openTab(capture);
      if (!tab) throw new Error('no tab opened');
      await urlTarget.visit(capture, tab, request(url));
      return await findAds(capture, tab);
    } finally {
      await closeTabs(session, async () => null);
      leaveSession(session);
      await watch.close();
    }
  }, emulator);
}
