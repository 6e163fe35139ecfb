import { dialUpstream, parseUpstream } from './dial-upstream.ts';
import type { ExitSession } from './exit.ts';
import type { Provider } from './provider.ts';
import type { ProviderConfig } from './provider-config.ts';
import { fillTemplate, type UserNameField, type UserNameValues, userNameValues } from './user-name.ts';
import { VENDORS, type Vendor } from './vendors.ts';

/** The exits of a vendor that takes the place and the session from the user name. `config` has been validated. */
export function vendorProvider(config: ProviderConfig, password: string): Provider {
  const vendor: Vendor = VENDORS[config.kind];
  const endpoint = parseUpstream(config.endpoint)!;
  const userName = (use: ExitSession) => filledUserName(config, userNameValues(use, vendor.spelling));
  return {
    resolvesNames: false,
    dial: (use, destination, signal) =>
      dialUpstream({ ...endpoint, username: userName(use), password }, destination, signal, vendor.texts),
  };
}

/** The settings that an account's user names are built from. */
export type UserNameConfig = Pick<ProviderConfig, 'kind' | 'username'>;

function filledUserName({ kind, username }: UserNameConfig, values: UserNameValues): string {
  const { suffix }: Vendor = VENDORS[kind];
  return suffix ? username + suffix(values) : fillTemplate(username, values);
}

const SAMPLE = { country: 'us', region: 'texas', city: 'austin', isp: 'acme', session: 's', proxy_type: 'residential' };
const OTHER = { country: 'de', region: 'ohio', city: 'waco', isp: 'other', session: 't', proxy_type: 'mobile' };

/** Whether the account's user name depends on a field, that is, whether the vendor learns its value. Pure. */
export const sendsField = (config: UserNameConfig, field: UserNameField): boolean =>
  filledUserName(config, SAMPLE) !== filledUserName(config, { ...SAMPLE, [field]: OTHER[field] });
