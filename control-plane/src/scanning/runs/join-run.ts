import { pause } from '@adsweep/shared/service/time-slice.ts';
import type { CampaignStore } from '../campaigns/campaign-store.ts';
import type { JoinRun } from '../scans/request/find-campaign.ts';
import { apiRun } from './run.ts';
import type { RunStore } from './run-store.ts';

type JoinParts = { runs: Pick<RunStore, 'find' | 'insert'>; campaigns: Pick<CampaignStore, 'noteRun'> };

/**
 * Finds the run that scans join which are posted with a campaign now: the campaign's API run of the day, which is made by its first scan. If
 * that was cancelled, a further one is made. Throws what `requireAllowed` throws, before a run is made.
 */
export const joinApiRun =
  ({ runs, campaigns }: JoinParts): JoinRun =>
  async (organizationId, campaignId, now, requireAllowed) => {
    for (let number = 0; ; number += 1) {
      const run = apiRun(organizationId, campaignId, number, now);
      const earlier = await runs.find(organizationId, run._id);
      if (earlier?.cancelled_at) {
        // As many as were cancelled today.
        await pause();
        continue;
      }
      if (!earlier) {
        await requireAllowed();
        // Of requests at the same time, one makes the run: its time counts.
        const made = (await runs.insert(run)) ? run : await runs.find(organizationId, run._id);
        await campaigns.noteRun(organizationId, campaignId, made?.created_at ?? now);
      }
      return run._id;
    }
  };
