import type { ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import type { AddedMembers } from '@adsweep/shared/lease/messages.ts';
import type { Sweep } from '../capture/sweep/sweep.ts';
import { retryCall } from '../upload/retry-call.ts';
import type { Reported } from './report-attempt.ts';
import { type LeaseRun, runMember } from './run-member.ts';

/**
 * Runs the members of a sweep: the scan of the page, which finds the ads and is completed first, then those of its ads,
 * one after the other; or only the latter, which an earlier lease left. If the page fails, the scans of its ads return
 * to the queue. Throws when the lease ends before the last one.
 */
export async function runSweep(run: LeaseRun): Promise<Set<Reported>> {
  const { members } = run.lease.job;
  const ends = new Set<Reported>();
  const sweep = run.parts.startSweep();
  try {
    const page = members.find(({ discovery }) => discovery !== undefined);
    let ads = members.filter(({ ad_block }) => ad_block !== undefined);
    if (page) {
      const end = await runMember(run, page, {
        capturePage: sweep.page,
        list: async (capture, signal) => {
          const added = await addAds(run, page, sweep, signal);
          ads = added.members.flatMap(({ state, member }) => (state === 'leased' && member ? [member] : []));
          return { ...capture, ad_blocks: listed(sweep, added) };
        },
      });
      ends.add(end);
      if (end !== 'completed' && ads.length > 0) run.stop.stop('declined');
    }
    for (const ad of ads) ends.add(await runMember(run, ad, { capturePage: sweep.ad }));
    return ends;
  } finally {
    await sweep.close();
  }
}

/** Adds the ads that are to be scanned to the job. Throws as {@link retryCall} does. */
async function addAds(
  { parts: { api, retryPolicy }, lease }: LeaseRun,
  { discovery }: JobMember,
  { blocks }: Sweep,
  signal: AbortSignal,
): Promise<AddedMembers> {
  const members = blocks.slice(0, discovery?.max_ads);
  return retryCall(() => api.addMembers(lease, { members }), signal, retryPolicy);
}

/** The ad blocks of a sweep, each with the reason if it has no scan of its own. Pure. */
function listed({ blocks }: Pick<Sweep, 'blocks'>, { members }: AddedMembers): ListedAdBlock[] {
  const states = new Map(members.map(({ identity, state }) => [identity, state]));
  return blocks.map((block) => {
    const state = states.get(block.identity) ?? 'cap';
    return { ...block, not_scanned: state === 'cap' || state === 'quota' ? state : null };
  });
}
