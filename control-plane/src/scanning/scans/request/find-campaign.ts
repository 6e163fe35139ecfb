/** Whether the organization has the campaign, and the campaign has the run, that a request names; true of what it does not name. */
export type FoundCampaign = { hasCampaign: boolean; hasRun: boolean };

/** Looks up the campaign and the run that a request names. */
export type FindCampaign = (
  organizationId: string,
  campaignId: string | null,
  runId: string | null,
) => Promise<FoundCampaign>;

/** The answer where there are no campaigns. */
export const findNoCampaign: FindCampaign = async (_, campaignId, runId) => ({
  hasCampaign: campaignId === null,
  hasRun: runId === null,
});
