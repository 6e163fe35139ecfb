/** Whether the organization has the campaign of a request, and the campaign has its run; true for those that the request omits. */
export type FoundCampaign = { hasCampaign: boolean; hasRun: boolean };

/** Looks up the campaign and the run that a request names. */
export type FindCampaign = (
  organizationId: string,
  campaignId: string | null,
  runId: string | null,
) => Promise<FoundCampaign>;

/** For versions without campaigns: none is found. */
export const findNoCampaign: FindCampaign = async (_, campaignId, runId) => ({
  hasCampaign: campaignId === null,
  hasRun: runId === null,
});
