/**
 * Whether the organization has the campaign of a request, and the campaign has its run; true for those that the request
 * omits. `isArchived`: no scan may join the campaign; `isRunCancelled`: none may join the run.
 */
export type FoundCampaign = { hasCampaign: boolean; hasRun: boolean; isArchived: boolean; isRunCancelled: boolean };

/** Looks up the campaign and the run that a request names. */
export type FindCampaign = (
  organizationId: string,
  campaignId: string | null,
  runId: string | null,
) => Promise<FoundCampaign>;

/** Whether a run is cancelled by now. */
export type IsRunCancelled = (organizationId: string, runId: string) => Promise<boolean>;

/**
 * Returns the id of the run that scans join which name a campaign and no run. `requireAllowed` is called before a run
 * is made for them.
 */
export type JoinRun = (
  organizationId: string,
  campaignId: string,
  now: Date,
  requireAllowed: () => Promise<void>,
) => Promise<string>;

/** A campaign's name, its group and the group's name, as they are now. */
export type CampaignWords = { name: string; groupId: string; groupName: string };

/** Reads the words of campaigns by id; a campaign that does not exist is missing. */
export type CampaignWordsOf = (organizationId: string, ids: string[]) => Promise<Map<string, CampaignWords>>;

/** The words of a campaign; null: there is none with this id, or there is no id. */
export const wordsOfCampaign = async (
  campaignWordsOf: CampaignWordsOf,
  organizationId: string,
  id: string | null | undefined,
): Promise<CampaignWords | null> => (id ? ((await campaignWordsOf(organizationId, [id])).get(id) ?? null) : null);
