import { type Check, isSent, issueAt } from './check.ts';

/** A campaign and a run must be the organization's; a run is one of a campaign. */
export const checkCampaign: Check = ({ scan: { campaign_id, run_id }, refused, campaign }) => {
  if (isSent(campaign_id) && !campaign.hasCampaign)
    return [issueAt('campaign_id', 'not_found', 'There is no such campaign.', campaign_id)];
  if (!isSent(run_id)) return [];
  if (!isSent(campaign_id) && !refused.has('campaign_id'))
    return [issueAt('run_id', 'invalid_combination', 'A run_id needs its campaign_id.', run_id)];
  if (!isSent(campaign_id) || campaign.hasRun) return [];
  return [issueAt('run_id', 'not_found', 'The campaign has no such run.', run_id)];
};
