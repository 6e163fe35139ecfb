import { refused } from '../../../http/api-error.ts';
import { linesIn, wordsIn } from '../../api/lists-in-texts.ts';
import type { Schemas } from '../../api/schemas.ts';

/** The targets of a scan, as the form names them. */
export const TARGET_KINDS = ['url', 'ad_tag', 'vast_tag'] as const;
type TargetKind = (typeof TARGET_KINDS)[number];

/** What the form of a scan has, as texts. */
export type ScanFields = Record<
  | 'kind'
  | 'target'
  | 'country_code'
  | 'emulator_id'
  | 'proxy_type'
  | 'region'
  | 'city'
  | 'isp'
  | 'referrer'
  | 'campaign_id'
  | 'ad_discovery'
  | 'max_discovered_ads'
  | 'ad_formats'
  | 'ignore_first_n_domains'
  | 'repeat_count'
  | 'repeat_mode'
  | 'retry_max_attempts'
  | 'labels',
  string
>;

export const EMPTY_FIELDS: ScanFields = {
  kind: 'url',
  target: '',
  country_code: '',
  emulator_id: '',
  proxy_type: 'residential',
  region: '',
  city: '',
  isp: '',
  referrer: '',
  campaign_id: '',
  ad_discovery: '',
  max_discovered_ads: '',
  ad_formats: '',
  ignore_first_n_domains: '0',
  repeat_count: '1',
  repeat_mode: 'isolated',
  retry_max_attempts: '0',
  labels: '',
};

/**
 * The fields in a form or an address. Boxes that are not ticked are not sent; of several with one name the values are
 * words.
 */
export const fieldsOf = (sent: URLSearchParams): ScanFields =>
  Object.fromEntries(
    Object.entries(EMPTY_FIELDS).map(([name, initial]) => [
      name,
      sent.has(name) ? (name === 'ad_formats' ? sent.getAll(name).join(' ') : (sent.get(name) ?? '')) : initial,
    ]),
  ) as ScanFields;

/** The address query that fills the form with the settings of a scan. */
export const formQueryOf = ({ id }: Pick<Schemas['Scan'], 'id'>): Record<string, string> => ({ from: id });

/** The settings of a scan as fields. */
export function fieldsOfScan(scan: Schemas['Scan']): ScanFields {
  const kind: TargetKind = scan.ad_tag !== null ? 'ad_tag' : scan.vast_tag !== null ? 'vast_tag' : 'url';
  return {
    kind,
    target: scan.ad_tag ?? scan.vast_tag ?? scan.url,
    country_code: scan.country_code,
    emulator_id: scan.emulator_id,
    proxy_type: scan.proxy?.proxy_type ?? 'residential',
    region: scan.proxy?.region ?? '',
    city: scan.proxy?.city ?? '',
    isp: scan.proxy?.isp ?? '',
    referrer: scan.referrer ?? '',
    campaign_id: scan.campaign_id ?? '',
    ad_discovery: scan.ad_discovery ? 'yes' : '',
    max_discovered_ads: scan.ad_discovery ? String(scan.max_discovered_ads ?? '') : '',
    ad_formats: scan.ad_formats?.join(' ') ?? '',
    ignore_first_n_domains: String(scan.ignore_first_n_domains),
    repeat_count: '1',
    repeat_mode: 'isolated',
    retry_max_attempts: String(scan.retry_max_attempts),
    labels: Object.entries(scan.labels)
      .map(([key, value]) => `${key}=${value}`)
      .join('\n'),
  };
}

/** The body of `POST /scans`. What is not a number is sent as it is, so that the API says what is wrong with it. */
export function scanBody(fields: ScanFields): Record<string, unknown> {
  const { kind, target, country_code, emulator_id, proxy_type, region, city, isp } = fields;
  const isSweep = fields.ad_discovery !== '' && kind === 'url';
  const places = { ...(region !== '' && { region }), ...(city !== '' && { city }), ...(isp !== '' && { isp }) };
  const labels = labelsOf(fields.labels);
  const name = TARGET_KINDS.find((one) => one === kind) ?? 'url';
  return {
    [name]: name === 'url' ? target.trim() : target,
    country_code,
    emulator_id,
    ...((proxy_type !== 'residential' || Object.keys(places).length > 0) && { proxy: { proxy_type, ...places } }),
    ...(fields.referrer !== '' && { referrer: fields.referrer }),
    ...(fields.campaign_id !== '' && { campaign_id: fields.campaign_id }),
    ...(isSweep && { ad_discovery: true }),
    ...(isSweep && fields.max_discovered_ads !== '' && { max_discovered_ads: numberOr(fields.max_discovered_ads) }),
    ...(isSweep && fields.ad_formats !== '' && { ad_formats: wordsIn(fields.ad_formats) }),
    ...(fields.ignore_first_n_domains !== '0' && { ignore_first_n_domains: numberOr(fields.ignore_first_n_domains) }),
    ...(fields.repeat_count !== '1' && {
      repeat_count: numberOr(fields.repeat_count),
      repeat_mode: fields.repeat_mode,
    }),
    ...(fields.retry_max_attempts !== '0' && { retry_max_attempts: numberOr(fields.retry_max_attempts) }),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
}

export const numberOr = (text: string): number | string => (/^-?\d+$/.test(text.trim()) ? Number(text) : text);

/** Labels, one `key=value` on each line. Throws 422 for a key that has several: only one of them could be sent. */
export function labelsOf(text: string): Record<string, string> {
  const pairs = linesIn(text).map((line): [string, string] => {
    const [key = '', ...value] = line.split('=');
    return [key.trim(), value.join('=').trim()];
  });
  const labels = Object.fromEntries(pairs);
  const twice = pairs.find(([key, value]) => labels[key] !== value);
  if (twice)
    throw refused([{ loc: ['body', 'labels'], msg: `${twice[0]} is there twice.`, type: 'duplicate', ctx: {} }]);
  return labels;
}
