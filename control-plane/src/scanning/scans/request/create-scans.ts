import { derivedId } from '@adsweep/shared/ids.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { beginTrace, carried } from '@adsweep/shared/tracing/spans.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { RunReservation } from '../../../accounts/billing/reserve-checks.ts';
import { ApiError, refused } from '../../../http/api-error.ts';
import { catalogueNotReady, type ReadCatalogue } from '../../../reference/catalogue/lookup.ts';
import type { ScanRecord } from '../../../scan/scan.ts';
import type { ScanRequest } from './checks/check.ts';
import { checkRequest } from './checks/index.ts';
import { type Estimate, estimate } from './estimate.ts';
import type { FindCampaign, IsRunCancelled, JoinRun } from './find-campaign.ts';
import { groupsOf, indexesOf, newScans, type RequestedScans } from './new-scan.ts';
import { type Submission, type SubmitParts, submitTogether } from './submit.ts';

/** The dependencies of creating scans. */
export type CreateParts = SubmitParts & {
  readCatalogue: ReadCatalogue;
  findCampaign: FindCampaign;
  joinRun: JoinRun;
  isRunCancelled: IsRunCancelled;
  /** Cancels a scan if it is pending, and returns it as it is then; null: it is not. */
  cancel: (scan: ScanRecord) => Promise<ScanRecord | null>;
  /** The addresses that targets and referrers may have. */
  addresses: AddressPolicy;
  /** The price of a check for the organization, in micros; throws if it may make none. */
  priceOfCheck: (organizationId: string) => Promise<number>;
  /** Throws if the organization may not make this number of checks at this price. */
  requireAllowed: (organizationId: string, checks: number, priceMicros: number, now: Date) => Promise<void>;
};

/**
 * Scans that an organization asks for: a group of repeats for each country and emulator. The ids of all scans follow
 * from `requestId`. `isRepeatable`: the same order may be repeated, after a crash or by a client that got no response.
 */
export type ScanOrder = RequestedScans & {
  organizationId: string;
  requestId: string;
  isRepeatable: boolean;
  /** Set if the order was accepted earlier: the price of each check, and the reservation that covers all of them. */
  accepted?: { price_micros: number; reservation: RunReservation };
};

/** A part of an order: whole groups from index `from` on, at least one and together about `scans` scans. */
export type CreateStep = { from: number; scans: number };

/**
 * The groups of a step as they are stored, each with its leader first, and where the next step begins; null: that was
 * the last one.
 */
export type CreatedScans = { groups: ScanRecord[][]; next: number | null };

/**
 * Creates the scans of an order: checks it, asks for the price, reserves the checks, makes the records and submits
 * them.
 *
 * A large order, such as a campaign's run, is created in steps: each call does one and returns where the next begins,
 * which the caller stores before the next call. No other state is needed. The id of a scan is derived from the order's
 * `requestId` and its position in the order, so a step that is repeated, whether it was finished or interrupted, finds
 * the scans that exist, creates those that are missing and charges no scan twice. Each step reserves its own checks,
 * under an id derived from where it begins; a reservation whose step is never repeated is released after ten minutes. A
 * step is repeated with the size it had, because its reservation is for these scans.
 *
 * Throws 422 with all problems of the order, 409 if its campaign is archived or its run cancelled, 403 `billing.*`
 * where the organization may not make the checks of this step, and 503 before the catalogue has been read.
 */
export type CreateScans = (order: ScanOrder, step?: CreateStep) => Promise<CreatedScans>;

/** The error codes of what the checks of a request find. */
export const CHECK_ERRORS = [
  'scanning.unsupported_country_code',
  'scanning.unknown_emulator_id',
  'scanning.unsupported_proxy_region',
  'scanning.unsupported_proxy_city',
  'scanning.unsupported_proxy_isp',
] as const;

/** Why an organization may not make the checks of an order. */
export const BILLING_ERRORS = ['billing.suspended', 'billing.quota_exhausted', 'billing.insufficient_funds'] as const;

/** A request to check: what was sent, as far as its form is valid, and the organization that sent it. */
export type CheckedRequest = Omit<ScanRequest, 'campaign' | 'catalogue' | 'addresses'> & { organizationId: string };

export type ScanCreation = ReturnType<typeof scanCreation>;

