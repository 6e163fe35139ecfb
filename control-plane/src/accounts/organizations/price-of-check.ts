import { ApiError } from '../../http/api-error.ts';
import type { OrganizationStore } from './organization-store.ts';

/**
 * What a check costs this organization, in micros; `usual` is what the setting says. Throws 403 `billing.suspended` where the organization
 * is not active: it can read what it has, and create nothing.
 */
export async function priceOfCheck(
  organizations: Pick<OrganizationStore, 'find'>,
  organizationId: string,
  usual: number,
): Promise<number> {
  const organization = await organizations.find(organizationId);
  if (organization?.status !== 'active') throw new ApiError('billing.suspended', 'This organization is not active.');
  return organization.check_price_micros ?? usual;
}
