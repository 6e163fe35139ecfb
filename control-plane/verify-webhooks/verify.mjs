// Checks the signature of a webhook of Adsweep in Node.js, without packages.
import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

/**
 * The event of a request. Throws unless one of its signatures is by the secret, and it is at most five minutes old.
 * @param {string} secret the endpoint's (whsec_...)
 * @param {Record<string, string | string[] | undefined>} headers of the request, with lower-case names
 * @param {Buffer} body its bytes as they arrived
 */
export function verifyWebhook(secret, headers, body, now = Date.now() / 1000) {
  const [id = '', timestamp = '', signatures = ''] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`] ?? ''),
  );
  if (!id || !/^\d+$/.test(timestamp) || !signatures) throw new Error('no signature');
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) throw new Error('too old, or the clocks differ');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const isSigned = signatures.split(' ').some((one) => {
    const [version, text = ''] = one.split(',');
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) throw new Error('not signed by this secret');
  return JSON.parse(body.toString());
}
