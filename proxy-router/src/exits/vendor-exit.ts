import type { Exit } from '../providers/exit.ts';
import type { Place } from '../providers/place.ts';
import type { ProviderConfig } from '../providers/provider-config.ts';

/** A vendor's account as the exit for a place. Its id tells both: `acme/US/residential/Texas/Austin/`. */
export function vendorExit({ id, tickets_max, price_per_gb }: ProviderConfig, place: Place): Exit {
  const { country_code, proxy_type, region = '', city = '', isp = '' } = place;
  const path = [country_code, proxy_type, region, city, isp].map(encodeURIComponent).join('/');
  return {
    ...place,
    id: `${id}/${path}`,
    provider: id,
    account: id,
    ...(tickets_max && { tickets_max }),
    ...(price_per_gb && { price_per_gb }),
  };
}

/** The provider and the place of a vendor's exit id as {@link vendorExit} made it; null for any other. */
export function readVendorExitId(exitId: string): { provider: string; place: Place } | null {
  const [provider = '', ...path] = exitId.split('/');
  if (path.length !== 5) return null;
  const [country_code, proxy_type, region, city, isp] = path.map(decodeURIComponent) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const place = { country_code, proxy_type: proxy_type as Place['proxy_type'], pool_size: 1 };
  return { provider, place: { ...place, ...(region && { region }), ...(city && { city }), ...(isp && { isp }) } };
}
