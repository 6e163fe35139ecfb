import type { components } from './generated/api.ts';

type Schemas = components['schemas'];

/** What an event says of its scan, whatever its type. URLs are absolute; '' means none. */
type OfScan = Pick<
  Schemas['Scan'],
  'status' | 'url' | 'country_code' | 'emulator_id' | 'report_url' | 'public_report_url'
> & {
  scan_id: string;
  /** Orders the events of one scan. */
  sequence: number;
  campaign_id: string | null;
  run_id: string | null;
  parent_scan_id: string | null;
  labels: Record<string, string>;
};

/** An event as it is sent to a webhook endpoint. */
export type WebhookEvent = { /** When it occurred. */ timestamp: string } & (
  | {
      type: 'scanning.scan.completed';
      data: OfScan & {
        classification: Schemas['Classification'];
        network: string;
        network_host: string;
        error: string;
      };
    }
  | {
      type: 'scanning.tags.detected';
      data: OfScan & {
        tag_slugs: string[];
        tags: { slug: string; category: string; severity: Schemas['ScanTag']['severity']; url: string }[];
      };
    }
  | {
      type: 'scanning.screenshot.captured';
      data: OfScan & { screenshot_url: string; creative_screenshot_url: string; page_title: string };
    }
);

/** How far the clocks of sender and receiver may differ; older deliveries may be replayed by a third party. */
const TOLERANCE_SECONDS = 300;

/**
 * The event of a delivery, if an endpoint with this secret (`whsec_...`) was sent it within the last minutes (Standard Webhooks). `body`: exactly
 * as it was received. Rejects with an `Error` that says what is wrong; answer such a request with 400.
 */
export async function verifyWebhook(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string,
): Promise<WebhookEvent> {
  // Frameworks have `Headers` of their own.
  const read = (name: string) => String((isHeaders(headers) ? headers.get(name) : headers[name]) ?? '');
  const [id, timestamp] = [read('webhook-id'), read('webhook-timestamp')];
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp || Number.NaN)) <= TOLERANCE_SECONDS))
    throw new Error('webhook: the timestamp is missing, or too far from the time of this machine');
  const key = await keyOf(secret);
  const signed = signedBytes(id, timestamp, body);
  // There are two signatures while a secret is being replaced.
  const signatures = read('webhook-signature')
    .split(' ')
    .flatMap((one) => (one.startsWith('v1,') ? [one.slice('v1,'.length)] : []));
  for (const signature of signatures)
    if (await crypto.subtle.verify('HMAC', key, bytesOf(signature), signed)) return JSON.parse(body) as WebhookEvent;
  throw new Error('webhook: no signature fits the body and the secret');
}

const isHeaders = (headers: Headers | Record<string, unknown>): headers is Headers => typeof headers.get === 'function';

/** The headers by which a receiver verifies a delivery. */
export async function signWebhook(
  secret: string,
  id: string,
  now: Date,
  body: string,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const signature = await crypto.subtle.sign('HMAC', await keyOf(secret), signedBytes(id, timestamp, body));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${base64}` };
}

const signedBytes = (id: string, timestamp: string, body: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(`${id}.${timestamp}.${body}`);

async function keyOf(secret: string): Promise<CryptoKey> {
  // A variable of the environment that is not set is none either.
  const bytes = bytesOf(String(secret ?? '').replace(/^whsec_/, ''));
  if (bytes.length === 0) throw new Error('webhook: the secret is missing, or is no whsec_...');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

/** The bytes of a base64 text; none if it is not one. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