/** Everything that creates scans goes through here: single ones, bulk requests and the runs of campaigns. */
export function scanCreation(parts: CreateParts) {
  const submit = submitTogether(parts);

  const findIssues = async ({ organizationId, ...request }: CheckedRequest): Promise<Issue[]> => {
    const catalogue = readNow(parts.readCatalogue);
    const { campaign_id = null, run_id = null } = request.scan;
    const campaign = await parts.findCampaign(organizationId, campaign_id, run_id);
    return checkRequest({ ...request, campaign, catalogue, addresses: parts.addresses });
  };

  const certainOf = (issues: Issue[]): Issue[] => {
    if (readNow(parts.readCatalogue).refreshed_at !== null) return issues;
    const certain = issues.filter((issue) => !isUnsupported(issue));
    if (issues.length > 0 && certain.length === 0) throw catalogueNotReady();
    return certain;
  };

  /** Throws 409 if no scan may join the campaign or the run of the settings. */
  const requireOpen = async (organizationId: string, { campaign_id = null, run_id = null }: ScanOrder['settings']) => {
    if (campaign_id === null) return;
    const { isArchived, isRunCancelled } = await parts.findCampaign(organizationId, campaign_id, run_id);
    if (isArchived) throw new ApiError('campaigns.archived', 'The campaign is archived.');
    if (isRunCancelled) throw new ApiError('runs.cancelled', 'The run is cancelled.');
  };

  /** Scans with a campaign and no run join its run of the day, which is made only for scans that are allowed. */
  const inRun = async (scans: ScanRecord[]): Promise<ScanRecord[]> => {
    const [{ organization_id, campaign_id, run_id, price_micros }] = scans as [ScanRecord];
    if (campaign_id === null || run_id !== null) return scans;
    const now = new Date();
    const joined = await parts.joinRun(organization_id, campaign_id, now, () =>
      parts.requireAllowed(organization_id, scans.length, price_micros, now),
    );
    return scans.map((scan) => ({ ...scan, run_id: joined }));
  };

  /**
   * Scans that joined a run while that was being cancelled, as they are then: cancelled too. Cancelling marks the run
   * before it looks for pending scans, so either it finds these, or this finds the mark.
   */
  const followRun = async (scans: ScanRecord[]): Promise<ScanRecord[]> => {
    const [{ organization_id }] = scans as [ScanRecord];
    const cancelled = new Set<string | null>();
    // An interrupted request that is repeated may have joined two of them.
    for (const id of new Set(scans.flatMap(({ run_id }) => run_id ?? [])))
      if (await parts.isRunCancelled(organization_id, id)) cancelled.add(id);
    if (cancelled.size === 0) return scans;
    return inTurns(scans, async (scan) => (cancelled.has(scan.run_id) && (await parts.cancel(scan))) || scan);
  };

  /** The records of a step, none of which is stored yet, and the catalogue they were made with. */
  const prepare = async (order: ScanOrder, { from, scans }: CreateStep) => {
    const { organizationId, requestId, isRepeatable, accepted } = order;
    // What was accepted goes on: archiving a campaign keeps what waits. Without its reservation, a cancelled run
    // creates nothing.
    if (!accepted) await requireOpen(organizationId, order.settings);
    const catalogue = readNow(parts.readCatalogue);
    const priceMicros = accepted?.price_micros ?? (await parts.priceOfCheck(organizationId));
    const [all, indexes] = [groupsOf(order), indexesOf(order)];
    const end = from + Math.max(1, Math.floor(scans / indexes.length));
    const some = all.slice(from, end);
    const charge = { organizationId, priceMicros, ...(accepted && { chargedAt: accepted.reservation.at }) };
    const groups = newScans(order, some, catalogue, charge, new Date());
    const isWhole = some.length === all.length;
    const request: Submission['request'] = {
      id: isWhole && !accepted ? requestId : derivedId(`${requestId}/step`, from),
      names: some.map(({ name }) => name),
      indexes,
      isRepeatable,
      ...(accepted && { from: accepted.reservation }),
    };
    return { groups, catalogue, request, next: end < all.length ? end : null };
  };

  const createChecked: CreateScans = async (order, step = WHOLE) => {
    const { groups, request, next } = await prepare(order, step);
    const submitted = await submit({ scans: (await inRun(groups.flat())).map(inOwnTrace), request });
    // Those of a step of a run are cancelled by the process that makes the step.
    const stored = new Map((order.accepted ? submitted : await followRun(submitted)).map((scan) => [scan._id, scan]));
    return { groups: groups.map((group) => group.map(({ _id }) => stored.get(_id)!)), next };
  };

  const createScans: CreateScans = async (order, step) => {
    const { settings, organizationId, countries } = order;
    const sent = { refused: new Set<string>(), sentCountries: { field: 'country_codes' as const, value: countries } };
    const emulators = order.emulators ?? [settings.emulator_id];
    const issues: Issue[] = [];
    for (const emulator_id of emulators) {
      const scan = { ...settings, emulator_id };
      issues.push(...(await findIssues({ ...sent, scan, countries, organizationId })));
      // All other rules have the same outcome for every emulator.
      if (issues.length > 0) break;
    }
    const certain = certainOf(issues);
    if (certain.length > 0) throw refused(certain);
    return createChecked(order, step);
  };

  return {
    /**
     * All problems of a request whose form was checked, also those that are not certain; for callers that report them
     * together with others.
     */
    findIssues,
    /**
     * Of the problems that a request is to be refused for, those that are certain: a provider whose catalogue was not
     * read yet may have what the catalogue lacks. Throws 503 if there are no others.
     */
    certainOf,
    /** As `createScans`, for an order without problems that `certainOf` leaves. */
    createChecked,
    createScans,

    /** What creating the scans of an order would do; throws if it would be refused. */
    async estimateScans(order: ScanOrder): Promise<Estimate> {
      const { groups, catalogue } = await prepare(order, WHOLE);
      const scans = groups.flat();
      const [{ organization_id, price_micros, created_at }] = scans as [ScanRecord];
      await parts.requireAllowed(organization_id, scans.length, price_micros, created_at);
      return estimate(groups, catalogue);
    },
  };
}

/** A scan without a client's request, such as one of a run, begins a trace of its own. */
const inOwnTrace = (scan: ScanRecord): ScanRecord =>
  scan.traceparent
    ? scan
    : { ...scan, ...carried(beginTrace('scan created', { attributes: { 'adsweep.scan.id': scan._id } })) };

const WHOLE: CreateStep = { from: 0, scans: Number.MAX_SAFE_INTEGER };

/** Whether the catalogue lacks a country, or a place in it. */
const isUnsupported = ({ type }: Issue): boolean => type.startsWith('unsupported_');

function readNow(readCatalogue: ReadCatalogue): Catalogue {
  const catalogue = readCatalogue();
  if (!catalogue) throw catalogueNotReady();
  return catalogue;
}
