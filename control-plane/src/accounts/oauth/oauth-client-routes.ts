import { newSecret } from '@adsweep/shared/ids.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { type Caller, PERMISSIONS } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, orNull, type Route } from '../../http/route.ts';
import { permissionIssues } from '../keys/roles.ts';
import { hashSecret, type OAuthClientRecord, redirectUriProblem } from './oauth-client.ts';
import type { OAuthClientStore } from './oauth-client-store.ts';

export type OAuthClientParts = {
  clients: Pick<OAuthClientStore, 'insertWithin' | 'find' | 'listOf' | 'delete'>;
  /** Ends the tokens of a client that was deleted. */
  deleted: (client: OAuthClientRecord) => Promise<void>;
  outboxFilled: () => void;
};

const REDIRECTS_MAX = 10;

const fields = {
  id: Type.String(),
  client_id: Type.String({ description: 'The `client_id` of OAuth 2.0; the same as `id`.' }),
  name: Type.String({ description: 'People who sign in are shown this name.' }),
  permissions: Type.Array(Type.Enum(PERMISSIONS)),
  redirect_uris: Type.Array(Type.String()),
  expires_at: orNull(moment()),
  created_at: moment(),
};
const ClientSchema = Type.Object(fields, { title: 'OAuthClient' });
const ClientNewSchema = Type.Object(
  { ...fields, client_secret: Type.String({ description: 'The secret. It is shown only in this response.' }) },
  { title: 'OAuthClientNew' },
);
const ClientInSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    // The server gives no tokens to a client without scopes.
    permissions: Type.Array(Type.Enum(PERMISSIONS), {
      minItems: 1,
      maxItems: PERMISSIONS.length,
      description: 'At least one, without duplicates.',
    }),
    redirect_uris: Type.Optional(
      orNull(
        Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), {
          maxItems: REDIRECTS_MAX,
          description:
            'Where people return to after they have signed in: https, http on a loopback address, or a private-use scheme. Without them the client acts only for itself.',
        }),
      ),
    ),
  },
  {
    additionalProperties: false,
    title: 'OAuthClientIn',
    examples: [{ name: 'Nightly checks', permissions: ['scans.read', 'scans.write'] }],
  },
);

/** The OAuth clients of the caller's organization. */
export function oauthClientRoutes({ clients, deleted, outboxFilled }: OAuthClientParts): Route<Caller>[] {
  const oauthClients = resource<OAuthClientRecord>({
    group: 'Account',
    path: '/api/v1/account/oauth-clients',
    id: { name: 'client_id' },
    noun: 'OAuth client',
    permission: 'account.manage',
    schema: ClientSchema,
    presenter: () => presentClient,
    written: outboxFilled,
  });
  return [
    oauthClients.list({
      summary: 'OAuth clients',
      reply: 'The OAuth clients of the organization, oldest first.',
      rows: ({ organizationId }) => clients.listOf(organizationId),
    }),
    oauthClients.create({
      summary: 'Create an OAuth client',
      description:
        'A client gets access tokens at `/oauth/token` with its secret, for at most these permissions, which are the scopes. With `redirect_uris` people of the organization can sign in to it too. It expires when the key that creates it expires.',
      body: ClientInSchema,
      reply: 'The client with its secret.',
      schema: ClientNewSchema,
      presenter: () => (created: { record: OAuthClientRecord; secret: string }) => ({
        ...presentClient(created.record),
        client_secret: created.secret,
      }),
      answersSecret: true,
      errors: ['account.too_many_oauth_clients'],
      refine: ({ caller, body }) => [
        ...permissionIssues(caller, body.permissions ?? [], 'permissions'),
        ...redirectIssues(body.redirect_uris ?? []),
      ],
      create: async ({ caller, organizationId, id, body, now, audit }) => {
        const { name, permissions, redirect_uris } = body;
        const secret = newSecret(32);
        const record = {
          _id: id,
          organization_id: organizationId,
          name,
          permissions,
          redirect_uris: redirect_uris ?? [],
          secret_hash: hashSecret(secret),
          created_at: now,
          expires_at: caller.expiresAt,
          registered: null,
        };
        const changes = { name, permissions, redirect_uris: record.redirect_uris };
        await clients.insertWithin(record, audit('oauth_client.created', id, changes));
        return { record, secret };
      },
    }),
    oauthClients.command({
      method: 'DELETE',
      summary: 'Delete an OAuth client',
      description: 'The client and all its tokens stop working within a second.',
      reply: 'The client is deleted.',
      run: async ({ organizationId, id, audit }) => {
        const client = await clients.find(organizationId, id);
        if (!client) return null;
        await clients.delete(client, audit('oauth_client.deleted', id, { name: client.name }));
        return deleted(client);
      },
    }),
  ];
}

function redirectIssues(uris: readonly (string | undefined)[]): Issue[] {
  const problems = uris.flatMap((uri, at) => {
    const msg = uri === undefined ? null : redirectUriProblem(uri);
    return msg === null
      ? []
      : [{ loc: ['body', 'redirect_uris', at], msg, type: 'invalid_redirect_uri', ctx: given(uri) }];
  });
  if (problems.length > 0 || new Set(uris).size === uris.length) return problems;
  const msg = 'Must not repeat a redirect URI.';
  return [{ loc: ['body', 'redirect_uris'], msg, type: 'duplicate_items', ctx: given(uris) }];
}

const presentClient = (client: OAuthClientRecord) => ({
  id: client._id,
  client_id: client._id,
  name: client.name,
  permissions: client.permissions,
  redirect_uris: client.redirect_uris,
  expires_at: client.expires_at?.toISOString() ?? null,
  created_at: client.created_at.toISOString(),
});
