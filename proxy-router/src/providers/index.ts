import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { connectTo } from './connect-to.ts';
import { directProvider } from './direct.ts';
import type { Provider } from './provider.ts';
import { resolveNames } from './resolve-name.ts';

/** The providers by the name that an exits file gives them. */
export const createProviders = (policy: AddressPolicy): Record<string, Provider> => ({
  direct: directProvider(resolveNames(), connectTo, policy),
});
