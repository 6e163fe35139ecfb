import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import { type Caller, PERMISSIONS } from '../../http/caller.ts';
import { moment, ok, orNull, type Route, route } from '../../http/route.ts';
import { ORGANIZATION_STATUSES } from '../organizations/organization.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';

const CredentialSchema = Type.Object(
  {
    organization_id: Type.String(),
    organization_name: Type.String(),
    organization_status: Type.Enum(ORGANIZATION_STATUSES),
    key_id: Type.String({
      description: 'The API key, or the one that was signed in with; otherwise the OAuth client.',
    }),
    client_id: orNull(Type.String({ description: 'The OAuth client; null: the credential is an API key.' })),
    permissions: Type.Array(Type.Enum(PERMISSIONS)),
    expires_at: orNull(moment()),
  },
  { title: 'Credential' },
);

/** What the credential of a request may do, for programs that show only what they can. */
export function credentialRoute({ organizations }: { organizations: Pick<OrganizationStore, 'find'> }): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/account/credential',
    group: 'Account',
    summary: 'The credential of the request',
    description: 'The organization that the credential belongs to, and what it may do.',
    permission: 'any',
    replies: { 200: { description: 'The credential.', schema: CredentialSchema } },
    errors: ['not_found'],
    handle: async ({ caller: { organizationId, keyId, token, permissions, expiresAt } }) => {
      const organization = await organizations.find(organizationId);
      if (!organization) throw notFound('organization');
      return ok({
        organization_id: organizationId,
        organization_name: organization.name,
        organization_status: organization.status,
        key_id: keyId,
        client_id: token?.clientId ?? null,
        permissions: PERMISSIONS.filter((one) => permissions.has(one)),
        expires_at: expiresAt?.toISOString() ?? null,
      });
    },
  });
}
