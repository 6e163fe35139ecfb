import { dialUpstream } from './dial-upstream.ts';
import type { ExitSession } from './exit.ts';
import type { Provider } from './provider.ts';
import type { ProviderConfig } from './provider-config.ts';
import { parseUpstream } from './upstream.ts';
import { fillTemplate, userNameValues } from './user-name.ts';
import { VENDORS, type Vendor } from './vendors.ts';

/** The exits of a vendor that is told the place and the session in the user name. `config` was found to be without problems. */
export function vendorProvider(config: ProviderConfig, password: string): Provider {
  const vendor: Vendor = VENDORS[config.kind];
  const endpoint = parseUpstream(config.endpoint)!;
  const userName = (use: ExitSession) => {
    const values = userNameValues(use, vendor.spelling);
    return vendor.suffix ? config.username + vendor.suffix(values) : fillTemplate(config.username, values);
  };
  return {
    resolvesNames: false,
    dial: (use, destination, signal) =>
      dialUpstream({ ...endpoint, username: userName(use), password }, destination, signal, vendor.texts),
  };
}
