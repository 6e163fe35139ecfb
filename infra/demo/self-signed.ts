import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const SUBJECT_ALT_NAME = [0x55, 0x1d, 0x11];

/**
 * A fresh P-256 key with a certificate for `names` that it signed itself, as PEM texts: what a careless landing shows. Written out in
 * DER (X.690, RFC 5280) because Node.js makes keys but no certificates. `names[0]` is the subject.
 */
export function selfSigned(names: string[], now = new Date()): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
  const name = sequence(set(sequence(objectId(COMMON_NAME), tagged(0x0c, Buffer.from(names[0] ?? '')))));
  const altNames = sequence(...names.map((one) => tagged(0x82, Buffer.from(one))));
  const toSign = sequence(
    tagged(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])), // serial number, positive
    algorithm,
    name,
    sequence(utcTime(new Date(now.getTime() - YEAR_MS)), utcTime(new Date(now.getTime() + YEAR_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(sequence(objectId(SUBJECT_ALT_NAME), tagged(0x04, altNames)))),
  );
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', toSign, privateKey)]));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(sequence(toSign, algorithm, signature)),
  };
}

/** One DER element: tag, length in its short or long form, content. */
function tagged(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]): Buffer => tagged(0x31, Buffer.concat(parts));
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
const objectId = (bytes: number[]): Buffer => tagged(0x06, Buffer.from(bytes));
const utcTime = (at: Date): Buffer => tagged(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, '').slice(2, 14)}Z`));

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
