import { companyOf } from '@adsweep/shared/ads/ad-companies.ts';
import type { SubRequest } from '@adsweep/shared/capture/hop.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import type { ReportCompanies, ReportCompany, RequestGroup } from './report.ts';

/** A loaded document with its requests, or a resource of another `type`. */
type LoadedDocument = Pick<SubRequest, 'url' | 'body_size' | 'timestamp_ms'> & {
  type?: string;
  sub_requests?: readonly SubRequest[];
};
type Loaded = Pick<SubRequest, 'body_size' | 'timestamp_ms'> & { host: string; group: RequestGroup };

const COMPANIES_MAX = 25;
const DOMAINS_MAX = 4;
const MARKS_MAX = 80;

/** The purpose of each resource type of the DevTools protocol. */
const GROUPS = new Map<string, RequestGroup>(
  Object.entries({
    document: 'documents',
    script: 'scripts',
    fetch: 'calls',
    xhr: 'calls',
    eventsource: 'calls',
    websocket: 'calls',
    ping: 'calls',
    image: 'pictures',
    media: 'media',
    stylesheet: 'styles',
    font: 'styles',
  }),
);

/**
 * The requests of these documents, grouped by the company behind their host, or by registrable domain if the company is
 * unknown, in the order of their first requests. `privateHost` ('' = none) is left out. Pure.
 */
export function requestsByCompany(documents: readonly LoadedDocument[], privateHost: string): ReportCompanies | null {
  const loaded = documents.flatMap(requestsOf).filter(({ host }) => host !== '' && host !== privateHost);
  if (loaded.length === 0) return null;
  const byHost = [...Map.groupBy(loaded, ({ host }) => host)];
  const companies = [...Map.groupBy(byHost, ([host]) => companyAt(host))]
    .map(([name, hosts]) => asCompany(name, hosts))
    .sort((one, other) => one.marks[0]!.at_ms - other.marks[0]!.at_ms);
  const starts = loaded.map(({ timestamp_ms }) => timestamp_ms).sort((one, other) => one - other);
  return {
    from_ms: starts[0]!,
    until_ms: starts.at(-1)!,
    requests: loaded.length,
    companies: companies.slice(0, COMPANIES_MAX),
    left_out: Math.max(0, companies.length - COMPANIES_MAX),
  };
}

function requestsOf({ type = 'document', sub_requests = [], ...document }: LoadedDocument): Loaded[] {
  return withChildren({ ...document, resource_type: type, children: [...sub_requests] });
}

type WithChildren = Pick<SubRequest, 'url' | 'resource_type' | 'body_size' | 'timestamp_ms' | 'children'>;

function withChildren({ url, resource_type, body_size, timestamp_ms, children }: WithChildren): Loaded[] {
  const group = GROUPS.get(resource_type.toLowerCase()) ?? 'others';
  return [{ host: hostOf(url), body_size, timestamp_ms, group }, ...children.flatMap(withChildren)];
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

/** Any URL of the host has the same company and domain: a short one is parsed faster than those of a hostile page. */
const urlOf = (host: string): string => `http://${host}/`;

const companyAt = (host: string): string => companyOf(urlOf(host))?.name ?? registrableDomain(urlOf(host));

function asCompany(name: string, hosts: readonly [string, readonly Loaded[]][]): ReportCompany {
  const found = hosts.map(([host]) => registrableDomain(urlOf(host)));
  const domains = [...new Set(found)].filter((domain) => domain !== name);
  const requests = hosts.flatMap(([, of]) => of);
  const groups = [...Map.groupBy(requests, ({ group }) => group)]
    .map(([group, of]) => ({ group, requests: of.length }))
    .sort((one, other) => other.requests - one.requests);
  const marks = requests
    .map(({ group, timestamp_ms }) => ({ group, at_ms: timestamp_ms }))
    .sort((one, other) => one.at_ms - other.at_ms);
  return {
    name,
    domains: domains.slice(0, DOMAINS_MAX),
    requests: requests.length,
    bytes: requests.reduce((sum, { body_size }) => sum + body_size, 0),
    groups,
    marks: marks.slice(0, MARKS_MAX),
  };
}
