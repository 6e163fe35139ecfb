import { ApiError, notFound, refused } from '../../http/api-error.ts';
import { type Caller, isOperator } from '../../http/caller.ts';
import type { ReadTags } from '../../reference/tags/tag-definitions.ts';
import type { CampaignsDomain } from '../../scanning/campaigns.ts';
import { type PolicySetRecord, privateEntries, stateOf } from './policy-set.ts';
import type { PolicySetStore } from './policy-set-store.ts';

export type PolicySetParts = {
  sets: PolicySetStore;
  readTags: ReadTags;
} & Pick<
  CampaignsDomain['verbs'],
  'bindCampaigns' | 'unbindCampaigns' | 'boundCampaigns' | 'activeBoundCampaign' | 'knownCampaigns'
>;

/** A campaign as a policy set lists it. */
export type BoundCampaign = Awaited<ReturnType<CampaignsDomain['verbs']['boundCampaigns']>>['rows'][number];

const missing = (): ApiError => notFound('policy set');

const isOwn = (set: PolicySetRecord, organizationId: string): boolean =>
  set.organization_id === organizationId && set.deleted_at === null;

/** A set of the caller's organization. Throws 404 for any other. */
export async function findOwnSet({ sets }: Pick<PolicySetParts, 'sets'>, organizationId: string, id: string) {
  const set = await sets.findAny(id);
  if (!set || !isOwn(set, organizationId)) throw missing();
  return set;
}

/** A set that the caller may read: an own one, one that is approved, or for the operator one that awaits approval. */
export async function findVisibleSet({ sets }: Pick<PolicySetParts, 'sets'>, caller: Caller, id: string) {
  const set = await sets.findAny(id);
  if (!set || set.deleted_at) return null;
  const state = stateOf(set);
  const isVisible = isOwn(set, caller.organizationId) || state === 'approved';
  return isVisible || (state === 'awaiting' && isOperator(caller)) ? set : null;
}

/** Throws unless the organization's campaigns can be bound to the set, or are (`bound`). */
export async function requireBindable(
  { sets }: Pick<PolicySetParts, 'sets'>,
  organizationId: string,
  id: string,
  { bound }: { bound: boolean },
): Promise<void> {
  const set = await sets.findAny(id);
  if (set && isOwn(set, organizationId)) return;
  if (!set?.approved || (set.deleted_at && !bound)) throw missing();
  if (bound || stateOf(set) === 'approved') return;
  throw new ApiError('policies.not_published', 'The policy set is not published at the moment.');
}

/** Whether campaigns of the organization may be bound to the set now. */
export async function mayBind({ sets }: Pick<PolicySetParts, 'sets'>, organizationId: string, id: string) {
  const set = await sets.findAny(id);
  return set !== null && (isOwn(set, organizationId) || (set.deleted_at === null && stateOf(set) === 'approved'));
}

/**
 * Whether campaigns of the organization can be bound to the set no longer: it is deleted. Those of others keep the copy
 * that was approved.
 */
export async function isGone({ sets }: Pick<PolicySetParts, 'sets'>, organizationId: string, id: string) {
  const set = await sets.findAny(id);
  return set === null || (set.organization_id === organizationId && set.deleted_at !== null);
}

/**
 * Binds campaigns to a set. Throws 404, and leaves them unbound, if it is deleted meanwhile: deletion removes the set
 * before it unbinds its campaigns, so either it finds these, or this finds that the set is gone.
 */
export async function bind(parts: PolicySetParts, organizationId: string, id: string, ids: string[]): Promise<void> {
  await parts.bindCampaigns(organizationId, id, ids);
  if (!(await isGone(parts, organizationId, id))) return;
  await parts.unbindCampaigns(organizationId, id, { ids });
  throw missing();
}

/** Makes an own set the default of its organization, or no longer. Throws 404 if it is deleted meanwhile. */
export async function setDefault(parts: PolicySetParts, organizationId: string, id: string, isDefault: boolean) {
  const set = await findOwnSet(parts, organizationId, id);
  await parts.sets.setDefault(set, isDefault);
  if (!isDefault || !(await isGone(parts, organizationId, id))) return;
  await parts.sets.setDefault(set, false);
  throw missing();
}

/**
 * Changes a set as `change` says, which gets it as it is now; again if another change comes first. null from `change`:
 * nothing to do.
 */
export async function changeSet(
  { sets }: Pick<PolicySetParts, 'sets'>,
  find: () => Promise<PolicySetRecord>,
  change: (set: PolicySetRecord) => Promise<Partial<PolicySetRecord> | null> | Partial<PolicySetRecord> | null,
): Promise<PolicySetRecord> {
  for (;;) {
    const set = await find();
    const changes = await change(set);
    if (!changes) return set;
    const changed = await sets.change(set, changes);
    if (changed) return changed;
  }
}

