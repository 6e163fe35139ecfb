import { type Check, isSent, issueAt } from './check.ts';

/** A campaign and a run must exist; a run is one of a campaign. This version has no campaigns, so there are none to name. */
export const checkCampaign: Check = ({ scan: { campaign_id, run_id }, refused }) => {
  const campaign = isSent(campaign_id)
    ? [issueAt('campaign_id', 'not_found', 'There is no such campaign.', campaign_id)]
    : [];
  const hasCampaign = isSent(campaign_id) || refused.has('campaign_id');
  const run =
    isSent(run_id) && !hasCampaign
      ? [issueAt('run_id', 'invalid_combination', 'A run_id needs its campaign_id.', run_id)]
      : [];
  return [...campaign, ...run];
};
