import type { CampaignStore } from '../campaigns/campaign-store.ts';
import type { JoinRun } from '../scans/request/find-campaign.ts';
import { apiRun, type RunRecord } from './run.ts';
import type { RunStore } from './run-store.ts';

type JoinParts = { runs: Pick<RunStore, 'find' | 'insert'>; campaigns: Pick<CampaignStore, 'noteRun'> };

/**
 * Finds the run that scans join which are posted with a campaign now: the campaign's API run of the day, which is made
 * by its first scan. If that was cancelled, a further one is made. Throws what `requireAllowed` throws, before a run is
 * made.
 */
export const joinApiRun =
  ({ runs, campaigns }: JoinParts): JoinRun =>
  async (organizationId, campaignId, now, requireAllowed) => {
    const found = new Map<number, RunRecord | null>();
    const numbered = (number: number) => apiRun(organizationId, campaignId, number, now);
    const number = await firstNumber(async (one) => {
      const run = await runs.find(organizationId, numbered(one)._id);
      found.set(one, run);
      return run?.cancelled_at == null;
    });
    const run = numbered(number);
    if (!found.get(number)) {
      await requireAllowed();
      // Of requests at the same time, one makes the run: its time counts.
      const made = (await runs.insert(run)) ? run : await runs.find(organizationId, run._id);
      await campaigns.noteRun(organizationId, campaignId, made?.created_at ?? now);
    }
    return run._id;
  };

/**
 * The first number, from 0, for which `isOpen` resolves to true, as it does for each one after it: a run is made when
 * all before it are cancelled, and remains cancelled. Asks for 0 first, and of n cancelled ones for about 2 log n.
 */
async function firstNumber(isOpen: (number: number) => Promise<boolean>): Promise<number> {
  let end = 1;
  while (!(await isOpen(end - 1))) end *= 2;
  let [low, high] = [Math.floor(end / 2), end - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isOpen(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
