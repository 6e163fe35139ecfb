import { resolveNames } from '@adsweep/shared/egress/checked-addresses.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { connectTo } from './connect-to.ts';
import { listProvider } from './dial-upstream.ts';
import { directProvider } from './direct.ts';
import type { Provider } from './provider.ts';

/** The providers that exits of an exits file may name; those of vendors are made from their configuration. */
export const createProviders = (policy: AddressPolicy): Record<string, Provider> => ({
  direct: directProvider(resolveNames(), connectTo, policy),
  list: listProvider,
});
