import { type IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import { type Caller, PERMISSIONS } from '../../http/caller.ts';
import type { SignInAnswer } from '../../http/serve-oauth.ts';
import type { ApiKeyRecord } from '../keys/api-key.ts';
import { CONSOLE_CLIENT_ID, type OAuthClientRecord } from './oauth-client.ts';
import type { ShownClient, signInPages } from './sign-in-pages.ts';
import { maySignIn, type TokenOwners } from './token-caller.ts';

export type SignInParts = TokenOwners & {
  provider: Provider;
  pages: ReturnType<typeof signInPages>;
  /** The caller with an API key; null if it is not valid. */
  findCaller: (key: string) => Promise<Pick<Caller, 'keyId'> | null>;
  /** Called when a person consented to a client. */
  used: (client: OAuthClientRecord) => Promise<void>;
};

/**
 * What a person does between the request of a client and the code that it gets: signs in with an API key, then
 * consents. The request is known by its id in the path and by a signed cookie of the browser that began it
 * (`SameSite=Lax`), so another site can neither see nor send these forms.
 */
export function signIn({ provider, pages, findClient, findKey, findCaller, used }: SignInParts) {
  /** Null: the request does not exist, is over, or was begun in another browser. */
  const read = async (request: IncomingMessage, response: ServerResponse) => {
    const interaction = await provider.interactionDetails(request, response).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) return null;
      throw error;
    });
    const client = interaction && (await findClient(String(interaction.params.client_id)));
    if (!client) return null;
    const key = interaction.session ? await findKey(interaction.session.accountId) : null;
    const asked = new Set(String(interaction.params.scope ?? '').split(' '));
    const wanted = PERMISSIONS.filter((one) => asked.has(one));
    const granted = wanted.filter((one) => key?.permissions.includes(one));
    const shown = shownClient(client, String(interaction.params.redirect_uri ?? client.redirect_uris[0]));
    return { interaction, client, key, shown, granted, withheld: wanted.filter((one) => !granted.includes(one)) };
  };
  type Interaction = NonNullable<Awaited<ReturnType<typeof read>>>;

  const askForKey = ({ shown }: Interaction, problem: string | null): SignInAnswer => ({
    page: pages.signIn(shown, problem),
    returnsTo: shown.returnsTo,
  });
  const show = (of: Interaction): SignInAnswer => {
    const { interaction, shown, key, granted, withheld } = of;
    if (interaction.prompt.name !== 'consent' || !key) return askForKey(of, null);
    return { page: pages.consent(shown, key.name, granted, withheld), returnsTo: shown.returnsTo };
  };

  /** Signs in with the key of the form; a text says why not. */
  const keyOf = async (client: OAuthClientRecord, sent: string): Promise<ApiKeyRecord | string> => {
    const caller = await findCaller(sent.trim());
    const key = caller && (await findKey(caller.keyId));
    if (!key) return 'This is not a valid API key.';
    return maySignIn(client, key) ? key : `This key is not one of the organization that ${client.name} belongs to.`;
  };

  const grantTo = async ({ interaction, client, key, granted, withheld }: Interaction): Promise<string> => {
    const existing = interaction.grantId ? await provider.Grant.find(interaction.grantId) : undefined;
    const grant = existing ?? new provider.Grant({ accountId: key!._id, clientId: client._id });
    grant.addOIDCScope(granted.join(' '));
    // A scope that was neither granted nor rejected would be asked for again.
    if (withheld.length > 0) grant.rejectOIDCScope(withheld.join(' '));
    await used(client);
    return grant.save();
  };

  /**
   * A browser that was signed in with another key begins anew: the provider would ask whether to sign out first, with a
   * script.
   */
  const endSessionOfAnother = async ({ interaction }: Interaction, key: ApiKeyRecord): Promise<void> => {
    const { session } = interaction;
    if (!session || session.accountId === key._id) return;
    await (await provider.Session.find(session.cookie))?.destroy();
    delete interaction.session;
    await interaction.persist();
  };

  return {
    /** Ends the session of the browser that sent a request: the next sign-in there needs a key. */
    async end(request: IncomingMessage): Promise<void> {
      const context = provider.createContext(request, new ServerResponse(request));
      const session = await provider.Session.get(context);
      if (session.accountId !== undefined) await session.destroy();
    },

    /** The page of a request. */
    async show(request: IncomingMessage, response: ServerResponse): Promise<SignInAnswer | null> {
      const of = await read(request, response);
      return of && show(of);
    },

    /** Takes the form of a page. */
    async submit(
      request: IncomingMessage,
      response: ServerResponse,
      form: URLSearchParams,
    ): Promise<SignInAnswer | null> {
      const of = await read(request, response);
      if (!of) return null;
      const goOn = async (result: Parameters<Provider['interactionResult']>[2]) => ({
        redirect: await provider.interactionResult(request, response, result),
      });
      const action = form.get('action');
      if (action === 'refuse') return goOn({ error: 'access_denied', error_description: 'The person refused.' });
      if (action === 'allow' && of.interaction.prompt.name === 'consent' && of.key && of.granted.length > 0)
        return goOn({ consent: { grantId: await grantTo(of) } });
      if (action === 'another-key') return askForKey(of, null);
      const sent = form.get('key');
      if (sent === null) return show(of);
      const key = await keyOf(of.client, sent);
      if (typeof key === 'string') return askForKey(of, key);
      await endSessionOfAnother(of, key);
      return goOn({ login: { accountId: key._id, remember: false } });
    },
  };
}

function shownClient(client: OAuthClientRecord, redirectUri: string): ShownClient {
  const { origin, protocol } = new URL(redirectUri);
  return {
    name: client.name,
    returnsTo: origin === 'null' ? protocol : origin,
    isRegistered: client.organization_id === null && client._id !== CONSOLE_CLIENT_ID,
  };
}
