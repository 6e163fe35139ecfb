import { type TInteger, type TString, Type } from 'typebox';
import { readAddressBlock, splitAddressBlocks } from '../urls/address-blocks.ts';

/** Settings that several services share. Every setting has a description and, unless it is required, a default. */

type UrlOptions = { default: string; pattern: string; mustBe: string; description: string; secret?: true };

/**
 * A URL of a form that `pattern` describes. `isUsable`: whether the service that reads it can use it; '' is the default
 * of one that may be left out.
 */
export const urlSetting = (options: UrlOptions, isUsable: (url: string) => boolean = isUrl) =>
  Type.Refine(
    Type.String(options),
    (text) => text === '' || isUsable(text),
    () => `Must be ${options.mustBe}, with special characters percent-encoded.`,
  );

/** Whether a text is a URL whose credentials, if it has some, can be decoded. */
function isUrl(text: string): boolean {
  try {
    const { username, password } = new URL(text);
    return decodeURIComponent(`${username}${password}`) !== null;
  } catch {
    return false;
  }
}

/** A port to listen on. */
export const portSetting = (port: number, description: string, maximum = 65_535): TInteger =>
  Type.Integer({ default: port, minimum: 0, maximum, description });

/** A switch that is `usual` unless it is set. */
export const switchSetting = (usual: 'on' | 'off', description: string): TString =>
  Type.String({ default: usual, pattern: '^(on|off)$', mustBe: 'on or off', description });

/** A required secret, long enough not to be guessed. */
export const secretSetting = (description: string): TString =>
  Type.String({ minLength: 16, secret: true, description });

const SECRETS = '[\\x21-\\x2b\\x2d-\\x7e]{16,}(,[\\x21-\\x2b\\x2d-\\x7e]{16,})*';
export const SECRETS_PATTERN = `^${SECRETS}$`;
const SECRETS_MUST_BE = 'one or more secrets of at least 16 characters without spaces, separated by commas';

/** Secrets separated by commas, any of which is accepted, so that they can be rotated. */
export const secretsSetting = (description: string): TString =>
  Type.String({
    pattern: SECRETS_PATTERN,
    mustBe: SECRETS_MUST_BE,
    secret: true,
    description,
  });

/** `ADSWEEP_METRICS_TOKEN` of every service. */
export const metricsTokenSetting = Type.String({
  default: '',
  secret: true,
  pattern: `^(${SECRETS})?$`,
  mustBe: SECRETS_MUST_BE,
  description:
    'Bearer tokens for `/metrics`, each of at least 16 characters, separated by commas. Empty: the node token.',
});

/** `ADSWEEP_LOG_LEVEL` of every process. */
export const logLevelSetting = Type.String({
  default: 'info',
  pattern: '^(trace|debug|info|warn|error|fatal)$',
  mustBe: 'trace, debug, info, warn, error or fatal',
  description: 'Minimum level of log lines.',
});

/** Address blocks, separated by commas. */
export const addressBlocksSetting = (mustBe: string, description: string) =>
  Type.Refine(
    Type.String({ default: '', description }),
    (list) => splitAddressBlocks(list).every((block) => readAddressBlock(block) !== null),
    () => `Must be ${mustBe}, separated by commas.`,
  );

/** Networks of the operator that webhooks and notifications may reach. */
export const deliveryAllowSetting = addressBlocksSetting(
  'address blocks such as 10.1.0.0/16 or fd00::/8',
  'Address blocks of your own that webhooks and notifications may reach although they are private, and over http: CIDR, IPv4 or IPv6, separated by commas.',
);

/** `ADSWEEP_DENY_ADDRESSES` of every process that checks addresses. */
export const denyAddressesSetting = addressBlocksSetting(
  'address blocks such as 198.51.100.0/24 or 2001:db8::/32',
  'Address blocks that scans may not reach, in addition to private ones: CIDR, IPv4 or IPv6, separated by commas.',
);