/** Throws 422 if the set has entries that cannot be shared. */
export async function requireShareable(
  { readTags }: Pick<PolicySetParts, 'readTags'>,
  { organization_id, entries }: Pick<PolicySetRecord, 'organization_id' | 'entries'>,
): Promise<void> {
  const tags = await readTags(organization_id);
  const issues = privateEntries(entries, tags).map((at) => ({
    loc: ['body', 'entries', at],
    msg: 'Own tags and taxonomies cannot be shared.',
    type: 'private_entry',
    ctx: {},
  }));
  if (issues.length > 0) throw refused(issues);
}

/** Requests publication; a set that awaits approval or has it stays as it is. */
export async function requestApproval(parts: PolicySetParts, organizationId: string, id: string): Promise<void> {
  await changeSet(
    parts,
    () => findOwnSet(parts, organizationId, id),
    async (set) => {
      if (set.visibility === 'public') return null;
      await requireShareable(parts, set);
      return { visibility: 'public', is_approved: false, moderation_note: null };
    },
  );
}

/** `version`: the version of the set that the operator has read; null: whichever it has now. */
export type Decision = { approvedAt: Date; version: number | null } | { reason: string };

const rejected = (reason: string) => ({
  visibility: 'private' as const,
  is_approved: false,
  moderation_note: reason,
});

/** The operator's decision about a set that awaits approval: approved, or rejected with a reason. */
export async function moderate(parts: PolicySetParts, caller: Caller, id: string, decision: Decision): Promise<void> {
  await changeSet(parts, findModerated(parts, caller, id), async (set) => {
    if (stateOf(set) !== 'awaiting')
      throw new ApiError('policies.not_awaiting', 'The policy set does not await approval.');
    if ('reason' in decision) return rejected(decision.reason);
    if (decision.version !== null && decision.version !== set.version) {
      const text = `The policy set has version ${set.version}, not ${decision.version}: read it again.`;
      throw new ApiError('policies.changed', text);
    }
    await requireShareable(parts, set);
    const { name, description, entries } = set;
    return { is_approved: true, approved: { name, description, entries, approved_at: decision.approvedAt } };
  });
}

/**
 * The operator ends the publication of a set, with a reason; campaigns of others that are bound keep the approved copy.
 */
export async function takeDown(parts: PolicySetParts, caller: Caller, id: string, reason: string): Promise<void> {
  await changeSet(parts, findModerated(parts, caller, id), (set) => {
    if (stateOf(set) !== 'approved') throw new ApiError('policies.not_published', 'The policy set is not published.');
    return rejected(reason);
  });
}

/**
 * Finds a set that the operator moderates. Throws 403 for any other caller, 404 for sets that are neither approved nor
 * await approval.
 */
function findModerated(parts: PolicySetParts, caller: Caller, id: string): () => Promise<PolicySetRecord> {
  if (!isOperator(caller)) throw new ApiError('forbidden', "Only the operator's key can moderate policy sets.");
  return async () => (await findVisibleSet(parts, caller, id)) ?? Promise.reject(missing());
}

/** Ends the publication; campaigns of others that are bound keep the approved copy. */
export async function unpublish(parts: PolicySetParts, organizationId: string, id: string): Promise<void> {
  await changeSet(
    parts,
    () => findOwnSet(parts, organizationId, id),
    (set) => (set.visibility === 'private' ? null : { visibility: 'private', is_approved: false }),
  );
}

/** Deletes a set, except its approved copy. Throws 409 while an own campaign that is not archived is bound to it. */
export async function deleteSet(parts: PolicySetParts, organizationId: string, id: string, now: Date): Promise<void> {
  for (;;) {
    const set = await findOwnSet(parts, organizationId, id);
    const campaign = await parts.activeBoundCampaign(organizationId, id);
    if (campaign !== null)
      throw new ApiError('policies.in_use', `The campaign "${campaign}" is bound to the policy set.`);
    const removed = set.approved
      ? await parts.sets.change(set, { deleted_at: now, entries: [], visibility: 'private', is_approved: false })
      : await parts.sets.remove(set);
    if (removed) break;
  }
  await parts.sets.setDefault({ _id: id, organization_id: organizationId }, false);
  // Archived ones, and any that was bound in the meantime. One that is bound after this finds that the set is gone
  // (`bind`).
  await parts.unbindCampaigns(organizationId, id, {});
}

/** Throws 422 for ids that are no campaigns of the organization. */
export async function requireCampaigns(
  { knownCampaigns }: Pick<PolicySetParts, 'knownCampaigns'>,
  organizationId: string,
  ids: string[],
): Promise<void> {
  const issues = await campaignIdIssues({ knownCampaigns }, organizationId, ids);
  if (issues.length > 0) throw refused(issues);
}

export async function campaignIdIssues(
  { knownCampaigns }: Pick<PolicySetParts, 'knownCampaigns'>,
  organizationId: string,
  ids: string[],
) {
  const known = await knownCampaigns(organizationId, ids);
  return ids.flatMap((id, at) => {
    const loc = ['body', 'campaign_ids', at];
    return known.has(id) ? [] : [{ loc, msg: 'There is no such campaign.', type: 'not_found', ctx: { given: id } }];
  });
}
