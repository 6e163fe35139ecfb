import { derivedId } from '@adsweep/shared/ids.ts';
import { ApiError } from '../../http/api-error.ts';
import type { CampaignRecord } from '../campaigns/campaign.ts';
import type { CampaignStore } from '../campaigns/campaign-store.ts';
import type { GroupRun } from '../groups/routes.ts';
import type { StartRun } from './start-run.ts';

type Parts = {
  campaigns: Pick<CampaignStore, 'idsInGroup' | 'find'>;
  startRun: StartRun;
  cancelCampaign: (organizationId: string, campaignId: string) => Promise<number>;
};

/** Campaigns of a group that are run or cancelled at the same time. */
const AT_ONCE = 20;

/** What is done with all campaigns of a group, one by one. */
export function groupRuns({ campaigns, startRun, cancelCampaign }: Parts) {
  /** Does something with each campaign of a group, and returns what came of each that was not passed over (null). */
  const forEach = async <T>(organizationId: string, groupId: string, act: (id: string) => Promise<T | null>) => {
    const ids = await campaigns.idsInGroup(organizationId, groupId);
    const done: (T | null)[] = [];
    for (let from = 0; from < ids.length; from += AT_ONCE)
      done.push(...(await Promise.all(ids.slice(from, from + AT_ONCE).map(act))));
    return done.filter((one) => one !== null);
  };

  return {
    /** Runs the campaigns that are not archived; the same `requestId` runs each once. */
    async runCampaigns(organizationId: string, groupId: string, requestId: string): Promise<GroupRun> {
      const runs = await forEach(organizationId, groupId, async (id) => {
        const campaign = await campaigns.find(organizationId, id);
        return campaign && !campaign.is_archived ? runOne(startRun, campaign, requestId) : null;
      });
      return {
        run_ids: runs.filter((one) => typeof one === 'string'),
        failures: runs.filter((one) => typeof one !== 'string'),
      };
    },

    /** Cancels the pending scans of all campaigns, archived ones included. `campaigns`: how many had any. */
    async cancelCampaigns(organizationId: string, groupId: string) {
      const counts = await forEach(organizationId, groupId, (id) => cancelCampaign(organizationId, id));
      return {
        campaigns: counts.filter((count) => count > 0).length,
        scans: counts.reduce((sum, count) => sum + count, 0),
      };
    },
  };
}

/**
 * The id of the run, or why there is none. Other errors than those of the API end the whole request, which can be
 * repeated.
 */
async function runOne(startRun: StartRun, campaign: CampaignRecord, requestId: string) {
  const id = derivedId(`${requestId}/${campaign._id}`, 0);
  try {
    return (await startRun(campaign, { id, trigger: 'group', now: new Date() }))._id;
  } catch (error) {
    if (!(error instanceof ApiError) || typeof error.detail !== 'string') throw error;
    return { campaign_id: campaign._id, error_code: error.code, detail: error.detail };
  }
}
